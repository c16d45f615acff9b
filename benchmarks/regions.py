"""How well do regions that are found without a mask follow what is in a photo, and how long does finding them take?

    python benchmarks/regions.py --data DIR [--half even|odd] [--regions 8] [WAY ...]

Photos of MSRC v2, laid out without their masks. Each region is then labelled by the class that most of its pixels have
in the mask: the share of pixels (void left out) that this gets right is the best that any labelling of regions could
reach. The same for nodes. Former: Felzenszwalb's segmentation, merged by mean Lab colour, superpixels inside. The
others merge superpixels by the rows named; ``merged`` is what the builder does. The rows were chosen on photos of even
number, by name; odd ones report. Milliseconds are CPU time of one process: laying out from pixels in memory.
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np

from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.image_files import Picture, read_image, read_mask
from cfmgml.builders.pictures.layout import Cut, Layout, cut_picture, lay_out, with_regions
from cfmgml.builders.pictures.node_features import NodeFeatures
from cfmgml.builders.pictures.regions import ALIKE, BRIGHTNESS

PLACE = 10.0  # Lab units that a picture's side counts as


def rows_of(cut: Cut, brightness: float, spread: float, place: float) -> np.ndarray:
    assert cut.colours is not None
    colours = cut.colours * (brightness / BRIGHTNESS, 1, 1, spread, spread, spread)
    height, width = cut.picture.size
    centres = NodeFeatures(cut.picture.pixels, cut.superpixels).centre / np.sqrt(height * width)
    return np.concatenate([colours, place * centres], axis=1)


def by_rows(brightness: float, spread: float, place: float) -> Callable[[Picture, int], Layout]:
    def lay(picture: Picture, most: int) -> Layout:
        builder = PictureBuilder(max_regions=most)
        cut = cut_picture(picture, None, builder)
        return with_regions(cut, builder, rows_of(cut, brightness, spread, place), ALIKE)

    return lay


WAYS: dict[str, Callable[[Picture, int], Layout]] = {
    "former": lambda picture, most: lay_out(picture, None, PictureBuilder(max_regions=most, regions="felzenszwalb")),
    "merged": lambda picture, most: lay_out(picture, None, PictureBuilder(max_regions=most)),
    "mean Lab colour": by_rows(1, 0, 0),
    "brightness halved": by_rows(0.5, 0, 0),
    "brightness halved, spread": by_rows(0.5, 1, 0),
    "brightness .4, spread": by_rows(0.4, 1, 0),
    "brightness halved, spread 1.5": by_rows(0.5, 1.5, 0),
    "brightness halved, spread, place": by_rows(0.5, 1, PLACE),
    "brightness halved, spread, place doubled": by_rows(0.5, 1, 2 * PLACE),
}


def class_maps(folder: Path) -> dict[str, np.ndarray]:
    classes: dict[str, dict[int, int]] = {}
    with open(folder / "segments.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            classes.setdefault(row["image"], {})[int(row["segment"])] = int(row["class_id"])
    maps = {}
    for name, named in classes.items():
        numbers = read_mask(folder / "segments" / f"{name}.png")
        of_segment = np.zeros(max(numbers.max(), *named) + 1, dtype=np.int64)
        of_segment[list(named)] = list(named.values())
        maps[name] = of_segment[numbers]
    return maps


def right(parts: np.ndarray, truth: np.ndarray) -> int:
    """How many pixels have the class that most pixels of their part have; 0 is void."""
    counts = np.zeros((parts.max() + 1, truth.max() + 1), dtype=np.int64)
    np.add.at(counts, (parts, truth), 1)
    return int(counts[:, 1:].max(axis=1, initial=0).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help="as the table names them (default: all)")
    parser.add_argument("--data", required=True, help="folder that holds msrc_v2")
    parser.add_argument("--half", choices=["even", "odd"], default="odd", help="which photos")
    parser.add_argument("--regions", type=int, default=8, help="most regions")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of these photos")
    options = parser.parse_args()
    folder = Path(options.data) / "msrc_v2"
    maps = class_maps(folder)
    names = sorted(maps)[options.half == "odd" :: 2][:: options.every]
    files = {file.stem: file for file in (folder / "images").iterdir()}
    photos = [read_image(files[name]) for name in names]
    n_pixels = sum(int((maps[name] > 0).sum()) for name in names)
    print(f"{len(names)} photos of {options.half} number, at most {options.regions} regions\n")
    print("| regions | pixels right by region | by node | regions | nodes | ms a photo |\n|---|---|---|---|---|---|")
    for way in options.ways or WAYS:
        lay = WAYS[way]
        lay(photos[0], options.regions)  # compiled
        start = process_time()
        layouts = [lay(photo, options.regions) for photo in photos]
        spent = 1e3 * (process_time() - start) / len(photos)
        by_region = sum(right(one.region_of_pixel, maps[name]) for one, name in zip(layouts, names, strict=True))
        by_node = sum(right(one.superpixels.numbers, maps[name]) for one, name in zip(layouts, names, strict=True))
        n_regions = np.mean([len(one.superpixels.regions) for one in layouts])
        n_nodes = np.mean([one.superpixels.n_nodes for one in layouts])
        line = f"{by_region / n_pixels:.4f} | {by_node / n_pixels:.4f} | {n_regions:.1f} | {n_nodes:.0f} | {spent:.0f}"
        print(f"| {way} | {line} |", flush=True)


if __name__ == "__main__":
    main()

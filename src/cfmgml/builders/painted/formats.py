"""One painted picture after another into files: indexed PNGs, GeoJSON, COCO.

Each format is a context with a function in it that takes a picture; every file is written in one step.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from cfmgml.builders.painted.patches import Outline, outlines
from cfmgml.builders.pictures.image_files import import_pillow
from cfmgml.common.files import atomic_write
from cfmgml.common.tables import write_table
from cfmgml.common.typing import BoolArray, NumberArray
from cfmgml.plots.colours import hex_colours, label_colours

LEGEND = "legend.csv"
MOST_IN_PALETTE = 255  # beside 0, for nothing


class PaintedPicture(NamedTuple):
    """A picture's label map."""

    name: str  # of the files made of it, without suffix
    file: str  # what it was painted on
    labels: NumberArray  # (height, width), -1 for none


Writer: TypeAlias = Callable[[PaintedPicture], None]


# -- masks -----------------------------------------------------------------------------------


@contextmanager
def mask_files(folder: Path, names: Sequence[str]) -> Iterator[Writer]:
    """A PNG a picture: 0 where there is nothing, c + 1 for label c, in a palette that the legend explains; above 255
    labels 16 bits a pixel and no palette."""
    pillow = import_pillow()
    folder.mkdir(parents=True, exist_ok=True)
    _write_legend(folder / LEGEND, names)

    def write(picture: PaintedPicture) -> None:
        few = len(names) <= MOST_IN_PALETTE
        image = pillow.fromarray((picture.labels + 1).astype(np.uint8 if few else np.uint16))
        if few:
            image.putpalette(bytes([0, 0, 0, *label_colours(len(names)).ravel()]))
        with atomic_write(folder / f"{picture.name}.png") as stream:
            image.save(stream, format="PNG")

    yield write


def _write_legend(path: Path, names: Sequence[str]) -> None:
    meanings = zip(["", *names], ["#000000", *hex_colours(len(names))], strict=True)
    write_table([{"index": k, "label": label, "colour": colour} for k, (label, colour) in enumerate(meanings)], path)


# -- GeoJSON ---------------------------------------------------------------------------------


@contextmanager
def geojson_files(folder: Path, names: Sequence[str]) -> Iterator[Writer]:
    """A collection of polygons a picture, in pixels from its top left corner: x to the right, y down."""
    folder.mkdir(parents=True, exist_ok=True)
    colours = hex_colours(len(names))

    def write(picture: PaintedPicture) -> None:
        features = [
            {
                "type": "Feature",
                "properties": {"label": names[patch.label], "colour": colours[patch.label], "area": patch.area},
                "geometry": {"type": "Polygon", "coordinates": _closed_rings(patch)},
            }
            for patch in outlines(picture.labels)
        ]
        with atomic_write(folder / f"{picture.name}.geojson") as stream:
            stream.write(_json({"type": "FeatureCollection", "features": features}))

    yield write


def _closed_rings(patch: Outline) -> list[list[list[int]]]:
    return [[*ring.tolist(), ring[0].tolist()] for ring in (patch.outer, *patch.holes)]


# -- COCO ------------------------------------------------------------------------------------


@contextmanager
def coco_file(path: Path, names: Sequence[str]) -> Iterator[Writer]:
    """One file for all pictures: a mask in run lengths for each picture and each label painted on it.

    What is painted may be one thing or several: by COCO's rules that is a crowd (``iscrowd``), whose mask is in runs.
    """
    images: list[dict[str, Any]] = []
    categories = [{"id": number, "name": name} for number, name in enumerate(names, start=1)]
    n_written = 0

    with atomic_write(path) as stream:

        def write(picture: PaintedPicture) -> None:
            nonlocal n_written
            height, width = picture.labels.shape
            images.append({"id": len(images) + 1, "file_name": picture.file, "width": width, "height": height})
            for label in np.unique(picture.labels[picture.labels >= 0]).tolist():
                n_written += 1
                about = {"id": n_written, "image_id": len(images), "category_id": label + 1, "iscrowd": 1}
                _add(stream, {**about, **coco_mask(picture.labels == label)}, first=n_written == 1)

        stream.write(b'{"annotations": [')
        yield write
        stream.write(b'\n], "images": ' + _json(images) + b', "categories": ' + _json(categories) + b"}\n")


def coco_mask(mask: BoolArray) -> dict[str, Any]:
    """What an annotation says of its mask: runs down the columns, beginning with those outside; box and area.

    >>> coco_mask(np.array([[False, True], [False, True], [False, False]]))
    {'segmentation': {'size': [3, 2], 'counts': [3, 2, 1]}, 'bbox': [1, 0, 1, 2], 'area': 2}
    """
    flat = np.concatenate([[False], mask.ravel(order="F")])
    ends = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]), [mask.size]])
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = [columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1]
    return {
        "segmentation": {"size": list(mask.shape), "counts": np.diff(ends).tolist()},
        "bbox": [int(side) for side in box],
        "area": int(np.count_nonzero(mask)),
    }


def _add(stream: IO[bytes], annotation: dict[str, Any], first: bool) -> None:
    """Written as they come: all of them would not fit into memory."""
    stream.write((b"\n" if first else b",\n") + _json(annotation))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()

"""Where the regions of a picture lie: masks that ``--segments`` reads again."""

from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.builders.pictures.image_files import import_pillow
from cfmgml.builders.pictures.picture_graphs import Recipe, read_picture, regions_and_superpixels
from cfmgml.builders.pictures.source_files import find_source_files
from cfmgml.common.files import atomic_write
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset


def region_mask(bags: BagDataset, bag: int = 0, image: Any = None, segments: Any = None) -> IntArray:
    """The number of the region that every pixel belongs to, as in ``NAME#NUMBER``; 0 where there is none.

    It has the size at which the picture was built: larger ones were scaled down to ``max_side``. ``image`` and
    ``segments`` are what the bag was built from; by default they are read from the files again.

    >>> from cfmgml.datasets import bags_from_images
    >>> photo = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> photo[:, 30:] = 200
    >>> mask = region_mask(bags_from_images([photo], max_regions=2), image=photo)
    >>> mask.shape, np.unique(mask).tolist()
    ((40, 60), [1, 2])
    """
    one = bags[bag]
    if one.info.get("builder") != "images" or one.bag_names is None or one.graph_names is None:
        raise ValueError("only bags built from pictures have regions with a place.")
    recipe = Recipe.from_json(one.info["parameters"])
    if image is None:
        image, segments = find_source_files(one.info, str(one.bag_names[0]))
    picture, numbers, _ = read_picture(image, segments, recipe)
    superpixels, _ = regions_and_superpixels(picture.pixels, numbers, recipe)
    if not np.array_equal(superpixels.node_ptr, one.graphs.node_ptr):
        raise ValueError(f"{one.bag_names[0]} has other regions now than when its bag was built.")
    of_node = superpixels.regions[segment_ids(superpixels.node_ptr)]
    return np.append(of_node, 0)[superpixels.numbers]  # numbers are -1 outside


def write_masks(bags: BagDataset, folder: str | Path) -> None:
    """A PNG a bag, each file in one step: 8 bits a pixel, or 16 if there are more than 255 regions."""
    pillow = import_pillow()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(bags.n_bags):
        mask = region_mask(bags, number)
        name = str(bags.bag_names[number]) if bags.bag_names is not None else str(number)
        with atomic_write(folder / f"{Path(name).name}.png") as stream:
            pillow.fromarray(mask.astype(np.uint8 if mask.max() < 256 else np.uint16)).save(stream, format="PNG")

"""Where nodes and regions of a picture lie: maps of numbers, and masks that ``--segments`` reads again."""

from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES, import_pillow
from cfmgml.builders.pictures.layout import layout_of_bag
from cfmgml.common.files import atomic_write
from cfmgml.common.typing import IntArray, NumberArray
from cfmgml.data.bags import BagDataset
from cfmgml.reading.paths import stems_of_names


def node_map(
    bags: BagDataset,
    bag: int = 0,
    *,
    image: Any = None,
    segments: Any = None,
    folder: str | Path | None = None,
    original: bool = True,
) -> NumberArray:
    """The superpixel that every pixel belongs to, counted from 0 within the bag; -1 where there is none.

    Parameters
    ----------
    bags, bag
        Built from pictures, and which of them.
    image, segments, folder
        What the bag was built from, or where its files lie; by default they are read from the files again.
    original
        At the size of the picture itself, turned as its EXIF data say; else at the size at which it was built, where
        larger ones were scaled down to ``max_side``.

    Examples
    --------
    >>> from cfmgml.datasets import bags_from_images
    >>> photo = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> photo[:, 30:] = 200
    >>> bags = bags_from_images([photo], max_regions=2)
    >>> nodes = node_map(bags, image=photo)
    >>> nodes.shape, len(np.unique(nodes)) == bags.graphs.n_nodes
    ((40, 60), True)
    """
    layout = layout_of_bag(bags[bag], image, segments, folder)
    numbers = layout.superpixels.numbers.astype(np.int32)
    if not original or not layout.picture.is_scaled:
        return numbers
    rows, columns = (
        ((np.arange(wanted) + 0.5) * built / wanted).astype(np.int64)
        for wanted, built in zip(layout.picture.original_size, numbers.shape, strict=True)
    )
    return numbers[np.ix_(rows, columns)]


def region_mask(
    bags: BagDataset, bag: int = 0, image: Any = None, segments: Any = None, folder: Any = None
) -> IntArray:
    """The number of the region that every pixel belongs to, as in ``NAME#NUMBER``; 0 where there is none.

    It has the size at which the picture was built: larger ones were scaled down to ``max_side``. ``image``,
    ``segments`` and ``folder`` are as for `node_map`.

    >>> from cfmgml.datasets import bags_from_images
    >>> photo = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> photo[:, 30:] = 200
    >>> mask = region_mask(bags_from_images([photo], max_regions=2), image=photo)
    >>> mask.shape, np.unique(mask).tolist()
    ((40, 60), [1, 2])
    """
    layout = layout_of_bag(bags[bag], image, segments, folder)
    of_region = np.append(layout.superpixels.regions, 0)  # the last is for pixels outside, which have -1
    return of_region[layout.region_of_pixel]


def write_region_masks(bags: BagDataset, into: Path, **content: Any) -> None:
    """A PNG a bag, each file in one step: 8 bits a pixel, or 16 if there are more than 255 regions."""
    into.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(stems_of_names(bags.bag_names, bags.n_bags, IMAGE_SUFFIXES)):
        mask = region_mask(bags, number, **content)
        with atomic_write(into / f"{name}.png") as stream:
            kind = np.uint8 if mask.max() < 256 else np.uint16
            import_pillow().fromarray(mask.astype(kind)).save(stream, format="PNG")

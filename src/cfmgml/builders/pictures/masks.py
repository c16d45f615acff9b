"""Where the regions of a picture lie: masks that ``--segments`` reads again."""

from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.builders.pictures.image_files import import_pillow
from cfmgml.builders.pictures.layout import layout_of_bag
from cfmgml.common.files import atomic_write
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
    layout = layout_of_bag(bags[bag], image, segments)
    of_region = np.append(layout.superpixels.regions, 0)  # the last is for pixels outside, which have -1
    return of_region[layout.region_of_pixel]


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

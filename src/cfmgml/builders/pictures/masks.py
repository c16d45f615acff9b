"""Where the regions of a picture lie: masks that ``--segments`` reads again."""

from typing import Any

import numpy as np

from cfmgml.builders.pictures.layout import layout_of_bag
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

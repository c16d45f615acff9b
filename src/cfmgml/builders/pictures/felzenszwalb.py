"""Regions as they were found before superpixels were merged, for bags and models from then.

Felzenszwalb & Huttenlocher's graph-based segmentation (IJCV 2004), whose count of regions cannot be asked for, followed
by merging the two touching regions that differ least (Ward's criterion on mean Lab colour) until few enough are left.
"""

import numpy as np

from cfmgml.builders.pictures.image_files import ByteArray
from cfmgml.builders.pictures.label_maps import renumbered, touching
from cfmgml.common.extras import missing_extra
from cfmgml.common.typing import FloatArray, IntArray

SCALE = 100.0
MIN_SHARE = 0.005  # of the picture; smaller regions are not looked for


def felzenszwalb_regions(pixels: ByteArray, max_regions: int) -> IntArray:
    """Each pixel's region, 1 to at most ``max_regions``; a picture of one colour is one region."""
    try:
        from skimage.color import rgb2lab
        from skimage.segmentation import felzenszwalb
    except ImportError as error:
        raise ImportError(missing_extra("finding regions needs scikit-image", "images")) from error
    smallest = max(2, round(MIN_SHARE * pixels.shape[0] * pixels.shape[1]))
    fine = felzenszwalb(pixels, scale=SCALE, sigma=0.8, min_size=smallest)
    return _merge(renumbered(fine)[1], rgb2lab(pixels), max_regions) + 1


def _merge(fine: IntArray, lab: FloatArray, max_regions: int) -> IntArray:
    size = np.bincount(fine.ravel()).astype(np.float64)
    total: FloatArray = np.stack([np.bincount(fine.ravel(), lab[:, :, c].ravel()) for c in range(3)], axis=1)
    touch = np.zeros((len(size), len(size)), dtype=bool)
    touch[tuple(touching(fine)[0])] = True
    touch |= touch.T
    home = np.arange(len(size))
    for _ in range(len(size) - max_regions):
        mean = total / size[:, None]
        a, b = np.nonzero(np.triu(touch))
        cost = size[a] * size[b] / (size[a] + size[b]) * ((mean[a] - mean[b]) ** 2).sum(axis=1)
        keep, lose = a[cost.argmin()], b[cost.argmin()]  # the two most alike
        size[keep] += size[lose]
        total[keep] += total[lose]
        touch[keep] |= touch[lose]
        touch[:, keep] = touch[keep]
        touch[lose] = touch[:, lose] = touch[keep, keep] = False
        home[home == lose] = keep
    return renumbered(home)[1][fine]

"""Superpixels: the nodes of a picture's graphs, and which of them touch.

Inside regions that are known, one region at a time, so that no superpixel crosses a region's outline; else of the whole
picture, for regions to be found among them.
"""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from cfmgml.builders.pictures.image_files import ByteArray, ImageError
from cfmgml.builders.pictures.label_maps import renumbered, touching
from cfmgml.builders.pictures.slic import slic
from cfmgml.common.extras import missing_extra
from cfmgml.common.segments import offsets, segment_ids
from cfmgml.common.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Superpixels:
    """The superpixels of one picture, numbered over the picture, region after region."""

    numbers: IntArray  # (height, width): each pixel's superpixel, -1 outside all regions
    regions: IntArray  # (n_regions,): the regions' own numbers, rising
    node_ptr: IntArray  # (n_regions + 1,): region k has superpixels node_ptr[k] to node_ptr[k + 1]

    @property
    def n_nodes(self) -> int:
        return int(self.node_ptr[-1])

    def edges(self) -> tuple[IntArray, IntArray]:
        """Touching superpixels of one region, both directions, as (2, n_edges), and the edges' offsets."""
        pairs, _ = touching(self.numbers)
        region = segment_ids(self.node_ptr)
        pairs = pairs[:, region[pairs[0]] == region[pairs[1]]]
        both = np.concatenate([pairs, pairs[::-1]], axis=1)
        both = both[:, np.lexsort(both[::-1])]
        return both, offsets(np.bincount(region[both[0]], minlength=len(self.regions)))


def find_superpixels(
    pixels: ByteArray, regions: IntArray, *, pixels_per_node: float, min_nodes: int, max_nodes: int
) -> Superpixels:
    """Superpixels of each region; ``regions`` gives each pixel's region, -1 for none."""
    distinct, index = renumbered(np.maximum(regions, -1))
    index, distinct = index + (distinct[0] >= 0), distinct[distinct >= 0]  # 0 is outside
    if not len(distinct):
        raise ImageError("no region is left of the image: all its pixels are void.")
    lab = lab_colours(pixels)
    numbers = np.full(regions.shape, -1, dtype=np.int64)
    sizes = np.zeros(len(distinct), dtype=np.int64)
    for k, box in enumerate(ndimage.find_objects(index)):
        mask = index[box] == k + 1
        n_pixels = int(np.count_nonzero(mask))
        n_nodes = min(max(round(n_pixels / pixels_per_node), min_nodes), max_nodes, n_pixels)
        inside = slic(lab[box], mask, n_nodes)
        numbers[box][mask] = inside + sizes.sum()
        sizes[k] = inside.max() + 1
    return Superpixels(numbers, distinct, offsets(sizes))


def whole_superpixels(lab: FloatArray, n_superpixels: int) -> Superpixels:
    """At most so many superpixels of a whole picture, which is one region."""
    height, width, _ = lab.shape
    everywhere = np.ones((height, width), dtype=bool)
    numbers = slic(lab, everywhere, min(n_superpixels, height * width)).reshape(height, width)
    return Superpixels(numbers, np.array([1]), np.array([0, numbers.max() + 1]))


def lab_colours(pixels: ByteArray) -> FloatArray:
    """Lab colours in float32, (height, width, 3)."""
    try:
        from skimage.color import rgb2lab
    except ImportError as error:
        raise ImportError(missing_extra("superpixels need scikit-image", "images")) from error
    return np.asarray(rgb2lab(pixels / np.float32(255)))

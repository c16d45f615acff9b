"""Regions of a photo that nobody has segmented: touching superpixels that are alike.

The picture is cut into superpixels once. They are merged until few enough are left, and stay the nodes of the regions
that they end in. By default colours say what is alike: brightness counts half, since one thing may be lit and shaded,
and how much colours vary counts as much as their mean (chosen on half of MSRC v2's photos: benchmarks/regions.py).
"""

import numpy as np

from cfmgml.builders.pictures.label_maps import renumbered, sizes_and_centres, touching
from cfmgml.builders.pictures.merging import Bounds, merge_touching
from cfmgml.builders.pictures.superpixels import Superpixels
from cfmgml.common.compiled import compiled
from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray, IntArray

BRIGHTNESS = 0.5  # its weight beside the two other numbers of a Lab colour
ALIKE = 1.0  # a difference in colour that is hard to see
MIN_SHARE = 0.005  # of the picture; no region is smaller


def colour_rows(lab: FloatArray, superpixels: Superpixels) -> FloatArray:
    """Mean and standard deviation of each superpixel's Lab colours, (n_superpixels, 6)."""
    sizes, sums = _colour_sums(superpixels.numbers, np.ascontiguousarray(lab), superpixels.n_nodes)
    mean, square = np.hsplit(sums / sizes[:, None], 2)
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    return np.concatenate([mean * (BRIGHTNESS, 1, 1), spread], axis=1)


@compiled
def _colour_sums(numbers: IntArray, lab: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Pixels of each superpixel, and sums of their colours and of the squares of these, (n, 6)."""
    sizes, sums = np.zeros(n), np.zeros((n, 6))
    for y in range(numbers.shape[0]):
        for x in range(numbers.shape[1]):
            k = numbers[y, x]
            sizes[k] += 1
            for channel in range(3):
                value = np.float64(lab[y, x, channel])
                sums[k, channel] += value
                sums[k, channel + 3] += value**2
    return sizes, sums


def find_regions(cut: Superpixels, rows: FloatArray, bounds: Bounds, max_nodes: int) -> tuple[Superpixels, IntArray]:
    """The superpixels of a whole picture, region after region, and which of these each of them became.

    In a region with more than ``max_nodes`` superpixels those that are most alike and near each other become one.
    """
    (sizes, centres), (pairs, _) = sizes_and_centres(cut.numbers, cut.n_nodes), touching(cut.numbers)
    region = merge_touching(rows, sizes, pairs, bounds)
    first = np.arange(len(sizes))  # of the superpixels that became one node
    for large in np.flatnonzero(np.bincount(region) > max_nodes):
        inside = region == large
        own, place = np.flatnonzero(inside), np.cumsum(inside) - 1
        within = place[pairs[:, inside[pairs].all(axis=0)]]
        near = _with_place(rows[own], centres[own])
        piece = merge_touching(near, sizes[own], within, Bounds(max_nodes))
        first[own] = own[np.unique(piece, return_index=True)[1][piece]]
    kept, node = renumbered(first)
    node = np.argsort(np.argsort(region[kept], kind="stable"))[node]
    ptr = offsets(np.bincount(region[kept]))
    return Superpixels(node[cut.numbers], np.arange(1, len(ptr)), ptr), node


def _with_place(rows: FloatArray, centres: FloatArray) -> FloatArray:
    """Rows and places, which vary as much as the rows do: what looks the same is told apart by where it is."""
    varied, place = (np.linalg.norm(part - part.mean(axis=0)) for part in (rows, centres))
    return np.concatenate([rows, centres * ((varied or 1.0) / (place or 1.0))], axis=1)

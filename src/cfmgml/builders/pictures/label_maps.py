"""Maps of numbers over a picture: which numbers occur, and which of them touch."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from cfmgml.common.typing import BoolArray, IntArray

LabelMap = NDArray[np.integer]


def renumbered(numbers: LabelMap) -> tuple[IntArray, IntArray]:
    """The numbers that occur, rising, and each entry's place among them: `np.unique` without its sort.

    >>> renumbered(np.array([[7, 7], [2, 9]]))
    (array([2, 7, 9]), array([[1, 1],
           [0, 2]]))
    """
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > 2**20:
        distinct, index = np.unique(numbers, return_inverse=True)
        return distinct.astype(np.int64), index.reshape(numbers.shape)
    moved = numbers.astype(np.int64) - low
    there = np.bincount(moved.ravel()) > 0
    return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[moved]


def innermost(mask: BoolArray) -> tuple[int, int]:
    """The place in a mask that is furthest from its outline: x, y."""
    depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    y, x = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(x), int(y)


def touching(numbers: LabelMap) -> tuple[IntArray, IntArray]:
    """Pairs a < b of numbers that meet at a pixel's side, as (2, n_pairs), in order, and how many sides they share.

    Negative numbers touch nothing.

    >>> touching(np.array([[0, 0, 1], [2, 2, -1]]))
    (array([[0, 0],
           [1, 2]]), array([1, 2]))
    """
    sides = [(numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])]
    met = [(first[differ], second[differ]) for first, second in sides for differ in [(first != second)]]
    first, second = (np.concatenate([pair[k] for pair in met]).astype(np.int64) for k in (0, 1))
    low, high = np.minimum(first, second), np.maximum(first, second)
    width = int(high.max(initial=0)) + 1
    pairs, n_sides = np.unique((low * width + high)[low >= 0], return_counts=True)
    return np.stack(np.divmod(pairs, width)), n_sides

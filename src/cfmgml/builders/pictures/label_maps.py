"""Maps of numbers over a picture: which numbers occur, and which of them touch."""

import numpy as np
from numpy.typing import NDArray

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import BoolArray, FloatArray, IntArray

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


def innermost(numbers: LabelMap, n: int) -> list[tuple[int, int]]:
    """For each number below ``n``, all of which occur, the place that is furthest from its outline: x, y.

    >>> innermost(np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]]), 2)
    [(1, 1), (3, 0)]
    """
    rows, columns = np.divmod(_deepest(np.ascontiguousarray(numbers, dtype=np.int64), n), numbers.shape[1])
    return list(zip(columns.tolist(), rows.tolist(), strict=True))


@compiled
def _deepest(numbers: IntArray, n: int) -> IntArray:
    """Where each number is deepest inside, by steps of 3 straight and 4 askew (Borgefors, CVGIP 1986)."""
    height, width = numbers.shape
    depth = np.zeros((height + 2, width + 2), dtype=np.int64)
    around = np.full((height + 2, width + 2), -1)
    around[1:-1, 1:-1] = numbers
    for way in (1, -1):  # from the top left, and from the bottom right
        for row in range(height):
            for column in range(width):
                y, x = (row + 1, column + 1) if way == 1 else (height - row, width - column)
                least = 2**40 if way == 1 else depth[y, x]
                for down, right, step in ((0, -1, 3), (-1, -1, 4), (-1, 0, 3), (-1, 1, 4)):
                    v, u = y + way * down, x + way * right
                    least = min(least, step + (depth[v, u] if around[v, u] == around[y, x] else 0))
                depth[y, x] = least
    best, place = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for y in range(height):
        for x in range(width):
            k = numbers[y, x]
            if k >= 0 and depth[y + 1, x + 1] > best[k]:
                best[k], place[k] = depth[y + 1, x + 1], y * width + x
    return place


@compiled
def sizes_and_centres(numbers: IntArray, n: int) -> tuple[IntArray, FloatArray]:
    """How many pixels each number below ``n`` has, and their mean row and column, (n, 2)."""
    sizes, sums = np.zeros(n, dtype=np.int64), np.zeros((n, 2))
    for y in range(numbers.shape[0]):
        for x in range(numbers.shape[1]):
            k = numbers[y, x]
            if k >= 0:
                sizes[k] += 1
                sums[k, 0] += y
                sums[k, 1] += x
    return sizes, sums / sizes.reshape(-1, 1)


def touching(numbers: LabelMap, wanted: BoolArray | None = None) -> tuple[IntArray, IntArray]:
    """Pairs a < b of numbers that meet at a pixel's side, as (2, n_pairs), in order, and how many sides they share.

    Negative numbers touch nothing; ``wanted`` leaves pairs with at least one of these numbers.

    >>> touching(np.array([[0, 0, 1], [2, 2, -1]]))
    (array([[0, 0],
           [1, 2]]), array([1, 2]))
    """
    whole = np.ascontiguousarray(numbers, dtype=np.int64)
    low, high = _sides(whole, np.ones(max(whole.max(), 0) + 1, dtype=bool) if wanted is None else wanted)
    width = int(high.max(initial=0)) + 1
    pairs, n_sides = np.unique(low * width + high, return_counts=True)
    return np.stack(np.divmod(pairs, width)), n_sides


@compiled
def _sides(numbers: IntArray, wanted: BoolArray) -> tuple[IntArray, IntArray]:
    """The two numbers of every side of a pixel where they differ, the lower one first."""
    height, width = numbers.shape
    low, high = np.empty(2 * numbers.size, dtype=np.int64), np.empty(2 * numbers.size, dtype=np.int64)
    n = 0
    for y in range(height):
        for x in range(width):
            here = numbers[y, x]
            for down, right in ((0, 1), (1, 0)):
                if y + down < height and x + right < width:
                    there = numbers[y + down, x + right]
                    if here != there and min(here, there) >= 0 and (wanted[here] or wanted[there]):
                        low[n], high[n] = min(here, there), max(here, there)
                        n += 1
    return low[:n], high[:n]

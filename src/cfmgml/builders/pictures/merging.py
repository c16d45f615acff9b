"""Touching pieces of a picture are merged, the two most alike first, until few are left.

Ward's criterion (JASA 1963) on rows of any width, such as mean colours or what a network says: merging a and b costs
their distance, squared, times s_a s_b / (s_a + s_b), which is how much the sum of squares within pieces grows.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from cfmgml.builders.pictures.label_maps import renumbered
from cfmgml.common.compiled import compiled
from cfmgml.common.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Bounds:
    """When to stop. What must be merged whatever it costs (a piece below the least, two that are one) comes first."""

    most: int  # pieces that are left
    least_nodes: int = 1
    least_size: float = 0.0
    alike: float | None = None  # the distance up to which two pieces are one, however few there are


def merge_touching(rows: FloatArray, sizes: IntArray | FloatArray, pairs: IntArray, bounds: Bounds) -> IntArray:
    """Which piece, from 0, every node ends in; pieces are numbered by their first node.

    ``rows`` (n_nodes, width) say what is alike, ``sizes`` (n_nodes,) how much a node weighs, ``pairs`` (2, n_pairs)
    which nodes touch. Of equal costs the pair of the lowest numbers comes first; what touches nothing stays alone.

    >>> pairs = np.array([[0, 1, 2], [1, 2, 3]])
    >>> merge_touching(np.array([[0.0], [1.0], [7.0], [8.5]]), np.ones(4), pairs, Bounds(2))
    array([0, 0, 1, 1])
    """
    alike = -1.0 if bounds.alike is None else bounds.alike**2
    limits = np.array([bounds.least_nodes, bounds.least_size, alike], dtype=np.float64)
    means, weights = np.array(rows, dtype=np.float64, order="C"), np.array(sizes, dtype=np.float64)
    return renumbered(_merge(means, weights, np.ascontiguousarray(pairs, dtype=np.int64), bounds.most, limits))[1]


@compiled
def _merge(means: FloatArray, weights: FloatArray, pairs: IntArray, most: int, limits: FloatArray) -> IntArray:
    """Each node's piece, by the number of its first node; means and weights are written over.

    A piece holds its ways to others as a chain of half-edges, one from each end of a pair, so that merging two pieces
    joins their chains. A heap holds what mergers cost; an entry older than one of its pieces is passed over.
    """
    n, n_pairs = len(weights), pairs.shape[1]
    first, last, after = np.full(n, -1), np.full(n, -1), np.full(2 * n_pairs, -1)
    for half in range(2 * n_pairs):
        own = pairs[half & 1, half >> 1]
        if first[own] < 0:
            first[own] = half
        else:
            after[last[own]] = half
        last[own] = half
    home, nodes, age, met = np.arange(n), np.ones(n), np.zeros(n, dtype=np.int64), np.full(n, -1)
    low, high, n_new = pairs[0].copy(), pairs[1].copy(), n_pairs  # mergers whose cost is not known yet
    heap = [(0, 0.0, 0, 0, 0) for _ in range(0)]
    left = n
    while True:
        for k in range(n_new):
            a, b = low[k], high[k]
            apart = 0.0
            for column in range(means.shape[1]):
                apart += (means[a, column] - means[b, column]) ** 2
            small = min(nodes[a], nodes[b]) < limits[0] or min(weights[a], weights[b]) < limits[1]
            cost = apart * weights[a] * weights[b] / (weights[a] + weights[b])
            heappush(heap, (0 if small or apart <= limits[2] else 1, cost, a, b, n - left))
        optional, a, b, time = 1, 0, 0, -1
        while len(heap) and time < 0:
            optional, _, a, b, time = heappop(heap)
            if home[a] != a or home[b] != b or time < max(age[a], age[b]):
                time = -1
        if time < 0 or (optional and left <= most):
            break
        share = weights[b] / (weights[a] + weights[b])
        means[a] += share * (means[b] - means[a])
        weights[a] += weights[b]
        nodes[a] += nodes[b]
        home[b] = a
        left -= 1
        age[a] = n - left
        after[last[a]] = first[b]
        last[a] = last[b]
        half, before, n_new = first[a], -1, 0
        while half >= 0:  # along the chain, which loses what is inside by now, and second ways to the same piece
            other = pairs[1 - (half & 1), half >> 1]
            while home[other] != other:
                home[other] = home[home[other]]
                other = home[other]
            if other == a or met[other] == left:
                if before < 0:
                    first[a] = after[half]
                else:
                    after[before] = after[half]
            else:
                met[other] = left
                low[n_new], high[n_new] = min(a, other), max(a, other)
                n_new += 1
                before = half
            half = after[half]
        last[a] = before
    for k in range(n):
        while home[k] != home[home[k]]:
            home[k] = home[home[k]]
    return home

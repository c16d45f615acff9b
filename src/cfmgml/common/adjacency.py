"""Neighbour lists of a batch of graphs, from its edges: one pass that counts, one that fills, one that sorts."""

import numpy as np

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import IntArray


def neighbour_lists(edges: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """Offsets (n_nodes + 1,) and neighbours, sorted, each once; direction and loops are ignored.

    >>> neighbour_lists(np.array([[0, 1, 2, 2], [1, 0, 2, 0]]), 3)
    (array([0, 2, 3, 4]), array([1, 2, 0, 0]))
    """
    ptr, neighbours = np.zeros(n_nodes + 1, dtype=np.int64), np.empty(edges.size, dtype=np.int64)
    _fill(edges[0], edges[1], ptr, neighbours)
    n_kept = int(_sort(ptr, neighbours))
    return ptr, neighbours[:n_kept] if n_kept == edges.size else neighbours[:n_kept].copy()


@compiled
def _fill(source, target, ptr, neighbours):  # type: ignore[no-untyped-def]
    # ptr[v + 1] counts v's neighbours; then it goes from where v's begin to where they end
    for k in range(len(source)):
        if source[k] != target[k]:
            ptr[source[k] + 1] += 1
            ptr[target[k] + 1] += 1
    total = 0
    for node in range(1, len(ptr)):
        total += ptr[node]
        ptr[node] = total - ptr[node]
    for k in range(len(source)):
        a, b = source[k], target[k]
        if a != b:
            neighbours[ptr[a + 1]] = b
            neighbours[ptr[b + 1]] = a
            ptr[a + 1] += 1
            ptr[b + 1] += 1


@compiled
def _sort(ptr, neighbours):  # type: ignore[no-untyped-def]
    # Lists become sorted and without repetition, and move up into the room that this leaves.
    kept, start = 0, 0
    for node in range(len(ptr) - 1):
        stop = ptr[node + 1]
        if stop - start > 16:
            neighbours[start:stop].sort()
        else:
            for k in range(start + 1, stop):
                value, place = neighbours[k], k
                while place > start and neighbours[place - 1] > value:
                    neighbours[place] = neighbours[place - 1]
                    place -= 1
                neighbours[place] = value
        first = kept
        for k in range(start, stop):
            if kept == first or neighbours[kept - 1] != neighbours[k]:
                neighbours[kept] = neighbours[k]
                kept += 1
        start, ptr[node + 1] = stop, kept
    return kept

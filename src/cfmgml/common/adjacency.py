"""Neighbour lists of a batch of graphs, from its edges: one pass that counts, one that fills, one that sorts.

With labels of edges, lists are sorted by counting twice, by neighbour and then by node, so that hubs cost no more.
"""

from typing import NamedTuple

import numpy as np

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import BoolArray, IntArray

SEEN = {"undirected": 0, "directed": 1, "as stored": 2}


class Arcs(NamedTuple):
    """What each node has around it: a neighbour and the label of an edge, each pair once, loops left out."""

    ptr: IntArray  # (n_nodes + 1,)
    neighbours: IntArray  # sorted, a node at a time
    labels: IntArray
    inward: BoolArray  # the edge arrives at the node; True only where directions are told apart
    differing: IntArray  # (0,) or (1,): an edge whose labels in the other direction are others, where that is no rule


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


def labelled_arcs(edges: IntArray, labels: IntArray, n_nodes: int, seen: str) -> Arcs:
    """Neighbours with the labels of their edges.

    ``seen`` is ``"undirected"`` (an edge has its labels whichever way it is stored), ``"directed"``, or
    ``"as stored"``: as undirected, but between nodes whose two directions differ in their labels, as directed.

    >>> arcs = labelled_arcs(np.array([[0, 1, 1], [1, 0, 2]]), np.array([7, 7, 8]), 3, "undirected")
    >>> arcs.ptr, arcs.neighbours, arcs.labels
    (array([0, 1, 3, 4]), array([1, 0, 2, 1]), array([7, 7, 8, 8]))
    """
    edges = np.ascontiguousarray(edges)
    ptr, entries = np.zeros(n_nodes + 1, dtype=np.int64), np.empty((2, edges.size), dtype=np.int64)
    _sort_entries(edges, ptr, entries)
    arcs, inward = np.empty((2, edges.size), dtype=np.int64), np.zeros(edges.size, dtype=np.bool_)
    n = int(_merge(edges, labels, SEEN[seen], ptr, entries[1], arcs, inward))
    differing = np.array([-1 - n] if n < 0 else [], dtype=np.int64)
    n = max(n, 0)
    return Arcs(ptr, arcs[0, :n].copy(), arcs[1, :n].copy(), inward[:n].copy(), differing)


@compiled
def _sort_entries(edges, ptr, entries):  # type: ignore[no-untyped-def]
    # Entry k < n is edge k seen from its source, k + n edge k seen from its target. Sorted by the neighbour seen, then,
    # in the order so reached, by the node that sees it: an edge's outward entries come before inward ones.
    source, target = edges[0], edges[1]
    n, n_nodes = len(source), len(ptr) - 1
    first = np.zeros(n_nodes + 1, dtype=np.int64)
    for k in range(n):
        if source[k] != target[k]:
            for end in (source[k], target[k]):
                first[end + 1] += 1
                ptr[end + 1] += 1
    for node in range(n_nodes):
        first[node + 1] += first[node]
        ptr[node + 1] += ptr[node]
    place = ptr.copy()
    for entry in range(2 * n):
        k = entry if entry < n else entry - n
        if source[k] != target[k]:
            far = target[k] if entry < n else source[k]
            entries[0, first[far]] = entry
            first[far] += 1
    for row in range(ptr[n_nodes]):
        entry = entries[0, row]
        near = source[entry] if entry < n else target[entry - n]
        entries[1, place[near]] = entry
        place[near] += 1


@compiled
def _merge(edges, labels, seen, ptr, entries, arcs, inward):  # type: ignore[no-untyped-def]
    # A run is one neighbour of one node: its outward labels, then its inward ones, each sorted and without repetition.
    source, target, neighbours, kept = edges[0], edges[1], arcs[0], arcs[1]
    n, used, start = len(source), 0, 0
    for node in range(len(ptr) - 1):
        stop, row = ptr[node + 1], start
        while row < stop:
            begin, entry, middle, end = row, entries[row], used, used
            far = target[entry] if entry < n else source[entry - n]
            for side in range(2):
                middle, place = end, end
                while row < stop:
                    entry = entries[row]
                    k = entry if entry < n else entry - n
                    if (entry < n) != (side == 0) or (target[k] if side == 0 else source[k]) != far:
                        break
                    kept[place] = labels[k]
                    place += 1
                    row += 1
                if place - middle > 1:
                    kept[middle:place].sort()
                for i in range(middle, place):
                    if end == middle or kept[end - 1] != kept[i]:
                        kept[end] = kept[i]
                        end += 1
            same = middle == used or end == middle
            if middle - used == end - middle:
                same = True
                for i in range(middle - used):
                    same = same and kept[used + i] == kept[middle + i]
                if same and seen != 1:
                    end = middle
            if not same and seen == 0:
                return -1 - (entries[begin] if entries[begin] < n else entries[begin] - n)
            for i in range(used, end):
                neighbours[i] = far
                inward[i] = i >= middle and (seen == 1 or not same)
            used = end
        start, ptr[node + 1] = stop, used
    return used

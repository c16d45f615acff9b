"""Compiled loops of the miner: growing embeddings, canonical codes, subgraph search.

A pattern is a DFS code (Yan & Han, ICDM 2002): its edges (source, target) in the order of a depth-first search that
numbers the nodes, and its node labels. An edge with source < target goes forward, to a new node; any other goes back
from the last node. The rightmost path is held from the last node up to the root.

The order of codes that continue one code: back edges first, those to nodes nearer the root before others; then forward
edges, from the last node first and then up the path; then by the new node's label. `key` numbers stand for that order.
"""

import numpy as np

from cfmgml.common.compiled import compiled


@compiled
def extensions(embeddings, path, joined, graphs, n_labels, may_grow, limit):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Every way in which an embedding goes on by one edge.

    ``embeddings`` (n, n_nodes) are nodes of the graphs, ``joined`` (n_nodes, n_nodes) the pattern's adjacency, and
    ``graphs`` the labels of nodes and their neighbours, as offsets and indices. Returns how many there are and, unless
    that is above ``limit``, the embedding, the key and the new node (-1 for a back edge) of each. Nodes with labels
    below the root's are not tried: a code that had them would not be the least one.
    """
    labels, indptr, indices = graphs
    n_nodes = embeddings.shape[1]
    on_path = np.zeros(n_nodes, np.bool_)
    for p in path:
        on_path[p] = True
    count = 0
    rows, keys, nodes = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    for filling in range(2):
        if filling:
            if count > limit:
                break
            rows, keys, nodes = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
            count = 0
        for row in range(len(embeddings)):
            least = labels[embeddings[row, 0]]
            for p in range(len(path)):
                if p > 0 and not may_grow:
                    break
                at = embeddings[row, path[p]]
                for e in range(indptr[at], indptr[at + 1]):
                    to = indices[e]
                    inside = -1
                    for q in range(n_nodes):
                        if embeddings[row, q] == to:
                            inside = q
                            break
                    if inside >= 0:
                        if p > 0 or not on_path[inside] or joined[path[0], inside]:
                            continue
                        key = inside
                        to = -1
                    else:
                        if not may_grow or labels[to] < least:
                            continue
                        key = n_nodes + p * n_labels + labels[to]
                    if filling:
                        rows[count], keys[count], nodes[count] = row, key, to
                    count += 1
    return count, rows, keys, nodes


@compiled
def is_least_code(source, target, labels):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether no other depth-first search of the pattern gives a smaller code.

    The least code is built edge by edge, with all its embeddings in the pattern, until it differs from the given one.
    """
    n_edges, n_nodes = len(source), len(labels)
    n_labels = labels.max() + 1
    joined = np.zeros((n_nodes, n_nodes), np.bool_)
    for e in range(n_edges):
        joined[source[e], target[e]] = joined[target[e], source[e]] = True
    places = np.empty((2 * n_edges, n_nodes), np.int16)
    count = 0
    for a in range(n_nodes):
        for b in range(n_nodes):
            if joined[a, b]:
                if labels[a] < labels[0] or (labels[a] == labels[0] and labels[b] < labels[1]):
                    return False
                if labels[a] == labels[0] and labels[b] == labels[1]:
                    places[count, 0], places[count, 1] = a, b
                    count += 1
    covered = np.zeros((n_nodes, n_nodes), np.bool_)  # of the code so far
    covered[0, 1] = covered[1, 0] = True
    path = np.empty(n_nodes, np.int64)
    path[0], path[1], length, known = 1, 0, 2, 2
    for e in range(1, n_edges):
        wanted = target[e]
        if source[e] < target[e]:
            for p in range(length):
                if path[p] == source[e]:
                    wanted = known + p * n_labels + labels[target[e]]
        going_on = np.empty((count + 1, n_nodes), np.int16)
        n_going_on = 0
        for row in range(count):
            for p in range(length):
                at = places[row, path[p]]
                for to in range(n_nodes):
                    if not joined[at, to]:
                        continue
                    inside = -1
                    for q in range(known):
                        if places[row, q] == to:
                            inside = q
                            break
                    if inside >= 0:
                        if p > 0 or covered[path[0], inside]:
                            continue
                        on_path = False
                        for q in range(length):
                            on_path = on_path or path[q] == inside
                        if not on_path:
                            continue
                        key = inside
                    else:
                        key = known + p * n_labels + labels[to]
                    if key < wanted:
                        return False
                    if key == wanted:
                        if n_going_on == len(going_on):
                            longer = np.empty((2 * n_going_on, n_nodes), np.int16)
                            longer[:n_going_on] = going_on
                            going_on = longer
                        going_on[n_going_on, :known] = places[row, :known]
                        if inside < 0:
                            going_on[n_going_on, known] = to
                        n_going_on += 1
        places, count = going_on[:n_going_on], n_going_on
        covered[source[e], target[e]] = covered[target[e], source[e]] = True
        if source[e] < target[e]:
            start = 0
            while path[start] != source[e]:
                start += 1
            kept = path[start:length].copy()
            path[0] = target[e]
            path[1 : len(kept) + 1] = kept
            length = len(kept) + 1
            known += 1
    return True


@compiled
def find_patterns(patterns, graphs, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set ``out`` (n_graphs, n_patterns) where a graph contains a pattern, by backtracking along its code."""
    node_ptr, edge_ptr, pattern_labels, source, target = patterns
    graph_ptr, labels, indptr, indices = graphs
    for k in range(len(node_ptr) - 1):
        wanted = pattern_labels[node_ptr[k] : node_ptr[k + 1]]
        src, dst = source[edge_ptr[k] : edge_ptr[k + 1]], target[edge_ptr[k] : edge_ptr[k + 1]]
        n_edges = len(src)
        place = np.empty(len(wanted), np.int64)
        pointer = np.empty(n_edges + 1, np.int64)
        for g in range(len(graph_ptr) - 1):
            for root in range(graph_ptr[g], graph_ptr[g + 1]):
                if labels[root] != wanted[0] or out[g, k]:
                    continue
                place[0] = root
                depth, entering = 0, True
                while depth >= 0:
                    if depth == n_edges:
                        out[g, k] = True
                        break
                    at = place[src[depth]]
                    if src[depth] > dst[depth]:
                        holds = False
                        if entering:
                            for e in range(indptr[at], indptr[at + 1]):
                                if indices[e] == place[dst[depth]]:
                                    holds = True
                                    break
                        entering = holds
                        depth += 1 if holds else -1
                        continue
                    if entering:
                        pointer[depth] = indptr[at]
                    entering = False
                    while pointer[depth] < indptr[at + 1] and not entering:
                        to = indices[pointer[depth]]
                        pointer[depth] += 1
                        if labels[to] == wanted[dst[depth]]:
                            entering = True
                            for q in range(dst[depth]):
                                if place[q] == to:
                                    entering = False
                            if entering:
                                place[dst[depth]] = to
                    depth += 1 if entering else -1

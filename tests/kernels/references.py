"""Kernels by brute force: slow, short, and obviously right."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np


def _around(graph, edge_labels):
    """For every node, each different pair of neighbour and what its edge says, from the edges one by one."""
    found = {v: set() for v in range(graph.n_nodes)}
    labels = [None] * graph.n_edges if not edge_labels else graph.edge_labels.tolist()
    for a, b, label in zip(*graph.edges.tolist(), labels, strict=True):
        if a != b:
            found[a].add((b, label, "out" if edge_labels == "directed" else ""))
            found[b].add((a, label, "in" if edge_labels == "directed" else ""))
    return found


def colour_counts(graphs, n_iter, edge_labels=False):
    """Counts of labels refined through a dictionary that all graphs share."""
    names, made = {}, [_around(g, edge_labels) for g in graphs]
    colours = [{v: ("label", label) for v, label in enumerate(g.node_labels.tolist())} for g in graphs]
    counts = [Counter() for _ in made]
    for step in range(n_iter + 1):
        for count, colour in zip(counts, colours, strict=True):
            count.update((step, c) for c in colour.values())
        colours = [
            {v: names.setdefault((c[v], tuple(sorted(str((c[u], *e)) for u, *e in g[v]))), len(names)) for v in g}
            for g, c in zip(made, colours, strict=True)
        ]
    return counts


def weisfeiler_lehman(graphs, n_iter, edge_labels=False):
    counts = colour_counts(graphs, n_iter, edge_labels)
    return np.array([[sum(a[k] * b[k] for k in a) for b in counts] for a in counts], dtype=float)


def min_max(graphs, n_iter, edge_labels=False):
    counts = colour_counts(graphs, n_iter, edge_labels)
    return np.array([[(a & b).total() / (a | b).total() for b in counts] for a in counts])


def shortest_paths(graph):
    """Every shortest path, both directions, paths of one node included."""
    found = [[v] for v in graph]
    for a, b in itertools.permutations(graph, 2):
        if nx.has_path(graph, a, b):
            found.extend(nx.all_shortest_paths(graph, a, b))
    return found


def graph_hopper(graphs, node_kernel):
    made = graphs.to_networkx()
    for graph in made:
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    paths = [shortest_paths(graph) for graph in made]

    def value(i, j):
        same = ((p, q) for p in paths[i] for q in paths[j] if len(p) == len(q))
        return sum(node_kernel(made[i].nodes[u], made[j].nodes[v]) for p, q in same for u, v in zip(p, q, strict=True))

    return np.array([[value(i, j) for j in range(len(made))] for i in range(len(made))], dtype=float)


def node_sum(graphs, node_kernel):
    made = graphs.to_networkx()
    data = [[d for _, d in g.nodes(data=True)] for g in made]
    return np.array([[sum(node_kernel(u, v) for u in a for v in b) for b in data] for a in data], dtype=float)


def rbf(gamma):
    return lambda u, v: np.exp(-gamma * ((u["attributes"] - v["attributes"]) ** 2).sum())


def linear(u, v):
    return u["attributes"] @ v["attributes"]


def delta(u, v):
    return float(u["label"] == v["label"])

"""Small graphs and bags to try rules on, made from a seed."""

import itertools
import random

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch


def made_graph(rng: np.random.Generator, n_nodes: int, density: float) -> GraphBatch:
    """A random graph with labels 0 to 2, of edges 0 and 1, and two attributes; often disconnected, or one node."""
    coin = random.Random(int(rng.integers(2**31)))
    pairs = [pair for pair in itertools.combinations(range(n_nodes), 2) if coin.random() < density]
    edges = [end for one, other in pairs for end in ((one, other), (other, one))]
    nodes = [(int(rng.integers(3)), rng.normal(size=2)) for _ in range(n_nodes)]
    return GraphBatch(
        np.array([0, n_nodes]),
        np.array([0, len(edges)]),
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        node_labels=np.array([label for label, _ in nodes]),
        node_attributes=np.array([attributes for _, attributes in nodes]),
        edge_labels=np.array([(one * other + one + other) % 2 for one, other in edges], dtype=np.int64),
    )


def made_graphs(n_graphs: int, seed: int = 0, largest: int = 8) -> GraphBatch:
    """Random graphs of one to ``largest`` nodes.

    >>> made_graphs(12)
    GraphBatch(12 graphs, 57 nodes, 78 edges; 2 attributes, labels, edge labels)
    """
    rng = np.random.default_rng(seed)
    return GraphBatch.concatenate(
        [made_graph(rng, int(rng.integers(1, largest + 1)), rng.uniform(0, 0.7)) for _ in range(n_graphs)]
    )


def made_bags(n_bags: int, seed: int = 0, n_labels: int = 4) -> BagDataset:
    """Bags whose graphs carry one of up to four labels each, visible in their attributes and node labels.

    >>> made_bags(5)
    BagDataset(5 bags, 14 graphs, 4 labels; 1.40 labels a bag, graph labels)
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=n_bags)
    truth = rng.integers(n_labels, size=sizes.sum())
    plain = made_graphs(int(sizes.sum()), seed + 1)
    assert plain.node_labels is not None
    assert plain.node_attributes is not None
    nodes = np.repeat(truth, np.diff(plain.node_ptr))
    graphs = GraphBatch(
        plain.node_ptr,
        plain.edge_ptr,
        plain.edges,
        node_labels=plain.node_labels + 3 * nodes,
        node_attributes=0.5 * plain.node_attributes + np.eye(n_labels)[nodes][:, :2] * 2 + nodes[:, None] * 0.5,
        edge_labels=plain.edge_labels,
    )
    graph_Y = np.eye(n_labels, dtype=bool)[truth]
    ptr = offsets(sizes)
    Y = np.logical_or.reduceat(graph_Y, ptr[:-1])
    return BagDataset(graphs, ptr, Y, graph_Y, label_names=np.array(list("abcd")[:n_labels]))


def shuffle_nodes(graphs: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """The same graphs with the nodes of each in another order."""
    bounds = itertools.pairwise(graphs.node_ptr.tolist())
    order = np.concatenate([start + rng.permutation(stop - start) for start, stop in bounds])
    arrays = {**graphs.arrays(), "edges": np.argsort(order)[graphs.edges]}
    by_node = {name: arrays[name][order] for name in arrays if name.startswith("node_") and name != "node_ptr"}
    return GraphBatch(**{**arrays, **by_node})


def shuffle_graphs(bags: BagDataset, rng: np.random.Generator) -> BagDataset:
    """The same bags with the graphs of each, and the nodes of each graph, in another order."""
    bounds = itertools.pairwise(bags.bag_ptr.tolist())
    order = np.concatenate([start + rng.permutation(stop - start) for start, stop in bounds])
    return BagDataset(shuffle_nodes(bags.graphs[order], rng), bags.bag_ptr, bags.Y, label_names=bags.label_names)

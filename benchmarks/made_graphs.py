"""Graphs made up for benchmarks: as many as asked for, the same for the same seed, in every library's own format.

They look like superpixels of a segment: 10 to 40 points in the plane joined by their Delaunay triangulation, so
connected, planar, about five neighbours a node. Attributes are square roots of histograms around a few hundred
prototypes, as colour and gradient histograms are.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial import Delaunay


class MadeGraphs(NamedTuple):
    """Flat arrays and offsets: what every library's input is made from."""

    node_ptr: np.ndarray  # (n_graphs + 1,)
    edge_ptr: np.ndarray  # (n_graphs + 1,)
    edges: np.ndarray  # (2, n_edges), each edge once
    labels: np.ndarray  # (n_nodes,)
    attributes: np.ndarray  # (n_nodes, n_attributes), float32

    @property
    def n_graphs(self) -> int:
        return len(self.node_ptr) - 1


def make_graphs(n_graphs, n_attributes=0, alphabet=50, seed=0, sizes=(10, 40)):
    rng = np.random.default_rng(seed)
    counts = rng.integers(sizes[0], sizes[1] + 1, n_graphs)
    node_ptr = np.concatenate([[0], np.cumsum(counts)])
    found = [triangulation(rng.random((n, 2))) + start for n, start in zip(counts, node_ptr[:-1], strict=True)]
    edge_ptr = np.concatenate([[0], np.cumsum([edges.shape[1] for edges in found])])
    n_nodes = int(node_ptr[-1])
    labels = skewed_labels(rng, n_nodes, alphabet)
    return MadeGraphs(node_ptr, edge_ptr, np.hstack(found), labels, histograms(rng, n_nodes, n_attributes))


def triangulation(points):
    """Edges (2, n_edges) of the Delaunay triangulation, each once."""
    sides = Delaunay(points).simplices[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    return np.unique(np.sort(sides, axis=1), axis=0).T


def skewed_labels(rng, n_nodes, alphabet):
    """Some labels are common and most are rare, as words and colours are."""
    weights = 1 / np.arange(1, alphabet + 1)
    return rng.choice(alphabet, n_nodes, p=weights / weights.sum())


def histograms(rng, n_nodes, n_bins, n_prototypes=300, concentration=40.0):
    """Rows of unit length: square roots of histograms drawn around prototypes, most bins of which are empty."""
    if not n_bins:
        return np.zeros((n_nodes, 0), dtype=np.float32)
    prototypes = rng.dirichlet(np.full(n_bins, 0.02), n_prototypes)
    near, far = prototypes[rng.integers(n_prototypes, size=(2, n_nodes))]
    mixed = rng.random((n_nodes, 1)) ** 2
    mean = (1 - mixed) * near + mixed * far
    drawn = rng.standard_gamma(mean * concentration + 1e-9)
    return np.sqrt(drawn / drawn.sum(1, keepdims=True)).astype(np.float32)


def as_batch(made):
    from cfmgml import GraphBatch

    attributes = made.attributes if made.attributes.shape[1] else None
    return GraphBatch(made.node_ptr, made.edge_ptr, made.edges, made.labels, attributes)


def as_grakel(made, attributes=False):
    """A list of [edges, labels], nodes numbered from 0 in each graph, edges both ways: what GraKeL reads fastest."""
    graphs = []
    for k in range(made.n_graphs):
        start, stop = made.node_ptr[k : k + 2]
        pairs = (made.edges[:, slice(*made.edge_ptr[k : k + 2])] - start).T.tolist()
        edges = {tuple(pair): 1.0 for pair in pairs} | {(b, a): 1.0 for a, b in pairs}
        values = made.attributes[start:stop].astype(float) if attributes else made.labels[start:stop].tolist()
        graphs.append([edges, dict(enumerate(values))])
    return graphs


def as_networkx(made):
    import networkx as nx

    graphs = []
    for k in range(made.n_graphs):
        start, stop = made.node_ptr[k : k + 2]
        graph = nx.Graph()
        graph.add_nodes_from((i, {"label": str(label)}) for i, label in enumerate(made.labels[start:stop].tolist()))
        graph.add_edges_from((made.edges[:, slice(*made.edge_ptr[k : k + 2])] - start).T.tolist())
        graphs.append(graph)
    return graphs

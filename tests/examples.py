"""Graphs and bags for tests, and the registries whose every entry must keep a contract."""

import importlib.util
import os

import numpy as np
from hypothesis import strategies as st

from cfmgml import (
    CfMGML,
    GraphBatch,
    GraphHopper,
    NodeSum,
    Precomputed,
    ProductKernel,
    SumKernel,
    WeisfeilerLehman,
)
from cfmgml.baselines import HLK, M3MIML, MISVM, ActivationMaps, Dummy, GINAttention, MGMLent, MIMLfast, Pooled, SgslSVM
from cfmgml.checks.made import made_bags as random_bags
from cfmgml.checks.made import made_graph
from cfmgml.checks.made import made_graphs as random_graphs
from cfmgml.kernels import FunctionKernel, HashedWL, MinMaxWL

__all__ = ["ESTIMATORS", "KERNELS", "graph_batches", "random_bags", "random_graphs", "random_networkx"]


def random_networkx(rng, n_nodes, density):
    """A random graph with labels 0 to 2, of edges 0 and 1, and two attributes; often disconnected, or one node."""
    return made_graph(rng, n_nodes, density).to_networkx()[0]


def cosine_of_sizes(a, b):
    return np.outer(np.diff(a.node_ptr), np.diff(b.node_ptr))


def _precomputed():
    return Precomputed(np.cov(np.random.default_rng(0).normal(size=(200, 400))) + np.eye(200))


KERNELS = {
    "wl": lambda: WeisfeilerLehman(n_iter=3),
    "wl-0": lambda: WeisfeilerLehman(n_iter=0),
    "wl-tfidf": lambda: WeisfeilerLehman(n_iter=2, tfidf=True),
    "wl-shared": lambda: WeisfeilerLehman(n_iter=1, tfidf=True, min_graphs=2),
    "wl-hashed": lambda: HashedWL(n_iter=2),
    "wl-hashed-tfidf": lambda: HashedWL(n_iter=2, tfidf=True, n_bits=10),
    "wl-edges": lambda: WeisfeilerLehman(n_iter=3, edge_labels=True),
    "wl-edges-tfidf": lambda: WeisfeilerLehman(n_iter=2, tfidf=True, edge_labels="directed"),
    "wl-edges-hashed": lambda: HashedWL(n_iter=2, edge_labels=True),
    "wl-min-max": lambda: MinMaxWL(n_iter=2),
    "wl-min-max-edges": lambda: MinMaxWL(n_iter=3, edge_labels=True),
    "hopper-rbf": lambda: GraphHopper(gamma=0.7),
    "hopper-linear": lambda: GraphHopper("linear"),
    "hopper-delta": lambda: GraphHopper("delta"),
    "hopper-nystrom": lambda: GraphHopper(gamma=0.7, approximation="nystrom", n_components=20),
    "hopper-fourier": lambda: GraphHopper(gamma=0.7, approximation="fourier", n_components=30),
    "nodes-rbf": lambda: NodeSum(gamma=0.7),
    "nodes-linear": lambda: NodeSum("linear"),
    "nodes-delta": lambda: NodeSum("delta"),
    "sum": lambda: SumKernel([GraphHopper(gamma=0.7), WeisfeilerLehman(2)], weights=[1.0, 3.0]),
    "sum-explicit": lambda: SumKernel([GraphHopper("linear"), WeisfeilerLehman(2), NodeSum("delta")]),
    "sum-dense": lambda: SumKernel([GraphHopper("linear"), NodeSum("linear")]),
    "product": lambda: ProductKernel([NodeSum(gamma=0.7), WeisfeilerLehman(1)]),
    "precomputed": _precomputed,
    "function": lambda: FunctionKernel(cosine_of_sizes),
}

ESTIMATORS = {
    "cfmgml": lambda: CfMGML(alpha=1e-3),
    "cfmgml-wl": lambda: CfMGML(WeisfeilerLehman(2), alpha=1e-3),
    "cfmgml-sum": lambda: CfMGML(SumKernel([NodeSum(), WeisfeilerLehman(1)]), alpha=1e-3),
    "cfmgml-max": lambda: CfMGML(alpha=1e-3, irrelevant="max", term_weights="paper", class_weight="balanced"),
    "cfmgml-rank": lambda: CfMGML(NodeSum(), alpha=1e-3, rank=10),
    "cfmgml-context": lambda: CfMGML(NodeSum(), alpha=1e-3, context=0.4),
    "cfmgml-wl-edges": lambda: CfMGML(WeisfeilerLehman(2, edge_labels=True), alpha=1e-3),
    "cfmgml-wl-context": lambda: CfMGML(WeisfeilerLehman(2), alpha=1e-3, context=0.4),
    "cfmgml-thresholds": lambda: CfMGML(WeisfeilerLehman(2), alpha=1e-3, thresholds="counts", random_state=0),
    "cfmgml-refined": lambda: CfMGML(NodeSum(), alpha=1e-3, refine=2),
    "cfmgml-wl-refined": lambda: CfMGML(
        WeisfeilerLehman(2), alpha=1e-2, loss="hamming", term_weights="sum", context=0.4, refine=2
    ),
    "cfmgml-paper": lambda: CfMGML(alpha=1e-2, solver="paper", random_state=0),
    "cfmgml-printed": lambda: CfMGML(alpha=1e-1, solver="printed", n_rounds=2, max_iter=10, random_state=0),
    "hlk": lambda: HLK(alpha=1e-3),
    "dummy": Dummy,
    "sgsl-svm": SgslSVM,
    "activation-maps": ActivationMaps,
    "m3miml": M3MIML,
    "m3miml-mean": lambda: M3MIML(instances="mean"),
    "m3miml-frank-wolfe": lambda: M3MIML(solver="frank-wolfe", max_iter=50),
    "mi-svm": MISVM,
    "mi-svm-context": lambda: MISVM(context=0.4),
    "pooled": Pooled,
    "mi-svm-soft": lambda: MISVM(temperature=0.3, n_rounds=3),
    "miml-fast": lambda: MIMLfast(n_epochs=20, random_state=0),
    "mgml-ent": lambda: MGMLent(max_entropy=0.5, random_state=0),
}
if importlib.util.find_spec("torch") or os.environ.get("CI"):  # optional on a user's machine, never in CI
    ESTIMATORS["gin-attention"] = lambda: GINAttention(
        n_hidden=16, n_layers=2, n_epochs=20, learning_rate=0.05, random_state=0
    )


@st.composite
def graph_batches(draw, max_graphs=5, max_nodes=6):
    """Any small batch: single nodes, no edges, self-loops, parallel and one-way edges included; labels of edges are
    the same in both directions."""
    sizes = draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=max_graphs))
    node_ptr = np.concatenate([[0], np.cumsum(sizes)])
    edges, counts = [], []
    for start, size in zip(node_ptr[:-1], sizes, strict=True):
        node = st.integers(int(start), int(start) + size - 1)
        found = draw(st.lists(st.tuples(node, node), max_size=10))
        edges.extend(found)
        counts.append(len(found))
    n_nodes = int(node_ptr[-1])
    kinds = draw(st.lists(st.integers(-1, 1), min_size=2 * n_nodes, max_size=2 * n_nodes))
    labels = draw(st.lists(st.integers(-2, 2), min_size=n_nodes, max_size=n_nodes))
    value = st.floats(-3, 3, width=32)
    attributes = draw(st.lists(st.tuples(value, value), min_size=n_nodes, max_size=n_nodes))
    return GraphBatch(
        node_ptr,
        np.concatenate([[0], np.cumsum(counts)]),
        np.array(edges, dtype=int).reshape(-1, 2).T,
        node_labels=labels,
        node_attributes=np.array(attributes),
        edge_weights=np.arange(len(edges), dtype=float),
        edge_labels=[kinds[a + b] for a, b in edges],
    )

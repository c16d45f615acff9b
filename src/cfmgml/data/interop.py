"""Graphs of other libraries as flat arrays, and back."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import Array, ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import networkx as nx


def arrays_from_networkx(
    graphs: "list[nx.Graph]", label: str | None, attributes: str | None, weight: str | None
) -> dict[str, Array]:
    """The arrays of a batch from networkx graphs; the one place that walks them node by node."""
    for number, graph in enumerate(graphs):
        if not hasattr(graph, "nodes") or not hasattr(graph, "is_directed"):
            kind = type(graph).__name__
            raise TypeError(f"graph {number} is of type {kind}, not a networkx graph; pass a list of them.")
    node_ptr = offsets(np.array([len(graph) for graph in graphs], dtype=np.int64))
    parts = [_networkx_edges(graph, int(node_ptr[k]), weight, k) for k, graph in enumerate(graphs)]
    nodes = [(graph, node, number) for number, graph in enumerate(graphs) for node in graph.nodes]
    arrays: dict[str, Array] = {
        "node_ptr": node_ptr,
        "edge_ptr": offsets(np.array([pairs.shape[1] for pairs, _ in parts], dtype=np.int64)),
        "edges": np.concatenate([np.zeros((2, 0), dtype=np.int64), *(pairs for pairs, _ in parts)], axis=1),
    }
    if label is not None:
        arrays["node_labels"] = np.array([_node_value(*node, label) for node in nodes])
    if attributes is not None:
        vectors = [np.atleast_1d(_node_value(*node, attributes)) for node in nodes]
        arrays["node_attributes"] = _stack(vectors, attributes)
    if weight is not None:
        arrays["edge_weights"] = np.concatenate([np.zeros(0), *(values for _, values in parts)])
    if any(list(graph.nodes) != list(range(len(graph))) for graph in graphs):
        arrays["node_names"] = np.array([str(node) for _, node, _ in nodes])
    return arrays


def _networkx_edges(graph: "nx.Graph", start: int, weight: str | None, number: int) -> tuple[IntArray, FloatArray]:
    position = {node: k for k, node in enumerate(graph.nodes, start)}
    pairs, values = [], []
    for source, target, data in graph.edges(data=True):
        if weight is not None and weight not in data:
            edge = f"edge ({source!r}, {target!r}) of graph {number}"
            raise ValueError(f"{edge} has no {weight!r}; it has {sorted(data)}.")
        ends = [(position[source], position[target])]
        if not graph.is_directed() and source != target:
            ends.append(ends[0][::-1])
        pairs.extend(ends)
        values.extend([float(data[weight]) if weight is not None else 1.0] * len(ends))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T, np.array(values)


def _node_value(graph: "nx.Graph", node: Hashable, number: int, key: str) -> ArrayLike:
    data = graph.nodes[node]
    if key not in data:
        there = sorted(map(str, data)) or "no data"
        raise ValueError(f"node {node!r} of graph {number} has no {key!r}; it has {there}.")
    return data[key]


def _stack(vectors: list[Array], name: str) -> Array:
    sizes = sorted({len(vector) for vector in vectors})
    if len(sizes) > 1:
        raise ValueError(f"all nodes must have the same number of {name!r}, got {sizes}.")
    return np.array(vectors, dtype=np.float64).reshape(len(vectors), sizes[0] if sizes else 0)


def networkx_from_arrays(arrays: dict[str, Array], directed: bool) -> "nx.Graph":
    """One networkx graph from the arrays of a batch of one."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("to_networkx needs networkx: pip install 'cfmgml[networkx]'.") from error
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(int(arrays["node_ptr"][-1])))
    keys = {"node_labels": "label", "node_attributes": "attributes", "node_names": "name"}
    for field, key in keys.items():
        if field in arrays:
            values = arrays[field] if field == "node_attributes" else arrays[field].tolist()
            nx.set_node_attributes(graph, dict(enumerate(values)), key)
    pairs = arrays["edges"].T.tolist()
    if "edge_weights" in arrays:
        weights = arrays["edge_weights"].tolist()
        graph.add_weighted_edges_from((*pair, weight) for pair, weight in zip(pairs, weights, strict=True))
    else:
        graph.add_edges_from(pairs)
    return graph


def arrays_from_pyg(graphs: list[Any], label: str | None, attributes: str | None) -> dict[str, Array]:
    """The arrays of a batch from PyTorch Geometric ``Data`` objects (anything with those attributes will do)."""
    for number, graph in enumerate(graphs):
        for key in ("num_nodes", "edge_index", *(k for k in (label, attributes) if k is not None)):
            if getattr(graph, key, None) is None:
                raise ValueError(f"graph {number} has no {key!r}.")
    sizes = np.array([int(graph.num_nodes) for graph in graphs], dtype=np.int64)
    node_ptr = offsets(sizes)
    edges = [np.asarray(graph.edge_index, dtype=np.int64).reshape(2, -1) for graph in graphs]
    shifted = [pairs + start for pairs, start in zip(edges, node_ptr[:-1], strict=True)]
    columns = {name: key for name, key in (("node_labels", label), ("node_attributes", attributes)) if key is not None}
    return {
        "node_ptr": node_ptr,
        "edge_ptr": offsets(np.array([pairs.shape[1] for pairs in edges], dtype=np.int64)),
        "edges": np.concatenate(shifted, axis=1) if shifted else np.zeros((2, 0), dtype=np.int64),
        **{name: np.concatenate([np.asarray(getattr(g, key)) for g in graphs]) for name, key in columns.items()},
    }

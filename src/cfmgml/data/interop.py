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
    edges, weights, vectors = list[Array](), list[Array](), list[Array]()
    labels, names = list[object](), list[str]()
    shift, plain = 0, True
    for number, graph in enumerate(graphs):
        if not hasattr(graph, "nodes") or not hasattr(graph, "is_directed"):
            kind = type(graph).__name__
            raise TypeError(f"graph {number} is of type {kind}, not a networkx graph; pass a list of them.")
        position = {node: k for k, node in enumerate(graph.nodes, start=shift)}
        names.extend(str(node) for node in graph.nodes)
        plain = plain and list(graph.nodes) == list(range(len(position)))
        pairs, values = _networkx_edges(graph, position, weight, number)
        edges.append(pairs)
        weights.append(values)
        if label is not None:
            labels.extend(_node_value(graph, node, label, number) for node in graph.nodes)
        if attributes is not None:
            vectors.extend(np.atleast_1d(_node_value(graph, node, attributes, number)) for node in graph.nodes)
        shift += len(position)
    arrays = {
        "node_ptr": offsets(np.array([len(graph) for graph in graphs], dtype=np.int64)),
        "edge_ptr": offsets(np.array([pairs.shape[1] for pairs in edges], dtype=np.int64)),
        "edges": np.concatenate(edges, axis=1) if edges else np.zeros((2, 0), dtype=np.int64),
        "node_labels": np.array(labels),
        "edge_weights": np.concatenate([np.zeros(0), *weights]),
        "node_names": np.array(names),
    }
    if attributes is not None:
        arrays["node_attributes"] = _stack(vectors, attributes)
    left_out = {"node_labels": label is None, "edge_weights": weight is None, "node_names": plain}
    return {name: array for name, array in arrays.items() if not left_out.get(name)}


def _networkx_edges(
    graph: "nx.Graph", position: dict[Hashable, int], weight: str | None, number: int
) -> tuple[IntArray, FloatArray]:
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


def _node_value(graph: "nx.Graph", node: Hashable, key: str, number: int) -> ArrayLike:
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

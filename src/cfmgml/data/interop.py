"""Graphs of other libraries as flat arrays, and back."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cfmgml.common.extras import install_command, missing_extra
from cfmgml.common.segments import offsets
from cfmgml.common.typing import Array, ArrayLike, FloatArray, IntArray
from cfmgml.data.checks import label_codes

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data as PygData

EDGE_DATA = {"edge_weights": "weight", "edge_labels": "label"}  # fields, and what networkx calls them
PYG_DATA = {  # what PyG calls them
    "node_attributes": ("x", np.float32),
    "node_labels": ("node_label", np.int64),
    "edge_weights": ("edge_weight", np.float32),
    "edge_labels": ("edge_attr", np.int64),
}
Edge: TypeAlias = tuple[Hashable, Hashable, dict[str, Any]]  # as networkx gives it, with its data


def arrays_from_networkx(
    graphs: "list[nx.Graph]", label: str | None, attributes: str | None, weight: str | None, edge_label: str | None
) -> dict[str, Array]:
    """The arrays of a batch from networkx graphs; the one place that walks them node by node."""
    for number, graph in enumerate(graphs):
        if not hasattr(graph, "nodes") or not hasattr(graph, "is_directed"):
            kind = type(graph).__name__
            raise TypeError(f"graph {number} is of type {kind}, not a networkx graph; pass a list of them.")
    node_ptr = offsets(np.array([len(graph) for graph in graphs], dtype=np.int64))
    parts = [_networkx_edges(graph, int(node_ptr[k])) for k, graph in enumerate(graphs)]
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
    edges = [(edge, number) for number, (_, found) in enumerate(parts) for edge in found]
    if weight is not None:
        arrays["edge_weights"] = np.array([float(_edge_value(*edge, weight)) for edge in edges])
    if edge_label is not None:
        arrays["edge_labels"] = np.array([_edge_value(*edge, edge_label) for edge in edges])
    if any(list(graph.nodes) != list(range(len(graph))) for graph in graphs):
        arrays["node_names"] = np.array([str(node) for _, node, _ in nodes])
    return arrays


def _networkx_edges(graph: "nx.Graph", start: int) -> tuple[IntArray, list[Edge]]:
    """Pairs of node numbers, and for each the edge: both directions of one that has none."""
    position = {node: k for k, node in enumerate(graph.nodes, start)}
    pairs, edges = list[tuple[int, int]](), list[Edge]()
    for edge in graph.edges(data=True):
        ends = [(position[edge[0]], position[edge[1]])]
        if not graph.is_directed() and edge[0] != edge[1]:
            ends.append(ends[0][::-1])
        pairs.extend(ends)
        edges.extend([edge] * len(ends))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T, edges


def _edge_value(edge: Edge, number: int, key: str) -> Any:
    source, target, data = edge
    if key not in data:
        there = sorted(map(str, data)) or "no data"
        raise ValueError(f"edge ({source!r}, {target!r}) of graph {number} has no {key!r}; it has {there}.")
    return data[key]


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
        raise ImportError(missing_extra("to_networkx needs networkx", "networkx")) from error
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(int(arrays["node_ptr"][-1])))
    keys = {"node_labels": "label", "node_attributes": "attributes", "node_names": "name"}
    for field, key in keys.items():
        if field in arrays:
            values = arrays[field] if field == "node_attributes" else arrays[field].tolist()
            nx.set_node_attributes(graph, dict(enumerate(values)), key)
    held = {key: arrays[field].tolist() for field, key in EDGE_DATA.items() if field in arrays}
    for k, pair in enumerate(arrays["edges"].T.tolist()):
        graph.add_edge(*pair, **{key: values[k] for key, values in held.items()})
    return graph


def arrays_from_pyg(
    graphs: list[Any], label: str | None, attributes: str | None, edge_label: str | None
) -> dict[str, Array]:
    """The arrays of a batch from PyTorch Geometric ``Data`` objects (anything with those attributes will do)."""
    for number, graph in enumerate(graphs):
        for key in ("num_nodes", "edge_index", *(k for k in (label, attributes, edge_label) if k is not None)):
            if getattr(graph, key, None) is None:
                raise ValueError(f"graph {number} has no {key!r}.")
    sizes = np.array([int(graph.num_nodes) for graph in graphs], dtype=np.int64)
    node_ptr = offsets(sizes)
    edges = [as_array(graph.edge_index).astype(np.int64).reshape(2, -1) for graph in graphs]
    shifted = [pairs + start for pairs, start in zip(edges, node_ptr[:-1], strict=True)]
    columns = {name: key for name, key in (("node_labels", label), ("node_attributes", attributes)) if key is not None}
    if edge_label is not None and graphs:
        columns["edge_labels"] = edge_label
    arrays = {
        "node_ptr": node_ptr,
        "edge_ptr": offsets(np.array([pairs.shape[1] for pairs in edges], dtype=np.int64)),
        "edges": np.concatenate(shifted, axis=1) if shifted else np.zeros((2, 0), dtype=np.int64),
        **{name: np.concatenate([as_array(getattr(g, key)) for g in graphs]) for name, key in columns.items()},
    }
    if "edge_labels" in arrays:
        arrays["edge_labels"] = one_label(arrays["edge_labels"], str(edge_label))
    return arrays


def as_array(tensor: Any) -> Array:
    """A tensor, wherever it lies and whether it requires gradients or not, or what numpy takes as it is."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def pyg_from_arrays(arrays: dict[str, Array]) -> "PygData":
    """One ``Data`` object from the arrays of a batch of one."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        hint = f"{install_command('torch_geometric')}, and torch"
        raise ImportError(f"to_pyg needs PyTorch Geometric: {hint}.") from error
    made = Data(edge_index=torch.tensor(arrays["edges"]), num_nodes=int(arrays["node_ptr"][-1]))
    for field, (key, dtype) in PYG_DATA.items():
        if field in arrays:
            made[key] = torch.tensor(arrays[field].astype(dtype))
    return made


def with_bag(data: "PygData", bag: int, labels: FloatArray | None) -> "PygData":
    import torch

    data.bag = torch.tensor([bag])
    if labels is not None:
        data.y = torch.tensor(labels[None].astype(np.float32))
    return data


def one_label(columns: Array, name: str) -> Array:
    """Whole numbers, a row an edge or node, as one label each: several columns become one stable code.

    >>> one_label(np.array([[3.0], [4.0]]), "edge_attr")
    array([3, 4])
    >>> one_label(np.array([[0.0, 1.0], [0.0, 1.0]]), "edge_attr")
    array([2024819301478721300, 2024819301478721300])
    """
    with np.errstate(invalid="ignore"):  # NaN is no whole number, and is told so below
        whole = np.asarray(columns).astype(np.int64)
    if (whole != columns).any():
        raise ValueError(f"{name!r} must be whole numbers to be labels, such as kinds of edges; leave it out else.")
    if whole.ndim == 1 or whole.shape[1] == 1:
        return whole.reshape(-1)
    return label_codes([",".join(map(str, row)) for row in whole.tolist()])

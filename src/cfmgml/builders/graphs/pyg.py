"""Graphs that PyTorch or PyTorch Geometric saved, as far as they can be read without running what is in the file."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from cfmgml.builders.graphs import GraphsRead
from cfmgml.common.extras import missing_extra
from cfmgml.data.graphs import GraphBatch

CONVERT = """convert it in Python, where you trust it: graphs = torch.load(FILE, weights_only=False); \
from cfmgml import BagDataset, GraphBatch; batch = GraphBatch.from_pyg(graphs); \
BagDataset(batch, bag_ptr, Y).save('data.bags')"""


def read_pyg(
    path: Path, node_label: str | None, node_attributes: list[str] | None, edge_label: str | None
) -> GraphsRead:
    """The graphs of a list: ``Data`` objects or dictionaries of tensors.

    ``edge_index`` is needed, ``x`` is read as attributes, ``edge_attr`` as edge labels if it holds integers, and ``y``
    as the graph's label or 0/1 labels.
    """
    graphs = [_graph(entry, path, number) for number, entry in enumerate(_load(path))]
    attributes = (node_attributes or ["x"])[0]
    if node_attributes is not None and len(node_attributes) > 1:
        raise ValueError(f"{path}: one tensor holds a PyG node's attributes, such as x; got {node_attributes}.")
    has = all(getattr(graph, attributes, None) is not None for graph in graphs)
    if edge_label is None and all(_has_integers(getattr(graph, "edge_attr", None)) for graph in graphs):
        edge_label = "edge_attr"
    chosen = attributes if has or node_attributes is not None else None
    batch = GraphBatch.from_pyg(graphs, node_label, chosen, edge_label)
    names = [str(k) for k in range(len(graphs))]
    parameters = {
        "node_label": node_label, "node_attributes": [attributes] if has else None, "edge_label": edge_label
    }  # fmt: skip
    return GraphsRead("PyG", batch, names, names, _labels(graphs), parameters)


def _load(path: Path) -> list[object]:
    try:
        import torch
    except ImportError as error:
        raise ImportError(missing_extra(f"{path} is PyTorch's and needs it", "gpu")) from error
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises whatever its reader meets
        first = str(error).strip().split("\n")[0]
        raise ValueError(f"{path} cannot be read safely ({first}): {CONVERT}.") from error
    entries = content if isinstance(content, list | tuple) else [content]
    if not entries:
        raise ValueError(f"{path} holds no graph.")
    return list(entries)


def _graph(entry: object, path: Path, number: int) -> SimpleNamespace:
    data = entry if isinstance(entry, dict) else entry.to_dict() if hasattr(entry, "to_dict") else None
    if data is None or "edge_index" not in data:
        raise ValueError(f"{path}: entry {number} must be a graph with edge_index, got {type(entry).__name__}.")
    graph = SimpleNamespace(**{str(name): value for name, value in data.items()})
    if getattr(graph, "num_nodes", None) is None:
        sized = next((data[name] for name in ("x", "node_label") if data.get(name) is not None), None)
        largest = int(data["edge_index"].max()) + 1 if data["edge_index"].numel() else 0
        graph.num_nodes = largest if sized is None else len(sized)
    return graph


def _has_integers(tensor: object) -> bool:
    return tensor is not None and np.issubdtype(np.asarray(tensor).dtype, np.integer)


def _labels(graphs: list[SimpleNamespace]) -> list[list[str]] | None:
    """A class number a graph, or a row of 0 and 1; None if there is no ``y``."""
    if any(getattr(graph, "y", None) is None for graph in graphs):
        return None
    rows = [np.atleast_1d(np.asarray(graph.y)).ravel() for graph in graphs]
    if all(len(row) == 1 for row in rows):
        return [[f"{row[0]:g}"] for row in rows]
    return [[str(k) for k in np.flatnonzero(row > 0)] for row in rows]

"""Graphs in the text format of the TUDataset collection (Morris et al. 2020)."""

from pathlib import Path

import numpy as np

from cfmgml.builders.graphs import GraphsRead
from cfmgml.common.segments import offsets
from cfmgml.common.typing import Array
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.interop import one_label


def find_tudataset(path: Path) -> Path | None:
    """The folder with ``NAME_A.txt`` and ``NAME_graph_indicator.txt``: this one, or ``raw`` in it as PyG keeps it."""
    for folder in (path, path / "raw", path / path.name / "raw"):
        if folder.is_dir() and _name_in(folder) is not None:
            return folder
    return None


def _name_in(folder: Path) -> str | None:
    names = [file.name.removesuffix("_graph_indicator.txt") for file in sorted(folder.glob("*_graph_indicator.txt"))]
    return next((name for name in names if (folder / f"{name}_A.txt").is_file()), None)


def read_tudataset(folder: Path) -> GraphsRead:
    """Graphs named by number from 1, each a bag of its own, labelled with its class."""
    name = _name_in(folder)
    graph_of = _numbers(folder / f"{name}_graph_indicator.txt", int).ravel() - 1
    if len(graph_of) == 0 or graph_of.min() < 0 or (np.diff(graph_of) < 0).any():
        raise ValueError(f"{folder / f'{name}_graph_indicator.txt'} must number graphs from 1, in order.")
    sizes = np.bincount(graph_of)
    edges, order = _edges(folder / f"{name}_A.txt", graph_of)
    labels = _optional(folder / f"{name}_node_labels.txt", int, len(graph_of))
    attributes = _optional(folder / f"{name}_node_attributes.txt", float, len(graph_of))
    names = [str(k + 1) for k in range(len(sizes))]
    edge_ptr = offsets(np.bincount(graph_of[edges[0]], minlength=len(sizes)))
    bonds = _optional(folder / f"{name}_edge_labels.txt", int, len(order))
    graphs = GraphBatch(
        offsets(sizes),
        edge_ptr,
        edges,
        None if labels is None else one_label(labels, "node labels"),
        attributes,
        edge_labels=None if bonds is None else one_label(bonds, "edge labels")[order],
    )
    classes = _optional(folder / f"{name}_graph_labels.txt", float, len(sizes))
    own = None if classes is None else [[f"{value:g}" for value in row] for row in classes.tolist()]
    return GraphsRead("TUDataset", graphs, names, names, own)


def _edges(path: Path, graph_of: Array) -> tuple[Array, Array]:
    """Edges, graph after graph, and the line that each is from."""
    pairs = _numbers(path, int).reshape(-1, 2).T - 1 if path.stat().st_size else np.zeros((2, 0), dtype=np.int64)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(graph_of):
        raise ValueError(f"{path} must name nodes 1 to {len(graph_of)}, got {pairs.min() + 1} to {pairs.max() + 1}.")
    across = np.flatnonzero(graph_of[pairs[0]] != graph_of[pairs[1]])
    if len(across):
        raise ValueError(f"{path}: line {across[0] + 1} joins nodes of two graphs.")
    order = np.argsort(graph_of[pairs[0]], kind="stable")
    return pairs[:, order], order


def _optional(path: Path, kind: type, n_rows: int) -> Array | None:
    if not path.is_file():
        return None
    values = _numbers(path, kind) if path.stat().st_size else np.zeros((0, 1), dtype=np.int64)
    if len(values) != n_rows:
        raise ValueError(f"{path} must have {n_rows} lines, got {len(values)}.")
    return values


def _numbers(path: Path, kind: type) -> Array:
    """Numbers with commas between them, (n_lines, n_columns)."""
    try:
        return np.loadtxt(path, delimiter=",", dtype=np.int64 if kind is int else np.float64, ndmin=2)
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must hold numbers with commas between them ({error}).") from error

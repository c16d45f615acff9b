"""Lists of graphs that other libraries made, a list a bag, as one batch.

A piece is a networkx graph, a PyTorch Geometric ``Data`` or ``Batch``, an RDKit molecule, or a `GraphBatch`, whose
graphs are then that many of the bag's. Which it is shows in what it has; no library is imported to tell.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.checks import label_codes
from cfmgml.data.graphs import GraphBatch

AnyGraphs: TypeAlias = Any  # a graph of any library, or several: each has attributes of its own


class Names(NamedTuple):
    """Which data of nodes and edges are read; None: what graphs of the kind usually have, if all have it."""

    label: str | None = None
    attributes: str | None = None
    weight: str | None = None
    edge_label: str | None = None


class Piece(NamedTuple):
    """A graph, or a batch of them, and where it was given."""

    bag: int
    number: int
    kind: str
    graph: AnyGraphs

    @property
    def n_graphs(self) -> int:
        return self.graph.n_graphs if self.kind == "batch" else 1


def gather(bags: Iterable[AnyGraphs], names: Names) -> tuple[GraphBatch, IntArray]:
    """All graphs, bag after bag, and how many each bag has."""
    inside = [_list(bag, number) for number, bag in enumerate(bags)]
    pieces = [
        Piece(bag, number, _kind(graph, bag, number), graph)
        for bag, row in enumerate(inside)
        for number, graph in enumerate(row)
    ]
    counts = np.bincount([p.bag for p in pieces], [p.n_graphs for p in pieces], len(inside)).astype(np.int64)
    empty = np.flatnonzero(counts == 0)
    if len(empty) or not len(counts):
        which = f"bag {empty[0]} has none (of {len(empty)} empty bags)" if len(empty) else "there is no bag"
        raise ValueError(f"every bag must have a graph; {which}.")
    runs = [(kind, list(run)) for kind, run in groupby(pieces, key=lambda piece: piece.kind)]
    return GraphBatch.concatenate([_batch(kind, run, names) for kind, run in runs]), counts


def _list(bag: AnyGraphs, number: int) -> list[AnyGraphs]:
    """The graphs of a bag, those of PyG's batches one by one."""
    if isinstance(bag, GraphBatch) or hasattr(bag, "to_data_list"):
        bag = [bag]
    if not isinstance(bag, Iterable) or hasattr(bag, "nodes") or isinstance(bag, str):
        raise TypeError(f"bag {number} must be a list of graphs, got {type(bag).__name__}; put it in a list.")
    rows = [piece.to_data_list() if hasattr(piece, "to_data_list") else [piece] for piece in bag]
    return [piece for row in rows for piece in row]


def _kind(graph: AnyGraphs, bag: int, number: int) -> str:
    if isinstance(graph, GraphBatch):
        return "batch"
    for kind, needed in (("networkx", "is_directed"), ("pyg", "edge_index"), ("rdkit", "GetAtoms")):
        if hasattr(graph, needed) and (kind != "networkx" or hasattr(graph, "nodes")):
            return kind
    raise TypeError(
        f"bag {bag}, graph {number} is of type {type(graph).__name__}; a graph is one of networkx, PyTorch Geometric "
        "or RDKit, or a GraphBatch."
    )


def _batch(kind: str, pieces: list[Piece], names: Names) -> GraphBatch:
    """All at once; if that fails, one by one, to say which it is."""
    try:
        return KINDS[kind]([piece.graph for piece in pieces], names)
    except (ValueError, TypeError) as error:
        for piece in pieces:
            try:
                KINDS[kind]([piece.graph], names)
            except (ValueError, TypeError) as own:
                raise type(own)(f"bag {piece.bag}, graph {piece.number}: {own}") from error
        raise


def _from_networkx(graphs: list[AnyGraphs], names: Names) -> GraphBatch:
    def usual(given: str | None, key: str, of: str) -> str | None:
        """The name given; else the usual one, if everything has data of it."""
        every = [data for graph in graphs for *_, data in getattr(graph, of)(data=True)]
        return key if given is None and every and all(key in data for data in every) else given

    return GraphBatch.from_networkx(
        graphs,
        usual(names.label, "label", "nodes"),
        usual(names.attributes, "attributes", "nodes"),
        names.weight,
        usual(names.edge_label, "label", "edges"),
    )


def _from_pyg(graphs: list[AnyGraphs], names: Names) -> GraphBatch:
    has_x = all(getattr(graph, "x", None) is not None for graph in graphs)
    attributes = "x" if names.attributes is None and has_x else names.attributes
    return GraphBatch.from_pyg(graphs, names.label, attributes, names.edge_label)


def _from_rdkit(molecules: list[AnyGraphs], names: Names) -> GraphBatch:
    """Atoms by their symbols, bonds by their types: what `bags_from_molecules` makes is richer."""
    atoms = [[atom.GetSymbol() for atom in molecule.GetAtoms()] for molecule in molecules]
    bonds = [
        [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), str(bond.GetBondType())) for bond in molecule.GetBonds()]
        for molecule in molecules
    ]
    node_ptr = offsets(np.array([len(row) for row in atoms]))
    ends = [(one + start, other + start) for row, start in zip(bonds, node_ptr, strict=False) for one, other, _ in row]
    symbols = np.array([symbol for row in atoms for symbol in row], dtype=np.str_)
    return GraphBatch(
        node_ptr,
        offsets(np.array([len(row) for row in bonds])),
        np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        node_labels=label_codes(symbols),
        node_names=symbols,
        edge_labels=label_codes([kind for row in bonds for *_, kind in row]),
    )


KINDS: dict[str, Callable[[list[AnyGraphs], Names], GraphBatch]] = {
    "networkx": _from_networkx,
    "pyg": _from_pyg,
    "rdkit": _from_rdkit,
    "batch": lambda batches, names: GraphBatch.concatenate(batches),
}

"""Many graphs as one: `GraphBatch`.

A batch holds its graphs as one disconnected graph, in flat arrays with offsets; a batch of one is a single graph.

>>> triangle_and_dot = GraphBatch(
...     node_ptr=[0, 3, 4], edge_ptr=[0, 3, 3], edges=[[0, 1, 2], [1, 2, 0]], node_labels=[7, 7, 8, 9])
>>> triangle_and_dot
GraphBatch(2 graphs, 4 nodes, 3 edges; labels)
>>> triangle_and_dot[1].node_labels
array([9])

What the kernels see
--------------------
``edges`` may hold an undirected edge once or in both directions. Every kernel sees the simple undirected graph
underneath, `GraphBatch.adjacency`: direction is ignored, parallel edges count once and self-loops not at all. A graph
may be disconnected or have no edges or one node only. Edge weights are kept; kernels ignore them unless they say so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from cfmgml.common.adjacency import neighbour_lists
from cfmgml.common.digests import short_digest
from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.segments import check_index, lengths, segment_ids, take_segments
from cfmgml.common.typing import Array, ArrayLike, FloatArray, Index, IntArray, NameArray
from cfmgml.data import interop

if TYPE_CHECKING:
    from networkx import Graph
    from torch_geometric.data import Data as PygData

WithEllipsis: TypeAlias = tuple[Index, EllipsisType]  # as scikit-learn indexes
NODE_FIELDS = ("node_labels", "node_attributes", "node_names")


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """Many graphs held as one disconnected graph.

    Parameters
    ----------
    node_ptr, edge_ptr
        Offsets of shape (n_graphs + 1,): graph k has nodes ``node_ptr[k]`` to ``node_ptr[k + 1]``.
    edges
        Shape (2, n_edges), numbered over the whole batch, each between nodes of one graph.
    node_labels
        Shape (n_nodes,): integers, or strings, which become stable integers (see `label_codes`).
    node_attributes
        Shape (n_nodes, n_attributes), finite.
    edge_weights
        Shape (n_edges,), finite.
    node_names
        Shape (n_nodes,): a word, a superpixel's number; for people, not for kernels.
    graph_ids
        Shape (n_graphs,): stable row numbers that selection keeps, for `Precomputed`; counted from 0 if left out.
    """

    node_ptr: IntArray
    edge_ptr: IntArray
    edges: IntArray
    node_labels: IntArray | None = None
    node_attributes: FloatArray | None = None
    edge_weights: FloatArray | None = None
    node_names: NameArray | None = None
    graph_ids: IntArray = None  # type: ignore[assignment]  # filled in by __post_init__

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "node_ptr", check_ptr(self.node_ptr, "node_ptr"))
        put(self, "edge_ptr", check_ptr(self.edge_ptr, "edge_ptr"))
        put(self, "edges", _check_edges(self.edges))
        self._check_offsets()
        self._check_edge_ends()
        put(self, "node_labels", _check_labels(self.node_labels, self.n_nodes))
        put(self, "node_attributes", _check_attributes(self.node_attributes, self))
        put(self, "edge_weights", _check_weights(self.edge_weights, self.n_edges))
        put(self, "node_names", check_names(self.node_names, self.n_nodes, "node_names", "node"))
        ids = np.arange(self.n_graphs) if self.graph_ids is None else check_integers(self.graph_ids, "graph_ids")
        put(self, "graph_ids", check_rows(ids, self.n_graphs, "graph_ids", "a graph"))
        for name, array in self.arrays().items():
            put(self, name, frozen(array))

    def _check_offsets(self) -> None:
        if len(self.node_ptr) != len(self.edge_ptr):
            sizes = f"{len(self.node_ptr)} and {len(self.edge_ptr)}"
            raise ValueError(f"node_ptr and edge_ptr must have one length, n_graphs + 1, got {sizes}.")
        empty = np.flatnonzero(lengths(self.node_ptr) == 0)
        if len(empty):
            raise ValueError(f"every graph must have a node; graph {empty[0]} has none (of {len(empty)} such graphs).")
        if self.edge_ptr[-1] != self.edges.shape[1]:
            raise ValueError(f"edge_ptr ends at {self.edge_ptr[-1]}, but there are {self.edges.shape[1]} edges.")

    def _check_edge_ends(self) -> None:
        graph = segment_ids(self.edge_ptr)
        wrong = (self.edges < self.node_ptr[graph]) | (self.edges >= self.node_ptr[graph + 1])
        if wrong.any():
            edge = int(np.flatnonzero(wrong.any(axis=0))[0])
            start, stop = self.node_ptr[graph[edge]], self.node_ptr[graph[edge] + 1]
            raise ValueError(
                f"edge {edge}, {tuple(self.edges[:, edge].tolist())}, leaves its graph {graph[edge]}, "
                f"whose nodes are {start} to {stop - 1}; edges are numbered over the whole batch."
            )

    @classmethod
    def _trusted(cls, **arrays: Array | None) -> Self:
        """A batch from arrays already known to fit, without checking them again."""
        batch = object.__new__(cls)
        for field in fields(cls):
            array = arrays.get(field.name)
            object.__setattr__(batch, field.name, None if array is None else frozen(array))
        return batch

    # -- what is in it -----------------------------------------------------------------------

    @property
    def n_graphs(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        return int(self.node_ptr[-1])

    @property
    def n_edges(self) -> int:
        return int(self.edge_ptr[-1])

    @property
    def n_attributes(self) -> int:
        return 0 if self.node_attributes is None else self.node_attributes.shape[1]

    @property
    def shape(self) -> tuple[int]:
        return (self.n_graphs,)

    def __len__(self) -> int:
        return self.n_graphs

    def __repr__(self) -> str:
        parts = [f"{self.n_attributes} attributes"] if self.node_attributes is not None else []
        named = {"labels": self.node_labels, "weights": self.edge_weights, "names": self.node_names}
        parts += [name for name, array in named.items() if array is not None]
        counts = f"{self.n_graphs:,} graphs, {self.n_nodes:,} nodes, {self.n_edges:,} edges"
        return f"GraphBatch({'; '.join([counts, ', '.join(parts)] if parts else [counts])})"

    @cached_property
    def adjacency(self) -> tuple[IntArray, IntArray]:
        """The simple undirected graph underneath, as CSR offsets (n_nodes + 1,) and sorted neighbours."""
        return neighbour_lists(self.edges, self.n_nodes)

    # -- selection ---------------------------------------------------------------------------

    def __getitem__(self, index: Index | WithEllipsis) -> Self:
        graphs = check_index(strip_ellipsis(index), self.n_graphs, "graphs")
        nodes, node_ptr = take_segments(self.node_ptr, graphs)
        rows, edge_ptr = take_segments(self.edge_ptr, graphs)
        shift = np.repeat(node_ptr[:-1] - self.node_ptr[graphs], np.diff(edge_ptr))
        return self._trusted(
            node_ptr=node_ptr,
            edge_ptr=edge_ptr,
            edges=self.edges[:, rows] + shift,
            edge_weights=None if self.edge_weights is None else self.edge_weights[rows],
            graph_ids=self.graph_ids[graphs],
            **{n: None if getattr(self, n) is None else getattr(self, n)[nodes] for n in NODE_FIELDS},
        )

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(self.n_graphs))

    @classmethod
    def concatenate(cls, batches: Iterable[Self], keep_ids: bool = False) -> Self:
        """One batch after the other; all must have the same kinds of node data.

        ``graph_ids`` count from 0 again unless ``keep_ids``: two batches may use the same numbers for different graphs.
        """
        parts = list(batches)
        if not parts:
            raise ValueError("concatenate needs at least one batch.")
        data = {n: [getattr(part, n) for part in parts] for n in (*NODE_FIELDS, "edge_weights")}
        for name, arrays in data.items():
            have = [array is not None for array in arrays]
            if len(set(have)) > 1:
                raise ValueError(f"batch {have.index(False)} has no {name} and batch {have.index(True)} has.")
        widths = [part.n_attributes for part in parts]
        if len(set(widths)) > 1:
            raise ValueError(f"batches must have the same number of attributes, got {sorted(set(widths))}.")
        shifts = np.cumsum([0, *(part.n_nodes for part in parts)])
        ids = np.concatenate([part.graph_ids for part in parts])
        return cls._trusted(
            node_ptr=_join_ptr([part.node_ptr for part in parts]),
            edge_ptr=_join_ptr([part.edge_ptr for part in parts]),
            edges=np.concatenate([part.edges + shift for part, shift in zip(parts, shifts, strict=False)], axis=1),
            graph_ids=ids if keep_ids else np.arange(len(ids)),
            **{n: None if arrays[0] is None else np.concatenate(arrays) for n, arrays in data.items()},
        )

    # -- other libraries and files -----------------------------------------------------------

    @classmethod
    def from_networkx(
        cls,
        graphs: "Sequence[Graph]",
        label: str | None = None,
        attributes: str | None = None,
        weight: str | None = None,
    ) -> Self:
        """Take networkx graphs; ``label``, ``attributes`` and ``weight`` name the node and edge data to read.

        Edges of an undirected graph are held in both directions. Nodes that are not simply
        0, 1, 2, ... leave their names in ``node_names``.

        >>> import networkx as nx
        >>> GraphBatch.from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
        GraphBatch(2 graphs, 7 nodes, 12 edges)
        """
        return cls(**interop.arrays_from_networkx(list(graphs), label, attributes, weight))

    def to_networkx(self, directed: bool = False) -> "list[Graph]":
        """networkx graphs with nodes 0, 1, 2, ... and node data ``label``, ``attributes`` and ``name``, where held."""
        return [interop.networkx_from_arrays(self.arrays(k), directed) for k in range(self.n_graphs)]

    @classmethod
    def from_pyg(cls, graphs: "Sequence[PygData]", label: str | None = None, attributes: str | None = "x") -> Self:
        """Take PyTorch Geometric ``Data`` objects; ``label`` and ``attributes`` name the node data to read."""
        return cls(**interop.arrays_from_pyg(list(graphs), label, attributes))

    def arrays(self, graph: int | None = None) -> dict[str, Array]:
        """The arrays that are there, by name; those of one graph if ``graph`` is given."""
        batch = self if graph is None else self[graph]
        return {f.name: getattr(batch, f.name) for f in fields(batch) if getattr(batch, f.name) is not None}

    def save(self, path: str | Path) -> None:
        """Write one file of arrays and JSON, in one step."""
        save_arrays(path, "GraphBatch", {}, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        return cls(**load_arrays(path, "GraphBatch")[1])


def label_codes(labels: Sequence[str] | Array) -> IntArray:
    """Stable integers for strings: equal in every process and data set, so that no dictionary need be kept.

    >>> label_codes(["C", "N", "C"])
    array([ 404799973914955058, 8469165195741662953,  404799973914955058])
    """
    words, inverse = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)
    codes = [int.from_bytes(short_digest(w.encode(), 8), "little") >> 1 for w in words.tolist()]
    return np.array(codes, dtype=np.int64)[inverse]


# -- checks: each returns what it was given as an array of the right type, or raises ---------


def frozen(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def strip_ellipsis(index: Index | WithEllipsis) -> Index:
    """scikit-learn's model selection indexes with ``X[rows, ...]``: take the rows."""
    if isinstance(index, tuple):
        if len(index) == 2 and index[1] is Ellipsis:
            return index[0]
        raise IndexError(f"one index selects whole graphs or bags, got {len(index)}.")
    return index


def check_integers(values: ArrayLike, name: str) -> IntArray:
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must be integers, got {array.dtype}.")
    return array.astype(np.int64, copy=False)


def check_ptr(values: ArrayLike, name: str) -> IntArray:
    ptr = check_integers(values, name)
    if ptr.ndim != 1 or len(ptr) == 0:
        raise ValueError(f"{name} must be a row of offsets that starts with 0, got shape {ptr.shape}.")
    if ptr[0] != 0:
        raise ValueError(f"{name} must start with 0, got {ptr[0]}.")
    falls = np.flatnonzero(np.diff(ptr) < 0)
    if len(falls):
        raise ValueError(f"{name} must not decrease, but {name}[{falls[0]}] = {ptr[falls[0]]} > {ptr[falls[0] + 1]}.")
    return ptr


def check_rows(array: Array, n: int, name: str, noun: str) -> Array:
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one {noun}, got {array.shape}.")
    return array


def check_names(values: ArrayLike | None, n: int, name: str, noun: str) -> NameArray | None:
    return None if values is None else check_rows(np.asarray(values, dtype=np.str_), n, name, f"a {noun}")


def _check_edges(values: ArrayLike) -> IntArray:
    edges = check_integers(values, "edges")
    if edges.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if edges.ndim != 2 or len(edges) != 2:
        hint = "; pass edges.T" if edges.ndim == 2 and edges.shape[1] == 2 else ""
        raise ValueError(f"edges must have shape (2, n_edges), got {edges.shape}{hint}.")
    return edges


def _check_labels(values: ArrayLike | None, n_nodes: int) -> IntArray | None:
    if values is None:
        return None
    labels = np.asarray(values)
    labels = label_codes(labels) if labels.dtype.kind == "U" else check_integers(labels, "node_labels")
    return check_rows(labels, n_nodes, "node_labels", "a node")


def _check_attributes(values: ArrayLike | None, batch: GraphBatch) -> FloatArray | None:
    if values is None:
        return None
    attributes = np.asarray(values)
    if attributes.dtype not in (np.float32, np.float64):
        attributes = attributes.astype(np.float64)
    if attributes.ndim != 2 or len(attributes) != batch.n_nodes:
        hint = "; for one attribute a node pass values[:, None]" if attributes.ndim == 1 else ""
        shape = f"({batch.n_nodes}, n_attributes)"
        raise ValueError(f"node_attributes must have shape {shape}, got {attributes.shape}{hint}.")
    bad = np.argwhere(~np.isfinite(attributes))
    if len(bad):
        node, column = bad[0]
        graph = int(np.searchsorted(batch.node_ptr, node, side="right")) - 1
        raise ValueError(
            f"node_attributes must be finite; node {node} (graph {graph}) has {attributes[node, column]} "
            f"in column {column} ({len(bad)} such values)."
        )
    return attributes


def _check_weights(values: ArrayLike | None, n_edges: int) -> FloatArray | None:
    if values is None:
        return None
    weights = check_rows(np.asarray(values, dtype=np.float64), n_edges, "edge_weights", "an edge")
    if not np.isfinite(weights).all():
        raise ValueError(f"edge_weights must be finite; edge {np.flatnonzero(~np.isfinite(weights))[0]} is not.")
    return weights


def _join_ptr(ptrs: list[IntArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(ptr) for ptr in ptrs]))])

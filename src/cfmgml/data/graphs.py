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
may be disconnected or have no edges or one node only. Edge weights and edge labels are kept; kernels ignore them
unless they say so: `WeisfeilerLehman` compares edge labels where it is told to. It sees them in one of two ways.

``edge_labels=True``: an edge has a label, whichever way it is stored. Stored in both directions it must have the same
label in both, or it is refused. Parallel edges with one label count once, with several labels once for each.

``edge_labels="directed"``: an edge has a label and a direction, and a node tells edges that leave it from edges that
arrive. Stored in both directions it is two edges, which may have two labels: ``before`` one way, ``after`` the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from cfmgml.common.adjacency import Arcs, labelled_arcs, neighbour_lists
from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.segments import check_index, lengths, segment_ids, take_segments
from cfmgml.common.typing import Array, FloatArray, Index, IntArray, NameArray
from cfmgml.data import interop
from cfmgml.data.checks import (
    WithEllipsis,
    check_attributes,
    check_edges,
    check_integers,
    check_labels,
    check_names,
    check_ptr,
    check_rows,
    check_weights,
    frozen,
    strip_ellipsis,
)
from cfmgml.data.notebook import graphs_html

if TYPE_CHECKING:
    from networkx import Graph
    from torch_geometric.data import Batch as PygBatch
    from torch_geometric.data import Data as PygData

NODE_FIELDS = ("node_labels", "node_attributes", "node_names")
EDGE_FIELDS = ("edge_weights", "edge_labels")


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
    edge_labels
        Shape (n_edges,): integers, or strings, which become stable integers; the kind of a bond.

    Examples
    --------
    A triangle and a pair:

    >>> graphs = GraphBatch(node_ptr=[0, 3, 5], edge_ptr=[0, 3, 4], edges=[[0, 1, 2, 3], [1, 2, 0, 4]],
    ...                     node_labels=[1, 1, 2, 1, 2])
    >>> graphs
    GraphBatch(2 graphs, 5 nodes, 4 edges; labels)
    >>> graphs[1].node_labels
    array([1, 2])
    """

    node_ptr: IntArray
    edge_ptr: IntArray
    edges: IntArray
    node_labels: IntArray | None = None
    node_attributes: FloatArray | None = None
    edge_weights: FloatArray | None = None
    node_names: NameArray | None = None
    graph_ids: IntArray = None  # type: ignore[assignment]  # filled in by __post_init__
    edge_labels: IntArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "node_ptr", check_ptr(self.node_ptr, "node_ptr"))
        put(self, "edge_ptr", check_ptr(self.edge_ptr, "edge_ptr"))
        put(self, "edges", check_edges(self.edges))
        self._check_offsets()
        self._check_edge_ends()
        put(self, "node_labels", check_labels(self.node_labels, self.n_nodes, "node_labels", "a node"))
        put(self, "node_attributes", check_attributes(self.node_attributes, self.node_ptr))
        put(self, "edge_weights", check_weights(self.edge_weights, self.n_edges))
        put(self, "edge_labels", check_labels(self.edge_labels, self.n_edges, "edge_labels", "an edge"))
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
        named |= {"edge labels": self.edge_labels}
        parts += [name for name, array in named.items() if array is not None]
        counts = f"{self.n_graphs:,} graphs, {self.n_nodes:,} nodes, {self.n_edges:,} edges"
        return f"GraphBatch({'; '.join([counts, ', '.join(parts)] if parts else [counts])})"

    def _repr_html_(self) -> str:
        return graphs_html(self)

    @cached_property
    def adjacency(self) -> tuple[IntArray, IntArray]:
        """The simple undirected graph underneath, as CSR offsets (n_nodes + 1,) and sorted neighbours."""
        return neighbour_lists(self.edges, self.n_nodes)

    @cached_property
    def labelled_arcs(self) -> Arcs:
        """Each node's neighbours with the labels of edges between them; refused where two directions differ."""
        arcs = self._arcs("undirected")
        if len(arcs.differing):
            one, other = self.edges[:, arcs.differing[0]].tolist()
            graph = int(np.searchsorted(self.node_ptr, one, side="right")) - 1
            ends = f"{one - self.node_ptr[graph]} and {other - self.node_ptr[graph]}"
            raise ValueError(
                f"an edge must have one label whichever way it is stored; in graph {graph} the edges between nodes "
                f"{ends} have other labels in one direction than in the other. If meant so: edge_labels='directed'."
            )
        return arcs

    @cached_property
    def directed_arcs(self) -> Arcs:
        """Each node's neighbours with the labels of edges to them, and, marked as inward, of edges from them."""
        return self._arcs("directed")

    @property
    def arcs_as_stored(self) -> Arcs:
        """As `labelled_arcs`, but as `directed_arcs` between nodes whose two directions differ: never refused."""
        return self._arcs("as stored")

    def _arcs(self, seen: str) -> Arcs:
        if self.edge_labels is None:
            raise ValueError("these graphs have no edge_labels.")
        return labelled_arcs(self.edges, self.edge_labels, self.n_nodes, seen)

    def with_degrees(self) -> Self:
        """With each node's number of neighbours as its label, for graphs whose nodes are all alike.

        >>> GraphBatch(node_ptr=[0, 3], edge_ptr=[0, 2], edges=[[0, 1], [1, 2]]).with_degrees().node_labels
        array([1, 2, 1])
        """
        return replace(self, node_labels=np.diff(self.adjacency[0]))

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
            graph_ids=self.graph_ids[graphs],
            **{n: None if getattr(self, n) is None else getattr(self, n)[nodes] for n in NODE_FIELDS},
            **{n: None if getattr(self, n) is None else getattr(self, n)[rows] for n in EDGE_FIELDS},
        )

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(self.n_graphs))

    @classmethod
    def concatenate(cls, batches: Iterable[Self], keep_ids: bool = False) -> Self:
        """One batch after the other; all must have the same kinds of node and edge data.

        ``graph_ids`` count from 0 again unless ``keep_ids``: two batches may use the same numbers for different graphs.
        """
        parts = list(batches)
        if not parts:
            raise ValueError("concatenate needs at least one batch.")
        data = {n: [getattr(part, n) for part in parts] for n in (*NODE_FIELDS, *EDGE_FIELDS)}
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
        edge_label: str | None = None,
    ) -> Self:
        """Take networkx graphs; ``label``, ``attributes``, ``weight`` and ``edge_label`` name node and edge data.

        Edges of an undirected graph are held in both directions. Nodes that are not simply
        0, 1, 2, ... leave their names in ``node_names``.

        >>> import networkx as nx
        >>> GraphBatch.from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
        GraphBatch(2 graphs, 7 nodes, 12 edges)
        """
        return cls(**interop.arrays_from_networkx(list(graphs), label, attributes, weight, edge_label))

    def to_networkx(self, directed: bool = False) -> "list[Graph]":
        """networkx graphs with nodes 0, 1, 2, ..., node data ``label``, ``attributes`` and ``name``, and edge data
        ``weight`` and ``label``, where held. Of parallel edges the last is kept; ``directed`` keeps both directions."""
        return [interop.networkx_from_arrays(self.arrays(k), directed) for k in range(self.n_graphs)]

    @classmethod
    def from_pyg(
        cls,
        graphs: "Sequence[PygData] | PygBatch",
        label: str | None = None,
        attributes: str | None = "x",
        edge_label: str | None = None,
    ) -> Self:
        """Take PyTorch Geometric ``Data`` objects, or a ``Batch`` of them; ``label`` and ``attributes`` name the node
        data to read, and ``edge_label`` the edge data: whole numbers, such as ``"edge_attr"``; several columns become
        one label. Tensors may lie on a card and require gradients."""
        rows = graphs.to_data_list() if hasattr(graphs, "to_data_list") else list(graphs)
        return cls(**interop.arrays_from_pyg(rows, label, attributes, edge_label))

    def to_pyg(self) -> "list[PygData]":
        """PyTorch Geometric ``Data`` objects, with ``x`` (float32), ``node_label``, ``edge_weight`` and ``edge_attr``
        (the edges' labels) where held. Needs torch_geometric."""
        return [interop.pyg_from_arrays(self.arrays(k)) for k in range(self.n_graphs)]

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


def _join_ptr(ptrs: list[IntArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(ptr) for ptr in ptrs]))])

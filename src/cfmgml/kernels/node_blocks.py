"""phi(G) = sum over v of M(v) (x) x_v: the explicit map of a kernel that sums over pairs of nodes.

For each column of M that a graph has there is one row of sums: `SummedNodes` holds them graph after graph, so a graph
with wide weights has many rows of its own and makes no other graph's longer.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from cfmgml.common.compiled import compiled
from cfmgml.common.segments import lengths, offsets, segment_ids, segment_sum, take_segments
from cfmgml.common.typing import FloatArray, IntArray, Rows
from cfmgml.kernels.base import Operand, row_norms
from cfmgml.kernels.path_counts import NodeWeights


@dataclass(frozen=True)
class SummedNodes:
    """Row ``row_ptr[g] + j``: the sum of graph g's node vectors, weighted by column j of its weights."""

    rows: Rows  # (sum of widths, n_vector)
    row_ptr: IntArray  # (n_graphs + 1,)

    @property
    def columns(self) -> IntArray:
        """The column of weights that each row belongs to."""
        return np.arange(self.row_ptr[-1]) - np.repeat(self.row_ptr[:-1], lengths(self.row_ptr))

    def norms(self) -> FloatArray:
        """|phi(G)|^2 over all columns, (n_graphs,)."""
        return segment_sum(row_norms(self.rows), self.row_ptr)

    def joined(self, width: int) -> Rows:
        """phi(G) of the first ``width`` columns, (n_graphs, width * n_vector): dense if most of it is filled."""
        used = np.minimum(lengths(self.row_ptr), width)
        if not sparse.issparse(self.rows) and used.sum() / max(len(used) * width, 1) > 0.5:
            return self.dense(width)
        kept = self.columns < width
        n_vector = self.rows.shape[1]
        rows = sparse.csr_array(self.rows[np.flatnonzero(kept)])
        indices = rows.indices + np.repeat(self.columns[kept] * n_vector, np.diff(rows.indptr))
        return sparse.csr_array((rows.data, indices, rows.indptr[offsets(used)]), shape=(len(used), width * n_vector))

    def dense(self, width: int) -> FloatArray:
        """The same for rows that are dense, filled with 0 where a graph has fewer columns."""
        n_graphs, n_vector = len(self.row_ptr) - 1, self.rows.shape[1]
        if (lengths(self.row_ptr) == width).all():
            return np.asarray(self.rows).reshape(n_graphs, -1)
        out = np.zeros((n_graphs, width, n_vector), dtype=self.rows.dtype)
        columns = self.columns
        kept = columns < width
        out[segment_ids(self.row_ptr)[kept], columns[kept]] = self.rows[kept]
        return out.reshape(n_graphs, -1)


def sum_nodes(vectors: Rows, weights: NodeWeights) -> SummedNodes:
    """Weighted sums of the nodes' vectors (n_nodes, n_vector), for every column of every graph's weights."""
    row_ptr = offsets(weights.widths)
    if sparse.issparse(vectors):
        return SummedNodes(_adder(weights, row_ptr) @ vectors, row_ptr)
    rows = np.zeros((int(row_ptr[-1]), vectors.shape[1]))
    _add_nodes(vectors, weights.node_ptr, weights.widths, weights.values, rows)
    return SummedNodes(rows, row_ptr)


def _adder(weights: NodeWeights, row_ptr: IntArray) -> sparse.csr_array:
    """The matrix (n_rows, n_nodes) that sums nodes."""
    node_graph = segment_ids(weights.node_ptr)
    widths = weights.widths[node_graph]
    nodes = np.repeat(np.arange(len(node_graph)), widths)
    rows = np.arange(len(nodes)) - np.repeat(offsets(widths)[:-1] - row_ptr[node_graph], widths)
    there = weights.values != 0
    entries = weights.values[there], (rows[there], nodes[there])
    return sparse.csr_array(entries, shape=(int(row_ptr[-1]), len(node_graph)))


@compiled
def _add_nodes(vectors, node_ptr, widths, values, rows):  # type: ignore[no-untyped-def]
    read, first = 0, 0
    for graph in range(len(widths)):
        for node in range(node_ptr[graph], node_ptr[graph + 1]):
            for column in range(widths[graph]):
                weight = values[read + column]
                if weight != 0.0:
                    for k in range(vectors.shape[1]):
                        rows[first + column, k] += weight * vectors[node, k]
            read += widths[graph]
        first += widths[graph]


@dataclass(frozen=True)
class SummedOperand(Operand):
    """Dense sums of node vectors, each graph with as many rows as its weights have columns."""

    summed: SummedNodes  # of all graphs: nothing is copied before a tile needs it
    graphs: IntArray  # those of them that this operand is about
    norms: FloatArray  # type: ignore[assignment,unused-ignore]

    @property
    def sizes(self) -> IntArray:
        return lengths(self.summed.row_ptr)[self.graphs]

    @property
    def order(self) -> IntArray | None:
        return None if (self.sizes == self.sizes[:1]).all() else np.argsort(self.sizes, kind="stable")

    def take(self, graphs: IntArray) -> "SummedOperand":
        return SummedOperand(self.summed, self.graphs[graphs], self.norms[graphs])

    @cached_property
    def table(self) -> FloatArray:
        """phi(G) of these graphs, as wide as the widest of them."""
        rows, row_ptr = take_segments(self.summed.row_ptr, self.graphs)
        return SummedNodes(self.summed.rows[rows], row_ptr).dense(int(lengths(row_ptr).max(initial=1)))


def summed_tile(left: SummedOperand, right: SummedOperand) -> FloatArray:
    """Kernel values (n_left, n_right): columns that one side lacks add nothing."""
    width = min(left.table.shape[1], right.table.shape[1])
    return np.asarray(left.table[:, :width] @ right.table[:, :width].T)

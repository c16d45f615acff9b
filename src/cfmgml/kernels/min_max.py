"""Weisfeiler-Lehman colours compared by what two graphs share of all that either has.

A count of 3 shares 2 with a count of 2. Written in columns, the colour's first, second and third time are columns of
their own: what is shared is a product of zeros and ones then, which `mixed_rows` multiplies fast.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml.common.segments import offsets, segment_ids
from cfmgml.common.typing import FloatArray, HashArray, IntArray, NumberArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand
from cfmgml.kernels.colour_counts import number_codes
from cfmgml.kernels.mixed_rows import MixedOperand, mixed_operands, mixed_tile
from cfmgml.kernels.weisfeiler_lehman import ODD, WeisfeilerLehman, mix


@dataclass(frozen=True)
class MinMaxOperand(Operand):
    """Rows of zeros and ones, whose norms say how many colours a graph has, each as often as it has it."""

    times: MixedOperand
    norms: FloatArray  # type: ignore[assignment,unused-ignore]

    def take(self, graphs: IntArray) -> "MinMaxOperand":
        return MinMaxOperand(self.times.take(graphs), self.norms[graphs])


class MinMaxWL(WeisfeilerLehman):
    """Compare graphs by the share of their colours that they have in common.

    With a and b the counts of Weisfeiler-Lehman colours of two graphs, K is the sum of min(a, b) over the sum of
    max(a, b): Tanimoto's coefficient, as chemists compare fingerprints, of counts (Ralaivola et al., Neural Networks
    2005). On Tox21 it is well above `WeisfeilerLehman` (``docs/results/molecules.md``). It has no explicit feature map:
    training takes memory for all pairs of graphs, and no store.

    A node's part is what it has in common with the other graph: nodes of one colour share equally, and parts add up.

    Parameters
    ----------
    n_iter, edge_labels
        As for `WeisfeilerLehman`.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 3, 5], edge_ptr=[0, 0, 0], edges=[[], []], node_labels=[1, 1, 2, 1, 3])
    >>> MinMaxWL(n_iter=0).block(graphs, graphs)  # of four colours, each as often as either has it, one is shared
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    is_explicit = False

    def __init__(self, n_iter: int = 3, edge_labels: bool | str = False) -> None:
        super().__init__(n_iter, edge_labels=edge_labels)

    def _settle(self, graphs: GraphBatch) -> None:
        """Nothing depends on data."""

    def _times(self, graphs: GraphBatch) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Counts (n_graphs, n_colours), and the same as ones in a column for every time that a colour is there."""
        self.check_graphs(graphs)
        counts, codes = self._counts(graphs)
        entry, ptr = _repeated(counts)
        time = (np.arange(len(entry)) - ptr[entry]).astype(np.uint64)
        each: HashArray = mix(codes[counts.indices[entry]] + ODD * time)
        numbers, found = number_codes(each)
        shape = graphs.n_graphs, len(found)
        return counts, sparse.csr_array((np.ones(len(entry)), numbers, ptr[counts.indptr]), shape=shape)

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[MinMaxOperand, MinMaxOperand]:
        rows = self._times(a if b is None else self._joined(a, b))[1]
        sides = mixed_operands([rows] if b is None else [rows[: a.n_graphs], rows[a.n_graphs :]], dtype)
        left = MinMaxOperand(sides[0], np.sign(sides[0].norms))
        return left, left if b is None else MinMaxOperand(sides[1], np.sign(sides[1].norms))

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        assert isinstance(left, MinMaxOperand)
        assert isinstance(right, MinMaxOperand)
        shared = mixed_tile(left.times, right.times)
        return shared / _all(left.times.norms, right.times.norms, shared)

    def diagonal(self, graphs: GraphBatch) -> FloatArray:
        return Kernel.diagonal(self, graphs)

    def features(self, graphs: GraphBatch) -> sparse.csr_array:
        raise TypeError(f"{self!r} has no explicit feature map.")

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        return Kernel.node_scores(self, graphs, weights)

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        both = self._joined(a, b)
        counts, times = self._times(both)
        counts, left, right = counts[: a.n_graphs], times[: a.n_graphs], times[a.n_graphs :]
        entry, ptr = _repeated(counts)
        each = sparse.csr_array((1 / counts.data[entry], left.indices, ptr), shape=(counts.nnz, times.shape[1]))
        nodes = _entries_of_nodes(self._numbers(both)[0][:, : a.n_nodes], a.node_ptr, counts)
        parts, shared = (nodes @ (each @ right.T)).toarray(), (left @ right.T).toarray()
        return np.asarray(parts / _all(left.sum(axis=1), right.sum(axis=1), shared)[segment_ids(a.node_ptr)])


def _entries_of_nodes(numbers: NumberArray, node_ptr: IntArray, counts: sparse.csr_array) -> sparse.csr_array:
    """Which entries of the counts each node is counted in, (n_nodes, n_entries), by the numbers of its colours."""
    width = counts.shape[1]
    keys = segment_ids(counts.indptr.astype(np.int64)) * width + counts.indices
    order = np.argsort(keys)
    entries = order[np.searchsorted(keys[order], segment_ids(node_ptr) * width + numbers)]
    ptr = np.arange(numbers.shape[1] + 1) * len(numbers)
    return sparse.csr_array((np.ones(entries.size), entries.T.ravel(), ptr), shape=(numbers.shape[1], counts.nnz))


def _repeated(counts: sparse.csr_array) -> tuple[IntArray, IntArray]:
    """Each entry's number, as often as it counts, and where each begins."""
    n = counts.data.astype(np.int64)
    return np.repeat(np.arange(len(n)), n), offsets(n)


def _all(left: FloatArray, right: FloatArray, shared: FloatArray) -> FloatArray:
    """The sums of maxima; 1 where there is nothing at all."""
    return np.maximum(np.add.outer(left, right) - shared, 1.0)

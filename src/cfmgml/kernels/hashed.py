"""The Weisfeiler-Lehman subtree kernel in a fixed number of columns, for more graphs than a dictionary can hold.

A colour is a 64-bit hash already (`WeisfeilerLehman`). Here its top bits name a column and its lowest bit a sign, so
colours that meet in a column cancel in the mean and products of features stay unbiased (Weinberger et al., ICML 2009).
No data is needed for that: every process and every machine makes the same columns, and a graph seen for the first time
at prediction has them too.
"""

import numpy as np
from scipy import sparse

from cfmgml.common.numbers import check_number
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, HashArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman

MAX_BITS = 30  # columns are numbered in 32 bits


class HashedWL(WeisfeilerLehman):
    """Compare graphs by the colours of `WeisfeilerLehman`, hashed into ``2 ** n_bits`` columns.

    Parameters
    ----------
    n_iter, tfidf, edge_labels
        As for `WeisfeilerLehman`; tf-idf weights belong to columns, and a column that no graph had when the kernel was
        resolved weighs most.
    n_bits
        A model has ``2 ** n_bits`` weights a label. Values err by about ``2 ** (-n_bits / 2)`` of the norms; colours
        beyond that many make columns crowded, which costs accuracy slowly.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 1], edges=[[0], [1]], node_labels=[1, 1, 1, 2])
    >>> HashedWL(n_iter=1).block(graphs, graphs)
    array([[8., 2.],
           [2., 4.]])
    >>> HashedWL(n_iter=1).features(graphs).shape
    (2, 65536)
    """

    def __init__(self, n_iter: int = 5, tfidf: bool = False, n_bits: int = 16, edge_labels: bool | str = False) -> None:
        super().__init__(n_iter, tfidf, edge_labels)
        self.n_bits = n_bits

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        check_number(self.n_bits, "n_bits", at_least=1, whole=True)
        if self.n_bits > MAX_BITS:
            raise ValueError(f"n_bits must be {MAX_BITS} or less, got {self.n_bits}.")

    @property
    def n_columns(self) -> int:
        return 2**self.n_bits

    def _settle(self, graphs: GraphBatch) -> None:
        self.n_graphs_ = graphs.n_graphs
        self.idf_ = np.ones(self.n_columns if self.tfidf else 0)
        if self.tfidf:
            having = self._all_features(graphs)
            self.idf_ = self._idf(np.bincount(having.indices, minlength=self.n_columns))

    def _table(self, rows: IntArray, n_rows: int, graphs: GraphBatch) -> sparse.csr_array:
        """What nodes add to the columns of their colours; ``rows`` says in which row, for every node."""
        codes: HashArray = np.concatenate(list(self.colours(graphs)))
        columns = (codes >> np.uint64(64 - self.n_bits)).astype(np.int32)
        values = 1.0 - 2.0 * (codes & np.uint64(1)).astype(np.float64)
        if self.tfidf:
            values *= self.idf_[columns]
        entries = values, (np.tile(rows.astype(np.int32), self.n_iter + 1), columns)
        return sparse.coo_array(entries, shape=(n_rows, self.n_columns)).tocsr()

    def _all_features(self, graphs: GraphBatch) -> sparse.csr_array:
        self.check_graphs(graphs)
        return self._table(segment_ids(graphs.node_ptr), graphs.n_graphs, graphs)

    def _plain_counts(self, graphs: GraphBatch) -> sparse.csr_array:
        return self._all_features(graphs)

    def features(self, graphs: GraphBatch) -> sparse.csr_array:
        return (self if self.is_resolved else self.resolve(graphs))._all_features(graphs)

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        kernel = self if self.is_resolved else self.resolve(a)
        return np.asarray((kernel._node_features(a) @ kernel.features(b).T).toarray())

    def _node_features(self, graphs: GraphBatch) -> sparse.csr_array:
        self.check_graphs(graphs)
        return self._table(np.arange(graphs.n_nodes), graphs.n_nodes, graphs)

"""The Weisfeiler-Lehman subtree kernel, by stateless hashing.

A node's colour is a 64-bit hash of its label, refined ``n_iter`` times with a commutative hash of its neighbours'
colours. No dictionary is needed, so a colour never seen in training is just a column of its own. Two different
neighbourhoods get the same colour with a chance of about n_colours^2 / 2^65.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml._numbers import check_number
from cfmgml._segments import segment_ids, segment_sum
from cfmgml._typing import FloatArray, HashArray, IntArray
from cfmgml.graphs import GraphBatch
from cfmgml.kernels.base import FeatureKernel, FeatureOperand, row_norms

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio


def mix(codes: HashArray) -> HashArray:
    """Scatter the bits of 64-bit integers (the finaliser of SplitMix64; Steele et al. 2014)."""
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


class WeisfeilerLehman(FeatureKernel):
    """Compare graphs by the colours that refinement gives their nodes.

    phi(G) counts the colours after 0, 1, ..., ``n_iter`` refinements (Shervashidze et al., JMLR 2011). Needs
    ``node_labels``. Edge weights are ignored.

    Parameters
    ----------
    n_iter
        Number of refinements; 0 compares label counts.
    tfidf
        Weigh a colour by ``log((1 + n) / (1 + n_c)) + 1``, where ``n_c`` of the ``n`` graphs it was resolved on
        have it: a colour in every graph says little.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 1], edges=[[0], [1]], node_labels=[1, 1, 1, 2])
    >>> WeisfeilerLehman(n_iter=1).block(graphs, graphs)
    array([[8., 2.],
           [2., 4.]])
    """

    def __init__(self, n_iter: int = 5, tfidf: bool = False) -> None:
        self.n_iter = n_iter
        self.tfidf = tfidf

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        if graphs.node_labels is None:
            raise ValueError("WeisfeilerLehman compares node_labels, and these graphs have none.")
        check_number(self.n_iter, "n_iter", at_least=0, whole=True)

    def colours(self, graphs: GraphBatch) -> Iterator[HashArray]:
        """The colour of every node, after each refinement."""
        assert graphs.node_labels is not None
        ptr, neighbours = graphs.adjacency
        colour = mix(graphs.node_labels.astype(np.uint64) + ODD)
        yield colour
        for _ in range(self.n_iter):
            around = segment_sum(mix(colour[neighbours]), ptr)  # type: ignore[arg-type]
            colour = mix(colour * ODD + around)  # type: ignore[arg-type]
            yield colour

    def _settle(self, graphs: GraphBatch) -> None:
        codes = np.stack(list(self.colours(graphs)))
        self.vocabulary_, columns = np.unique(codes, return_inverse=True)
        self.n_graphs_ = graphs.n_graphs
        counts = self._count(columns.reshape(codes.shape), graphs, len(self.vocabulary_))
        self.idf_ = self._idf(np.bincount(counts.indices, minlength=len(self.vocabulary_)))

    def _idf(self, n_having: IntArray) -> FloatArray:
        if not self.tfidf:
            return np.ones(len(n_having))
        return np.log((1 + self.n_graphs_) / (1 + n_having)) + 1

    def _count(self, columns: IntArray, graphs: GraphBatch, width: int) -> sparse.csr_array:
        rows = np.tile(segment_ids(graphs.node_ptr), len(columns))
        ones = np.ones(columns.size)
        return sparse.coo_array((ones, (rows, columns.ravel())), shape=(graphs.n_graphs, width)).tocsr()

    def _known_columns(self, codes: HashArray) -> tuple[IntArray, HashArray]:
        """Columns of the vocabulary; codes outside it get the columns after it."""
        place = np.searchsorted(self.vocabulary_, codes)
        place[place == len(self.vocabulary_)] = 0
        new = self.vocabulary_[place] != codes
        others, inverse = np.unique(codes[new], return_inverse=True)
        place[new] = len(self.vocabulary_) + inverse
        return place, others

    def _all_features(self, graphs: GraphBatch) -> sparse.csr_array:
        """Weighted counts in the vocabulary's columns, then in one column for every colour outside it."""
        self.check_graphs(graphs)
        columns, others = self._known_columns(np.stack(list(self.colours(graphs))))
        counts = self._count(columns, graphs, len(self.vocabulary_) + len(others))
        if self.tfidf:
            weights = np.concatenate([self.idf_, self._idf(np.zeros(len(others), dtype=np.int64))])
            counts.data *= weights[counts.indices]
        return counts

    # -- the kernel's interface --------------------------------------------------------------

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[FeatureOperand, FeatureOperand]:
        both = a if b is None else GraphBatch.concatenate([strip(a), strip(b)])
        kernel = self if self.is_resolved else self.resolve(a)
        rows = kernel._all_features(both)
        norms = row_norms(rows)
        shared = np.bincount(rows.indices, minlength=rows.shape[1]) > 1  # the rest only touch the diagonal
        rows = rows[:, np.flatnonzero(shared)].astype(dtype)
        left = FeatureOperand(rows[: a.n_graphs], norms[: a.n_graphs])
        return (left, left) if b is None else (left, FeatureOperand(rows[a.n_graphs :], norms[a.n_graphs :]))

    @property
    def is_explicit(self) -> bool:
        return True

    @property
    def is_additive(self) -> bool:
        return True

    def diagonal(self, graphs: GraphBatch) -> FloatArray:
        kernel = self if self.is_resolved else self.resolve(graphs)
        return row_norms(kernel._all_features(graphs))

    def features(self, graphs: GraphBatch) -> sparse.csr_array:
        kernel = self if self.is_resolved else self.resolve(graphs)
        return kernel._all_features(graphs)[:, : len(kernel.vocabulary_)]

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        return np.asarray(self._node_features(graphs) @ weights)

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        kernel = self if self.is_resolved else self.resolve(a)
        seen = kernel.resolve(GraphBatch.concatenate([strip(a), strip(b)])) if not self.is_resolved else kernel
        return np.asarray((seen._node_features(a) @ seen.features(b).T).toarray())

    def _node_features(self, graphs: GraphBatch) -> sparse.csr_array:
        """What each node adds to `features`, (n_nodes, n_features)."""
        columns, _ = self._known_columns(np.stack(list(self.colours(graphs))))
        width = len(self.vocabulary_)
        known = columns < width
        nodes = np.broadcast_to(np.arange(graphs.n_nodes), columns.shape)[known]
        values = self.idf_[columns[known]]
        return sparse.coo_array((values, (nodes, columns[known])), shape=(graphs.n_nodes, width)).tocsr()


def strip(graphs: GraphBatch) -> GraphBatch:
    """Only what the Weisfeiler-Lehman kernel looks at, so that any two batches can be joined."""
    return GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, graphs.node_labels)

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
from cfmgml._segments import segment_sum
from cfmgml._typing import FloatArray, HashArray, IntArray
from cfmgml.graphs import GraphBatch
from cfmgml.kernels.base import FeatureKernel, Operand, row_norms
from cfmgml.kernels.colour_counts import count_columns, number_codes, unique_codes
from cfmgml.kernels.mixed_rows import MixedOperand, mixed_operands, mixed_tile

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
        self.vocabulary_, columns = unique_codes(np.stack(list(self.colours(graphs))))
        self.n_graphs_ = graphs.n_graphs
        counts = count_columns(columns, graphs.node_ptr, len(self.vocabulary_))
        self.idf_ = self._idf(np.bincount(counts.indices, minlength=len(self.vocabulary_)))

    def _idf(self, n_having: IntArray) -> FloatArray:
        if not self.tfidf:
            return np.ones(len(n_having))
        return np.log((1 + self.n_graphs_) / (1 + n_having)) + 1

    @property
    def tiles_depend_on_data(self) -> bool:
        return self.tfidf

    def _known_columns(self, codes: HashArray) -> tuple[IntArray, HashArray]:
        """Columns of the vocabulary; codes outside it get the columns after it."""
        different, inverse = unique_codes(codes)
        place = np.searchsorted(self.vocabulary_, different)  # sorted on both sides: a walk, not a search
        place[place == len(self.vocabulary_)] = 0
        new = self.vocabulary_[place] != different
        place[new] = len(self.vocabulary_) + np.arange(new.sum())
        return place[inverse], different[new]

    def _all_features(self, graphs: GraphBatch) -> sparse.csr_array:
        """Weighted counts in the vocabulary's columns, then in one column for every colour outside it."""
        self.check_graphs(graphs)
        columns, others = self._known_columns(np.stack(list(self.colours(graphs))))
        counts = count_columns(columns, graphs.node_ptr, len(self.vocabulary_) + len(others))
        if self.tfidf:
            weights = np.concatenate([self.idf_, self._idf(np.zeros(len(others), dtype=np.int64))])
            counts.data *= weights[counts.indices]
        return counts

    # -- the kernel's interface --------------------------------------------------------------

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Operand, Operand]:
        kernel = self.resolve(a) if self.tiles_depend_on_data and not self.is_resolved else self
        both = a if b is None else GraphBatch.concatenate([strip(a), strip(b)])
        rows = kernel._all_features(both) if self.tfidf else kernel._plain_counts(both)
        return mixed_operands([rows] if b is None else [rows[: a.n_graphs], rows[a.n_graphs :]], dtype)

    def _plain_counts(self, graphs: GraphBatch) -> sparse.csr_array:
        """Counts in a column for each colour of these graphs, in no order that a vocabulary would know."""
        self.check_graphs(graphs)
        columns, values = number_codes(np.stack(list(self.colours(graphs))))
        return count_columns(columns, graphs.node_ptr, len(values))

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        if isinstance(left, MixedOperand) and isinstance(right, MixedOperand):
            return mixed_tile(left, right)
        return super().tile(left, right)

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

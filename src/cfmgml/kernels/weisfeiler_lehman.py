"""The Weisfeiler-Lehman subtree kernel, by stateless hashing.

A node's colour is a 64-bit hash of its label, refined ``n_iter`` times with a commutative hash of its neighbours'
colours, mixed with the labels of the edges to them where those count. No dictionary is needed, so a colour never seen
in training is just a column of its own. Two different neighbourhoods get the same colour with a chance of about
n_colours^2 / 2^65.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml.common.adjacency import Arcs
from cfmgml.common.compiled import compiled
from cfmgml.common.numbers import check_number
from cfmgml.common.typing import FloatArray, HashArray, IntArray, NumberArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand, row_norms
from cfmgml.kernels.colour_counts import count_columns, number_codes, order_of_codes
from cfmgml.kernels.mixed_rows import MixedOperand, mixed_operands, mixed_tile

MAX_ITER = 1000  # refinements: far beyond where colours of any graph tell nodes apart that they did not before
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio


def mix(codes: HashArray) -> HashArray:
    """Scatter the bits of 64-bit integers (the finaliser of SplitMix64; Steele et al. 2014)."""
    out = np.empty_like(codes)
    _mix(np.ascontiguousarray(codes).reshape(-1), out.reshape(-1))
    return out


@compiled
def _mix(codes, out):  # type: ignore[no-untyped-def]
    for k in range(len(codes)):
        code = codes[k]
        code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[k] = code ^ (code >> np.uint64(31))


def refine(colour: HashArray, ptr: IntArray, neighbours: IntArray) -> HashArray:
    """``mix(colour * ODD + sum of mix(colour) over neighbours)``, modulo 2^64."""
    out = np.empty_like(colour)
    _refine(colour, mix(colour), ptr, neighbours, out)
    return mix(out)


@compiled
def _refine(colour, scattered, ptr, neighbours, out):  # type: ignore[no-untyped-def]
    for node in range(len(colour)):
        around = colour[node] * ODD
        for k in range(ptr[node], ptr[node + 1]):
            around += scattered[neighbours[k]]
        out[node] = around


def refine_along(colour: HashArray, arcs: Arcs) -> HashArray:
    """As `refine`, with each neighbour's colour mixed with the label, and the direction, of the edge to it."""
    edge = mix(arcs.labels.astype(np.uint64) + ODD) + arcs.inward  # neighbouring hashes, but mixed once more below
    around = np.append(np.uint64(0), np.cumsum(mix(mix(colour)[arcs.neighbours] + edge)))  # modulo 2^64, as sums are
    return mix(colour * ODD + np.diff(around[arcs.ptr]))


class WeisfeilerLehman(Kernel):
    """Compare graphs by the colours that refinement gives their nodes.

    phi(G) counts the colours after 0, 1, ..., ``n_iter`` refinements (Shervashidze et al., JMLR 2011). Needs
    ``node_labels``. Edge weights are ignored, and edge labels unless ``edge_labels`` says otherwise.

    Parameters
    ----------
    n_iter
        Number of refinements; 0 compares label counts.
    tfidf
        Weigh a colour by ``log((1 + n) / (1 + n_c)) + 1``, where ``n_c`` of the ``n`` graphs it was resolved on
        have it: a colour in every graph says little.
    edge_labels
        Whether a neighbour counts together with the label of the edge to it (the graphs need ``edge_labels`` then):
        True, or "directed" where edges have a direction; see `cfmgml.data.graphs` for what both see.
    min_graphs
        Leave out colours that fewer of the graphs it was resolved on have, of graphs' lengths too: for texts, words
        and pairs of words that one text has alone.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 1], edges=[[0], [1]], node_labels=[1, 1, 1, 2])
    >>> WeisfeilerLehman(n_iter=1).block(graphs, graphs)
    array([[8., 2.],
           [2., 4.]])
    >>> bonds = GraphBatch([0, 2, 4], [0, 1, 2], [[0, 2], [1, 3]], node_labels=[6, 6, 6, 6], edge_labels=[1, 2])
    >>> WeisfeilerLehman(n_iter=1, edge_labels=True).block(bonds, bonds)
    array([[8., 4.],
           [4., 8.]])
    """

    is_explicit = is_additive = True
    tile_size = 384  # a tile of counts, in float32, stays in a core's cache until it is written to its places

    def __init__(
        self, n_iter: int = 5, tfidf: bool = False, edge_labels: bool | str = False, min_graphs: int = 1
    ) -> None:
        self.n_iter = n_iter
        self.tfidf = tfidf
        self.edge_labels = edge_labels
        self.min_graphs = min_graphs

    def with_explicit_map(self) -> "WeisfeilerLehman":
        """Colours hashed into columns instead of a dictionary of them."""
        from cfmgml.kernels.hashed import HashedWL

        return (
            HashedWL(self.n_iter, self.tfidf, edge_labels=self.edge_labels) if type(self) is WeisfeilerLehman else self
        )

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        if graphs.node_labels is None:
            raise ValueError("WeisfeilerLehman compares node_labels, and these graphs have none.")
        check_number(self.n_iter, "n_iter", at_least=0, below=MAX_ITER + 1, whole=True)
        check_number(self.min_graphs, "min_graphs", at_least=1, whole=True)
        if self.edge_labels not in (False, True, "directed"):
            raise ValueError(f"edge_labels must be False, True or 'directed', got {self.edge_labels!r}.")
        if self.edge_labels and graphs.edge_labels is None:
            raise ValueError(
                f"{type(self).__name__}(edge_labels={self.edge_labels!r}): these graphs have no edge_labels."
            )
        self._arcs(graphs)

    @property
    def ignores_edge_labels(self) -> bool:
        return not self.edge_labels

    def _arcs(self, graphs: GraphBatch) -> Arcs | None:
        """What nodes have around them where labels of edges count; raises where they contradict each other."""
        if not self.edge_labels:
            return None
        return graphs.directed_arcs if self.edge_labels == "directed" else graphs.labelled_arcs

    def colours(self, graphs: GraphBatch) -> Iterator[HashArray]:
        """The colour of every node, after each refinement."""
        assert graphs.node_labels is not None
        arcs = self._arcs(graphs)
        colour = mix(graphs.node_labels.astype(np.uint64) + ODD)
        yield colour
        for _ in range(self.n_iter):
            colour = refine(colour, *graphs.adjacency) if arcs is None else refine_along(colour, arcs)
            yield colour

    def _settle(self, graphs: GraphBatch) -> None:
        counts, codes = self._counts(graphs)
        order = order_of_codes(codes)
        n_having = np.bincount(counts.indices, minlength=len(codes))[order]
        kept = n_having >= self.min_graphs
        self.vocabulary_, self.n_graphs_ = codes[order][kept], graphs.n_graphs
        self.idf_ = self._idf(n_having[kept])

    def _counts(self, graphs: GraphBatch) -> tuple[sparse.csr_array, HashArray]:
        """Counts of these graphs' own colours, (n_graphs, n_colours), and the colours' codes, by first sight.

        New colours stand side by side then, which makes counting quicker than in the order of their codes.
        """
        numbers, codes = self._numbers(graphs)
        return count_columns(numbers, graphs.node_ptr, len(codes)), codes

    def _numbers(self, graphs: GraphBatch) -> tuple[NumberArray, HashArray]:
        """A number for every colour of every node (n_iter + 1, n_nodes), and the colours' codes.

        One refinement's colours are not another's, so each is numbered by itself: a smaller table, and a quicker one.
        """
        numbers = np.empty((self.n_iter + 1, graphs.n_nodes), dtype=np.int32)
        codes, n_codes = list[HashArray](), 0
        for row, colour in zip(numbers, self.colours(graphs), strict=True):
            row[:], new_codes = number_codes(colour)
            row += n_codes
            codes.append(new_codes)
            n_codes += len(new_codes)
        return numbers, np.concatenate(codes)

    def _idf(self, n_having: IntArray) -> FloatArray:
        if not self.tfidf:
            return np.ones(len(n_having))
        return np.log((1 + self.n_graphs_) / (1 + n_having)) + 1

    @property
    def tiles_depend_on_data(self) -> bool:
        return self.tfidf or self.min_graphs > 1

    def _known_columns(self, codes: HashArray) -> tuple[IntArray, int]:
        """Columns of different codes; those outside the vocabulary get the columns after it. And how many are."""
        order = order_of_codes(codes)
        in_order = codes[order]
        place = np.searchsorted(self.vocabulary_, in_order)  # sorted on both sides: a walk, not a search
        new = place == len(self.vocabulary_)  # all of them where the vocabulary is empty
        new[~new] = self.vocabulary_[place[~new]] != in_order[~new]
        n_new = int(new.sum())
        place[new] = len(self.vocabulary_) + np.arange(n_new)
        columns = np.empty_like(place)
        columns[order] = place
        return columns, n_new

    def _all_features(self, graphs: GraphBatch) -> sparse.csr_array:
        """Weighted counts in the vocabulary's columns, then in a column for every colour outside it, if those count."""
        self.check_graphs(graphs)
        counts, codes = self._counts(graphs)
        columns, n_new = self._known_columns(codes)
        indices, width = columns.astype(np.int32)[counts.indices], len(self.vocabulary_) + n_new
        if self.tfidf:
            weights = np.concatenate([self.idf_, self._idf(np.zeros(n_new, dtype=np.int64))])
            counts.data *= weights[indices]
        rows = sparse.csr_array((counts.data, indices, counts.indptr), shape=(graphs.n_graphs, width))
        return rows if self.min_graphs == 1 else rows[:, : len(self.vocabulary_)]

    # -- the kernel's interface --------------------------------------------------------------

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Operand, Operand]:
        kernel = self.resolve(a) if self.tiles_depend_on_data and not self.is_resolved else self
        both = a if b is None else self._joined(a, b)
        rows = kernel._all_features(both) if self.tiles_depend_on_data else kernel._plain_counts(both)
        return mixed_operands([rows] if b is None else [rows[: a.n_graphs], rows[a.n_graphs :]], dtype)

    def _joined(self, a: GraphBatch, b: GraphBatch) -> GraphBatch:
        """Both, with what this kernel looks at only, so that any two batches can be joined."""
        seen = [(g, g.edge_labels if self.edge_labels else None) for g in (a, b)]
        return GraphBatch.concatenate(
            [GraphBatch(g.node_ptr, g.edge_ptr, g.edges, g.node_labels, edge_labels=labels) for g, labels in seen]
        )

    def _plain_counts(self, graphs: GraphBatch) -> sparse.csr_array:
        """Counts in a column for each colour of these graphs, in no order that a vocabulary would know."""
        self.check_graphs(graphs)
        return self._counts(graphs)[0]

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        assert isinstance(left, MixedOperand)
        assert isinstance(right, MixedOperand)
        return mixed_tile(left, right)

    def diagonal(self, graphs: GraphBatch) -> FloatArray:
        return row_norms((self if self.is_resolved else self.resolve(graphs))._all_features(graphs))

    def features(self, graphs: GraphBatch) -> sparse.csr_array:
        kernel = self if self.is_resolved else self.resolve(graphs)
        return kernel._all_features(graphs)[:, : len(kernel.vocabulary_)]

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        return np.asarray(self._node_features(graphs) @ weights)

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        seen = self if self.is_resolved else self.resolve(self._joined(a, b))
        return np.asarray((seen._node_features(a) @ seen.features(b).T).toarray())

    def _node_features(self, graphs: GraphBatch) -> sparse.csr_array:
        """What each node adds to `features`, (n_nodes, n_features)."""
        numbers, codes = self._numbers(graphs)
        columns, width = self._known_columns(codes)[0][numbers], len(self.vocabulary_)
        known = columns < width
        nodes = np.broadcast_to(np.arange(graphs.n_nodes), columns.shape)[known]
        values = self.idf_[columns[known]]
        return sparse.coo_array((values, (nodes, columns[known])), shape=(graphs.n_nodes, width)).tocsr()

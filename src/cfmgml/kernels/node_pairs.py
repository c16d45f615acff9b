"""Kernels that sum a similarity over all pairs of nodes: what `GraphHopper` and `NodeSum` share.

K(G, G') = sum over v in G, v' in G' of <M(v), M(v')> k(v, v'), with a row of weights M(v) for each node
and a node kernel k. `linear` and `delta` node kernels have an explicit map, phi(G) = sum over v of M(v) (x) x_v,
exact and linear in the number of graphs; `rbf` is computed exactly by tiles, or approximately through a map of the
nodes.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml._compiled import compiled
from cfmgml._numbers import check_number
from cfmgml._segments import lengths, segment_sum, take_segments
from cfmgml._typing import FloatArray, IntArray
from cfmgml.graphs import GraphBatch
from cfmgml.kernels import node_maps
from cfmgml.kernels.base import FeatureOperand, Kernel, Operand, Rows, feature_tile
from cfmgml.kernels.node_blocks import block_norms, join_blocks
from cfmgml.kernels.path_counts import NodeWeights

CANCELLATION_LIMIT = 30.0  # above it, float32 distances lose too many digits to |x|^2 + |y|^2 - 2<x, y>


@dataclass(frozen=True)
class NodeOperand(Operand):
    """Nodes and their weights. ``left @ right.T`` of two operands is the exponent -gamma |x - y|^2."""

    weights: NodeWeights
    left: FloatArray
    right: FloatArray

    @property
    def sizes(self) -> IntArray:  # type: ignore[override]
        return lengths(self.weights.node_ptr)

    @property
    def order(self) -> IntArray | None:
        widths = self.weights.widths
        return None if (widths == widths[:1]).all() else np.argsort(widths, kind="stable")

    def take(self, graphs: IntArray) -> "NodeOperand":
        nodes, _ = take_segments(self.weights.node_ptr, graphs)
        return NodeOperand(self.weights.take(graphs), self.left[nodes], self.right[nodes])


class NodePairKernel(Kernel):
    """Sum of a node kernel over all pairs of nodes, weighted by `node_weights`.

    Parameters
    ----------
    node_kernel
        ``"rbf"`` or ``"linear"`` on node attributes, ``"delta"`` on node labels.
    gamma
        Of the rbf kernel; None takes two over the 10th percentile of squared distances between nodes of the graphs
        it is resolved on.
    approximation
        For rbf: None is exact; ``"fourier"`` or ``"nystrom"`` give an explicit map of ``n_components`` columns for
        the nodes. Once resolved, ``approximation_error_`` is the relative error (Frobenius norm) of the node kernel
        on nodes drawn anew.
    n_components, random_state
        Of the approximation.
    """

    tile_size = 1024

    def __init__(
        self,
        node_kernel: str = "rbf",
        gamma: float | None = None,
        approximation: str | None = None,
        n_components: int = 256,
        random_state: int = 0,
    ) -> None:
        self.node_kernel = node_kernel
        self.gamma = gamma
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state

    @abstractmethod
    def node_weights(self, graphs: GraphBatch) -> NodeWeights:
        """M(v) for every node."""

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        if self.node_kernel not in node_maps.NODE_KERNELS:
            raise ValueError(f"node_kernel must be one of {node_maps.NODE_KERNELS}, got {self.node_kernel!r}.")
        if self.approximation not in (None, *node_maps.APPROXIMATIONS):
            raise ValueError(
                f"approximation must be None or one of {node_maps.APPROXIMATIONS}, got {self.approximation!r}."
            )
        if self.gamma is not None:
            check_number(self.gamma, "gamma", above=0)
        check_number(self.n_components, "n_components", at_least=1, whole=True)
        check_number(self.random_state, "random_state", at_least=0, whole=True)
        needed = "node_labels" if self.node_kernel == "delta" else "node_attributes"
        if getattr(graphs, needed) is None:
            hint = "; node_kernel='delta' compares labels" if needed == "node_attributes" else ""
            raise ValueError(
                f"{type(self).__name__}({self.node_kernel!r}) compares {needed}, and these graphs have none{hint}."
            )
        expected = getattr(self, "n_attributes_", None)
        if expected not in (None, graphs.n_attributes):
            raise ValueError(
                f"this kernel was resolved on graphs with {expected} attributes, these have {graphs.n_attributes}."
            )

    # -- what depends on data ----------------------------------------------------------------

    def _settle(self, graphs: GraphBatch) -> None:
        self.width_ = int(self.node_weights(graphs).widths.max(initial=1))
        if self.node_kernel == "delta":
            assert graphs.node_labels is not None
            self.vocabulary_ = np.unique(graphs.node_labels)
            return
        self.n_attributes_ = graphs.n_attributes
        if self.node_kernel == "rbf":
            self.gamma_ = float(node_maps.default_gamma(graphs) if self.gamma is None else self.gamma)
            assert graphs.node_attributes is not None
            self.centre_ = graphs.node_attributes.mean(0, dtype=np.float64)
            self._settle_approximation(graphs)

    def _settle_approximation(self, graphs: GraphBatch) -> None:
        if self.approximation is None:
            return
        if self.approximation == "fourier":
            self.frequencies_ = node_maps.fourier_frequencies(
                self.n_attributes_, self.n_components, self.gamma_, self.random_state
            )
        else:
            self.landmarks_ = node_maps.sample_nodes(graphs, self.n_components, self.random_state) - self.centre_
            self.basis_ = node_maps.nystrom_basis(self.landmarks_, self.gamma_)
        fresh = node_maps.sample_nodes(graphs, node_maps.SAMPLE, self.random_state + 1) - self.centre_
        exact, mapped = node_maps.rbf(fresh, fresh, self.gamma_), self._map(fresh)
        self.approximation_error_ = float(np.linalg.norm(mapped @ mapped.T - exact) / np.linalg.norm(exact))

    def _resolved(self, graphs: GraphBatch) -> "NodePairKernel":
        kernel = self if self.is_resolved else self.resolve(graphs)
        kernel.check_graphs(graphs)
        return kernel

    # -- exact tiles for rbf -----------------------------------------------------------------

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Operand, Operand]:
        kernel = self._resolved(a)
        if kernel.is_explicit:
            return kernel._feature_operands(a, b, dtype)
        left = kernel._node_operand(a, dtype)
        return (left, left) if b is None else (left, kernel._node_operand(b, dtype))

    def _node_operand(self, graphs: GraphBatch, dtype: DTypeLike) -> NodeOperand:
        self.check_graphs(graphs)
        weights = self.node_weights(graphs)
        weights = NodeWeights(weights.node_ptr, weights.widths, weights.values.astype(dtype, copy=False))
        assert graphs.node_attributes is not None
        nodes = (graphs.node_attributes - self.centre_) * np.sqrt(2 * self.gamma_)
        squares = np.einsum("ij,ij->i", nodes, nodes)[:, None] / 2
        if squares.max(initial=0) > CANCELLATION_LIMIT:
            dtype = np.float64
        ones = np.ones_like(squares)
        left = np.hstack([nodes, -squares, ones]).astype(dtype, copy=False)
        right = np.hstack([nodes, ones, -squares]).astype(dtype, copy=False)
        return NodeOperand(weights, left, right)

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        if isinstance(left, FeatureOperand) and isinstance(right, FeatureOperand):
            return feature_tile(left, right)
        assert isinstance(left, NodeOperand)
        assert isinstance(right, NodeOperand)
        return segment_sum(_node_tile(left, right), left.weights.node_ptr)

    # -- explicit features -------------------------------------------------------------------

    @property
    def is_explicit(self) -> bool:
        return self.node_kernel != "rbf" or self.approximation is not None

    @property
    def is_additive(self) -> bool:
        return True

    def _map(self, nodes: FloatArray) -> FloatArray:
        """Nodes, less ``centre_``: the kernel does not mind where they lie, rounding does."""
        if self.approximation == "fourier":
            return node_maps.fourier_map(nodes, self.frequencies_)
        return node_maps.rbf(nodes, self.landmarks_, self.gamma_) @ self.basis_

    def _node_vectors(self, graphs: GraphBatch, vocabulary: IntArray | None = None) -> Rows:
        if self.node_kernel == "delta":
            assert graphs.node_labels is not None
            return node_maps.one_hot(graphs.node_labels, self.vocabulary_ if vocabulary is None else vocabulary)
        assert graphs.node_attributes is not None
        nodes = graphs.node_attributes.astype(np.float64, copy=False)
        return nodes if self.node_kernel == "linear" else self._map(nodes - self.centre_)

    def _feature_operands(
        self, a: GraphBatch, b: GraphBatch | None, dtype: DTypeLike
    ) -> tuple[FeatureOperand, FeatureOperand]:
        sides = [a] if b is None else [a, b]
        vocabulary = None
        if self.node_kernel == "delta":
            vocabulary = np.unique(np.concatenate([side.node_labels for side in sides]))
        for side in sides:
            self.check_graphs(side)
        weights = [self.node_weights(side) for side in sides]
        width = min(int(w.widths.max(initial=1)) for w in weights)
        done = []
        for side, rows in zip(sides, weights, strict=True):
            vectors = self._node_vectors(side, vocabulary)
            done.append(FeatureOperand(join_blocks(vectors, rows, width).astype(dtype), block_norms(vectors, rows)))
        return done[0], done[-1]

    def features(self, graphs: GraphBatch) -> Rows:
        if not self.is_explicit:
            return super().features(graphs)
        kernel = self._resolved(graphs)
        return join_blocks(kernel._node_vectors(graphs), kernel.node_weights(graphs), kernel.width_)

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        kernel = self._resolved(graphs)
        vectors = kernel._node_vectors(graphs)
        parts = weights.reshape(kernel.width_, vectors.shape[1], -1)
        table = kernel.node_weights(graphs).dense(kernel.width_)
        out = np.zeros((graphs.n_nodes, parts.shape[2]))
        for column, part in enumerate(parts):
            used = np.flatnonzero(table[:, column])
            out[used] += table[used, column, None] * np.asarray(vectors[used] @ part)
        return out

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        kernel = self._resolved(a)
        if kernel.is_explicit:
            if not self.is_resolved and kernel.node_kernel == "delta":
                kernel.vocabulary_ = np.union1d(kernel.vocabulary_, b.node_labels)  # type: ignore[arg-type]
            rows = kernel.features(b)
            return kernel.node_scores(a, (rows.toarray() if sparse.issparse(rows) else rows).T)
        left, right = kernel._node_operand(a, np.float64), kernel._node_operand(b, np.float64)
        return _node_tile(left, right)


def _node_tile(left: NodeOperand, right: NodeOperand) -> FloatArray:
    """What each node on the left adds to each graph on the right, (n_nodes, n_graphs)."""
    similarity = left.left @ right.right.T
    np.minimum(similarity, 0, out=similarity)
    np.exp(similarity, out=similarity)
    out = np.empty((len(similarity), len(right.sizes)))
    width = min(int(left.weights.widths.max()), int(right.weights.widths.max()))
    if width == 1:
        first = right.weights.dense(1)[:, 0]
        _sum_columns(similarity, first, right.weights.node_ptr, out)
        return out * left.weights.dense(1)
    together = left.weights.dense(width) @ right.weights.dense(width).T
    _sum_weighted_columns(similarity, together, right.weights.node_ptr, out)
    return out


@compiled
def _sum_columns(values, weights, ptr, out):  # type: ignore[no-untyped-def]
    for row in range(values.shape[0]):
        for segment in range(len(ptr) - 1):
            total = 0.0
            for column in range(ptr[segment], ptr[segment + 1]):
                total += values[row, column] * weights[column]
            out[row, segment] = total


@compiled
def _sum_weighted_columns(values, weights, ptr, out):  # type: ignore[no-untyped-def]
    for row in range(values.shape[0]):
        for segment in range(len(ptr) - 1):
            total = 0.0
            for column in range(ptr[segment], ptr[segment + 1]):
                total += values[row, column] * weights[row, column]
            out[row, segment] = total

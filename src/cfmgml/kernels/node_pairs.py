"""Kernels that sum a similarity over all pairs of nodes: what `GraphHopper` and `NodeSum` share.

K(G, G') = sum over v in G, v' in G' of <M(v), M(v')> k(v, v'), with a row of weights M(v) for each node and a node
kernel k. `linear` and `delta` have an explicit map, phi(G) = sum over v of M(v) (x) x_v, exact and linear in the number
of graphs; `rbf` is computed exactly by tiles, or approximately through a map of the nodes.
"""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import clone

from cfmgml.common.numbers import check_number
from cfmgml.common.segments import lengths, offsets
from cfmgml.common.typing import FloatArray, IntArray, Rows
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import node_maps
from cfmgml.kernels.base import Kernel, Operand, dense, tile_bounds
from cfmgml.kernels.mixed_rows import MixedOperand, mixed_operands, mixed_tile
from cfmgml.kernels.node_blocks import SummedNodes, SummedOperand, sum_nodes, summed_tile
from cfmgml.kernels.node_maps import APPROXIMATIONS, NODE_KERNELS
from cfmgml.kernels.node_tiles import NodeOperand, NodeSpace, node_operands, node_tile, thin_columns, varying_columns
from cfmgml.kernels.path_counts import NodeWeights

SECONDS_A_PAIR, SECONDS_A_COLUMN, SECONDS_A_WEIGHT = 1e-9, 2e-11, 1e-10  # of nodes; attributes and weights of each


@dataclass(eq=False, repr=False)
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
        on nodes drawn anew; sums over nodes are much closer (`gram_error`). With ``"nystrom"``, K(g, g) is exact.
    n_components, random_state
        Of the approximation.
    """

    is_additive = True
    tile_size = 1024

    node_kernel: str = "rbf"
    gamma: float | None = None
    approximation: str | None = None
    n_components: int = 256
    random_state: int = 0

    @classmethod
    def suited_to(cls, graphs: GraphBatch, settings: Mapping[str, object]) -> Self:
        """Labels are compared where there are no attributes."""
        return cls("delta") if graphs.node_attributes is None else super().suited_to(graphs, settings)

    def with_explicit_map(self) -> Self:
        return self if self.is_explicit else clone(self).set_params(approximation="nystrom")

    def with_landmarks(self, graphs: GraphBatch, n_landmarks: int, among: IntArray | None = None) -> Self:
        if self.is_explicit:
            return self
        kernel = copy(self)
        kernel.approximation, kernel.n_components = (
            "nystrom",
            min(n_landmarks, graphs.n_nodes if among is None else len(among)),
        )
        kernel.width_ = int(self.node_weights(graphs).widths.max(initial=1))
        kernel._settle_approximation(graphs, among)
        return kernel

    def tile_seconds(self, graphs: GraphBatch) -> float:
        if self.is_explicit:
            return super().tile_seconds(graphs)
        pairs = float(graphs.n_nodes) ** 2 / 2
        widths = self.node_weights(graphs[: min(graphs.n_graphs, 100)]).widths
        return pairs * (SECONDS_A_PAIR + SECONDS_A_COLUMN * graphs.n_attributes + SECONDS_A_WEIGHT * widths.mean())

    @property
    def has_residue(self) -> bool:
        return self.node_kernel == "rbf" and self.approximation == "nystrom"

    @abstractmethod
    def node_weights(self, graphs: GraphBatch) -> NodeWeights:
        """M(v) for every node."""

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        if self.node_kernel not in NODE_KERNELS:
            raise ValueError(f"node_kernel must be one of {NODE_KERNELS}, got {self.node_kernel!r}.")
        if self.approximation not in (None, *APPROXIMATIONS):
            raise ValueError(f"approximation must be None or one of {APPROXIMATIONS}, got {self.approximation!r}.")
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

    @property
    def tiles_depend_on_data(self) -> bool:
        return self.node_kernel == "rbf"

    # -- what depends on data ----------------------------------------------------------------

    def _settle(self, graphs: GraphBatch) -> None:
        if self.is_explicit:
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
            self.thin_ = thin_columns(graphs.node_attributes)
            self._settle_approximation(graphs)

    def _settle_approximation(self, graphs: GraphBatch, among: IntArray | None = None) -> None:
        if self.approximation is None:
            return
        if self.approximation == "fourier":
            self.frequencies_ = node_maps.fourier_frequencies(
                self.n_attributes_, self.n_components, self.gamma_, self.random_state
            )
        else:
            n_drawn = max(self.n_components, min(node_maps.PER_LANDMARK * self.n_components, node_maps.MOST_DRAWN))
            drawn = node_maps.sample_nodes(graphs, n_drawn, self.random_state, among)
            self.landmarks_ = node_maps.group_centres(drawn - self.centre_, self.n_components)
            self.basis_ = node_maps.nystrom_basis(self.landmarks_, self.gamma_)
        fresh = node_maps.sample_nodes(graphs, node_maps.SAMPLE, self.random_state + 1, among)
        mapped, fresh = self._finish(self._raw_map(fresh)), fresh - self.centre_
        exact = node_maps.rbf(fresh, fresh, self.gamma_)
        self.approximation_error_ = float(np.linalg.norm(mapped @ mapped.T - exact) / np.linalg.norm(exact))

    def _resolved(self, graphs: GraphBatch) -> "NodePairKernel":
        kernel = self if self.is_resolved else self.resolve(graphs)
        kernel.check_graphs(graphs)
        return kernel

    # -- exact tiles for rbf -----------------------------------------------------------------

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Operand, Operand]:
        kernel = self._resolved(a) if self.tiles_depend_on_data else self
        if kernel.is_explicit:
            return kernel._feature_operands([a] if b is None else [a, b], dtype)
        done = kernel._node_operands([a] if b is None else [a, b], dtype)
        return done[0], done[-1]

    def side(self, graphs: GraphBatch, dtype: DTypeLike = np.float64) -> Operand | None:
        return None if self.is_explicit else self._node_operands([graphs], dtype, every_column=True)[0]

    def _node_operands(
        self, sides: list[GraphBatch], dtype: DTypeLike, every_column: bool = False
    ) -> list[NodeOperand]:
        for side in sides:
            self.check_graphs(side)
        attributes: list[FloatArray] = [side.node_attributes for side in sides]  # type: ignore[misc]
        kept = np.ones(len(self.centre_), dtype=bool) if every_column else varying_columns(attributes)
        scale = float(np.sqrt(2 * self.gamma_))
        spaces = [NodeSpace(values, self.centre_, scale, kept, self.thin_) for values in attributes]
        return node_operands(spaces, [self.node_weights(side) for side in sides], dtype)

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        if isinstance(left, SummedOperand) and isinstance(right, SummedOperand):
            return summed_tile(left, right)
        if isinstance(left, MixedOperand) and isinstance(right, MixedOperand):
            return mixed_tile(left, right)
        assert isinstance(left, NodeOperand)
        assert isinstance(right, NodeOperand)
        return node_tile(left, right)

    # -- explicit features -------------------------------------------------------------------

    @property
    def is_explicit(self) -> bool:
        return self.node_kernel != "rbf" or self.approximation is not None

    def _raw_map(self, nodes: FloatArray) -> FloatArray:
        """Of nodes less ``centre_``: the kernel does not mind where they lie, rounding does. `_finish` ends the map."""
        if self.approximation == "fourier":
            return node_maps.fourier_map(nodes - self.centre_, self.frequencies_)
        through = vars(self).get("_through")  # kept from call to call
        if through is None or through.landmarks is not self.landmarks_:
            through = self._through = node_maps.LandmarkMap(self.landmarks_, self.centre_, self.thin_, self.gamma_)
        return through(nodes)

    def _finish(self, rows: Rows) -> Rows:
        """The part of the map that is linear: there are fewer sums of nodes than nodes, so it comes after summing."""
        return rows @ self.basis_ if self.has_residue else rows

    def _node_vectors(self, graphs: GraphBatch, vocabulary: IntArray | None = None) -> Rows:
        """Vectors of nodes; `_finish` makes them the map."""
        if self.node_kernel == "delta":
            assert graphs.node_labels is not None
            return node_maps.one_hot(graphs.node_labels, self.vocabulary_ if vocabulary is None else vocabulary)
        assert graphs.node_attributes is not None
        nodes = graphs.node_attributes
        return nodes if self.node_kernel == "linear" else self._raw_map(nodes)

    def _summed(self, graphs: GraphBatch, vocabulary: IntArray | None = None) -> SummedNodes:
        weights = self.node_weights(graphs)
        if self.node_kernel != "rbf":
            return sum_nodes(self._node_vectors(graphs, vocabulary), weights)
        row_ptr, node_ptr = offsets(weights.widths), graphs.node_ptr
        rows = np.empty((int(row_ptr[-1]), self._finish(self._raw_map(self.centre_[None])).shape[1]))
        assert graphs.node_attributes is not None
        for start, stop in tile_bounds(lengths(node_ptr), node_maps.CHUNK):  # a map of all nodes would be large
            nodes = graphs.node_attributes[node_ptr[start] : node_ptr[stop]]
            part = sum_nodes(self._raw_map(nodes), weights.take(np.arange(start, stop)))
            rows[row_ptr[start] : row_ptr[stop]] = self._finish(part.rows)
        return SummedNodes(rows, row_ptr)

    def _feature_operands(self, sides: list[GraphBatch], dtype: DTypeLike) -> tuple[Operand, Operand]:
        for side in sides:
            self.check_graphs(side)
        vocabulary = None
        if self.node_kernel == "delta":
            vocabulary = np.unique(np.concatenate([side.node_labels for side in sides]))
        elif sides[0].n_attributes != sides[-1].n_attributes:
            raise ValueError(
                f"graphs to compare must have equally many attributes, got {[side.n_attributes for side in sides]}."
            )
        summed = [self._summed(side, vocabulary) for side in sides]
        if self.node_kernel == "delta":
            width = max(int(lengths(side.row_ptr).max(initial=1)) for side in summed)
            return mixed_operands([side.joined(width) for side in summed], dtype)
        done = [
            SummedOperand(
                SummedNodes(s.rows.astype(dtype, copy=False), s.row_ptr),
                np.arange(side.n_graphs),
                # what landmarks miss of a node it has in common with itself alone, so K(g, g) is exact
                self.exact().diagonal(side) if self.has_residue else s.norms(),
            )
            for s, side in zip(summed, sides, strict=True)
        ]
        return done[0], done[-1]

    def diagonal(self, graphs: GraphBatch) -> FloatArray:
        kernel = self._resolved(graphs)
        return kernel.exact().diagonal(graphs) if kernel.has_residue else super().diagonal(graphs)  # no map is needed

    def exact(self) -> Self:
        """The same kernel without approximation: resolved on the same graphs."""
        kernel = copy(self)
        kernel.approximation = None
        return kernel

    def features(self, graphs: GraphBatch) -> Rows:
        if not self.is_explicit:
            return super().features(graphs)
        kernel = self._resolved(graphs)
        return kernel._summed(graphs).joined(kernel.width_)

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        kernel = self._resolved(graphs)
        vectors = kernel._finish(kernel._node_vectors(graphs))
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
            return kernel.node_scores(a, dense(kernel.features(b)).T)
        left, right = kernel._node_operands([a, b], np.float64)
        return node_tile(left, right, by_node=True)

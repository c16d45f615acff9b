"""Graphs as rows for a solver, and a solver's weights as scores for new graphs.

A kernel with an explicit map gives rows phi(g) / |phi(g)|, and the weights are used as they are. Any other gives a
factor X of its Gram matrix, K = X X^T, and the weights become one coefficient for each training graph or landmark.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from cfmgml.common.compute import USUAL, Compute
from cfmgml.common.progress import say
from cfmgml.common.segments import lengths, offsets, segment_ids
from cfmgml.common.typing import Array, FloatArray, IntArray, Rows
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.approximation import settle_rank, told
from cfmgml.kernels.base import Kernel, normalising_scale
from cfmgml.kernels.compose import scale_rows
from cfmgml.kernels.context import Context, bag_lengths
from cfmgml.kernels.factors import Factor, factorize, factorize_by_pivots, has_negative_directions
from cfmgml.kernels.gram import GramColumns, compute_gram, gram_on_device
from cfmgml.kernels.node_pairs import NodePairKernel
from cfmgml.learning.seen import Seen
from cfmgml.learning.unshared_columns import UnsharedColumns, merge_unshared_columns

CHUNK_NODES = 20_000  # nodes of graphs that are scored at a time


@dataclass(frozen=True)
class Scorer(ABC):
    """Scores graphs, without the intercept."""

    kernel: Kernel

    @abstractmethod
    def scores(self, graphs: GraphBatch) -> FloatArray:
        """(n_graphs, n_labels)."""

    @abstractmethod
    def node_scores(self, graphs: GraphBatch) -> FloatArray:
        """(n_nodes, n_labels): what each node adds to its graph's score."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """What a file must keep beside the kernel."""

    @abstractmethod
    def rows(self, graphs: GraphBatch) -> Rows:
        """Rows X of graphs: ``X @ weights`` are their scores, and the length of weights is what training penalises."""

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """(n_features, n_scores)."""

    def bag_lengths(self, graphs: GraphBatch, bag_ptr: IntArray) -> FloatArray:
        """What bags' means are divided by in a context of scale "unit"."""
        return bag_lengths(self.kernel, graphs, bag_ptr, Compute())

    @abstractmethod
    def with_weights(self, weights: FloatArray) -> "Scorer":
        """The scorer with other weights of the same rows."""

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """Numbers a graph: one a label, or two, its own and its bag's part (`cfmgml.kernels.context`)."""


@dataclass(frozen=True)
class ExplicitScorer(Scorer):
    """Weights of an explicit feature map, (n_features, n_labels)."""

    coef: FloatArray

    def scores(self, graphs: GraphBatch) -> FloatArray:
        return np.concatenate([np.asarray(self.rows(part) @ self.coef) for part in _chunks(graphs)])

    def rows(self, graphs: GraphBatch) -> Rows:
        return normalised_features(self.kernel, graphs)

    @property
    def weights(self) -> FloatArray:
        return self.coef

    def with_weights(self, weights: FloatArray) -> "ExplicitScorer":
        return replace(self, coef=weights)

    def node_scores(self, graphs: GraphBatch) -> FloatArray:
        return np.concatenate([self._node_scores(part) for part in _chunks(graphs)])

    def _node_scores(self, graphs: GraphBatch) -> FloatArray:
        scale = normalising_scale(self.kernel.diagonal(graphs))
        return self.kernel.node_scores(graphs, self.coef) * scale[segment_ids(graphs.node_ptr), None]

    def arrays(self) -> dict[str, Array]:
        return {"coef": self.coef}

    @property
    def n_scores(self) -> int:
        return int(self.coef.shape[1])


@dataclass(frozen=True)
class DualScorer(Scorer):
    """Coefficients of training graphs, (n_landmarks, n_labels)."""

    landmarks: GraphBatch
    dual_coef: FloatArray
    compute: Compute

    def scores(self, graphs: GraphBatch) -> FloatArray:
        done = [self.columns.against(part) @ self.dual_coef for part in _chunks(graphs)]
        return np.concatenate(done).astype(np.float64, copy=False)

    def bag_lengths(self, graphs: GraphBatch, bag_ptr: IntArray) -> FloatArray:
        return bag_lengths(self.kernel, graphs, bag_ptr, self.compute)

    @cached_property
    def columns(self) -> GramColumns:
        return GramColumns(self.kernel, self.landmarks, self.compute.quiet)

    @cached_property
    def span(self) -> Factor:
        """Directions at right angles in the space that the landmarks span, in which rows and weights are counted."""
        return factorize(self.columns.against(self.landmarks))

    @cached_property
    def landmark_scale(self) -> FloatArray:
        """What kernel values with the landmarks are multiplied by; a server asks again and again."""
        return normalising_scale(self.kernel.diagonal(self.landmarks))

    def rows(self, graphs: GraphBatch) -> FloatArray:
        return np.concatenate([self.columns.against(part) @ self.span.projection for part in _chunks(graphs)])

    @property
    def weights(self) -> FloatArray:
        return self.span.X.T @ self.dual_coef

    def with_weights(self, weights: FloatArray) -> "DualScorer":
        """Only the change goes through `span`, so that what rounding has left out of it stays as it was."""
        made = replace(self, dual_coef=self.dual_coef + self.span.projection @ (weights - self.weights))
        vars(made).update(columns=self.columns, span=self.span)  # they depend on the landmarks alone
        return made

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what is kept can be made again

    def node_scores(self, graphs: GraphBatch) -> FloatArray:
        weights = self.dual_coef * self.landmark_scale[:, None]
        scale = normalising_scale(self.kernel.diagonal(graphs))
        done = [self._node_scores(part, weights) for part in _chunks(graphs)]
        return np.concatenate(done) * scale[segment_ids(graphs.node_ptr), None]

    def _node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        total, start = np.zeros((graphs.n_nodes, weights.shape[1])), 0
        for part in _chunks(self.landmarks, 4096):
            total += self.kernel.node_block(graphs, part) @ weights[start : start + part.n_graphs]
            start += part.n_graphs
        return total

    def arrays(self) -> dict[str, Array]:
        kept = {f"landmarks.{name}": array for name, array in self.landmarks.arrays().items() if name != "node_names"}
        return {"dual_coef": self.dual_coef, **kept}

    @property
    def n_scores(self) -> int:
        return int(self.dual_coef.shape[1])


@dataclass(frozen=True)
class TrainingRows:
    """Graphs as rows: what the solver sees, and the way back from its weights to a `Scorer`."""

    kernel: Kernel
    rows: Rows
    graphs: GraphBatch
    context: Context
    features: Rows | None  # of an explicit map; with context where they are dense
    factor: Factor | None  # of a Gram matrix; with context, unless only some of its columns are there
    compute: Compute
    is_gram: bool = False  # the rows are the Gram matrix itself; with a device, a tensor there
    merged: UnsharedColumns | None = None  # of sparse features
    approximation_error: float | None = 0.0  # of kernel values, on graphs kept aside; None: not measured
    seen: Seen | None = None  # what a model remembers of these graphs; None: its scorer keeps all, or they are too few

    def scorer(self, coef: FloatArray) -> Scorer:
        """Both parts of a score side by side if there is context (`cfmgml.kernels.context.join_parts` adds them up)."""
        context, factor = self.context, self.factor
        if self.features is not None:
            if self.is_gram:
                coef = np.asarray(self.features.T @ coef)
            elif factor is not None:
                coef = np.asarray(self.features[factor.landmarks].T @ (factor.projection @ coef))
            weights = context.split_weights(coef)
            return ExplicitScorer(self.kernel, weights if self.merged is None else self.merged.spread(weights))
        if self.is_gram:
            return self._dual(self.graphs, context.split_duals(coef))
        assert factor is not None
        if len(factor.landmarks) == self.graphs.n_graphs and len(coef) == factor.projection.shape[1]:
            return self._dual(self.graphs, context.split_duals(factor.projection @ coef))
        return self._dual(self.graphs[factor.landmarks], factor.projection @ context.split_weights(coef))

    def _dual(self, landmarks: GraphBatch, coef: FloatArray) -> DualScorer:
        return DualScorer(self.kernel, landmarks, coef, self.compute)


def training_rows(
    kernel: Kernel,
    graphs: GraphBatch,
    context: Context,
    compute: Compute,
    rank: int | str | None = None,
    gram_will_do: bool = False,
) -> TrainingRows:
    """Rows for the solver: explicit features where the kernel has them, else a factor of its Gram matrix, or, if that
    ``gram_will_do``, the matrix itself.

    Dense features wider than there are graphs are replaced by their (smaller) Gram matrix or its factor, and columns of
    sparse ones that one graph has alone are merged. Which of this is done with ``rank="auto"`` is
    `cfmgml.kernels.approximation`'s to say.
    """
    how = settle_rank(kernel, graphs, rank, compute)
    kernel, context = how.kernel, context.settled(how.kernel, graphs, compute)
    made = partial(TrainingRows, kernel, graphs=graphs, context=context, compute=compute, approximation_error=how.error)
    if kernel.is_explicit:
        features = normalised_features(kernel, graphs, compute)
        made = partial(made, seen=Seen.of_rows(features))
        if sparse.issparse(features):
            rows, merged = merge_unshared_columns(features)
            return made(context.of_rows(rows), features=features, factor=None, merged=merged)
        features = context.of_rows(features)
        if features.shape[1] <= features.shape[0]:
            return made(features, features=features, factor=None)
        K = np.asarray(features @ features.T)
        if gram_will_do and compute.on_numpy:
            return made(K, features=features, factor=None, is_gram=True)
        factor = factorize(K)
        return made(factor.X, features=features, factor=factor)
    if how.rank is not None:
        factor = factorize_by_pivots(kernel, graphs, how.rank, compute, how.aside)
        if how.aside is not None:
            say(told(graphs.n_graphs, len(factor.landmarks), "of them", factor.error), compute.verbose)
        seen = Seen.of_factor(factor.X, factor.landmarks)
        rows = context.of_rows(factor.X)
        return made(rows, features=None, factor=factor, approximation_error=factor.error, seen=seen)
    if not compute.on_numpy and gram_will_do:
        gram = gram_on_device(kernel, graphs, compute)
        return made(context.of_gram(gram), features=None, factor=None, is_gram=True)
    K = context.of_gram(compute_gram(kernel, graphs, compute))
    if gram_will_do and not has_negative_directions(K):
        return made(K, features=None, factor=None, is_gram=True)
    factor = factorize(K)
    return made(factor.X, features=None, factor=factor)


def normalised_features(kernel: Kernel, graphs: GraphBatch, compute: Compute = USUAL) -> Rows:
    """phi(g) / |phi(g)|; sums of nodes seen through landmarks are made on the device."""
    if not compute.on_numpy and isinstance(kernel, NodePairKernel) and kernel.has_residue and kernel.is_resolved:
        from cfmgml.kernels.gram_on_device import mapped_rows

        return mapped_rows(kernel, graphs, compute.precision, compute.place)
    features, scale = kernel.features(graphs), normalising_scale(kernel.diagonal(graphs))
    if isinstance(kernel, NodePairKernel) and isinstance(features, np.ndarray):
        features *= scale[:, None]  # they were made for this: a copy may be the largest array of a fit
        return features
    return scale_rows(features, scale)


def _chunks(graphs: GraphBatch, n_nodes: int = CHUNK_NODES) -> Iterator[GraphBatch]:
    """The graphs in runs of about ``n_nodes`` nodes, so that memory does not grow with their number."""
    starts = np.unique(offsets(lengths(graphs.node_ptr))[:-1] // n_nodes, return_index=True)[1]
    bounds = [*starts.tolist(), graphs.n_graphs]
    return (graphs[start:stop] for start, stop in zip(bounds[:-1], bounds[1:], strict=True))

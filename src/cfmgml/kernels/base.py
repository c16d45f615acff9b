"""What every graph kernel offers.

A kernel holds parameters only. What depends on data (a default gamma, tf-idf weights, Nystrom landmarks) is settled
once by ``kernel.resolve(graphs)``, in attributes of a copy that end in ``_``. Cloning forgets them again.

A Gram matrix is made tile by tile from `Operand` objects: what a kernel computes once for a batch of graphs
(path counts, feature rows) so that no tile computes it again.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, clone

from cfmgml.common.segments import segment_sum
from cfmgml.common.typing import FloatArray, IntArray, Rows
from cfmgml.data.graphs import GraphBatch


class Operand(ABC):
    """One side of a Gram matrix: a batch of graphs, prepared for one kernel."""

    norms: FloatArray | None = None  # (n_graphs,): K(g, g), where it is known without computing tiles

    @property
    def sizes(self) -> IntArray:
        """How much of a tile each graph takes, (n_graphs,)."""
        assert self.norms is not None
        return np.ones(len(self.norms), dtype=np.int64)

    @abstractmethod
    def take(self, graphs: IntArray) -> "Operand":
        """The operand of these graphs."""

    @property
    def order(self) -> IntArray | None:
        """An order of the graphs in which tiles are cheaper, if there is one."""
        return None


class Kernel(BaseEstimator, ABC):  # type: ignore[misc]
    """A positive semidefinite similarity of graphs, as parameters."""

    tile_size = 2048  # how much of `Operand.sizes` a tile takes on each side

    def resolve(self, graphs: GraphBatch) -> Self:
        """A copy with everything settled that depends on data."""
        self.check_some_graphs(graphs)
        kernel: Self = clone(self)
        kernel._settle(graphs)
        kernel.resolved_ = True
        return kernel

    @property
    def is_resolved(self) -> bool:
        return bool(getattr(self, "resolved_", False))

    @classmethod
    def suited_to(cls, graphs: GraphBatch, settings: Mapping[str, object]) -> Self:
        """A kernel for such graphs, with those of the settings, by name, that it has parameters for."""
        return cls(**{key: value for key, value in settings.items() if key in cls._get_param_names()})

    def with_explicit_map(self) -> "Kernel":
        """What takes this kernel's place where an explicit feature map is needed; itself if there is nothing."""
        return self

    def with_landmarks(self, graphs: GraphBatch, n_landmarks: int, among: IntArray | None = None) -> "Kernel | None":
        """This resolved kernel with an explicit map that compares nodes with so many landmarks, made from nodes
        ``among`` those of graphs, or from all; itself if it has a map, None if it can have none."""
        return self if self.is_explicit else None

    def tile_seconds(self, graphs: GraphBatch) -> float:
        """What all tiles of these graphs cost on one core, about; of kernels unknown, the same for every graph."""
        return 1e-8 * float(graphs.n_graphs) ** 2

    @property
    def ignores_edge_labels(self) -> bool:
        """Whether its values are the same whatever labels edges have."""
        return True

    @property
    def has_residue(self) -> bool:
        """Whether K(g, g) counts what its tiles leave out: a graph then has more in common with itself than with its
        copy."""
        return False

    @property
    def tiles_depend_on_data(self) -> bool:
        """Whether tiles need the kernel resolved; else `gram_matrix` spares the work."""
        return True

    def _settle(self, graphs: GraphBatch) -> None:
        """Set what depends on data, in attributes that end in ``_``."""

    def check_graphs(self, graphs: GraphBatch) -> None:
        """Raise if the graphs lack what this kernel compares."""
        if not isinstance(graphs, GraphBatch):
            raise TypeError(f"{type(self).__name__} compares the graphs of a GraphBatch, got {type(graphs).__name__}.")

    def check_some_graphs(self, graphs: GraphBatch) -> None:
        self.check_graphs(graphs)
        if not graphs.n_graphs:
            raise ValueError(f"{type(self).__name__} needs at least one graph.")

    # -- tiles -------------------------------------------------------------------------------

    @abstractmethod
    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[Operand, Operand]:
        """Both sides of a Gram matrix; the same object twice if ``b`` is left out."""

    @abstractmethod
    def tile(self, left: Operand, right: Operand) -> FloatArray:
        """Kernel values of shape (n_left, n_right), not normalised."""

    def side(self, graphs: GraphBatch, dtype: DTypeLike = np.float64) -> Operand | None:
        """One side that fits any other made like this, so that it can be kept; None where two are made together."""
        return None

    def block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        """Kernel values of shape (n_a, n_b), not normalised, in one piece."""
        return self.tile(*self.operands(a, b)).astype(np.float64, copy=False)

    def operand_diagonal(self, operand: Operand) -> FloatArray:
        """K(g, g) for every graph of an operand: as it knows it, or by small tiles on the diagonal."""
        if operand.norms is not None:
            return operand.norms
        out = np.empty(len(operand.sizes))
        for start, stop in tile_bounds(operand.sizes, 64):
            piece = operand.take(np.arange(start, stop))
            out[start:stop] = np.diagonal(self.tile(piece, piece))
        return out

    def diagonal(self, graphs: GraphBatch) -> FloatArray:
        """K(g, g) for every graph, (n_graphs,)."""
        return self.operand_diagonal(self.operands(graphs)[0])

    # -- explicit features and the third level -----------------------------------------------

    @property
    def is_explicit(self) -> bool:
        """Whether `features` gives a map phi with K(g, h) = <phi(g), phi(h)>."""
        return False

    @property
    def is_additive(self) -> bool:
        """Whether the kernel is a sum over nodes, so that a score splits into one part a node."""
        return False

    def features(self, graphs: GraphBatch) -> Rows:
        """phi, of shape (n_graphs, n_features), not normalised; columns are those known when resolved.

        What a graph has outside those columns still counts in `diagonal`.
        """
        raise TypeError(f"{self!r} has no explicit feature map.")

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        """What each node adds to ``features(graphs) @ weights``, of shape (n_nodes, n_columns of weights)."""
        raise TypeError(f"{self!r} has no explicit feature map.")

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        """What each node of ``a`` adds to ``block(a, b)``, of shape (n_nodes of a, n_b)."""
        raise TypeError(f"{self!r} is not a sum over nodes, so its scores cannot be split among them.")


def normalising_scale(diagonal: FloatArray) -> FloatArray:
    """1 / sqrt(K(g, g)); 0 for a graph of zero norm, which is then similar to nothing."""
    if not np.isfinite(diagonal).all():
        graph = int(np.flatnonzero(~np.isfinite(diagonal))[0])
        raise ValueError(
            f"K(g, g) must be finite; graph {graph} has {diagonal[graph]}: scale the attributes down, or use float64."
        )
    if len(diagonal) and diagonal.min() < 0:
        raise ValueError(f"K(g, g) must not be negative; graph {int(diagonal.argmin())} has {diagonal.min()}.")
    with np.errstate(divide="ignore"):
        return np.where(diagonal > 0, 1 / np.sqrt(diagonal), 0.0)


def tile_bounds(sizes: IntArray, limit: int) -> list[tuple[int, int]]:
    """Cut graphs into runs of at most ``limit`` in size; a larger graph is a run of its own.

    >>> tile_bounds(np.array([3, 3, 3, 9, 1]), 6)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    bounds, start, filled = [], 0, 0
    for k, size in enumerate(sizes.tolist()):
        if k > start and filled + size > limit:
            bounds.append((start, k))
            start, filled = k, 0
        filled += size
    return [*bounds, (start, len(sizes))] if len(sizes) else []


def dense(rows: Rows) -> FloatArray:
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())


def row_norms(rows: Rows) -> FloatArray:
    """Squared length of each row."""
    if isinstance(rows, np.ndarray):
        return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return segment_sum(rows.data.astype(np.float64) ** 2, rows.indptr.astype(np.int64))

"""Sums and products of kernels."""

import operator
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.base import clone

from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import BoolArray, FloatArray, IntArray, Rows
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand, normalising_scale
from cfmgml.kernels.function import KernelLike, as_kernel

if TYPE_CHECKING:
    from torch import Tensor

Tile = TypeVar("Tile", FloatArray, "Tensor")


@dataclass(frozen=True)
class PartsOperand(Operand):
    """One operand a part, and what each part is scaled by to have unit diagonal."""

    parts: tuple[Operand, ...]
    scales: tuple[FloatArray, ...]
    norms: FloatArray

    @property
    def sizes(self) -> IntArray:
        return np.asarray(np.max([part.sizes for part in self.parts], axis=0))

    @property
    def order(self) -> IntArray | None:
        return next((part.order for part in self.parts if part.order is not None), None)

    def take(self, graphs: IntArray) -> "PartsOperand":
        parts, scales = (part.take(graphs) for part in self.parts), (scale[graphs] for scale in self.scales)
        return PartsOperand(tuple(parts), tuple(scales), self.norms[graphs])


class CompositeKernel(Kernel):
    """A kernel made of kernels, each normalised to unit diagonal first."""

    tile_size = 1024

    def __init__(self, kernels: Sequence[KernelLike]) -> None:
        self.kernels = kernels

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        if not isinstance(self.kernels, Sequence):
            raise TypeError(f"{type(self).__name__} takes a list of kernels, got {self.kernels!r}; pass [kernel, ...].")
        if not len(self.kernels):
            raise ValueError(f"{type(self).__name__} needs at least one kernel.")
        for part in self.kernels:
            as_kernel(part).check_graphs(graphs)

    def _settle(self, graphs: GraphBatch) -> None:
        # The copies made by resolving each part: a clone of the whole forgets them, as it should.
        self.kernels_ = [as_kernel(part).resolve(graphs) for part in self.kernels]

    def _parts(self, graphs: GraphBatch) -> list[Kernel]:
        return (self if self.is_resolved else self.resolve(graphs)).kernels_

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[PartsOperand, PartsOperand]:
        parts = self._parts(a)
        pairs = [part.operands(a, b, dtype) for part in parts]
        sides = [self._joined(parts, [pair[side] for pair in pairs]) for side in ((0, 1) if b is not None else (0,))]
        return sides[0], sides[-1]

    def side(self, graphs: GraphBatch, dtype: DTypeLike = np.float64) -> PartsOperand | None:
        parts = self._parts(graphs)
        sides = [part.side(graphs, dtype) for part in parts]
        made = [side for side in sides if side is not None]
        return self._joined(parts, made) if len(made) == len(sides) else None

    def _joined(self, parts: list[Kernel], sides: list[Operand]) -> PartsOperand:
        scales = tuple(normalising_scale(p.operand_diagonal(o)) for p, o in zip(parts, sides, strict=True))
        return PartsOperand(tuple(sides), scales, self._norms(np.array(scales) > 0))

    @abstractmethod
    def _norms(self, parts_there: BoolArray) -> FloatArray:
        """K(g, g) from whether each part's is above 0, (n_parts, n_graphs)."""

    def tile_seconds(self, graphs: GraphBatch) -> float:
        return sum(part.tile_seconds(graphs) for part in self.parts)

    @property
    def parts(self) -> list[Kernel]:
        """The kernels it is made of, resolved if it is."""
        return getattr(self, "kernels_", None) or [as_kernel(part) for part in self.kernels]

    @property
    def ignores_edge_labels(self) -> bool:
        return all(part.ignores_edge_labels for part in self.parts)

    @property
    def has_residue(self) -> bool:
        return any(part.has_residue for part in self.parts)

    @abstractmethod
    def combine(self, tiles: Sequence[Tile]) -> Tile:
        """The values of the whole from those of its parts, arrays of one shape."""

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        assert isinstance(left, PartsOperand)
        assert isinstance(right, PartsOperand)
        tiles = [
            part.tile(left.parts[k], right.parts[k]) * left.scales[k][:, None] * right.scales[k]
            for k, part in enumerate(self.parts)
        ]
        return np.asarray(self.combine(tiles))


class SumKernel(CompositeKernel):
    """Weighted sum of kernels, each normalised to unit diagonal first: raw, one would drown the other.

    Parameters
    ----------
    kernels
        Kernels, or functions of two batches.
    weights
        One positive number a kernel; equal, adding up to 1, if left out.

    Examples
    --------
    >>> from cfmgml.kernels import NodeSum, WeisfeilerLehman
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3], edge_ptr=[0, 0, 0], edges=[[], []], node_labels=[1, 1, 2])
    >>> SumKernel([WeisfeilerLehman(0), NodeSum("delta")]).block(graphs, graphs).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    def __init__(self, kernels: Sequence[KernelLike], weights: Sequence[float] | None = None) -> None:
        super().__init__(kernels)
        self.weights = weights

    def with_explicit_map(self) -> "SumKernel":
        """The sum of what takes the place of its parts.

        >>> from cfmgml.kernels import GraphHopper, WeisfeilerLehman
        >>> SumKernel([WeisfeilerLehman(2, tfidf=True), GraphHopper(gamma=0.5)]).with_explicit_map()
        SumKernel(kernels=[HashedWL(n_iter=2, tfidf=True), GraphHopper(approximation='nystrom', gamma=0.5)])
        """
        return SumKernel([as_kernel(part).with_explicit_map() for part in self.kernels], self.weights)

    def with_landmarks(self, graphs: GraphBatch, n_landmarks: int, among: IntArray | None = None) -> "SumKernel | None":
        mapped = [part.with_landmarks(graphs, n_landmarks, among) for part in self.parts]
        parts = [part for part in mapped if part is not None]
        if len(parts) < len(mapped):
            return None
        kernel = SumKernel([clone(part) for part in parts], self.weights)
        kernel.kernels_, kernel.resolved_ = parts, True
        return kernel

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        self._weights()

    def _weights(self) -> FloatArray:
        if self.weights is None:
            return np.full(len(self.kernels), 1 / len(self.kernels))
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(self.kernels),) or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(
                f"weights must be one positive number for each of {len(self.kernels)} kernels, got {self.weights}."
            )
        return weights

    def combine(self, tiles: Sequence[Tile]) -> Tile:
        return reduce(operator.add, (float(w) * tile for w, tile in zip(self._weights(), tiles, strict=True)))

    def _norms(self, parts_there: BoolArray) -> FloatArray:
        return np.asarray(self._weights() @ parts_there)

    @property
    def is_explicit(self) -> bool:
        return all(as_kernel(part).is_explicit for part in self.kernels)

    @property
    def is_additive(self) -> bool:
        return all(as_kernel(part).is_additive for part in self.kernels)

    def features(self, graphs: GraphBatch) -> Rows:
        if not self.is_explicit:
            return super().features(graphs)
        blocks = [
            scale_rows(part.features(graphs), np.sqrt(weight) * normalising_scale(part.diagonal(graphs)))
            for part, weight in zip(self._parts(graphs), self._weights(), strict=True)
        ]
        if any(sparse.issparse(block) for block in blocks):
            return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr"))
        return np.hstack(blocks)

    def node_scores(self, graphs: GraphBatch, weights: FloatArray) -> FloatArray:
        node_graph = segment_ids(graphs.node_ptr)
        total, used = np.zeros((graphs.n_nodes, weights.shape[1])), 0
        for part, weight in zip(self._parts(graphs), self._weights(), strict=True):
            width = part.features(graphs[:1]).shape[1]
            scale = np.sqrt(weight) * normalising_scale(part.diagonal(graphs))
            total += part.node_scores(graphs, weights[used : used + width]) * scale[node_graph, None]
            used += width
        return total

    def node_block(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        node_graph = segment_ids(a.node_ptr)
        total = np.zeros((a.n_nodes, b.n_graphs))
        for part, weight in zip(self._parts(a), self._weights(), strict=True):
            left, right = normalising_scale(part.diagonal(a)), normalising_scale(part.diagonal(b))
            total += weight * part.node_block(a, b) * left[node_graph, None] * right
        return total


class ProductKernel(CompositeKernel):
    """Product of kernels, each normalised to unit diagonal first: graphs are alike if they are in every respect.

    Examples
    --------
    >>> from cfmgml.kernels import NodeSum, WeisfeilerLehman
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3], edge_ptr=[0, 0, 0], edges=[[], []], node_labels=[1, 1, 2])
    >>> ProductKernel([WeisfeilerLehman(0), NodeSum("delta")]).block(graphs, graphs).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def combine(self, tiles: Sequence[Tile]) -> Tile:
        return reduce(operator.mul, tiles)

    def _norms(self, parts_there: BoolArray) -> FloatArray:
        return np.asarray(parts_there.all(axis=0), dtype=np.float64)


def scale_rows(rows: Rows, scale: FloatArray) -> Rows:
    """Multiply each row by a number."""
    return sparse.csr_array(sparse.diags_array(scale) @ rows) if sparse.issparse(rows) else rows * scale[:, None]

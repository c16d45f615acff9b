"""Factors of a Gram matrix: rows X with K ~ X X^T, by eigenvectors or from some of its columns."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from cfmgml.common.compute import USUAL, Compute
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, normalising_scale, tile_bounds

FIRST_LOOK = 64  # columns, before it is looked whether they are enough


class Factor(NamedTuple):
    """X with K ~ X X^T: ``X = K[:, landmarks] @ projection``, for new graphs too."""

    X: FloatArray  # (n, rank)
    landmarks: IntArray  # rows of K that new graphs are compared with
    projection: FloatArray  # (n_landmarks, rank)
    error: float | None = None  # of the values of graphs kept aside, if there were any


@dataclass(frozen=True)
class Aside:
    """Graphs kept aside to see on them how many landmarks are enough."""

    graphs: IntArray
    truth: FloatArray  # their normalised kernel values
    tolerance: float  # of `value_error`

    def error_of(self, rows: FloatArray) -> float:
        return value_error(rows @ rows.T, self.truth)


def value_error(values: FloatArray, truth: FloatArray) -> float:
    """How far values of pairs of different graphs are from the truth, relatively (Frobenius norm).

    The mean is left out, which an intercept makes up for.

    >>> truth = np.array([[1.0, 0.4, 0.2], [0.4, 1.0, 0.0], [0.2, 0.0, 1.0]])
    >>> value_error(truth, truth), round(value_error(truth + 0.1 * np.eye(3)[::-1], truth), 3)
    (0.0, 0.289)
    """
    pairs = ~np.eye(len(truth), dtype=bool)
    true, off = truth[pairs], (values - truth)[pairs]
    spread = float(np.linalg.norm(true - true.mean()))
    return float(np.linalg.norm(off - off.mean())) / spread if spread else 0.0


def factorize(K: FloatArray) -> Factor:
    """Factor a Gram matrix by its eigenvectors; directions that rounding has swallowed are left out."""
    values, vectors = linalg.eigh(K.astype(np.float64, copy=False), check_finite=False)
    keep = values > rounding_of(K, values[-1])
    if not keep.any():
        return Factor(np.zeros((len(K), 1)), np.arange(len(K)), np.zeros((len(K), 1)))
    roots = np.sqrt(values[keep])
    return Factor(vectors[:, keep] * roots, np.arange(len(K)), vectors[:, keep] / roots)


def has_negative_directions(K: FloatArray) -> bool:
    """Whether a Gram matrix has negative eigenvalues that are more than rounding.

    >>> has_negative_directions(np.ones((2, 2))), has_negative_directions(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (False, True)
    """
    by = rounding_of(K, np.abs(K).sum(axis=0).max())  # no eigenvalue is larger
    moved = K.astype(np.float64, order="F")
    moved.flat[:: len(K) + 1] += by
    return bool(linalg.lapack.dpotrf(moved, lower=1, clean=0, overwrite_a=1)[1])


def rounding_of(K: FloatArray, largest: float) -> float:
    """How far rounding moves eigenvalues: by about eps times the ``largest`` one in a decomposition, and by about
    eps sqrt(n) through independent errors of the entries, which matters for float32."""
    of_entries = np.sqrt(len(K)) * np.finfo(K.dtype).eps * np.abs(K).max()
    return float(max(largest * len(K) * np.finfo(np.float64).eps, of_entries))


def factorize_by_pivots(
    kernel: Kernel, graphs: GraphBatch, rank: int, compute: Compute = USUAL, aside: Aside | None = None
) -> Factor:
    """Factor the normalised Gram matrix from ``rank`` of its columns (pivoted Cholesky; Harbrecht et al. 2012).

    Only those columns are ever computed: memory is n x rank, and new graphs are compared with ``rank`` graphs. Fewer do
    if they are enough for graphs kept ``aside``, none of which is chosen.
    """
    operand = kernel.operands(graphs, dtype=compute.numbers)[0]
    scale = normalising_scale(kernel.operand_diagonal(operand))
    bounds = tile_bounds(operand.sizes, 16 * kernel.tile_size)
    pieces = [operand.take(np.arange(*bound)) for bound in bounds]
    nothing = max(1e-10, np.sqrt(graphs.n_graphs) * float(np.finfo(compute.numbers).eps))
    left_over, error = (scale > 0).astype(np.float64), None
    if aside is not None:
        left_over[aside.graphs] = 0
    factor = np.zeros((graphs.n_graphs, min(rank, graphs.n_graphs)), order="F")  # columns that are not used stay empty
    pivots: list[int] = []
    for k in range(factor.shape[1]):
        pivot = int(left_over.argmax())
        if left_over[pivot] <= nothing:
            break
        if aside is not None and k >= FIRST_LOOK and k & (k - 1) == 0:  # at each power of two
            error = aside.error_of(factor[aside.graphs, :k])
            if error <= aside.tolerance:
                break
        against = operand.take(np.array([pivot]))
        column = np.concatenate([kernel.tile(piece, against)[:, 0] for piece in pieces]) * scale * scale[pivot]
        column[pivot] = 1.0
        column -= factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / np.sqrt(left_over[pivot])
        left_over = np.maximum(left_over - factor[:, k] ** 2, 0)
        left_over[pivot] = 0
        pivots.append(pivot)
    X = factor[:, : len(pivots)]
    projection = linalg.solve_triangular(X[pivots], np.eye(len(pivots)), lower=True).T
    if aside is not None:
        error = aside.error_of(X[aside.graphs])
    return Factor(X, np.array(pivots, dtype=np.int64), projection, error)

"""Gram matrices, tile by tile, and their low-rank factors."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike
from scipy import linalg
from threadpoolctl import threadpool_limits

from cfmgml._progress import progress
from cfmgml._typing import FloatArray, IntArray
from cfmgml.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand, normalising_scale, tile_bounds
from cfmgml.kernels.function import as_kernel


def gram_matrix(
    kernel: Any,
    graphs: GraphBatch,
    other: GraphBatch | None = None,
    normalize: bool = True,
    dtype: DTypeLike = "float64",
    n_jobs: int | None = None,
    device: str = "cpu",
    verbose: bool = False,
) -> FloatArray:
    """Kernel values of shape (n_graphs, n_graphs), or (n_graphs, n_other).

    Parameters
    ----------
    kernel
        A `Kernel`, or a function of two batches. If it is not resolved yet, it is resolved on ``graphs``: to compare
        several matrices, resolve it once yourself.
    graphs, other
        Rows and columns; without ``other`` the matrix is symmetric and half of it is computed.
    normalize
        Divide by sqrt(K(g, g) K(h, h)); a graph of zero norm gets zeros, on the diagonal too.
    dtype
        ``"float64"`` or ``"float32"``. In float32 node kernels are computed in float32 and summed in float64.
    n_jobs
        Threads that work on tiles, as in joblib; None leaves threading to the linear algebra library.
    device
        ``"cpu"``.
    verbose
        Show a progress bar on stderr.

    Examples
    --------
    >>> from cfmgml import WeisfeilerLehman
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 1], edges=[[0], [1]], node_labels=[1, 1, 1, 2])
    >>> gram_matrix(WeisfeilerLehman(n_iter=1), graphs).round(3)
    array([[1.   , 0.354],
           [0.354, 1.   ]])
    """
    if device != "cpu":
        raise ValueError(f"device must be 'cpu', got {device!r}.")
    dtype = check_dtype(dtype)
    kernel = as_kernel(kernel)
    if not kernel.is_resolved:
        kernel = kernel.resolve(graphs)
    left, right = kernel.operands(graphs, other, dtype)
    out = _raw(kernel, left, right, dtype, n_jobs, verbose)
    if left is right and left.norms is not None:  # tiles may leave out what no two graphs share
        np.fill_diagonal(out, left.norms)
    if normalize:
        _normalise(kernel, out, left, right)
    return out


def check_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {found}.")
    return found


def _normalise(kernel: Kernel, out: FloatArray, left: Operand, right: Operand) -> None:
    if left is right:
        rows = columns = normalising_scale(np.diagonal(out).astype(np.float64))
    else:
        rows, columns = (normalising_scale(kernel.operand_diagonal(side)) for side in (left, right))
    out *= rows[:, None].astype(out.dtype)
    out *= columns.astype(out.dtype)
    if left is right:
        np.fill_diagonal(out, rows > 0)


def _raw(
    kernel: Kernel, left: Operand, right: Operand, dtype: np.dtype[Any], n_jobs: int | None, verbose: bool
) -> FloatArray:
    symmetric = left is right
    left, row_order = _ordered(left)
    right, column_order = (left, row_order) if symmetric else _ordered(right)
    out = np.empty((len(left.sizes), len(right.sizes)), dtype=dtype)
    rows, columns = tile_bounds(left.sizes, kernel.tile_size), tile_bounds(right.sizes, kernel.tile_size)
    pieces = [right.take(np.arange(*bounds)) for bounds in columns]

    def compute(i: int, j: int, piece: Operand) -> None:
        tile = kernel.tile(piece, pieces[j])
        at, to = row_order[slice(*rows[i])], column_order[slice(*columns[j])]
        out[np.ix_(at, to)] = tile
        if symmetric and i != j:
            out[np.ix_(to, at)] = tile.T

    def compute_row(i: int) -> int:
        piece = pieces[i] if symmetric else left.take(np.arange(*rows[i]))
        chosen = range(i, len(columns)) if symmetric else range(len(columns))
        for j in chosen:
            compute(i, j, piece)
        return len(chosen)

    total = len(rows) * (len(rows) + 1) // 2 if symmetric else len(rows) * len(columns)
    with progress("Gram matrix", total, verbose) as advance:
        for done in _in_threads(compute_row, len(rows), n_jobs):
            advance(done)
    return out


def _ordered(operand: Operand) -> tuple[Operand, IntArray]:
    order = operand.order
    return (operand, np.arange(len(operand.sizes))) if order is None else (operand.take(order), order)


def _in_threads(work: Any, n: int, n_jobs: int | None) -> Any:
    """Results of ``work(0)`` to ``work(n - 1)``; each thread then has one core for its linear algebra."""
    n_threads = 1 if n_jobs is None else min(effective_n_jobs(n_jobs), max(n, 1))
    if n_threads == 1:
        yield from map(work, range(n))
        return
    with threadpool_limits(limits=1), ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, range(n))


class Factor(NamedTuple):
    """X with K ~ X X^T: ``X = K[:, landmarks] @ projection``, for new graphs too."""

    X: FloatArray  # (n, rank)
    landmarks: IntArray  # rows of K that new graphs are compared with
    projection: FloatArray  # (n_landmarks, rank)


def factorize(K: FloatArray) -> Factor:
    """Factor a Gram matrix by its eigenvectors; directions that rounding has swallowed are left out."""
    values, vectors = linalg.eigh(K.astype(np.float64, copy=False), check_finite=False)
    # Rounding moves an eigenvalue by about eps times the largest one in the decomposition, and by about
    # eps sqrt(n) through independent errors of the entries, which matters for float32.
    lost = max(
        values[-1] * len(K) * np.finfo(np.float64).eps, np.sqrt(len(K)) * np.finfo(K.dtype).eps * np.abs(K).max()
    )
    keep = values > lost
    if not keep.any():
        return Factor(np.zeros((len(K), 1)), np.arange(len(K)), np.zeros((len(K), 1)))
    roots = np.sqrt(values[keep])
    return Factor(vectors[:, keep] * roots, np.arange(len(K)), vectors[:, keep] / roots)


def factorize_by_pivots(
    kernel: Kernel, graphs: GraphBatch, rank: int, dtype: DTypeLike = "float64", tolerance: float = 1e-10
) -> Factor:
    """Factor the normalised Gram matrix from ``rank`` of its columns (pivoted Cholesky; Harbrecht et al. 2012).

    Only those columns are ever computed: memory is n x rank, and new graphs are compared with ``rank`` graphs.
    """
    operand = kernel.operands(graphs, dtype=check_dtype(dtype))[0]
    scale = normalising_scale(kernel.operand_diagonal(operand))
    bounds = tile_bounds(operand.sizes, 16 * kernel.tile_size)
    pieces = [operand.take(np.arange(*bound)) for bound in bounds]
    tolerance = max(tolerance, np.sqrt(graphs.n_graphs) * float(np.finfo(dtype).eps))
    left_over = (scale > 0).astype(np.float64)
    factor = np.zeros((graphs.n_graphs, min(rank, graphs.n_graphs)))
    pivots: list[int] = []
    for k in range(factor.shape[1]):
        pivot = int(left_over.argmax())
        if left_over[pivot] <= tolerance:
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
    return Factor(X, np.array(pivots, dtype=np.int64), projection)

"""Gram matrices, tile by tile."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import DTypeLike
from threadpoolctl import threadpool_limits

from cfmgml.common.compiled import compiled
from cfmgml.common.compute import Compute
from cfmgml.common.progress import progress
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand, normalising_scale, tile_bounds
from cfmgml.kernels.function import KernelLike, as_kernel
from cfmgml.kernels.node_pairs import NodePairKernel

if TYPE_CHECKING:
    import torch

Pieces = tuple[list[IntArray], list[Operand]]  # the graphs of each run of tiles, and their operands
KEPT_BYTES = 2**29  # most that `GramColumns` keeps of nodes


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
        ``"float64"`` or ``"float32"``. In float32 node kernels are computed in float32 and summed in float64. On a
        card also ``"tf32"``: float32 numbers computed from 11 bits of each coordinate (``docs/performance.md`` has the
        errors).
    n_jobs
        Threads that work on tiles, as in joblib; None leaves threading to the linear algebra library.
    device
        ``"cpu"``; ``"cuda"`` or ``"cuda:1"`` for an NVIDIA card, which needs torch; ``"torch:cpu"`` for the card's code
        on torch's CPU. Sums over pairs of nodes with the rbf kernel are computed there, alone or in sums and products;
        other kernels stay on the CPU.
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
    return compute_gram(kernel, graphs, Compute(dtype, device, n_jobs, verbose), other, normalize)


def compute_gram(
    kernel: KernelLike, graphs: GraphBatch, compute: Compute, other: GraphBatch | None = None, normalize: bool = True
) -> FloatArray:
    """As `gram_matrix`."""
    if not compute.on_numpy:
        return np.asarray(gram_on_device(kernel, graphs, compute, other, normalize).cpu().numpy())
    kernel = ready_for_tiles(as_kernel(kernel), graphs)
    left, right = kernel.operands(graphs, other, compute.numbers)
    out = _raw(kernel, left, right, compute)
    if normalize:
        _normalise(kernel, out, left, right)
    return out


def gram_on_device(
    kernel: KernelLike, graphs: GraphBatch, compute: Compute, other: GraphBatch | None = None, normalize: bool = True
) -> "torch.Tensor":
    """`gram_matrix` as a torch tensor on the device."""
    from cfmgml.gpu.node_blocks import as_tensor
    from cfmgml.kernels.gram_on_device import diagonal, raw_gram

    kernel = ready_for_tiles(as_kernel(kernel), graphs)
    left, right = kernel.operands(graphs, other, np.float64)  # nodes are rounded on the device
    place, precision = compute.place, compute.precision
    out = raw_gram(kernel, left, right, precision, place, partial(_raw, compute=compute))
    if normalize:
        if left is right:
            scales = [normalising_scale(out.diagonal().double().cpu().numpy())]
        else:
            scales = [normalising_scale(diagonal(kernel, side, precision, place)) for side in (left, right)]
        rows, columns = (as_tensor(scale, out.dtype, place) for scale in (scales[0], scales[-1]))
        out *= rows[:, None]
        out *= columns
        if left is right:
            out.fill_diagonal_(1.0)
            out.diagonal().mul_((rows > 0).to(out.dtype))
    return out


def ready_for_tiles(kernel: Kernel, graphs: GraphBatch) -> Kernel:
    """The kernel, resolved unless its tiles do not need that."""
    if kernel.is_resolved:
        return kernel
    if kernel.tiles_depend_on_data:
        return kernel.resolve(graphs)
    kernel.check_some_graphs(graphs)
    return kernel


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
    kernel: Kernel, left: Operand, right: Operand, compute: Compute, right_pieces: Pieces | None = None
) -> FloatArray:
    symmetric = left is right
    rows, row_pieces = _pieces(left, kernel.tile_size)
    columns, pieces = (rows, row_pieces) if symmetric else right_pieces or _pieces(right, kernel.tile_size)
    out: FloatArray = np.empty((len(left.sizes), len(right.sizes)), dtype=compute.numbers)
    in_runs = all(map(_is_run, [*rows, *columns]))

    def compute_row(i: int) -> int:
        chosen = range(i, len(columns)) if symmetric else range(len(columns))
        for j in chosen:
            tile, mirrored = kernel.tile(row_pieces[i], pieces[j]), symmetric and i != j
            if in_runs:
                _place_run(tile, rows[i][0], columns[j][0], mirrored, out)
            else:
                _place(tile, rows[i], columns[j], mirrored, out)
        return len(chosen)

    total = len(rows) * (len(rows) + 1) // 2 if symmetric else len(rows) * len(columns)
    with progress("Gram matrix", total, compute.verbose) as advance:
        for done in _in_threads(compute_row, len(rows), compute.n_jobs):
            advance(done)
    if symmetric and left.norms is not None:  # tiles may leave out what no two graphs share
        np.fill_diagonal(out, left.norms)
    return out


def _is_run(index: IntArray) -> bool:
    """Whether numbers without repetition follow each other."""
    return len(index) > 0 and bool((np.diff(index) == 1).all())


@compiled
def _place_run(tile, top, left, mirrored, out):  # type: ignore[no-untyped-def]
    # Where a tile belongs, and once more across the diagonal if it is to be mirrored.
    n_rows, n_columns = tile.shape
    for r in range(n_rows):
        source, target = tile[r], out[top + r, left : left + n_columns]
        for c in range(n_columns):
            target[c] = source[c]
    if mirrored:
        side = 32
        for start in range(0, n_columns, side):
            for first in range(0, n_rows, side):
                last = min(first + side, n_rows)
                for c in range(start, min(start + side, n_columns)):
                    target = out[left + c, top + first : top + last]
                    for r in range(last - first):
                        target[r] = tile[first + r, c]


@compiled
def _place(tile, rows, columns, mirrored, out):  # type: ignore[no-untyped-def]
    # As `_place_run`, in any order. Small squares, so that what is written across rows stays in the cache until its
    # line is full.
    side = 32
    for top in range(0, len(rows), side):
        for start in range(0, len(columns), side):
            for r in range(top, min(top + side, len(rows))):
                for c in range(start, min(start + side, len(columns))):
                    out[rows[r], columns[c]] = tile[r, c]
            if mirrored:
                for c in range(start, min(start + side, len(columns))):
                    for r in range(top, min(top + side, len(rows))):
                        out[columns[c], rows[r]] = tile[r, c]


def _pieces(operand: Operand, tile_size: int) -> Pieces:
    """The graphs of each run of tiles, in the order that makes tiles cheap, and their operands."""
    order = np.arange(len(operand.sizes)) if operand.order is None else operand.order
    chosen = [order[start:stop] for start, stop in tile_bounds(operand.sizes[order], tile_size)]
    return chosen, [operand.take(graphs) for graphs in chosen]


def _in_threads(work: Callable[[int], int], n: int, n_jobs: int | None) -> Iterator[int]:
    """Results of ``work(0)`` to ``work(n - 1)``; each thread then has one core for its linear algebra."""
    n_threads = 1 if n_jobs is None else min(effective_n_jobs(n_jobs), max(n, 1))
    if n_threads == 1:
        yield from map(work, range(n))
        return
    with threadpool_limits(limits=1), ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, range(n))


def gram_error(kernel: NodePairKernel, graphs: GraphBatch, n_graphs: int = 100, random_state: int = 0) -> float:
    """How far an approximate kernel's normalised Gram matrix is from the exact one, relatively, in the Frobenius norm.

    Measured on up to ``n_graphs`` graphs drawn from those given.

    >>> from cfmgml import NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> graphs = load_digit_bags(n_bags=40, random_state=0).graphs
    >>> gram_error(NodeSum(approximation="nystrom", n_components=100), graphs) < .01
    True
    """
    kernel = kernel if kernel.is_resolved else kernel.resolve(graphs)
    chosen = np.random.default_rng(random_state).permutation(graphs.n_graphs)[:n_graphs]
    exact = gram_matrix(kernel.exact(), graphs[chosen])
    return float(np.linalg.norm(gram_matrix(kernel, graphs[chosen]) - exact) / np.linalg.norm(exact))


@dataclass(frozen=True)
class GramColumns:
    """Graphs that others are compared with again and again: what depends on them alone is computed once and kept."""

    kernel: Kernel  # resolved
    graphs: GraphBatch
    compute: Compute

    @cached_property
    def _kept(self) -> tuple[Operand, Pieces, FloatArray] | None:
        width = 0 if self.graphs.node_attributes is None else self.graphs.n_attributes
        if not self.compute.on_numpy or 8 * self.graphs.n_nodes * width > KEPT_BYTES:
            return None
        side = self.kernel.side(self.graphs, self.compute.numbers)
        if side is None:
            return None
        return side, _pieces(side, self.kernel.tile_size), normalising_scale(self.kernel.operand_diagonal(side))

    def against(self, graphs: GraphBatch) -> FloatArray:
        """Normalised kernel values, (n of these graphs, n of the columns)."""
        if self._kept is None:
            return compute_gram(self.kernel, graphs, self.compute, self.graphs)
        right, pieces, scale = self._kept
        left = self.kernel.side(graphs, self.compute.numbers)
        assert left is not None
        out = _raw(self.kernel, left, right, self.compute, pieces)
        out *= normalising_scale(self.kernel.operand_diagonal(left))[:, None].astype(out.dtype)
        out *= scale.astype(out.dtype)
        return out

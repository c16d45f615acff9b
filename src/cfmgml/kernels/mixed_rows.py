"""Sparse feature rows, multiplied fast: columns that many graphs have as a dense matrix, the rest entry by entry.

Two graphs that share a column meet once for it. In a column that a share p of the graphs has, that is p^2 of all pairs:
for common columns a dense product does it faster, for rare ones a walk through the graphs that have it. Columns that
one graph has alone meet nobody and are left out; `Operand.norms` still counts them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import DType, FloatArray, IntArray
from cfmgml.kernels.base import Operand, row_norms

COMMON = 0.1  # share of graphs from which on a column is cheaper dense: measured, and flat around the best
EXACT = 2.0**24  # whole numbers below it are exact in float32


@dataclass(frozen=True)
class MixedOperand(Operand):
    """Rows split into the columns that are common and those that are rare."""

    common: FloatArray  # (n_graphs, n_common)
    rare: sparse.csr_array  # (n_graphs, n_rare)
    norms: FloatArray  # type: ignore[assignment,unused-ignore]

    def take(self, graphs: IntArray) -> "MixedOperand":
        return MixedOperand(self.common[graphs], self.rare[graphs], self.norms[graphs])

    @cached_property
    def rare_columns(self) -> sparse.csc_array:
        return self.rare.tocsc()


def mixed_operands(sides: list[sparse.csr_array], dtype: DTypeLike) -> tuple[MixedOperand, MixedOperand]:
    """Operands of one or two batches whose rows have the same columns."""
    having = np.sum([np.bincount(rows.indices, minlength=rows.shape[1]) for rows in sides], axis=0)
    norms = [row_norms(rows) for rows in sides]
    n_graphs = sum(rows.shape[0] for rows in sides)
    is_common = having > max(COMMON * n_graphs, 1)
    is_rare = (having > 1) & ~is_common
    # float32 loses nothing where products of counts are whole, and none is above the largest norm
    whole = all((rows.data == np.rint(rows.data)).all() for rows in sides)
    exact = whole and max(n.max(initial=0) for n in norms) < EXACT
    dtypes = np.dtype(np.float32 if exact else dtype), np.dtype(np.float32 if exact else np.float64)
    done = [
        MixedOperand(*_split(rows, np.flatnonzero(is_common), np.flatnonzero(is_rare), *dtypes), norm)
        for rows, norm in zip(sides, norms, strict=True)
    ]
    return done[0], done[-1]


def _split(
    rows: sparse.csr_array, common: IntArray, rare: IntArray, common_dtype: DType, rare_dtype: DType
) -> tuple[FloatArray, sparse.csr_array]:
    place = np.full(rows.shape[1], -1, dtype=np.int32)
    place[rare] = np.arange(len(rare), dtype=np.int32)
    place[common] = -2 - np.arange(len(common), dtype=np.int32)
    dense = np.zeros((rows.shape[0], len(common)), dtype=common_dtype)
    to = place[rows.indices]
    n_rare = int((to >= 0).sum())
    row_ptr = np.zeros(rows.shape[0] + 1, dtype=np.int32)
    indices, values = np.empty(n_rare, dtype=np.int32), np.empty(n_rare, dtype=rare_dtype)
    _scatter(rows.indptr, to, rows.data, dense, row_ptr, indices, values)
    return dense, sparse.csr_array((values, indices, row_ptr), shape=(rows.shape[0], len(rare)))


def mixed_tile(left: MixedOperand, right: MixedOperand) -> FloatArray:
    """Kernel values (n_left, n_right), less what columns of one graph alone would add on the diagonal.

    In float32 where that is exact, whatever was asked for: half of the memory to write and to read again.
    """
    out = (left.common @ right.common.T).astype(left.rare.dtype, copy=False)
    rare, columns = left.rare, right.rare_columns
    if rare.nnz and columns.nnz:
        _add_rare(rare.indptr, rare.indices, rare.data, columns.indptr, columns.indices, columns.data, out)
    return out


@compiled
def _scatter(row_ptr, to, data, dense, rare_ptr, indices, values):  # type: ignore[no-untyped-def]
    used = 0
    for row in range(len(row_ptr) - 1):
        for k in range(row_ptr[row], row_ptr[row + 1]):
            if to[k] >= 0:
                indices[used] = to[k]
                values[used] = data[k]
                used += 1
            elif to[k] < -1:
                dense[row, -2 - to[k]] = data[k]
        rare_ptr[row + 1] = used


@compiled
def _add_rare(row_ptr, indices, data, column_ptr, rows, values, out):  # type: ignore[no-untyped-def]
    for row in range(len(row_ptr) - 1):
        for k in range(row_ptr[row], row_ptr[row + 1]):
            column, value = indices[k], data[k]
            for other in range(column_ptr[column], column_ptr[column + 1]):
                out[row, rows[other]] += value * values[other]

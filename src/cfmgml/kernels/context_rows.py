"""Sparse rows of graphs and of their bags side by side, with each bag's held once.

Written out, a document's row would stand beside each of its sentences: ten times the entries, and as much more time in
every product. Here products with the bags' rows are taken once a bag. What solvers do with sparse rows can be done with
these: products from both sides, the transpose, squares and their sums.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from cfmgml.common.segments import lengths, segment_ids, segment_sum
from cfmgml.common.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ContextRows:
    """Rows (n_graphs, 2 width): a graph's own, then its bag's.

    >>> own, bags = sparse.csr_array([[1.0], [2.0], [3.0]]), sparse.csr_array([[5.0], [7.0]])
    >>> rows = ContextRows(own, bags, np.array([0, 2, 3]))
    >>> rows.tocsr().toarray()
    array([[1., 5.],
           [2., 5.],
           [3., 7.]])
    >>> rows @ np.array([[10.0], [1.0]])
    array([[15.],
           [25.],
           [37.]])
    >>> rows[np.array([2, 0, 1])].tocsr().toarray()
    array([[3., 7.],
           [1., 5.],
           [2., 5.]])
    """

    own: sparse.csr_array  # (n_graphs, width)
    bags: sparse.csr_array  # (n_bags, width)
    bag_ptr: IntArray

    __array_ufunc__ = None  # an array on the left leaves the product to `__rmatmul__`

    @property
    def shape(self) -> tuple[int, int]:
        return self.own.shape[0], 2 * self.own.shape[1]

    @property
    def dtype(self) -> Any:
        return self.own.dtype

    @property
    def T(self) -> "TransposedContextRows":
        return TransposedContextRows(self)

    @cached_property
    def _bag(self) -> IntArray:
        return segment_ids(self.bag_ptr)

    def __getitem__(self, graphs: IntArray) -> "ContextRows":
        """The rows of some graphs; a bag's is held once for those that stand together."""
        bag = self._bag[graphs]
        starts = np.flatnonzero(np.diff(bag, prepend=-1))
        return ContextRows(self.own[graphs], self.bags[bag[starts]], np.append(starts, len(bag)))

    def astype(self, dtype: DTypeLike, copy: bool = True) -> "ContextRows":
        own, bags = (part.astype(dtype, copy=copy) for part in (self.own, self.bags))
        return ContextRows(own, bags, self.bag_ptr)

    def tocsr(self) -> sparse.csr_array:
        """Written out."""
        return sparse.hstack([self.own, self.bags[self._bag]], format="csr")

    def __matmul__(self, weights: FloatArray) -> FloatArray:
        return (weights.T @ self.T).T

    def __rmatmul__(self, amounts: FloatArray) -> FloatArray:
        """``amounts @ rows``: (k, n_graphs) to (k, 2 width)."""
        of_bags = segment_sum(np.ascontiguousarray(amounts.T), self.bag_ptr).T.astype(amounts.dtype, copy=False)
        return np.hstack([amounts @ self.own, of_bags @ self.bags])

    def multiply(self, other: "ContextRows") -> "ContextRows":
        """Entry by entry, with rows of the same bags."""
        return ContextRows(self.own.multiply(other.own), self.bags.multiply(other.bags), self.bag_ptr)

    def sum(self, axis: int) -> FloatArray:
        if axis == 0:
            return np.concatenate([self.own.sum(axis=0), lengths(self.bag_ptr) @ self.bags])
        return np.asarray(self.own.sum(axis=1) + self.bags.sum(axis=1)[self._bag])


@dataclass(frozen=True, eq=False)
class TransposedContextRows:
    """The transpose, as a right-hand side."""

    T: ContextRows

    __array_ufunc__ = None

    def tocsr(self) -> sparse.csr_array:
        return self.T.tocsr().T.tocsr()

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        """``weights @ rows.T``: (k, 2 width) to (k, n_graphs)."""
        width = self.T.own.shape[1]
        own, around = weights[:, :width], weights[:, width:]
        return np.asarray(own @ self.T.own.T + (around @ self.T.bags.T)[:, self.T._bag])

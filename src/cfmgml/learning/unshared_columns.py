"""Columns that one row has alone, merged into one column a row: the same problem in far fewer dimensions.

Most colours of Weisfeiler-Lehman are seen in one graph only. Weights that minimise a loss of scores and their own
length lie in the span of the rows, so those of a row's unshared columns are a multiple of its entries there. Turning
them into one column that holds their length keeps every product of rows and every length of weights, and
`UnsharedColumns.spread` gives the weights of the columns that were merged.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cfmgml.common.segments import segment_ids, segment_sum
from cfmgml.common.typing import FloatArray, IntArray


@dataclass(frozen=True)
class UnsharedColumns:
    """Which columns were merged, and into what."""

    width: int  # columns before
    shared: IntArray  # columns that several rows have: they come first, in this order
    unshared: IntArray  # columns that one row has
    merged: IntArray  # the column that took each of them in
    shares: FloatArray  # its entry, relative to the length of all that went there

    def spread(self, weights: FloatArray) -> FloatArray:
        """Weights of the columns as they were, (width, n), from those of the merged ones; 0 for empty columns."""
        out = np.zeros((self.width, weights.shape[1]), dtype=weights.dtype)
        out[self.shared] = weights[: len(self.shared)]
        out[self.unshared] = weights[self.merged] * self.shares[:, None]
        return out


def merge_unshared_columns(rows: sparse.csr_array) -> tuple[sparse.csr_array, UnsharedColumns]:
    """The rows with fewer columns, and the way back for weights.

    >>> rows = sparse.csr_array([[1.0, 3.0, 4.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    >>> merged, columns = merge_unshared_columns(rows)
    >>> merged.toarray()
    array([[1., 5.],
           [2., 0.]])
    >>> columns.spread(np.array([[1.0], [10.0]]))[:, 0]
    array([1., 6., 8., 0.])
    """
    n_rows, width = rows.shape
    having = np.bincount(rows.indices, minlength=width)
    shared, is_lonely = np.flatnonzero(having > 1), having[rows.indices] == 1
    row_of = segment_ids(rows.indptr.astype(np.int64))
    lengths = np.sqrt(segment_sum(np.where(is_lonely, rows.data, 0.0) ** 2, rows.indptr.astype(np.int64)))
    takes_in = np.flatnonzero(lengths)
    column_of_row = np.full(n_rows, -1, dtype=rows.indices.dtype)
    column_of_row[takes_in] = len(shared) + np.arange(len(takes_in))

    place = np.full(width, -1, dtype=rows.indices.dtype)
    place[shared] = np.arange(len(shared))
    entries = ~is_lonely
    values = np.concatenate([rows.data[entries], lengths[takes_in]])
    at_rows = np.concatenate([row_of[entries], takes_in]).astype(rows.indices.dtype)
    at_columns = np.concatenate([place[rows.indices[entries]], column_of_row[takes_in]])
    made = sparse.coo_array((values, (at_rows, at_columns)), shape=(n_rows, len(shared) + len(takes_in))).tocsr()
    counted = is_lonely & (lengths[row_of] > 0)  # entries may be zeros that are written down
    unshared, at, shares = rows.indices[counted], row_of[counted], rows.data[counted] / lengths[row_of[counted]]
    return made, UnsharedColumns(width, shared, unshared, column_of_row[at], shares)

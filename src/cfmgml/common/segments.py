"""All offset arithmetic: a segment is a run of rows, ``ptr[k]`` to ``ptr[k + 1]``.

Graphs are segments of nodes and edges, bags are segments of graphs. Every function here takes the offsets ``ptr``
(n_segments + 1,) and allows empty segments unless it says otherwise; ``np.ufunc.reduceat`` does not.
"""

import numpy as np

from cfmgml.common.typing import FloatArray, Index, IntArray


def lengths(ptr: IntArray) -> IntArray:
    """Number of rows in each segment."""
    return np.diff(ptr)


def segment_ids(ptr: IntArray) -> IntArray:
    """The segment each row belongs to.

    >>> segment_ids(np.array([0, 2, 2, 5]))
    array([0, 0, 2, 2, 2])
    """
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


def offsets(sizes: IntArray) -> IntArray:
    """Offsets of segments with these sizes.

    >>> offsets(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def take_segments(ptr: IntArray, index: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of the chosen segments, in order, and the offsets they have then.

    >>> rows, new = take_segments(np.array([0, 2, 2, 5]), np.array([2, 0, 2]))
    >>> rows
    array([2, 3, 4, 0, 1, 2, 3, 4])
    >>> new
    array([0, 3, 5, 8])
    """
    sizes = np.diff(ptr)[index]
    new = offsets(sizes)
    rows = np.arange(new[-1]) + np.repeat(ptr[index] - new[:-1], sizes)
    return rows, new


def check_index(index: Index, n: int, noun: str) -> IntArray:
    """Turn an int, slice, mask or list of ints into row numbers, or say what is wrong with it."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    rows = np.asarray(index)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise IndexError(f"a mask over {noun} must have shape ({n},), got {rows.shape}.")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.zeros(0, dtype=np.int64)
    if not np.issubdtype(rows.dtype, np.integer) or rows.ndim > 1:
        raise IndexError(f"{noun} are selected by an int, a slice, a mask or a list of ints, got {index!r}.")
    rows = np.atleast_1d(rows).astype(np.int64)
    if rows.min() < -n or rows.max() >= n:
        raise IndexError(f"index {rows[(rows < -n) | (rows >= n)][0]} is out of range for {n} {noun}.")
    return np.where(rows < 0, rows + n, rows)


def segment_sum(values: FloatArray, ptr: IntArray) -> FloatArray:
    """Sum of the rows in each segment; an empty segment sums to 0.

    >>> segment_sum(np.array([1., 2., 3., 4., 5.]), np.array([0, 2, 2, 5]))
    array([ 3.,  0., 12.])
    """
    return _reduce(np.add, values, ptr, 0)


def segment_max(values: FloatArray, ptr: IntArray) -> FloatArray:
    """Maximum of the rows in each segment; minus infinity for an empty one.

    >>> segment_max(np.array([1., 2., 5., 4., 3.]), np.array([0, 2, 2, 5]))
    array([  2., -inf,   5.])
    """
    return _reduce(np.maximum, values, ptr, -np.inf)


def _reduce(ufunc: np.ufunc, values: FloatArray, ptr: IntArray, empty: float) -> FloatArray:
    filled = np.diff(ptr) > 0
    if filled.all() and len(filled):
        return np.asarray(ufunc.reduceat(values, ptr[:-1], axis=0))
    out = np.full((len(ptr) - 1, *values.shape[1:]), empty, dtype=values.dtype)
    if filled.any():
        out[filled] = ufunc.reduceat(values, ptr[:-1][filled], axis=0)
    return out


def segment_argmax(values: FloatArray, ptr: IntArray) -> IntArray:
    """Row of the first maximum in each segment, column by column; no segment may be empty.

    >>> segment_argmax(np.array([1., 2., 5., 5., 3.]), np.array([0, 2, 5]))
    array([1, 2])
    """
    best = segment_max(values, ptr)
    rows = np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1))
    candidates = np.where(values == np.repeat(best, np.diff(ptr), axis=0), rows, len(values))
    return np.asarray(np.minimum.reduceat(candidates, ptr[:-1], axis=0))


def segment_log_mean_exp(values: FloatArray, ptr: IntArray, temperature: float) -> tuple[FloatArray, FloatArray]:
    """``t * log(mean(exp(v / t)))`` of each segment, and the softmax weights that are its gradient.

    A smooth stand-in for the maximum, never above it; temperature 0 is the maximum itself.

    >>> value, weights = segment_log_mean_exp(np.array([0., 1.]), np.array([0, 2]), .1)
    >>> value.round(3), weights.round(3)
    (array([0.931]), array([0., 1.]))
    """
    sizes = np.diff(ptr)
    if temperature == 0:
        weights = np.zeros_like(values)
        np.put_along_axis(weights, segment_argmax(values, ptr), 1, axis=0)
        return segment_max(values, ptr), weights
    best = segment_max(values, ptr)
    gaps = (values - np.repeat(best, sizes, axis=0)) / temperature
    powers = np.exp(gaps)
    weights = powers / np.repeat(segment_sum(powers, ptr), sizes, axis=0)
    # log1p and expm1 keep the digits where the temperature is high and all powers are close to 1
    less = segment_sum(np.expm1(gaps), ptr) / sizes.reshape(-1, *[1] * (values.ndim - 1))
    return best + temperature * np.log1p(less), weights

"""What a batch or a data set is given, checked: each returns an array of the right type, or raises."""

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from cfmgml.common.digests import short_digest
from cfmgml.common.typing import Array, ArrayLike, FloatArray, Index, IntArray, NameArray

WithEllipsis: TypeAlias = tuple[Index, EllipsisType]  # as scikit-learn indexes


def label_codes(labels: Sequence[str] | Array) -> IntArray:
    """Stable integers for strings: equal in every process and data set, so that no dictionary need be kept.

    >>> label_codes(["C", "N", "C"])
    array([ 404799973914955058, 8469165195741662953,  404799973914955058])
    """
    words, inverse = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)
    return np.array([label_code(word) for word in words.tolist()], dtype=np.int64)[inverse]


def label_code(label: str) -> int:
    """The code of one of them."""
    return int.from_bytes(short_digest(label.encode(), 8), "little") >> 1


def frozen(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def strip_ellipsis(index: Index | WithEllipsis) -> Index:
    """scikit-learn's model selection indexes with ``X[rows, ...]``: take the rows."""
    if isinstance(index, tuple):
        if len(index) == 2 and index[1] is Ellipsis:
            return index[0]
        raise IndexError(f"one index selects whole graphs or bags, got {len(index)}.")
    return index


def check_integers(values: ArrayLike, name: str) -> IntArray:
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name} must be integers, got {array.dtype}.")
    return array.astype(np.int64, copy=False)


def check_ptr(values: ArrayLike, name: str) -> IntArray:
    ptr = check_integers(values, name)
    if ptr.ndim != 1 or len(ptr) == 0:
        raise ValueError(f"{name} must be a row of offsets that starts with 0, got shape {ptr.shape}.")
    if ptr[0] != 0:
        raise ValueError(f"{name} must start with 0, got {ptr[0]}.")
    falls = np.flatnonzero(np.diff(ptr) < 0)
    if len(falls):
        raise ValueError(f"{name} must not decrease, but {name}[{falls[0]}] = {ptr[falls[0]]} > {ptr[falls[0] + 1]}.")
    return ptr


def check_rows(array: Array, n: int, name: str, noun: str) -> Array:
    if array.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one {noun}, got {array.shape}.")
    return array


def check_names(values: ArrayLike | None, n: int, name: str, noun: str) -> NameArray | None:
    return None if values is None else check_rows(np.asarray(values, dtype=np.str_), n, name, f"a {noun}")


def check_edges(values: ArrayLike) -> IntArray:
    edges = check_integers(values, "edges")
    if edges.size == 0:
        return np.zeros((2, 0), dtype=np.int64)
    if edges.ndim != 2 or len(edges) != 2:
        hint = "; pass edges.T" if edges.ndim == 2 and edges.shape[1] == 2 else ""
        raise ValueError(f"edges must have shape (2, n_edges), got {edges.shape}{hint}.")
    return edges


def check_labels(values: ArrayLike | None, n: int, name: str, noun: str) -> IntArray | None:
    """Integers, or strings, which become `label_codes`."""
    if values is None:
        return None
    labels = np.asarray(values)
    return check_rows(label_codes(labels) if labels.dtype.kind == "U" else check_integers(labels, name), n, name, noun)


def check_attributes(values: ArrayLike | None, node_ptr: IntArray) -> FloatArray | None:
    if values is None:
        return None
    attributes = np.asarray(values)
    if attributes.dtype not in (np.float32, np.float64):
        attributes = attributes.astype(np.float64)
    if attributes.ndim != 2 or len(attributes) != node_ptr[-1]:
        hint = "; for one attribute a node pass values[:, None]" if attributes.ndim == 1 else ""
        shape = f"({node_ptr[-1]}, n_attributes)"
        raise ValueError(f"node_attributes must have shape {shape}, got {attributes.shape}{hint}.")
    bad = np.argwhere(~np.isfinite(attributes))
    if len(bad):
        node, column = bad[0]
        graph = int(np.searchsorted(node_ptr, node, side="right")) - 1
        raise ValueError(
            f"node_attributes must be finite; node {node} (graph {graph}) has {attributes[node, column]} "
            f"in column {column} ({len(bad)} such values)."
        )
    return attributes


def check_weights(values: ArrayLike | None, n_edges: int) -> FloatArray | None:
    if values is None:
        return None
    weights = check_rows(np.asarray(values, dtype=np.float64), n_edges, "edge_weights", "an edge")
    if not np.isfinite(weights).all():
        raise ValueError(f"edge_weights must be finite; edge {np.flatnonzero(~np.isfinite(weights))[0]} is not.")
    return weights

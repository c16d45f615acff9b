"""Labels as people write them: a matrix of 0 and 1, or names in sets, one set a bag."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cfmgml.common.typing import BoolArray, FloatArray


def check_label_matrix(values: Any, n: int, name: str, noun: str) -> tuple[BoolArray, BoolArray | None]:
    """A bool matrix of labels, and which entries are known (None: all)."""
    known = None
    if isinstance(values, np.ma.MaskedArray):
        known = ~np.ma.getmaskarray(values)
        values = values.filled(0)
    matrix = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if matrix.ndim != 2 or len(matrix) != n:
        raise ValueError(f"{name} must have shape ({n}, n_labels), one row a {noun}, got {matrix.shape}.")
    if matrix.shape[1] == 0:
        raise ValueError(f"{name} must have at least one label (column).")
    if matrix.dtype == bool:
        return matrix, known
    if not np.issubdtype(matrix.dtype, np.number):
        raise TypeError(f"{name} must be 0/1 or bool, got {matrix.dtype}.")
    missing = np.isnan(matrix)
    strange = ~missing & (matrix != 0) & (matrix != 1)
    if strange.any():
        row, column = np.argwhere(strange)[0]
        hint = " (for -1/+1 labels pass Y > 0)" if matrix[row, column] == -1 else ""
        raise ValueError(
            f"{name} must be 0/1, bool, or NaN where not known; {name}[{row}, {column}] is {matrix[row, column]}{hint}."
        )
    if missing.any():
        known = ~missing if known is None else known & ~missing
    return np.where(missing, 0, matrix).astype(bool), known


def matrix_of_sets(
    sets: Sequence[Iterable[str] | None], label_names: Iterable[str] | None = None
) -> tuple[FloatArray, list[str]]:
    """A matrix (n_bags, n_labels) of 0 and 1, NaN in the rows of bags whose labels are not known (None), and the names
    of its columns: those given, or all there are, sorted.

    >>> matrix_of_sets([["cow", "sky"], [], None])
    (array([[ 1.,  1.],
           [ 0.,  0.],
           [nan, nan]]), ['cow', 'sky'])
    """
    rows = [_names(row, number) for number, row in enumerate(sets)]
    names = sorted({name for row in rows for name in row or ()}) if label_names is None else list(label_names)
    if not names:
        raise ValueError("no bag has a label; give label_names to say which there can be.")
    place = {name: column for column, name in enumerate(names)}
    Y = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        if row is None:
            Y[number] = np.nan
            continue
        strange = [name for name in row if name not in place]
        if strange:
            raise ValueError(f"bag {number} has the label {strange[0]!r}, which is not among label_names {names}.")
        Y[number, [place[name] for name in row]] = 1
    return Y, names


def _names(row: Iterable[str] | None, number: int) -> list[str] | None:
    if isinstance(row, str):
        raise TypeError(f"the labels of bag {number} must be a list or set of names, got the string {row!r}.")
    return None if row is None else [str(name) for name in row]

"""The labels of rows of molecules: `choose_labels` says where they are, and `RowLabels.of` reads those of one row.

What was not measured is unknown: an empty value, a label that a table lacks, a molecule that a table of labels lacks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from cfmgml.builders.molecules.parsing import MoleculeError
from cfmgml.common.tables import BROKEN, Row, format_of
from cfmgml.common.typing import FloatArray
from cfmgml.data.builder import FileInput
from cfmgml.reading.labels import VALUES, LabelTable, read_labels, split_labels

SETS = "labels"  # a column with names of labels


class RowLabels(ABC):
    """Where labels are, and which there are."""

    names: list[str]

    @abstractmethod
    def of(self, row: Row, name: str) -> FloatArray:
        """1, 0 or NaN for each label; raises MoleculeError where a row has something else."""


class ColumnLabels(RowLabels):
    """A column a label, with 0, 1 or nothing."""

    def __init__(self, columns: Sequence[str], names: Sequence[str] | None) -> None:
        self.names = list(columns if names is None else names)
        self._columns = [name if name in columns else None for name in self.names]

    def of(self, row: Row, name: str) -> FloatArray:
        return np.array([np.nan if column is None else _value(row.get(column), column) for column in self._columns])


class SetLabels(RowLabels):
    """A column ``labels`` with names; empty means none of them, null that nothing is known."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def of(self, row: Row, name: str) -> FloatArray:
        try:
            labels = split_labels(row.get(SETS), "it")
        except ValueError as error:
            raise MoleculeError(f"cannot be used: {error}") from error
        if labels is None:
            return np.full(len(self.names), np.nan)
        unknown = sorted(set(labels) - set(self.names))
        if unknown:
            raise MoleculeError(f"has the label {unknown[0]!r}; known are {', '.join(self.names)}.")
        return np.array([float(label in labels) for label in self.names])


class TableLabels(RowLabels):
    """A table of labels of its own, by the names of molecules."""

    def __init__(self, table: LabelTable, names: Sequence[str] | None) -> None:
        self.names, self.table = list(table.in_order(names).label_names), table
        self._used = set[str]()
        self._place = [table.label_names.index(name) if name in table.label_names else -1 for name in self.names]

    def of(self, row: Row, name: str) -> FloatArray:
        self._used.add(name)
        values = self.table.rows.get(name, np.full(len(self.table.label_names), np.nan))
        return np.append(values, np.nan)[self._place]

    @property
    def unused(self) -> list[str]:
        """Rows that are about no molecule that was read."""
        return [name for name in self.table.rows if name not in self._used]


def _value(value: object, column: str) -> float:
    word = str("" if value is None else value).strip().lower()
    if word not in VALUES:
        raise MoleculeError(f"has {value!r} for {column}, and a label is 0, 1 or nothing (not measured).")
    return VALUES[word]


def choose_labels(given: FileInput, rows: Callable[[], Iterator[Row]], columns: Sequence[str]) -> RowLabels | None:
    """Labels from a table of their own, from columns that were named, or as the columns' names suggest."""
    names = given.label_names
    if given.labels is False:
        return None
    if given.labels is not None and format_of(given.labels) is not None and Path(given.labels).is_file():
        return TableLabels(read_labels(given.labels), names)
    if given.labels is not None:
        return ColumnLabels(_named(str(given.labels), columns, names), names)
    if names is not None and set(names) & set(columns):
        return ColumnLabels([name for name in names if name in columns], names)
    return SetLabels(names or _all_labels(rows())) if SETS in columns else None


def _named(asked: str, columns: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Columns with commas between them."""
    chosen = [asked] if asked in columns else [name.strip() for name in asked.split(",") if name.strip()]
    for name in chosen:
        if name not in columns:
            shown = ", ".join(column for column in columns if column.isprintable())
            raise ValueError(
                f"--labels must name a table of labels, or columns of the input: {name!r} is none of {shown}."
            )
        if names is not None and name not in names:
            raise ValueError(f"the input has the label {name!r}; known are {', '.join(names)}.")
    return chosen


def _all_labels(rows: Iterator[Row]) -> list[str]:
    found = set[str]()
    for row in rows:
        if BROKEN not in row:
            try:
                found.update(split_labels(row.get(SETS), "it") or ())
            except ValueError:
                continue  # the row is skipped, with a reason, when it is built
    if not found:
        raise ValueError("the column labels names no label at all.")
    return sorted(found)

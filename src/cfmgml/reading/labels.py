"""Labels as people keep them in tables, as a matrix.

Three forms are told apart by the names of the columns, beside the one that says which picture, text or bag:

- ``labels``: all labels of a row, with ``;``, ``|`` or ``,`` between them (a list in JSON); empty means none;
- ``label``: one label a row, and a row for each;
- anything else: a column a label, with 0 or 1; empty where it is not known.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cfmgml.common.tables import Row, read_table
from cfmgml.common.typing import FloatArray

KEYS = ("image", "file", "filename", "path", "name", "id", "bag", "document", "graph")
VALUES = dict.fromkeys(["1", "1.0", "true", "yes"], 1.0) | dict.fromkeys(["0", "0.0", "false", "no"], 0.0)
VALUES |= dict.fromkeys(["", "nan", "?", "none", "null"], np.nan)


@dataclass(frozen=True)
class LabelTable:
    """Which labels each thing has: rows of 1, 0 and NaN (not known), by the thing's name."""

    label_names: list[str]
    rows: Mapping[str, FloatArray]
    source: str  # for messages

    def matrix(self, keys: Sequence[str]) -> FloatArray:
        """Shape (n_keys, n_labels)."""
        return np.array([self.rows[key] for key in keys])

    def renamed(self, names: Mapping[str, str]) -> "LabelTable":
        """With other names for some rows, but for those that another row has already."""
        free = {old: new for old, new in names.items() if new not in self.rows}
        return LabelTable(self.label_names, {free.get(key, key): row for key, row in self.rows.items()}, self.source)

    def in_order(self, label_names: Sequence[str] | None) -> "LabelTable":
        """With these labels as columns; those the table does not have are 0 throughout."""
        if label_names is None:
            return self
        unknown = sorted(set(self.label_names) - set(label_names))
        if unknown:
            raise ValueError(f"{self.source} has the label {unknown[0]!r}; known are {', '.join(label_names)}.")
        place = [self.label_names.index(name) if name in self.label_names else -1 for name in label_names]
        rows = {key: np.append(row, 0.0)[place] for key, row in self.rows.items()}
        return LabelTable(list(label_names), rows, self.source)


def read_labels(path: str | Path) -> LabelTable:
    """The labels in a table: CSV, JSON, JSONL or Parquet."""
    return labels_of_rows(read_table(path), str(path))


def labels_of_rows(rows: list[Row], source: str, ignored: Sequence[str] = ()) -> LabelTable:
    """The labels in the rows of a table; columns ``ignored`` are none."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    key = key_column(columns, source)
    others = [name for name in columns if name != key and name.lower() not in ignored]
    plain = {name.lower(): name for name in others}
    if "labels" in plain:
        return _from_lists(rows, key, plain["labels"], source)
    if "label" in plain:
        return _from_pairs(rows, key, plain["label"], source)
    if not others:
        raise ValueError(f"{source} says nothing about labels; give it a column labels, such as 'cow;grass'.")
    return _from_columns(rows, key, others, source)


def key_column(columns: Sequence[str], source: str, keys: Sequence[str] = KEYS) -> str:
    """The column that says which thing a row is about.

    >>> key_column(["labels", "Image"], "labels.csv")
    'Image'
    """
    for known in keys:
        for name in columns:
            if name.lower() == known:
                return name
    raise ValueError(f"{source} must have a column {', '.join(keys[:-1])} or {keys[-1]}; it has {', '.join(columns)}.")


def split_labels(value: object, where: str) -> list[str] | None:
    """The labels in a value of a column ``labels``; None for unknown (null in JSON).

    >>> split_labels("cow; grass", "row 1"), split_labels("", "row 2"), split_labels(["cow"], "row 3")
    (['cow', 'grass'], [], ['cow'])
    """
    if value is None:
        return None
    parts = re.split(r"[;|,]", value) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str | int) for part in parts):
        raise ValueError(f'{where} must have labels like \'cow;grass\' or ["cow", "grass"], got {value!r}.')
    return list(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def table_of_sets(
    sets: Mapping[str, list[str] | None], source: str, label_names: Sequence[str] | None = None
) -> LabelTable:
    """A table of sets of labels, in sorted order or in this one; None where a thing's labels are not known."""
    names = list(label_names or sorted({label for labels in sets.values() for label in labels or ()}))
    if not names:
        raise ValueError(f"{source} names no label at all.")
    unknown = np.full(len(names), np.nan)
    rows = {
        key: unknown if labels is None else np.array([float(name in labels) for name in names])
        for key, labels in sets.items()
    }
    return LabelTable(names, rows, source)


# -- the three forms -------------------------------------------------------------------------


def _name_of(row: Row, key: str, number: int, source: str) -> str:
    value = row.get(key)
    if value is None or str(value).strip() == "":
        raise ValueError(f"{source}: row {number} has no {key}.")
    return str(value).strip()


def _from_lists(rows: list[Row], key: str, column: str, source: str) -> LabelTable:
    sets: dict[str, list[str] | None] = {}
    for number, row in enumerate(rows, start=1):
        name = _name_of(row, key, number, source)
        if name in sets:
            raise ValueError(f"{source} has two rows for {name}; put all its labels into one.")
        sets[name] = split_labels(row.get(column), f"{source}, row {number},")
    return table_of_sets(sets, source)


def _from_pairs(rows: list[Row], key: str, column: str, source: str) -> LabelTable:
    sets: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=1):
        own = sets.setdefault(_name_of(row, key, number, source), [])
        label = str("" if row.get(column) is None else row[column]).strip()
        own += [label] if label else []
    return table_of_sets(sets, source)


def _from_columns(rows: list[Row], key: str, columns: list[str], source: str) -> LabelTable:
    values: dict[str, FloatArray] = {}
    for number, row in enumerate(rows, start=1):
        name = _name_of(row, key, number, source)
        if name in values:
            raise ValueError(f"{source} has two rows for {name}.")
        values[name] = np.array([_number(row.get(column), column, number, source) for column in columns])
    return LabelTable(columns, values, source)


def _number(value: object, column: str, number: int, source: str) -> float:
    word = str("" if value is None else value).strip().lower()
    if word in VALUES:
        return VALUES[word]
    raise ValueError(
        f"{source}: row {number} has {value!r} for {column}; a column a label holds 0, 1 or nothing. "
        "For label names, call the column labels."
    )

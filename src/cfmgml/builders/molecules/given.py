"""Molecules and labels that are in memory, as entries to build."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cfmgml.builders.molecules.files import Entry
from cfmgml.common.typing import FloatArray
from cfmgml.data.label_sets import check_label_matrix
from cfmgml.reading.labels import table_of_sets


def entries_given(
    sources: Any, labels: Any, label_names: Sequence[str] | None, names: Sequence[str] | None
) -> tuple[list[Entry], list[str] | None]:
    """An entry a molecule, and the names of labels; None if there are none."""
    molecules = _check_sources(sources)
    called = [_name(source, number) for number, source in enumerate(molecules)] if names is None else list(names)
    if len(called) != len(molecules):
        raise ValueError(f"names must have one entry a molecule, {len(molecules)}, got {len(called)}.")
    if labels is None:
        return [Entry(str(name), source) for name, source in zip(called, molecules, strict=True)], None
    Y, which = _check_labels(labels, label_names, len(molecules))
    return [Entry(str(name), source, row) for name, source, row in zip(called, molecules, Y, strict=True)], which


def _check_sources(sources: Any) -> list[Any]:
    if isinstance(sources, str | bytes) or not isinstance(sources, Iterable):
        raise TypeError(
            f"molecules must be a list of SMILES or RDKit molecules, or of lists of them (mixtures), got "
            f"{type(sources).__name__}; for one molecule pass [smiles]."
        )
    molecules = list(sources)
    if not molecules:
        raise ValueError("molecules must hold at least one, got none.")
    return molecules


def _name(source: Any, number: int) -> str:
    """What it is called: by its own name, or by its SMILES."""
    if isinstance(source, list | tuple) and all(isinstance(part, str) for part in source):
        return ".".join(source)
    if isinstance(source, str) and source.strip():
        return source.strip().split("\n")[0]
    has_name = hasattr(source, "HasProp") and source.HasProp("_Name") and source.GetProp("_Name")
    return str(source.GetProp("_Name")) if has_name else f"row {number + 1}"


def _check_labels(labels: Any, label_names: Sequence[str] | None, n: int) -> tuple[FloatArray, list[str]]:
    """A matrix with NaN where nothing is known, and what its columns are called."""
    if _are_sets(labels):
        if len(labels) != n:
            raise ValueError(f"labels must have one entry a molecule, {n}, got {len(labels)}.")
        sets = {
            str(k): None if row is None else [row] if isinstance(row, str) else list(row)
            for k, row in enumerate(labels)
        }
        table = table_of_sets(sets, "labels", label_names)
        strange = sorted({name for row in sets.values() for name in row or ()} - set(table.label_names))
        if strange:
            raise ValueError(f"label {strange[0]!r} is not among label_names: {', '.join(table.label_names)}.")
        return table.matrix(list(sets)), table.label_names
    if not hasattr(labels, "toarray") and not isinstance(labels, np.ndarray):
        labels = np.array([[np.nan if value is None else value for value in row] for row in labels], dtype=float)
    Y, known = check_label_matrix(labels, n, "labels", "molecule")
    names = [str(k) for k in range(Y.shape[1])] if label_names is None else list(label_names)
    if len(names) != Y.shape[1]:
        raise ValueError(f"label_names must have one entry a label, {Y.shape[1]}, got {len(names)}.")
    return np.where(True if known is None else known, Y.astype(float), np.nan), names


def _are_sets(labels: Any) -> bool:
    if hasattr(labels, "toarray") or isinstance(labels, np.ndarray):
        return False
    entries = (entry for row in labels if row is not None for entry in ([row] if isinstance(row, str) else row))
    return all(isinstance(entry, str) for entry in entries)

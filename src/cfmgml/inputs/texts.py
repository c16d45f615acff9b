"""Bags from texts in tables, text files and folders of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cfmgml.bags import BagDataset
from cfmgml.inputs.labels import KEYS, LabelTable, read_labels, split_labels, table_of_sets
from cfmgml.inputs.matching import RowMatch, match_files, match_names
from cfmgml.inputs.paths import list_files
from cfmgml.inputs.remarks import with_remarks
from cfmgml.inputs.tables import Row, read_table, table_suffix
from cfmgml.recipes import Recipe

TEXT, TEXTS, OWN = ("text", "document", "abstract"), ("texts", "sentences", "paragraphs"), "text_labels"
TEXT_SUFFIX = ".txt"


@dataclass(frozen=True)
class Documents:
    """Texts with their names, and what is known of labels: a set a document, and a set a text of it."""

    names: list[str]
    contents: list[str | list[str]]
    labels: list[list[str] | None] | None = None
    text_labels: list[list[str]] | None = None
    files: list[Path] | None = None


def text_bags(
    sources: Sequence[str | Path],
    *,
    labels: str | Path | Literal[False] | None = None,
    label_names: Sequence[str] | None = None,
    recipe: Recipe | None = None,
    **options: Any,
) -> BagDataset:
    """Build bags from texts as they lie on disk.

    Parameters
    ----------
    sources
        One table with a document a row: ``text`` (a string, cut into sentences) or ``texts`` (a list of strings, such
        as an abstract and those of its references), if wanted ``id``, ``labels``, and ``text_labels`` (a list a text,
        to measure predictions with). Or folders, globs and names of ``.txt`` files, one document each.
    labels
        A table of the documents' labels, by exact id or file name; `cfmgml.inputs.labels` says in which forms. Every
        document must have a row; rows of no document are warned of. None takes the labels of the documents' own table,
        if it has any, and False none at all.
    label_names
        The labels in this order, as a model has them; others are refused.
    recipe
        How to build; by default `bags_from_texts`' own, with ``options``.
    **options
        Go to `bags_from_texts`.
    """
    found = read_documents(sources)
    table, matched = _labels_of(found, labels, ", ".join(map(str, sources)))
    given: dict[str, Any] = {}
    if table is not None:
        table = table.in_order(label_names)
        given = {"Y": table.matrix(_keys(table, matched, found.names)), "label_names": table.label_names}
        if found.text_labels is not None:
            given["graph_Y"] = [[name in row for name in table.label_names] for row in found.text_labels]
    bags = (recipe or Recipe("texts")).build_texts(found.contents, names=found.names, **given, **options)
    return with_remarks(bags, "" if table is None else table.source, matched.unmatched)


def _labels_of(
    found: Documents, labels: str | Path | Literal[False] | None, source: str
) -> tuple[LabelTable | None, RowMatch]:
    """The documents' labels, from a table of their own or from the documents', and each document's row there."""
    if labels is False or (labels is None and found.labels is None):
        return None, RowMatch([], [])
    if labels is not None:
        table = read_labels(labels)
        if found.files is not None:
            return table, match_files(table.rows, found.files, [TEXT_SUFFIX], table.source)
        return table, match_names(table.rows, found.names)
    assert found.labels is not None
    numbers = [str(k) for k in range(len(found.names))]
    return table_of_sets(dict(zip(numbers, found.labels, strict=True)), source), match_names(numbers, numbers)


def read_documents(sources: Sequence[str | Path]) -> Documents:
    """The documents of a table, or of text files."""
    if len(sources) == 1 and table_suffix(sources[0]) is not None:
        return _from_rows(read_table(sources[0]), str(sources[0]))
    files = list_files(sources, [TEXT_SUFFIX], "text file (.txt)")
    try:
        contents: list[str | list[str]] = [file.read_text(encoding="utf-8-sig") for file in files]
    except UnicodeDecodeError as error:
        raise ValueError(f"a text file is not UTF-8 ({error}); save it as UTF-8.") from error
    names = [file.stem for file in files]
    names = names if len(set(names)) == len(names) else [file.as_posix() for file in files]
    return Documents(names, contents, files=files)


def _from_rows(rows: list[Row], source: str) -> Documents:
    columns = {name.lower(): name for row in rows for name in row}
    text = next((columns[name] for name in (*TEXTS, *TEXT) if name in columns), None)
    if text is None:
        raise ValueError(
            f"{source} must have a column text (a string) or texts (a list of strings); it has {', '.join(columns)}."
        )
    key = next((columns[name] for name in KEYS if name in columns and columns[name] != text), None)
    names = [str(k) if key is None or row.get(key) is None else str(row[key]) for k, row in enumerate(rows)]
    if len(set(names)) < len(names):
        raise ValueError(f"{source} has two documents called {max(names, key=names.count)!r} in column {key}.")
    contents = [_content(row.get(text), f"{source}, row {number},") for number, row in enumerate(rows, start=1)]
    labels = None
    if "labels" in columns:
        column = columns["labels"]
        labels = [split_labels(row.get(column), f"{source}, row {number},") for number, row in enumerate(rows, start=1)]
    own = _text_labels(rows, contents, columns[OWN], source) if OWN in columns and labels is not None else None
    return Documents(names, contents, labels, own)


def _content(value: Any, where: str) -> str | list[str]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    raise ValueError(f"{where} must have a text, or a list of texts, got {type(value).__name__}.")


def _text_labels(rows: list[Row], contents: list[str | list[str]], column: str, source: str) -> list[list[str]]:
    found: list[list[str]] = []
    for number, (row, content) in enumerate(zip(rows, contents, strict=True), start=1):
        sets = row.get(column)
        if not isinstance(content, list) or not isinstance(sets, list) or len(sets) != len(content):
            raise ValueError(f"{source}, row {number}, must have a list of labels for each of its texts in {column}.")
        found.extend(split_labels(labels, f"{source}, row {number}, {column},") or [] for labels in sets)
    return found


def _keys(table: LabelTable, matched: RowMatch, names: list[str]) -> list[str]:
    keys = matched.keys
    if None in keys:
        name = names[keys.index(None)]
        raise ValueError(f"{table.source} has no row for {name} ({keys.count(None)} of {len(keys)} texts have none).")
    return [key for key in keys if key is not None]

"""Bags from texts in tables, text files and folders of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfmgml.builders.base import read_text
from cfmgml.common.tables import Row, format_of, read_table
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput, FileOptions, Paths, parameter
from cfmgml.reading.labels import KEYS, LabelTable, read_labels, split_labels, table_of_sets
from cfmgml.reading.matching import RowMatch, match_files, match_names
from cfmgml.reading.paths import file_names, list_files
from cfmgml.reading.remarks import with_remarks

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder

TEXT, TEXTS, OWN = ("text", "document", "abstract"), ("texts", "sentences", "paragraphs"), "text_labels"
TEXT_SUFFIX = ".txt"


@dataclass(frozen=True)
class TextOptions(FileOptions):
    """Whether bags keep their texts."""

    text: bool = parameter(
        True, "Keep the texts in the bags, for predictions and for what they are compared with.", shown="text"
    )


def keeps_text(given: FileInput) -> bool:
    return bool(getattr(given.options, "text", True))


@dataclass(frozen=True)
class Documents:
    """Texts with their names, and what is known of labels: a set a document, and a set a text of it."""

    names: list[str]
    contents: list[str | list[str]]
    labels: list[list[str] | None] | None = None
    text_labels: list[list[str]] | None = None
    files: list[Path] | None = None


def text_bags(builder: "TextBuilder", given: FileInput) -> BagDataset:
    """Bags from one table with a document a row: ``text`` (a string, cut into sentences) or ``texts`` (a list of
    strings, such as an abstract and those of its references), if wanted ``id``, ``labels``, and ``text_labels`` (a list
    a text, to measure predictions with); or from folders, globs and names of ``.txt`` files, one document each.

    A table of labels names documents by exact id or file name; every document must have a row.
    """
    documents = read_documents(given.paths)
    table, matched = _labels_of(documents, given)
    arguments: dict[str, Any] = {}
    if table is not None:
        keys = matched.complete(documents.names, "texts")
        arguments = label_arguments(documents, table.in_order(given.label_names), keys)
    arguments["text"] = keeps_text(given)
    return with_remarks(builder.build(documents.contents, bag_names=documents.names, **arguments), matched)


def label_arguments(documents: Documents, table: LabelTable, keys: Sequence[str]) -> dict[str, Any]:
    """The documents' labels, and those of their texts, as `bags_from_texts` takes them."""
    given: dict[str, Any] = {"labels": table.matrix(keys), "label_names": table.label_names}
    if documents.text_labels is not None:
        given["graph_Y"] = [[name in row for name in table.label_names] for row in documents.text_labels]
    return given


def _labels_of(documents: Documents, given: FileInput) -> tuple[LabelTable | None, RowMatch]:
    """The documents' labels, from a table of their own or from the documents', and each document's row there."""
    if given.labels:
        table = read_labels(given.labels)
        return table, match_documents(table, documents.names, documents.files)
    if given.labels is False or documents.labels is None:
        return None, RowMatch()
    numbers = [str(k) for k in range(len(documents.names))]
    source = ", ".join(map(str, given.paths))
    return table_of_sets(dict(zip(numbers, documents.labels, strict=True)), source), RowMatch(numbers)


def read_documents(sources: Sequence[str | Path]) -> Documents:
    """The documents of a table, or of text files."""
    if len(sources) == 1 and format_of(sources[0]) is not None:
        rows = read_table(sources[0])
        documents = documents_of(rows, str(sources[0]), columns_of(rows))
        check_names_differ(documents.names, str(sources[0]), columns_of(rows))
        return documents
    files = text_files(sources)
    return Documents(list(files), [read_text(file) for file in files.values()], files=list(files.values()))


def text_files(sources: Paths) -> dict[str, Path]:
    """Text files by name."""
    files = list_files(sources, [TEXT_SUFFIX], "text file (.txt)")
    return dict(zip(file_names(files), files, strict=True))


def columns_of(rows: Iterable[Row]) -> dict[str, str]:
    """The columns of a table, by their names in small letters."""
    return {name.lower(): name for row in rows for name in row}


def documents_of(rows: list[Row], source: str, columns: dict[str, str], first: int = 0) -> Documents:
    """The documents of a table's rows; ``first`` went before these."""
    text, key = _text_and_key(columns, source)
    numbered = list(enumerate(rows, start=first + 1))
    names = [str(k - 1) if key is None or row.get(key) is None else str(row[key]) for k, row in numbered]
    contents = [_content(row.get(text), f"{source}, row {number},", text) for number, row in numbered]
    labels = None
    if "labels" in columns:
        column = columns["labels"]
        labels = [split_labels(row.get(column), f"{source}, row {number},") for number, row in numbered]
    own = _text_labels(numbered, contents, columns[OWN], source) if OWN in columns and labels is not None else None
    return Documents(names, contents, labels, own)


def _text_and_key(columns: dict[str, str], source: str) -> tuple[str, str | None]:
    text = next((columns[name] for name in (*TEXTS, *TEXT) if name in columns), None)
    if text is None:
        raise ValueError(
            f"{source} must have a column text (a string) or texts (a list of strings); it has {', '.join(columns)}."
        )
    return text, next((columns[name] for name in KEYS if name in columns and columns[name] != text), None)


def check_names_differ(names: Sequence[str], source: str, columns: dict[str, str]) -> None:
    if len(set(names)) < len(names):
        name, _ = Counter(names).most_common(1)[0]
        raise ValueError(f"{source} has two documents called {name!r} in column {_text_and_key(columns, source)[1]}.")


def _content(value: Any, where: str, column: str) -> str | list[str]:
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(part, str) for part in value)):
        return value
    if value is None:
        raise ValueError(f"{where} must have a text, or a list of texts, in its column {column}: there is none.")
    raise ValueError(f"{where} must have a text, or a list of texts, got {type(value).__name__}.")


def _text_labels(
    rows: list[tuple[int, Row]], contents: list[str | list[str]], column: str, source: str
) -> list[list[str]]:
    own: list[list[str]] = []
    for (number, row), content in zip(rows, contents, strict=True):
        sets = row.get(column)
        if not isinstance(content, list) or not isinstance(sets, list) or len(sets) != len(content):
            raise ValueError(f"{source}, row {number}, must have a list of labels for each of its texts in {column}.")
        own.extend(split_labels(labels, f"{source}, row {number}, {column},") or [] for labels in sets)
    return own


def match_documents(table: LabelTable, names: Sequence[str], files: Sequence[Path] | None) -> RowMatch:
    """The row of each document: by its file's name, or by its own where it is no file."""
    if files is not None:
        return match_files(table.rows, files, [TEXT_SUFFIX], table.source)
    return match_names(table.rows, names, table.source)

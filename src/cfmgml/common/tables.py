"""Tables in files: rows are read one at a time, and columns are written a piece at a time.

A format is an entry of `FORMATS`, which knows how to read and to write it. Whoever reads or writes tables, or lists
what can be written, asks that list. CSV has ``;`` between the words of a list, and gives strings when it is read, None
where a row is short; commas, semicolons and tabs are told apart by its first line. JSON, one value, is read whole.

One row that cannot be read spoils a table, unless it is read leniently: then that row says why, under `BROKEN`.
"""

import csv
import gzip
import io
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Protocol, Union

import numpy as np

from cfmgml.common.extras import missing_extra
from cfmgml.common.files import atomic_write
from cfmgml.common.typing import FloatArray, Json

if TYPE_CHECKING:
    import pyarrow

Row = Json  # as a file has it
Kinds = Mapping[str, type]  # what columns hold, in their order: str, float, or list (of words)
Column = list[str] | list[list[str]] | list[object] | FloatArray
Piece = Union[bytes, "pyarrow.Table"]
PARQUET_ROWS = 1024  # of a Parquet file that are in memory at a time
BROKEN = "\0broken"  # where a row that cannot be used has the reason, if a table is read leniently
MAX_FIELD = 2**30  # letters of a CSV field; Python's limit of 131,072 is shorter than a book


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    >>> table = Table({"bag": str, "score": float}, {"bag": ["a", "b"], "score": np.array([0.5, -1])})
    >>> list(table.rows())
    [{'bag': 'a', 'score': 0.5}, {'bag': 'b', 'score': -1.0}]
    """

    kinds: Kinds
    columns: Mapping[str, Column]

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, object]]) -> "Table":
        """The columns are those of the first row."""
        kinds = {name: type(value) for name, value in rows[0].items()}
        return cls(kinds, {name: [row.get(name) for row in rows] for name in kinds})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> Iterator[Row]:
        columns = [values.tolist() if isinstance(values, np.ndarray) else values for values in self.columns.values()]
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True))


class Writable(Protocol):
    """Where a table goes: a file, or the standard output."""

    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True)
class TableFormat(ABC):
    """A way to write rows down; its name is its first suffix, without the dot."""

    suffixes: tuple[str, ...]
    media_type: str

    @property
    def name(self) -> str:
        return self.suffixes[0].removeprefix(".")

    @abstractmethod
    def read(self, path: Path, lenient: bool = False) -> Iterator[Row]:
        """The rows, one at a time; raises ValueError where the file is not what its name says."""

    @abstractmethod
    def encode(self, table: Table) -> Piece:
        """Some rows, ready to be joined with others."""

    @abstractmethod
    def join(self, stream: IO[bytes], kinds: Kinds) -> AbstractContextManager[Callable[[Piece], object]]:
        """Writes one table to a stream: what it gives is called with each piece, in order."""

    def write(self, stream: IO[bytes], table: Table) -> None:
        with self.join(stream, table.kinds) as add:
            add(self.encode(table))


@dataclass(frozen=True)
class TextFormat(TableFormat):
    """Lines of text in UTF-8; files may be compressed."""

    parse: Callable[[IO[str], Path, bool], Iterator[Row]]
    text: Callable[[Iterable[Row]], str]  # of some rows
    has_head: bool = False  # a first row that names the columns
    begin: str = ""
    between: str = ""  # pieces
    end: str = ""
    newline: str = "\n"  # as `open` takes it

    def read(self, path: Path, lenient: bool = False) -> Iterator[Row]:
        try:
            opened = gzip.open if path.suffix == ".gz" else open
            errors = "replace" if lenient else "strict"
            with opened(path, "rt", -1, "utf-8-sig", errors, self.newline) as lines:  # spreadsheets write a mark
                yield from self.parse(lines, path, lenient)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} is damaged ({error}).") from error

    def encode(self, table: Table) -> bytes:
        return self.text(table.rows()).encode()

    @contextmanager
    def join(self, stream: Writable, kinds: Kinds) -> Iterator[Callable[[Piece], object]]:
        head = self.text([{name: name for name in kinds}]) if self.has_head else ""
        stream.write((self.begin + head).encode())
        between = b""

        def add(piece: Piece) -> None:
            nonlocal between
            if piece:
                stream.write(between + piece)
                between = self.between.encode()

        yield add
        stream.write(self.end.encode())


def _parse_csv(lines: IO[str], path: Path, lenient: bool) -> Iterator[Row]:
    first = lines.readline()
    lines.seek(0)
    delimiter = max(",;\t", key=first.count)  # the comma, if none occurs
    csv.field_size_limit(MAX_FIELD)
    try:
        reader = csv.DictReader(lines, delimiter=delimiter, strict=not lenient, restkey=BROKEN)
        columns = [str(name).strip() for name in reader.fieldnames or ()]
        if len(set(columns)) < len(columns):
            raise ValueError(f"{path} names a column twice: {max(columns, key=columns.count)!r}.")
        reader.fieldnames = columns
        for row in reader:
            if BROKEN in row:
                why = f"has more values than there are columns, {columns}; put values with a {delimiter!r} in quotes."
                if not lenient:
                    raise ValueError(f"{path}: a row begins with {row[columns[0]]!r} and {why}")
                row[BROKEN] = why
            yield row
    except csv.Error as error:
        raise ValueError(f"{path} is not a CSV file ({error}).") from error


def _csv_text(rows: Iterable[Row], delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    lines = ([";".join(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows)
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _parse_lines(lines: IO[str], path: Path, lenient: bool) -> Iterator[Row]:
    for k, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _object(_json(line, path, f", line {k}"), path, f", line {k}")
            except ValueError:
                if not lenient:
                    raise
                yield {BROKEN: "is no JSON object like {...}."}


def _text_of_lines(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _parse_json(lines: IO[str], path: Path, lenient: bool) -> Iterator[Row]:
    rows = _json(lines.read(), path, "")
    if not isinstance(rows, list):
        raise ValueError(f"{path} must hold a list of objects, got {type(rows).__name__}.")
    return (_object(row, path, f", entry {k}") for k, row in enumerate(rows))


def _json_text(rows: Iterable[Row]) -> str:
    return json.dumps(list(rows), ensure_ascii=False, indent=1)[len("[\n") : -len("\n]")]


def _object(row: object, path: Path, where: str) -> Row:
    if not isinstance(row, dict):
        raise ValueError(f"{path}{where}, must be an object like {{...}}, got {type(row).__name__}.")
    return row


def _json(text: str, path: Path, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}{where}, is not JSON ({error}).") from error


def arrow_columns(table: Table) -> "pyarrow.Table":
    """A table as Arrow has it."""
    pa = import_pyarrow()
    types = {str: pa.string(), float: pa.float64(), list: pa.list_(pa.string())}
    columns = table.columns.items()
    return pa.table({name: pa.array(values, types.get(table.kinds[name])) for name, values in columns})


class ParquetFormat(TableFormat):
    """Columns with types: strings, doubles, and lists of strings. Needs pyarrow."""

    def read(self, path: Path, lenient: bool = False) -> Iterator[Row]:
        pa = import_pyarrow()
        try:
            with pa.parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(PARQUET_ROWS):
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet ({error}).") from error

    def encode(self, table: Table) -> "pyarrow.Table":
        """Types are given where they are known: no label may be predicted in some rows."""
        return arrow_columns(table)

    @contextmanager
    def join(
        self, stream: IO[bytes], kinds: Kinds, metadata: Mapping[bytes, bytes] | None = None
    ) -> Iterator[Callable[[Piece], object]]:
        with ExitStack() as closing:
            writers: list[pyarrow.parquet.ParquetWriter] = []  # none before the first piece, whose types it takes

            def add(piece: "pyarrow.Table") -> None:
                if not writers:
                    schema = piece.schema.with_metadata(metadata)
                    writer = import_pyarrow().parquet.ParquetWriter(stream, schema, compression="zstd")
                    writers.append(closing.enter_context(writer))
                writers[0].write_table(piece)

            yield add
            if not writers:
                add(self.encode(Table(kinds, {name: [] for name in kinds})))

    def metadata(self, path: Path) -> Mapping[bytes, bytes]:
        """What `join` was told to write beside the columns; raises OSError or ValueError where no table is."""
        return import_pyarrow().parquet.read_schema(path).metadata or {}  # ArrowInvalid is a ValueError


def import_pyarrow() -> ModuleType:
    """The library, or an error that names the extra to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(missing_extra("Parquet files and stores need pyarrow", "parquet")) from error
    module: ModuleType = pyarrow
    return module


PARQUET = ParquetFormat((".parquet",), "application/vnd.apache.parquet")
_tabs = partial(_csv_text, delimiter="\t")
FORMATS: list[TableFormat] = [
    TextFormat((".csv",), "text/csv", _parse_csv, _csv_text, has_head=True, newline=""),
    TextFormat((".tsv",), "text/tab-separated-values", _parse_csv, _tabs, has_head=True, newline=""),
    TextFormat((".json",), "application/json", _parse_json, _json_text, begin="[\n", between=",\n", end="\n]\n"),
    TextFormat((".jsonl", ".ndjson"), "application/x-ndjson", _parse_lines, _text_of_lines),
    PARQUET,
]


def format_of(path: str | Path) -> TableFormat | None:
    """The format that a file's name asks for, ``.gz`` left aside; None for none.

    >>> format_of("papers.jsonl.gz").name, format_of("photo.png")
    ('jsonl', None)
    """
    name = Path(path).name.lower().removesuffix(".gz")
    return next((form for form in FORMATS if name.endswith(form.suffixes)), None)


def text_formats() -> dict[str, TextFormat]:
    """Those that a terminal or a pipe can be given, by name."""
    return {form.name: form for form in FORMATS if isinstance(form, TextFormat)}


def known_suffixes() -> str:
    return ", ".join(suffix for form in FORMATS for suffix in form.suffixes)


# -- reading ---------------------------------------------------------------------------------


def read_table(path: str | Path) -> list[Row]:
    """The rows of a table, each a dictionary; values of CSV are strings, None where a row is short.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "labels.csv").write_text("name,labels\\na,sky;sea\\n")
    ...     read_table(f"{folder}/labels.csv")
    [{'name': 'a', 'labels': 'sky;sea'}]
    """
    return list(stream_table(path))


def stream_table(path: str | Path, lenient: bool = False) -> Iterator[Row]:
    """The rows that `read_table` reads, one at a time; only JSON, which is one value, is read as a whole.

    ``lenient``: a row of CSV or JSONL that cannot be read has the reason under `BROKEN`, and the rest is read on.
    """
    path = Path(path)
    form = format_of(path)
    if form is None:
        raise ValueError(f"{path} is not a table that can be read: its name must end in one of {known_suffixes()}.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    return _some(form.read(path, lenient), path)


def _some(rows: Iterator[Row], path: Path) -> Iterator[Row]:
    is_empty = True
    for row in rows:
        is_empty = False
        yield row
    if is_empty:
        raise ValueError(f"{path} has no rows.")


# -- writing ---------------------------------------------------------------------------------


def check_writable(path: str | Path) -> TableFormat:
    """The format that a name asks for; raises before any work if it cannot be written."""
    form = format_of(path)
    if form is None or Path(path).suffix == ".gz":
        raise ValueError(f"{path} must end in one of {known_suffixes()}, to say how to write it.")
    if form is PARQUET:
        import_pyarrow()
    return form


def write_table(rows: Sequence[Mapping[str, object]] | Table, path: str | Path) -> None:
    """Write rows as the name asks, in one step. Lists become words with ``;`` between them in CSV.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_table([{"bag": "a", "labels": ["sky", "sea"]}], f"{folder}/rows.csv")
    ...     Path(folder, "rows.csv").read_text().splitlines()
    ['bag,labels', 'a,sky;sea']
    """
    form = check_writable(path)
    with atomic_write(path) as stream:
        form.write(stream, rows if isinstance(rows, Table) else Table.from_rows(rows))

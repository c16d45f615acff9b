"""Tables in files: rows are read one at a time, and columns are written a piece at a time.

A format is a class here, with what it reads and what it writes, and an entry of `FORMATS`. Whoever reads or writes
tables, or lists what can be written, asks that list.
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
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, ClassVar, Protocol, Union

import numpy as np

from cfmgml.common.files import atomic_write
from cfmgml.common.typing import FloatArray, Json

if TYPE_CHECKING:
    import pyarrow

Row = Json  # as a file has it
Kinds = Mapping[str, type]  # what columns hold, in their order: str, float, or list (of words)
Column = list[str] | list[list[str]] | list[object] | FloatArray
Piece = Union[bytes, "pyarrow.Table"]
PARQUET_ROWS = 1024  # of a Parquet file that are in memory at a time
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


class TableFormat(ABC):
    """A way to write rows down."""

    suffixes: ClassVar[tuple[str, ...]]  # of files; the first without its dot is the format's name
    media_type: ClassVar[str]

    @abstractmethod
    def read(self, path: Path) -> Iterator[Row]:
        """The rows, one at a time; raises ValueError where the file is not what its name says."""

    @abstractmethod
    def encode(self, table: Table) -> Piece:
        """Some rows, ready to be joined with others."""

    @abstractmethod
    def join(self, stream: IO[bytes], kinds: Kinds) -> AbstractContextManager[Callable[[Piece], object]]:
        """Writes one table to a stream: what it gives is called with each piece, in order."""

    @property
    def name(self) -> str:
        return self.suffixes[0].removeprefix(".")

    def check(self) -> None:  # noqa: B027  # most need nothing
        """Raise unless what it takes to write it is installed."""

    def write(self, stream: IO[bytes], table: Table) -> None:
        with self.join(stream, table.kinds) as add:
            add(self.encode(table))


class TextFormat(TableFormat):
    """Lines of text in UTF-8, which may be compressed."""

    between: ClassVar[str] = ""  # pieces
    end: ClassVar[str] = ""
    newline: ClassVar[str] = "\n"  # as `open` takes it

    @abstractmethod
    def parse(self, lines: IO[str], path: Path) -> Iterator[Row]:
        """The rows of a file that is open."""

    @abstractmethod
    def begin(self, kinds: Kinds) -> str:
        """What stands before the first row."""

    @abstractmethod
    def text(self, rows: Iterable[Row]) -> str:
        """Some rows."""

    def read(self, path: Path) -> Iterator[Row]:
        try:
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8-sig", newline=self.newline) as lines:  # spreadsheets write a mark
                yield from self.parse(lines, path)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path} is damaged ({error}).") from error

    def encode(self, table: Table) -> bytes:
        return self.text(table.rows()).encode()

    @contextmanager
    def join(self, stream: Writable, kinds: Kinds) -> Iterator[Callable[[Piece], object]]:
        stream.write(self.begin(kinds).encode())
        is_first = True

        def add(piece: Piece) -> None:
            nonlocal is_first
            if piece:
                stream.write(piece if is_first else self.between.encode() + piece)
                is_first = False

        yield add
        stream.write(self.end.encode())


class CsvFormat(TextFormat):
    """The first line names the columns; when read, commas, semicolons and tabs are told apart by it.

    Lists become words with ``;`` between them. What is read are strings, None where a row is short.
    """

    suffixes = (".csv",)
    media_type = "text/csv"
    newline = ""
    delimiter: ClassVar[str] = ","

    def parse(self, lines: IO[str], path: Path) -> Iterator[Row]:
        first = lines.readline()
        lines.seek(0)
        delimiter = max(",;\t", key=first.count)  # the comma, if none occurs
        csv.field_size_limit(MAX_FIELD)
        try:
            reader = csv.DictReader(lines, delimiter=delimiter, strict=True)
            columns = [str(name).strip() for name in reader.fieldnames or ()]
            if len(set(columns)) < len(columns):
                raise ValueError(f"{path} names a column twice: {max(columns, key=columns.count)!r}.")
            reader.fieldnames = columns
            for row in reader:
                if None in row:
                    raise ValueError(
                        f"{path}: a row begins with {row[columns[0]]!r} and has more values than there are columns, "
                        f"{columns}; put values with a {delimiter!r} in quotes."
                    )
                yield row
        except csv.Error as error:
            raise ValueError(f"{path} is not a CSV file ({error}).") from error

    def begin(self, kinds: Kinds) -> str:
        return self._lines([kinds])

    def text(self, rows: Iterable[Row]) -> str:
        return self._lines([";".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows)

    def _lines(self, lines: Iterable[Iterable[object]]) -> str:
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=self.delimiter, lineterminator="\n").writerows(lines)
        return out.getvalue()


class TsvFormat(CsvFormat):
    """As CSV, with tabs."""

    suffixes = (".tsv",)
    media_type = "text/tab-separated-values"
    delimiter = "\t"


class JsonLinesFormat(TextFormat):
    """An object a line."""

    suffixes = (".jsonl", ".ndjson")
    media_type = "application/x-ndjson"

    def parse(self, lines: IO[str], path: Path) -> Iterator[Row]:
        for k, line in enumerate(lines, start=1):
            if line.strip():
                yield _object(_json(line, path, f", line {k}"), path, f", line {k}")

    def begin(self, kinds: Kinds) -> str:
        return ""

    def text(self, rows: Iterable[Row]) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class JsonFormat(TextFormat):
    """A list of objects, which is read as a whole."""

    suffixes = (".json",)
    media_type = "application/json"
    between, end = ",\n", "\n]\n"

    def parse(self, lines: IO[str], path: Path) -> Iterator[Row]:
        rows = _json(lines.read(), path, "")
        if not isinstance(rows, list):
            raise ValueError(f"{path} must hold a list of objects, got {type(rows).__name__}.")
        return (_object(row, path, f", entry {k}") for k, row in enumerate(rows))

    def begin(self, kinds: Kinds) -> str:
        return "[\n"

    def text(self, rows: Iterable[Row]) -> str:
        return json.dumps(list(rows), ensure_ascii=False, indent=1)[len("[\n") : -len("\n]")]


class ParquetFormat(TableFormat):
    """Columns with types: strings, doubles, and lists of strings. Needs pyarrow."""

    suffixes = (".parquet",)
    media_type = "application/vnd.apache.parquet"

    def read(self, path: Path) -> Iterator[Row]:
        pa = import_pyarrow()
        try:
            with pa.parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(PARQUET_ROWS):
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet ({error}).") from error

    def encode(self, table: Table) -> "pyarrow.Table":
        pa, types = import_pyarrow(), self._types(table.kinds)
        return pa.table({name: pa.array(values, types.get(name)) for name, values in table.columns.items()})

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

    def check(self) -> None:
        import_pyarrow()

    def _types(self, kinds: Kinds) -> dict[str, "pyarrow.DataType"]:
        """Some rows would not always show them: no label may be predicted."""
        pa = import_pyarrow()
        known = {str: pa.string(), float: pa.float64(), list: pa.list_(pa.string())}
        return {name: known[kind] for name, kind in kinds.items() if kind in known}


PARQUET = ParquetFormat()
FORMATS: list[TableFormat] = [CsvFormat(), TsvFormat(), JsonFormat(), JsonLinesFormat(), PARQUET]


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
    """The rows of a table, each a dictionary; values of CSV are strings, None where a row is short."""
    return list(stream_table(path))


def stream_table(path: str | Path) -> Iterator[Row]:
    """The rows that `read_table` reads, one at a time; only JSON, which is one value, is read as a whole."""
    path = Path(path)
    form = format_of(path)
    if form is None:
        raise ValueError(f"{path} is not a table that can be read: its name must end in one of {known_suffixes()}.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    return _some(form.read(path), path)


def _some(rows: Iterator[Row], path: Path) -> Iterator[Row]:
    is_empty = True
    for row in rows:
        is_empty = False
        yield row
    if is_empty:
        raise ValueError(f"{path} has no rows.")


def _object(row: object, path: Path, where: str) -> Row:
    if not isinstance(row, dict):
        raise ValueError(f"{path}{where}, must be an object like {{...}}, got {type(row).__name__}.")
    return row


def _json(text: str, path: Path, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}{where}, is not JSON ({error}).") from error


def import_pyarrow() -> ModuleType:
    """The library, or an error that names the extra to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files and stores need pyarrow: pip install 'cfmgml[parquet]'.") from error
    module: ModuleType = pyarrow
    return module


# -- writing ---------------------------------------------------------------------------------


def check_writable(path: str | Path) -> TableFormat:
    """The format that a name asks for; raises before any work if it cannot be written."""
    form = format_of(path)
    if form is None or Path(path).suffix == ".gz":
        raise ValueError(f"{path} must end in one of {known_suffixes()}, to say how to write it.")
    form.check()
    return form


def write_table(rows: Sequence[Mapping[str, object]] | Table, path: str | Path) -> None:
    """Write rows as the name asks, in one step. Lists become words with ``;`` between them in CSV."""
    form = check_writable(path)
    with atomic_write(path) as stream:
        form.write(stream, rows if isinstance(rows, Table) else Table.from_rows(rows))

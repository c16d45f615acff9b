"""Tables on disk, CSV, JSON, JSONL and Parquet, as lists of rows, and back."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from cfmgml.common.files import atomic_write

Row = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
NAMES = ", ".join(SUFFIXES)
PARQUET_ROWS = 1024  # of a Parquet file that are in memory at a time
MAX_FIELD = 2**30  # letters of a CSV field; Python's limit of 131,072 is shorter than a book


def table_suffix(path: str | Path) -> str | None:
    """Which kind of table a file's name says it is, ``.gz`` left aside; None for none.

    >>> table_suffix("papers.jsonl.gz"), table_suffix("photo.png")
    ('.jsonl', None)
    """
    name = Path(path).name.lower().removesuffix(".gz")
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def read_table(path: str | Path) -> list[Row]:
    """The rows of a table, each a dictionary; values of CSV are strings, None where a row is short.

    A CSV's first line names its columns; commas, semicolons and tabs are told apart by it.
    """
    path = Path(path)
    suffix = table_suffix(path)
    if suffix is None:
        raise ValueError(f"{path} is not a table that can be read: its name must end in one of {NAMES}.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    if suffix == ".parquet":
        return _read_parquet(path)
    rows = _parse(_read_text(path), suffix, path)
    if not rows:
        raise ValueError(f"{path} has no rows.")
    return rows


def stream_table(path: str | Path) -> Iterator[Row]:
    """The rows that `read_table` reads, one at a time; only JSON, which is one value, is read as a whole."""
    path = Path(path)
    suffix = table_suffix(path)
    if suffix in (".jsonl", ".ndjson", ".csv", ".tsv") and path.is_file():
        return _stream_text(path, suffix)
    if suffix == ".parquet" and path.is_file():
        return _stream_parquet(path)
    return iter(read_table(path))


def _stream_text(path: Path, suffix: str) -> Iterator[Row]:
    is_empty = True
    try:
        is_csv, opened = suffix in (".csv", ".tsv"), gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig", newline="" if is_csv else "\n") as lines:
            rows = _csv_rows(lines, path) if is_csv else _json_rows(lines, path)
            for row in rows:
                is_empty = False
                yield row
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged ({error}).") from error
    if is_empty:
        raise ValueError(f"{path} has no rows.")


def _read_text(path: Path) -> str:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return data.decode("utf-8-sig")  # spreadsheets begin their files with a mark
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged ({error}).") from error


def _parse(text: str, suffix: str, path: Path) -> list[Row]:
    if suffix in (".csv", ".tsv"):
        return list(_csv_rows(io.StringIO(text, newline=""), path))
    if suffix == ".json":
        found = _json(text, path, "")
        if not isinstance(found, list):
            raise ValueError(f"{path} must hold a list of objects, got {type(found).__name__}.")
        return [_object(row, path, f", entry {k}") for k, row in enumerate(found)]
    return list(_json_rows(text.split("\n"), path))


def _json_rows(lines: Iterable[str], path: Path) -> Iterator[Row]:
    for k, line in enumerate(lines, start=1):
        if line.strip():
            yield _object(_json(line, path, f", line {k}"), path, f", line {k}")


def _object(row: Any, path: Path, where: str) -> Row:
    if not isinstance(row, dict):
        raise ValueError(f"{path}{where}, must be an object like {{...}}, got {type(row).__name__}.")
    return row


def _json(text: str, path: Path, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}{where}, is not JSON ({error}).") from error


def _csv_rows(lines: IO[str], path: Path) -> Iterator[Row]:
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


def _read_parquet(path: Path) -> list[Row]:
    pa = import_pyarrow()
    try:
        rows: list[Row] = pa.parquet.read_table(path).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({error}).") from error
    if not rows:
        raise ValueError(f"{path} has no rows.")
    return rows


def _stream_parquet(path: Path) -> Iterator[Row]:
    pa = import_pyarrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            if not file.metadata.num_rows:
                raise ValueError(f"{path} has no rows.")
            for batch in file.iter_batches(PARQUET_ROWS):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet ({error}).") from error


def import_pyarrow() -> Any:
    """The library, or an error that names the extra to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'cfmgml[parquet]'.") from error
    return pyarrow


# -- writing ---------------------------------------------------------------------------------


def check_writable(path: str | Path) -> str:
    """The kind of table that a name asks for; raises before any work if it cannot be written."""
    suffix = table_suffix(path)
    if suffix is None or Path(path).suffix == ".gz":
        raise ValueError(f"{path} must end in one of {NAMES}, to say how to write it.")
    if suffix == ".parquet":
        import_pyarrow()
    return suffix


def write_table(rows: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write rows as the name asks, in one step. Lists become words with ``;`` between them in CSV."""
    suffix = check_writable(path)
    if suffix != ".parquet":
        with atomic_write(path) as stream:
            stream.write(format_table(rows, suffix).encode())
        return
    pa = import_pyarrow()
    with atomic_write(path) as stream:
        pa.parquet.write_table(pa.Table.from_pylist([dict(row) for row in rows]), stream)


def format_table(rows: Sequence[Mapping[str, Any]], suffix: str = ".csv", head: bool = True) -> str:
    """Rows as text: CSV or TSV (columns as in the first row; named, if ``head``), JSON, or a JSON object a line.

    >>> print(format_table([{"bag": "a", "labels": ["cow", "sky"], "score:cow": 0.25}]), end="")
    bag,labels,score:cow
    a,cow;sky,0.25
    """
    if suffix == ".json":
        return json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n"
    if suffix in (".jsonl", ".ndjson"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    lines = [[";".join(value) if isinstance(value, list) else value for value in row.values()] for row in rows]
    return _csv([*([rows[0]] if head else []), *lines], suffix)


def table_head(columns: Iterable[str], suffix: str) -> str:
    """The line that names the columns, where a kind of table has one."""
    return _csv([columns], suffix) if suffix in (".csv", ".tsv") else ""


def _csv(lines: Iterable[Iterable[Any]], suffix: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n").writerows(lines)
    return out.getvalue()

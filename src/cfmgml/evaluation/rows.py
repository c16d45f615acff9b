"""The store of results: one line of JSON a measurement, only ever added to.

A line is written whole, by one call, and is on disk before the next piece of work counts as done; what a kill tears is
the last line, and it is cut off when the file is next opened for writing. A row is known by `KEY`: the same work
has the same key whenever and wherever it is done, so a run that begins again skips what is there.

Columns of a row
----------------
data, fingerprint, n_bags, subset
    The data set, a hash of its contents, its size, and how many bags a quick run drew of it (0: all).
method, params
    What was trained, and with which parameters.
scheme, n_folds, fold, n_inner, inner, seed
    How bags were split (`cfmgml.evaluation.folds`). ``inner`` is null for the reported folds.
bag.*, graph.*
    Measures of each level (`cfmgml.evaluation.measures`); null where one is not defined.
labels.*, confusion, objective, paper_objective
    Counts a label of graphs; (true, best, count) of graphs with one label; the solver's objective a round; the paper's
    at the end, on the training bags. Reported folds only.
n_train, n_test, cpu_seconds, wall_seconds, peak_mib, added_mib, versions
    Sizes; what the fit took, the most memory the worker had meanwhile and how much of that was not there before; and
    what it was done with.
sitting, at, workers
    The run that measured the row, seconds since that began, and how many workers it had.
taken_from
    Only where the work was done on another variant of the data set, in a representation that both have: which.
"""

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from cfmgml.common.files import LOCKS, atomic_write, try_lock

Row = dict[str, Any]
Append = Callable[[Iterable[Row]], None]
KEY = (
    "data", "fingerprint", "subset", "method", "params", "scheme", "n_folds", "fold", "n_inner", "inner", "seed",
)  # fmt: skip
PAUSE = 300.0  # seconds between two rows that count as work at most: the machine may have slept


def row_key(row: Row) -> str:
    """What tells this measurement from every other.

    >>> row_key({**dict.fromkeys(KEY), "data": "digits", "params": {"alpha": 1e-5}, "fold": 3})
    '["digits",null,null,null,{"alpha":1e-05},null,null,3,null,null,null]'
    """
    return json.dumps([row[name] for name in KEY], sort_keys=True, separators=(",", ":"))


def work_key(row: Row) -> str:
    """The same, whatever the data set is called: variants of one may have a form in common, and the work on it.

    >>> row = dict.fromkeys(KEY)
    >>> work_key({**row, "data": "pictures-rich"}) == work_key({**row, "data": "pictures-labels"})
    True
    """
    return row_key({**row, "data": None})


class ResultStore:
    """Rows in a file of JSON lines.

    >>> import tempfile
    >>> store = ResultStore(Path(tempfile.mkdtemp()) / "rows.jsonl")
    >>> with store.writing() as append:
    ...     append([{**dict.fromkeys(KEY), "fold": 0, "bag.one_error": 0.25}])
    >>> [row["bag.one_error"] for row in store.rows()]
    [0.25]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def rows(self) -> list[Row]:
        """All whole rows, sorted by key, so that the order in which they came does not show; the last of each key."""
        if not self.path.exists():
            return []
        by_key = {row_key(row): row for row in self._read()}
        return [by_key[key] for key in sorted(by_key)]

    def _read(self) -> Iterator[Row]:
        *lines, _ = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                row_key(row)
            except (ValueError, TypeError, KeyError) as error:
                told = f"{self.path}, line {number} is not a result ({error!r}): delete that line."
                raise ValueError(told) from error
            yield row

    @contextlib.contextmanager
    def writing(self) -> Iterator[Append]:
        """A function that adds rows; each call is on disk when it returns. One writer at a time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab", buffering=0) as stream:
            if LOCKS and not try_lock(stream):  # without locks nothing keeps two runs apart
                told = "wait for it, or give this one another --out folder."
                raise ValueError(f"another run is writing to {self.path}: {told}")
            _cut_torn_line(self.path, stream)

            def append(rows: Iterable[Row]) -> None:
                lines = memoryview(b"".join(map(_line, rows)))
                while lines:
                    lines = lines[os.write(stream.fileno(), lines) :]
                os.fsync(stream.fileno())

            yield append

    def remove(self, unwanted: Callable[[Row], bool]) -> int:
        """Drop the rows for which ``unwanted(row)`` is true, in one step; returns how many."""
        rows = self.rows()
        kept = [row for row in rows if not unwanted(row)]
        if len(kept) < len(rows):
            self.replace(kept)
        return len(rows) - len(kept)

    def replace(self, rows: Iterable[Row]) -> None:
        """These rows instead of all that are there, in one step."""
        with atomic_write(self.path) as stream:
            stream.write(b"".join(map(_line, rows)))


def write_compact(rows: Iterable[Row], path: Path) -> None:
    """Rows as compressed JSON lines, the same bytes for the same rows: small enough to keep beside the tables."""
    text = "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows)
    with atomic_write(path) as stream:
        stream.write(gzip.compress(text.encode(), mtime=0))


def read_compact(path: Path) -> list[Row]:
    """What `write_compact` wrote; no rows where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def _line(row: Row) -> bytes:
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _cut_torn_line(path: Path, stream: IO[bytes]) -> None:
    """Cut off what follows the last line's end: a kill was faster than the disk."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        stream.truncate(whole)
        os.fsync(stream.fileno())


def wall_seconds(rows: Iterable[Row]) -> float:
    """How long measuring took, in all sittings: from one row to the next, but a pause counts five minutes at most.

    >>> wall_seconds([{"sitting": "a", "at": 10.0}, {"sitting": "a", "at": 1000.0}, {"sitting": "b", "at": 5.0}])
    315.0
    """
    sittings: dict[str, list[float]] = {}
    for row in rows:
        if "taken_from" not in row:
            sittings.setdefault(row["sitting"], [0.0]).append(row["at"])
    return sum(min(stop - start, PAUSE) for at in sittings.values() for start, stop in pairwise(sorted(at)))

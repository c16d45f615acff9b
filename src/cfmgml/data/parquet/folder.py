"""The folder of a store: what its partitions have in common, and which there are.

``_store.json`` says what all partitions share (label names, columns, how the bags were built) and names every partition
with its counts, its size and its digest: the manifest. Each ``part-NUMBER-DIGEST.parquet`` is one partition. The header
is written last, in one step, and with a digest of itself; so a store is what its header says, or it is refused.
Headers of version 1 have no manifest, and a partition that is missing there cannot be noticed.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from cfmgml.common.digests import bytes_digest
from cfmgml.common.files import header_digest
from cfmgml.common.tables import import_pyarrow
from cfmgml.common.typing import Arrays, IntArray, Json, JsonView
from cfmgml.data.parquet.journal import Journal
from cfmgml.data.parquet.tables import columns_of, from_table, label_matrix

if TYPE_CHECKING:
    import pyarrow

FORMAT = "cfmgml-store"
VERSION = 2  # 2: the header names all partitions, and has a digest of itself; stores of version 1 are read too
HEADER = "_store.json"
KEY = b"cfmgml"
NAME = re.compile(r"part-(\d{6,})-([0-9a-f]{12})\.parquet")
COUNTS = ("n_bags", "n_graphs", "n_nodes", "n_edges")
SHOWN = 5  # bad partitions that an error describes
TAIL = 8  # bytes at the end of a Parquet file: the footer's length, and its mark
HINT = "put back what was written, or build the store anew"


@dataclass(frozen=True)
class Partition:
    """One file of a store, as the manifest describes it, or its footer where there is no manifest."""

    name: str
    n_bags: int
    n_graphs: int
    n_nodes: int
    n_edges: int
    n_bytes: int | None = None
    sha256: str | None = None  # of the file
    footer: str | None = None  # sha256 of its end, which can be compared without reading the rest


# -- reading ---------------------------------------------------------------------------------


def read_header(folder: Path) -> Json:
    """What all partitions have in common."""
    path = folder / HEADER
    if not path.is_file():
        check_not_stopped(folder, set())
        what = "is not a store: it has no _store.json" if folder.is_dir() else "is not there"
        raise FileNotFoundError(f"{folder} {what}; cfmgml build --store or BagDataset.to_store makes one.")
    try:
        header = json.loads(path.read_bytes())
        version = header["version"] if header["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or not a store's ({error!r}).") from error
    if not isinstance(version, int) or version > VERSION:
        raise ValueError(f"{path} has version {version}; this cfmgml reads up to {VERSION}: install a newer one.")
    if not _is_whole(header):
        raise ValueError(f"{path} is damaged: it is not what was written; {HINT}.")
    return dict(header)


def _is_whole(header: JsonView) -> bool:
    """Whether a header has the form that it must have and, from version 2 on, is the one that was written."""
    kinds = {"columns": dict, "recipe": dict, "info": dict, "label_names": list | None}
    fits = all(name in header and isinstance(header[name], kind) for name, kind in kinds.items())
    words = [*(header.get("label_names") or ()), *header["columns"].values()] if fits else []
    if not fits or not all(isinstance(word, str) for word in words):
        return False
    if header["version"] < 2:  # nothing else can be checked
        return not {"partitions", "digest"} & set(header)
    listed = header.get("partitions")
    return isinstance(listed, list) and all(map(_is_entry, listed)) and header.get("digest") == header_digest(header)


def _is_entry(entry: object) -> bool:
    """Whether this describes a partition, in the folder itself."""
    if not isinstance(entry, dict) or set(entry) != {field.name for field in fields(Partition)}:
        return False
    texts = [entry[name] for name in ("name", "sha256", "footer")]
    counts = [entry[name] for name in (*COUNTS, "n_bytes")]
    return (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(count, int) and count >= 0 for count in counts)
        and Path(entry["name"]).name == entry["name"]
    )


def check_not_stopped(folder: Path, known: set[str]) -> None:
    """Raise if a build has left partitions that are not yet the store's."""
    journal = Journal(folder)
    left = {path.name for path in partition_files(folder)} - known if journal.begun else None
    if left:
        n_bags = sum(int(entry["n_bags"]) for entry in journal.entries if entry["name"] in left)
        raise ValueError(
            f"the build of {folder} goes on elsewhere, or it stopped after {len(left)} partition"
            f"{'s' * (len(left) != 1)} ({n_bags:,} bags): build with the same arguments to go on."
        )


def read_partitions(folder: Path, header: JsonView, to_add: bool = False) -> list[Partition]:
    """All partitions in order, after a look at each footer; bad ones are named together, and refused.

    Those of a build that stopped are passed over by who goes on ``to_add``, and anybody else is told of them.
    """
    names = [path.name for path in partition_files(folder)]
    if "partitions" not in header:
        return _all_good(folder, {name: partial(_read_footer, folder / name, header) for name in names})
    manifest = [Partition(**entry) for entry in header["partitions"]]
    if not to_add:
        check_not_stopped(folder, {part.name for part in manifest})
    elif Journal(folder).begun:
        names = []
    looks = {part.name: partial(_compare, folder / part.name, header, part) for part in manifest}
    return _all_good(folder, looks | {name: partial(_refuse) for name in names if name not in looks})


def _all_good(folder: Path, looks: Mapping[str, Callable[[], Partition]]) -> list[Partition]:
    good, bad = [], []
    for name, look in looks.items():
        try:
            good.append(look())
        except ValueError as error:
            bad.append(f"{name}: {error}")
    if bad:
        more = "" if len(bad) <= SHOWN else f" and {len(bad) - SHOWN} more"
        raise ValueError(
            f"{len(bad)} of {len(looks)} partitions of {folder} cannot be used; {HINT}: {'; '.join(bad[:SHOWN])}{more}."
        )
    return good


def _compare(path: Path, header: JsonView, expected: Partition) -> Partition:
    """A partition whose size and footer are those of the manifest; else what is wrong with it."""
    if not path.is_file():
        raise ValueError("it is missing")
    if path.stat().st_size != expected.n_bytes or footer_digest(path) != expected.footer:
        _read_footer(path, header)  # has a better reason, if it cannot be read or is of another kind
        raise ValueError("it is not the file that was written")
    return expected


def _refuse() -> Partition:
    raise ValueError("it is not one of those that were written")


def footer_digest(path: Path) -> str:
    """A digest of the end of a Parquet file, which says where its columns are, and of what sizes and values."""
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - TAIL, 0))
        length = int.from_bytes(stream.read(TAIL)[:4], "little")
        stream.seek(max(size - TAIL - length, 0))
        return bytes_digest(stream.read(length + TAIL))


def partition_files(folder: Path) -> list[Path]:
    """Every Parquet file that other tools would read too, in the order of their names."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith((".", "_")))


def _read_footer(path: Path, header: JsonView) -> Partition:
    pa = import_pyarrow()
    try:
        schema = pa.parquet.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        size = path.stat().st_size
        raise ValueError(f"it is truncated or not a Parquet file ({size:,} bytes; {_first_line(error)})") from error
    try:
        meta = json.loads((schema.metadata or {})[KEY])
        n_bags, n_graphs, n_nodes, n_edges = (int(meta[name]) for name in COUNTS)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("it was not written by cfmgml: its footer does not say what is in it") from error
    complaint = differences(header, {**meta, "columns": columns_of(schema)})
    if complaint:
        raise ValueError(complaint)
    return Partition(path.name, n_bags, n_graphs, n_nodes, n_edges)


def differences(ours: JsonView, theirs: JsonView) -> str | None:
    """What keeps a partition out of a store with this header, or None."""
    if theirs["label_names"] != ours["label_names"]:
        return f"its labels are {_short(theirs['label_names'])}, the store's {_short(ours['label_names'])}"
    changed = _changed(ours["columns"], theirs["columns"])
    if changed:
        return f"other columns than the store's: {changed}"
    changed = _changed(*_both_say(ours["recipe"], theirs["recipe"]))
    if changed:
        return f"its bags were built in another way than the store's: {changed}"
    return None


def _both_say(ours: JsonView, theirs: JsonView) -> list[Json]:
    """What both recipes speak of: those of older stores leave out what was not a parameter then."""
    named = ours.get("parameters", {}).keys() & theirs.get("parameters", {}).keys()
    keys = ours.keys() & theirs.keys() | {"builder", "vocabulary"}
    return [
        {key: recipe.get(key) for key in keys} | {"parameters": {name: recipe["parameters"][name] for name in named}}
        for recipe in (ours, theirs)
    ]


def _changed(ours: JsonView, theirs: JsonView) -> str:
    told = []
    for name in sorted({*ours, *theirs}):
        a, b = ours.get(name), theirs.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            told += [inner] if (inner := _changed(a, b)) else []
        elif a != b:
            told.append(f"{name} is {_short(b)}, not {_short(a)}")
    return ", ".join(told)


def _short(value: object) -> str:
    text = "missing" if value is None else str(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def read_arrays(folder: Path, part: Partition) -> Arrays:
    """A partition's arrays, after every byte was compared with its digest."""
    return from_table(_read_table(folder, part.name, import_pyarrow().BufferReader(check_content(folder, part))))


def count_labels(folder: Path, name: str) -> tuple[IntArray, IntArray]:
    """How many bags of a partition have each label, and of how many that is known; no graph is read."""
    with open(folder / name, "rb") as stream:
        labels, known = label_matrix(_read_table(folder, name, stream, columns=["Y"])["Y"].combine_chunks())
    return labels.sum(axis=0), known.sum(axis=0)


def _read_table(
    folder: Path, name: str, source: "IO[bytes] | pyarrow.BufferReader", columns: list[str] | None = None
) -> "pyarrow.Table":
    pa = import_pyarrow()
    try:
        return pa.parquet.read_table(source, columns=columns, page_checksum_verification=True, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"partition {name} of {folder} is damaged ({_first_line(error)}); {HINT}.") from error


def check_content(folder: Path, part: Partition) -> bytes:
    """A file's content; raises unless it is the one that the manifest, or else its name, promises."""
    try:
        data = (folder / part.name).read_bytes()
    except OSError as error:
        raise ValueError(f"partition {part.name} of {folder} is damaged ({_first_line(error)}); {HINT}.") from error
    match = NAME.fullmatch(part.name)
    promised = part.sha256 or (match[2] if match else "")
    if not bytes_digest(data).startswith(promised):
        raise ValueError(f"partition {part.name} of {folder} is damaged: it is not what was written; {HINT}.")
    return data


def cut(bag_ptr: IntArray, n_graphs: int) -> list[tuple[int, int]]:
    """Runs of bags with about ``n_graphs`` graphs each; a bag is never split.

    >>> cut(np.array([0, 2, 4, 9, 10]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    _, starts = np.unique(bag_ptr[:-1] // n_graphs, return_index=True)
    bounds = [*starts.tolist(), len(bag_ptr) - 1]
    return list(zip(bounds[:-1], bounds[1:], strict=True))

"""The folder of a store: what its partitions have in common, which there are, and how one more is written.

``_store.json`` says what all partitions share (label names, columns, how the bags were built); each
``part-NUMBER-DIGEST.parquet`` is one partition. A file is complete before it gets its name, and the name holds a digest
of its content: a half-written partition has no name that anybody reads, and two writers cannot overwrite each other.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml._files import atomic_write
from cfmgml._parquet.tables import Arrays, columns_of, from_table, label_matrix, pyarrow, to_table
from cfmgml._typing import IntArray

FORMAT = "cfmgml-store"
VERSION = 1
HEADER = "_store.json"
KEY = b"cfmgml"
NAME = re.compile(r"part-(\d{6,})-([0-9a-f]{12})\.parquet")
COUNTS = ("n_bags", "n_graphs", "n_nodes", "n_edges")
SHOWN = 5  # bad partitions that an error describes


@dataclass(frozen=True)
class Partition:
    """One file of a store, as its footer describes it."""

    name: str
    n_bags: int
    n_graphs: int
    n_nodes: int
    n_edges: int


# -- reading ---------------------------------------------------------------------------------


def read_header(folder: Path) -> dict[str, Any]:
    """What all partitions have in common."""
    path = folder / HEADER
    if not path.is_file():
        what = "is not a store: it has no _store.json" if folder.is_dir() else "is not there"
        raise FileNotFoundError(f"{folder} {what}; cfmgml build --store or BagDataset.to_store makes one.")
    try:
        header = json.loads(path.read_bytes())
        version = header["version"] if header["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged or not a store's ({error!r}).") from error
    if not isinstance(version, int) or version > VERSION:
        raise ValueError(f"{path} has version {version}; this cfmgml reads up to {VERSION}: install a newer one.")
    return dict(header)


def read_partitions(folder: Path, header: Mapping[str, Any]) -> list[Partition]:
    """All partitions in order, after a look at each footer; bad ones are named together, and refused."""
    good, bad = [], []
    for path in partition_files(folder):
        try:
            good.append(_read_footer(path, header))
        except ValueError as error:
            bad.append(f"{path.name}: {error}")
    if bad:
        more = "" if len(bad) <= SHOWN else f" and {len(bad) - SHOWN} more"
        raise ValueError(
            f"{len(bad)} of {len(bad) + len(good)} partitions of {folder} cannot be used; remove or rebuild them: "
            f"{'; '.join(bad[:SHOWN])}{more}."
        )
    return good


def partition_files(folder: Path) -> list[Path]:
    """Every Parquet file that other tools would read too, in the order of their names."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith((".", "_")))


def _read_footer(path: Path, header: Mapping[str, Any]) -> Partition:
    pa = pyarrow()
    try:
        schema = pa.parquet.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        size = path.stat().st_size
        raise ValueError(f"it is truncated or not a Parquet file ({size:,} bytes; {_first_line(error)})") from error
    try:
        meta = json.loads((schema.metadata or {})[KEY])
        found = Partition(path.name, *(int(meta[name]) for name in COUNTS))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("it was not written by cfmgml: its footer does not say what is in it") from error
    complaint = differences(header, {**meta, "columns": columns_of(schema)})
    if complaint:
        raise ValueError(complaint)
    return found


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    """What keeps a partition out of a store with this header, or None."""
    if theirs["label_names"] != ours["label_names"]:
        return f"its labels are {_short(theirs['label_names'])}, the store's {_short(ours['label_names'])}"
    changed = _changed(ours["columns"], theirs["columns"])
    if changed:
        return f"other columns than the store's: {changed}"
    changed = _changed(ours["recipe"], theirs["recipe"])
    if changed:
        return f"its bags were built in another way than the store's: {changed}"
    return None


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    told = []
    for name in sorted({*ours, *theirs}):
        a, b = ours.get(name), theirs.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            told += [inner] if (inner := _changed(a, b)) else []
        elif a != b:
            told.append(f"{name} is {_short(b)}, not {_short(a)}")
    return ", ".join(told)


def _short(value: Any) -> str:
    text = "missing" if value is None else str(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def read_arrays(folder: Path, name: str) -> Arrays:
    """A partition's arrays; every page is compared with its checksum."""
    return from_table(_read_table(folder, name))


def count_labels(folder: Path, name: str) -> tuple[IntArray, IntArray]:
    """How many bags of a partition have each label, and of how many that is known; no graph is read."""
    labels, known = label_matrix(_read_table(folder, name, columns=["Y"])["Y"].combine_chunks())
    return labels.sum(axis=0), known.sum(axis=0)


def _read_table(folder: Path, name: str, columns: list[str] | None = None) -> Any:
    pa = pyarrow()
    try:
        with open(folder / name, "rb") as stream:
            return pa.parquet.read_table(stream, columns=columns, page_checksum_verification=True, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"partition {name} of {folder} is damaged ({_first_line(error)}); rebuild it.") from error


def check_content(folder: Path, name: str) -> None:
    """Raise unless a file's content is the one its name promises."""
    match = NAME.fullmatch(name)
    if match and hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12] != match[2]:
        raise ValueError(f"partition {name} of {folder} is damaged: it is not what was written; rebuild it.")


# -- writing ---------------------------------------------------------------------------------


def cut(bag_ptr: IntArray, n_graphs: int) -> list[tuple[int, int]]:
    """Runs of bags with about ``n_graphs`` graphs each; a bag is never split.

    >>> cut(np.array([0, 2, 4, 9, 10]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    _, starts = np.unique(bag_ptr[:-1] // n_graphs, return_index=True)
    bounds = [*starts.tolist(), len(bag_ptr) - 1]
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def write_store(
    folder: str | Path, partitions: Iterable[Arrays], info: Mapping[str, Any], append: bool, keep_ids: bool
) -> None:
    """Make a store of these partitions, or add them to the one that is there."""
    folder = Path(folder)
    header, number, first = None, 0, 0
    if append and (folder / HEADER).exists():
        header = read_header(folder)
        there = read_partitions(folder, header)
        number = 1 + max((int(m[1]) for p in there if (m := NAME.fullmatch(p.name))), default=-1)
        first = sum(partition.n_graphs for partition in there)
    elif folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name a new folder, or pass append=True to add to a store.")
    folder.mkdir(parents=True, exist_ok=True)
    for arrays in partitions:
        if not keep_ids:
            arrays = {**arrays, "graphs.graph_ids": first + np.arange(len(arrays["graphs.graph_ids"]))}
            first += len(arrays["graphs.graph_ids"])
        table = to_table(arrays)
        meta = _common(arrays, table, info)
        if header is None:
            header = _write_header(folder, meta, info)
        complaint = differences(header, meta)
        if complaint:
            raise ValueError(f"these bags do not fit the store {folder}: {complaint}.")
        write_partition(folder, number, table, {**meta, **_counts(arrays)})
        number += 1


def _common(arrays: Arrays, table: Any, info: Mapping[str, Any]) -> dict[str, Any]:
    names = arrays["label_names"].tolist() if "label_names" in arrays else None
    common = {"format": FORMAT, "version": VERSION, "label_names": names}
    return {**common, "columns": columns_of(table.schema), "recipe": recipe_digest(info)}


def _counts(arrays: Arrays) -> dict[str, int]:
    nodes, edges = arrays["graphs.node_ptr"], arrays["graphs.edge_ptr"]
    return dict(zip(COUNTS, (len(arrays["bag_ptr"]) - 1, len(nodes) - 1, int(nodes[-1]), int(edges[-1])), strict=True))


def recipe_digest(info: Mapping[str, Any]) -> dict[str, Any]:
    """How bags were built, in little space: the builder, its parameters, and a digest of the vocabulary it used."""
    recipe = {name: info[name] for name in ("builder", "parameters", "recipe_version") if name in info}
    if "vocabulary" in info:
        text = json.dumps(info["vocabulary"], sort_keys=True, default=str)
        recipe["vocabulary"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return dict(json.loads(json.dumps(recipe, default=str)))


def _write_header(folder: Path, meta: dict[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps({**meta, "info": dict(info)}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"info must hold only what JSON can: {error}.") from error
    with atomic_write(folder / HEADER) as stream:
        stream.write(text.encode())
    return dict(json.loads(text))


def write_partition(folder: Path, number: int, table: Any, meta: Mapping[str, Any]) -> None:
    """One more partition, complete before it has its name."""
    told = table.replace_schema_metadata({KEY: json.dumps(dict(meta)).encode()})
    buffer = io.BytesIO()
    pyarrow().parquet.write_table(
        told, buffer, compression="zstd", write_page_checksum=True, row_group_size=max(len(table), 1)
    )
    data = buffer.getvalue()
    with atomic_write(folder / f"part-{number:06d}-{hashlib.sha256(data).hexdigest()[:12]}.parquet") as stream:
        stream.write(data)

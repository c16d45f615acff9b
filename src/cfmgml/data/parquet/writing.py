"""How a store is written: partition by partition, with a journal, and the header last.

A partition is complete before it gets its name, which holds a digest of its content, and is the store's when the header
names it: a build that stops leaves partitions and a journal, and goes on if it is called with the same arguments.
"""

import io
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.digests import bytes_digest, digest_of
from cfmgml.common.files import atomic_write, header_digest
from cfmgml.common.tables import import_pyarrow
from cfmgml.common.typing import Arrays, Json, JsonView
from cfmgml.data.parquet.folder import (
    COUNTS,
    FORMAT,
    HEADER,
    KEY,
    NAME,
    VERSION,
    Partition,
    check_content,
    differences,
    footer_digest,
    partition_files,
    read_header,
    read_partitions,
)
from cfmgml.data.parquet.journal import JOURNAL, Entry, Journal
from cfmgml.data.parquet.tables import columns_of, to_table

if TYPE_CHECKING:
    import pyarrow


class StoreWriter:
    """Makes a store, or adds to one; what is added counts when `finish` has written the header.

    Parameters
    ----------
    folder
        New or empty; or a store, to add to; or what a build with the same ``key`` has left.
    key
        All that the partitions depend on, as JSON can hold it.
    append
        Add to the store, if there is one.
    keep_ids
        Leave ``graph_ids`` as they are; else they count through the store.

    Attributes
    ----------
    done
        An entry of the journal for every partition that an earlier call with this key has written.
    settled
        What depends on all bags (a vocabulary), as JSON can hold it: set it before the first partition is added, and
        find it again if the build goes on.
    """

    def __init__(self, folder: str | Path, key: object, append: bool = False, keep_ids: bool = False) -> None:
        self.folder, self.keep_ids = Path(folder), keep_ids
        self._header = self._read_header(append)
        self._before = [] if self._header is None else _manifest(self.folder, self._header)
        numbers = (NAME.fullmatch(part["name"]) for part in self._before)
        self._first_number = 1 + max((int(match[1]) for match in numbers if match), default=-1)
        self._journal = Journal(self.folder)
        self._key = digest_of({}, key, [part["name"] for part in self._before])
        self.done = self._resume()
        begun = self._journal.begun if self.done else {}
        self.settled = begun.get("settled")
        self._common = begun.get("common") if self._header is None else self._header
        self._is_begun = False

    def _read_header(self, append: bool) -> Json | None:
        if append and (self.folder / HEADER).exists():
            return read_header(self.folder)
        there = {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()
        if there and not (JOURNAL in there and HEADER not in there) and not all(map(_is_leftover, there)):
            raise FileExistsError(f"{self.folder} is not empty; name a new one, or pass append=True to add to a store.")
        return None

    def _resume(self) -> list[Entry]:
        """What an earlier call has done; files that it wrote without a note, or that are damaged, are removed."""
        known = {part["name"] for part in self._before}
        left = [path for path in partition_files(self.folder) if path.name not in known]
        if left and self._journal.begun.get("key") != self._key:
            raise ValueError(
                f"{self.folder}: a build of something else stopped there after {len(left)} partitions: go on with the "
                f"arguments of that one, or remove {JOURNAL} and the partitions from {left[0].name} on."
            )
        done = _whole(self.folder, [entry for entry in self._journal.entries if entry["name"] not in known])
        noted = {entry["name"] for entry in done}
        for path in left:
            if path.name not in noted and NAME.fullmatch(path.name):
                path.unlink()
        return done if self._journal.begun.get("key") == self._key else []

    def add(self, arrays: Arrays, info: JsonView, note: object = None) -> None:
        """Write one more partition; its ``note`` comes back in `done` if the build stops and goes on."""
        if not self.keep_ids:
            first = sum(part["n_graphs"] for part in (*self._before, *self.done))
            arrays = {**arrays, "graphs.graph_ids": first + np.arange(len(arrays["graphs.graph_ids"]))}
        table = to_table(arrays)
        meta = _common(arrays, table, info)
        complaint = None if self._common is None else differences(self._common, meta)
        if complaint:
            raise ValueError(f"these bags do not fit the store {self.folder}: {complaint}.")
        self._common = self._common or meta
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._is_begun:
            self._journal.begin({"key": self._key, "common": self._common, "settled": self.settled}, self.done)
            self._is_begun = True
        written = write_partition(self.folder, self._first_number + len(self.done), table, {**meta, **_counts(arrays)})
        self.done.append({**asdict(written), "note": note})
        self._journal.note(self.done[-1])

    def finish(self, info: JsonView) -> None:
        """Write the header; a store that was added to keeps its ``info``."""
        if self._common is None:
            raise ValueError(f"there are no bags to write to {self.folder}.")
        told = dict(info) if self._header is None else self._header["info"]
        own = [{name: value for name, value in entry.items() if name != "note"} for entry in self.done]
        common = {name: self._common[name] for name in ("label_names", "columns", "recipe")}
        header = {"format": FORMAT, "version": VERSION, **common, "info": told, "partitions": [*self._before, *own]}
        header = json.loads(as_json(header))
        with atomic_write(self.folder / HEADER) as stream:
            stream.write(json.dumps({**header, "digest": header_digest(header)}).encode())
        self._journal.remove()


def as_json(info: object) -> str:
    """Information as text, or an error that says why not."""
    try:
        return json.dumps(info, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"info must hold only what JSON can: {error}.") from error


def _is_leftover(name: str) -> bool:
    """What a writer that was killed may leave, and nobody reads."""
    return name == JOURNAL or (name.startswith(".") and name.endswith(".part"))


def _manifest(folder: Path, header: JsonView) -> list[Entry]:
    """The entries of a store's partitions; those of a store without manifest are made, from every byte."""
    if "partitions" in header:
        read_partitions(folder, header, to_add=True)
        return list(header["partitions"])
    entries = []
    for part in read_partitions(folder, header):
        sha256, path = bytes_digest(check_content(folder, part)), folder / part.name
        whole = replace(part, n_bytes=path.stat().st_size, sha256=sha256, footer=footer_digest(path))
        entries.append(asdict(whole))
    return entries


def _whole(folder: Path, entries: list[Entry]) -> list[Entry]:
    """The entries up to the first whose file is not there as it was written."""
    done: list[Entry] = []
    for entry in entries:
        part = Partition(**{name: value for name, value in entry.items() if name != "note"})
        try:
            check_content(folder, part)
        except ValueError:
            break
        done.append(entry)
    return done


def _common(arrays: Arrays, table: "pyarrow.Table", info: JsonView) -> Json:
    names = arrays["label_names"].tolist() if "label_names" in arrays else None
    common = {"format": FORMAT, "version": VERSION, "label_names": names}
    return {**common, "columns": columns_of(table.schema), "recipe": recipe_digest(info)}


def _counts(arrays: Arrays) -> dict[str, int]:
    nodes, edges = arrays["graphs.node_ptr"], arrays["graphs.edge_ptr"]
    return dict(zip(COUNTS, (len(arrays["bag_ptr"]) - 1, len(nodes) - 1, int(nodes[-1]), int(edges[-1])), strict=True))


def recipe_digest(info: JsonView) -> Json:
    """How bags were built, in little space: the builder, its parameters, and a digest of the vocabulary it used."""
    recipe = {name: info[name] for name in ("builder", "parameters", "recipe_version") if name in info}
    if "vocabulary" in info:
        text = json.dumps(info["vocabulary"], sort_keys=True, default=str)
        recipe["vocabulary"] = bytes_digest(text.encode())[:16]
    return dict(json.loads(json.dumps(recipe, default=str)))


def write_partition(folder: Path, number: int, table: "pyarrow.Table", meta: JsonView) -> Partition:
    """One more partition, complete before it has its name."""
    told = table.replace_schema_metadata({KEY: json.dumps({**meta, "number": number}).encode()})
    buffer = io.BytesIO()
    import_pyarrow().parquet.write_table(
        told, buffer, compression="zstd", write_page_checksum=True, row_group_size=max(len(table), 1)
    )
    data = buffer.getbuffer()
    sha256 = bytes_digest(data)
    name = f"part-{number:06d}-{sha256[:12]}.parquet"
    with atomic_write(folder / name) as stream:
        stream.write(data)
    counts = {count: int(meta[count]) for count in COUNTS}
    return Partition(name, **counts, n_bytes=len(data), sha256=sha256, footer=footer_digest(folder / name))

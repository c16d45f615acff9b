"""How far the build of a store has come: one line for what is built, and one for each partition that is written.

The journal is there while a store is built or added to. It is not the store: the header is, which is written last.
"""

import json
import os
from itertools import takewhile
from pathlib import Path

from cfmgml.common.digests import bytes_digest
from cfmgml.common.files import atomic_write
from cfmgml.common.typing import Json, JsonView

JOURNAL = "_building.jsonl"
Entry = Json


class Journal:
    """A file of JSON lines in a store's folder; a line that a crash cut short does not count."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.is_file() else []
        whole = takewhile(_is_whole, lines)
        self.begun, *self.entries = [json.loads(line.rpartition(b"\t")[0]) for line in whole] or [{}]

    def begin(self, told: JsonView, entries: list[Entry]) -> None:
        """Start it anew, with what is done already."""
        self.begun, self.entries = dict(told), list(entries)
        with atomic_write(self.path) as stream:
            stream.writelines(_line(entry) for entry in (self.begun, *entries))

    def note(self, entry: Entry) -> None:
        """One more partition is written."""
        self.entries.append(entry)
        with open(self.path, "ab") as stream:
            stream.write(_line(entry))
            stream.flush()
            os.fsync(stream.fileno())

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _line(entry: JsonView) -> bytes:
    """JSON, and a digest of it: a line that was damaged does not count either."""
    text = json.dumps(entry, allow_nan=False).encode()
    return b"%s\t%s\n" % (text, bytes_digest(text).encode())


def _is_whole(line: bytes) -> bool:
    text, _, digest = line.rpartition(b"\t")
    return digest == bytes_digest(text).encode() + b"\n"

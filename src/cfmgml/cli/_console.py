"""What the commands share: where files go, what is shown on stdout and what is said on stderr."""

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from cfmgml.common.printable import printable, unscreened


class OnError(StrEnum):
    """What to do with input that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


def say(message: str) -> None:
    """A line for people, on stderr."""
    print(printable(message), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """A result, on stdout; it may have several lines."""
    print(text)


class TableOutput:
    """What writes a table to stdout: into a file or a pipe as it is, for programs; a terminal sees it screened."""

    def __init__(self) -> None:
        self._stream = sys.stdout if sys.stdout.isatty() else unscreened(sys.stdout)

    def write(self, data: bytes) -> None:
        self._stream.write(data.decode())


def check_target(path: Path, option: str = "-o") -> None:
    """Refuse a file that cannot be written, before any work."""
    if path.is_dir():
        raise ValueError(f"{option} must name a file, and {path} is a folder.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to; make it first.")


@contextlib.contextmanager
def hint_on_pictures(on_error: OnError) -> Iterator[None]:
    """Where a picture stops the work, say how to go on without it."""
    from cfmgml.builders.pictures.image_files import ImageError

    try:
        yield
    except ImageError as error:
        hint = " Leave such pictures out with --on-error skip." if on_error is OnError.STOP else ""
        raise ValueError(f"{error}{hint}") from error

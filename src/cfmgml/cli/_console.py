"""What the commands share: where files go, and what is said on stderr."""

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path


class OnError(StrEnum):
    """What to do with input that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


def say(message: str) -> None:
    """A line for people, on stderr."""
    print(message, file=sys.stderr)


def check_target(path: Path, option: str = "-o") -> None:
    """Refuse a file that cannot be written, before any work."""
    if path.is_dir():
        raise ValueError(f"{option} must name a file, and {path} is a folder.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to; make it first.")


@contextlib.contextmanager
def hint_on_pictures(on_error: OnError) -> Iterator[None]:
    """Where a picture stops the work, say how to go on without it."""
    from cfmgml.datasets._image_files import ImageError

    try:
        yield
    except ImageError as error:
        hint = " Leave such pictures out with --on-error skip." if on_error is OnError.STOP else ""
        raise ValueError(f"{error}{hint}") from error

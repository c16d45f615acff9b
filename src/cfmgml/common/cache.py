"""Built bags and models, kept on disk: the second time costs a file's reading.

A file's name is a digest of what went into the build: the contents of the files read (`files_digest`), the
parameters, and the versions of what computes. So nothing is ever out of date, and deleting the folder is always safe.
"""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol, Self, TypeVar

from cfmgml.common.digests import json_digest
from cfmgml.common.typing import Json

VARIABLE = "CFMGML_CACHE"
CacheFolder = str | Path | Literal[False] | None  # None: `default_cache_dir`; False: no cache at all


class Kept(Protocol):
    """What has a file format of its own."""

    def save(self, path: Path, /) -> None: ...
    @classmethod
    def load(cls, path: Path, /) -> Self: ...


AnyKept = TypeVar("AnyKept", bound=Kept)


def cached(
    kind: type[AnyKept], file_name: str, key: Json, build: Callable[[], AnyKept], cache_dir: CacheFolder = None
) -> AnyKept:
    """What ``build()`` returns, from disk if it was built before with the same ``key``, which JSON can hold.

    ``file_name``, such as ``photos.bags``, gets a digest before its suffix. A file that cannot be read whole is built
    again, with a warning; a folder that cannot be written to costs a warning only.
    """
    if cache_dir is False:
        return build()
    folder = default_cache_dir() if cache_dir is None else Path(cache_dir)
    name, suffix = os.path.splitext(file_name)
    path = folder / f"{name}-{json_digest([name, key])[:32]}{suffix}"
    if path.exists():
        try:
            return kind.load(path)
        except ValueError as error:
            warnings.warn(f"what was kept on disk is built again: {error}", stacklevel=3)
    built = build()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        built.save(path)
    except OSError as error:
        warnings.warn(
            f"what was built could not be kept in {folder} ({error}); "
            f"name a folder you may write to in {VARIABLE}, or pass cache_dir=False.",
            stacklevel=3,
        )
    return built


def default_cache_dir() -> Path:
    """``CFMGML_CACHE``, or ``cfmgml`` in the user's cache folder (``XDG_CACHE_HOME``, ``~/.cache``)."""
    named = os.environ.get(VARIABLE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "cfmgml")
    return Path(named).expanduser()

"""Built bags, kept on disk: the second time costs a file's reading.

A file's name is a digest of what went into the build: the contents of the files read (`files_digest`), the
parameters, and the versions of what computes. So nothing is ever out of date, and deleting the folder is always safe.
"""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cfmgml.common.digests import json_digest
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset

VARIABLE = "CFMGML_CACHE"


def cached(
    builder_name: str, key: Json, build: Callable[[], BagDataset], cache_dir: str | Path | Literal[False] | None = None
) -> BagDataset:
    """What ``build()`` returns, from disk if it was built before with the same ``key``, which JSON can hold.

    ``builder_name`` begins the file's name. ``cache_dir`` None means `default_cache_dir`, False no cache at all. A file
    that cannot be read whole is built again, with a warning; a folder that cannot be written to costs a warning only.
    """
    if cache_dir is False:
        return build()
    folder = default_cache_dir() if cache_dir is None else Path(cache_dir)
    path = folder / f"{builder_name}-{json_digest([builder_name, key])[:32]}.bags"
    if path.exists():
        try:
            return BagDataset.load(path)
        except ValueError as error:
            warnings.warn(f"a cached data set is built again: {error}", stacklevel=3)
    bags = build()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        bags.save(path)
    except OSError as error:
        warnings.warn(
            f"the built bags could not be cached in {folder} ({error}); "
            f"name a folder you may write to in {VARIABLE}, or pass cache_dir=False.",
            stacklevel=3,
        )
    return bags


def default_cache_dir() -> Path:
    """``CFMGML_CACHE``, or ``cfmgml`` in the user's cache folder (``XDG_CACHE_HOME``, ``~/.cache``)."""
    named = os.environ.get(VARIABLE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "cfmgml")
    return Path(named).expanduser()

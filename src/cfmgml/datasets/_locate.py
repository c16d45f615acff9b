"""Where a data set lies on this machine: an argument, or the environment's ``CFMGML_DATA``."""

import os
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "CFMGML_DATA"


def find_data(
    name: str,
    path: str | Path | None = None,
    *,
    markers: Sequence[str] = (),
    contents: str = "",
    aliases: Sequence[str] = (),
) -> Path:
    """The folder of one data set: the first of path/name, path/alias and path itself that is there and holds a marker.

    ``path`` is by default what ``CFMGML_DATA`` names. ``markers`` are names or patterns such as ``*.mat``; without any,
    every folder will do. ``contents`` says what belongs in the folder, for the error's reader.

    >>> find_data("msrc_v2", "/nowhere", contents="images/ and segments/")
    Traceback (most recent call last):
      ...
    FileNotFoundError: no data set msrc_v2 at /nowhere, which is not there. Put images/ and segments/ into a folder
    msrc_v2, and pass that folder or the one that holds it, or name the latter in the environment's CFMGML_DATA.
    """
    given = path if path is not None else os.environ.get(VARIABLE) or None
    if given is None:
        why = f"no folder was given for the data set {name}, and {VARIABLE} is not set"
    else:
        base = Path(given).expanduser()
        for folder in (base / name, *(base / alias for alias in aliases), base):
            if folder.is_dir() and (not markers or any(any(folder.glob(marker)) for marker in markers)):
                return folder
        reason = "which is not a folder" if base.exists() else "which is not there"
        if base.is_dir():
            sought = f" (looked for {' or '.join(markers)})" if markers else ""
            reason = f"neither as a folder {name} in it nor as that folder itself{sought}"
        why = f"no data set {name} at {base}, {reason}"
    raise FileNotFoundError(
        f"{why}. Put {contents or 'its files'} into a folder {name}, and pass that folder or the one that holds it, "
        f"or name the latter in the environment's {VARIABLE}."
    )

"""A temporary folder for features, which the next run removes where this one cannot: after a SIGKILL.

The run holds a lock on a file in its folder. The operating system lets go of it whatever ends the run, so a folder
whose lock can be had belongs to nobody. Folders without such a file, of workers on other machines, are left alone.
"""

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from cfmgml.common.files import try_lock

PREFIX = "cfmgml-features-"
OWNER = "owner"


@contextlib.contextmanager
def feature_folder(cache: str | Path | None) -> Iterator[Path]:
    """The folder given; for None a temporary one, gone at the end, after those of dead runs have been removed.

    >>> with feature_folder(None) as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    if cache is not None:
        yield Path(cache).absolute()
        return
    for mark in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError), open(mark, "rb") as stream:  # another user's: not ours to remove
            if try_lock(stream):
                shutil.rmtree(mark.parent, ignore_errors=True)
    folder = Path(tempfile.gettempdir()).absolute() / f"{PREFIX}{uuid.uuid4().hex}"
    folder.mkdir(mode=0o700)
    try:
        with open(folder / f".{OWNER}", "xb") as stream:
            if try_lock(stream):  # it gets its name only then, so that nobody finds it free while the run lives
                os.rename(stream.name, folder / OWNER)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

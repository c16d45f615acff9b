"""Which files bags were built from: relative to one folder, which is known in this session but never saved.

So a file of bags, or a model trained on them, tells nobody how the folders of the machine it was made on are called.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class SessionFolder(dict[str, Any]):
    """A folder as an entry of ``info``: it has a ``path`` in this session, and is an empty object in JSON.

    >>> import json
    >>> folder = SessionFolder(Path("/home/me/photos"))
    >>> folder.path.name, json.dumps({"folder": folder})
    ('photos', '{"folder": {}}')
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


def source_info(files: Mapping[str, Iterable[Path | None]], folder: Path) -> dict[str, Any]:
    """Entries ``folder`` and ``files`` for ``info``; the latter are relative to the folder, None where there is none.

    >>> source_info({"cow": [Path("/data/images/cow.png"), None]}, Path("/data"))["files"]
    {'cow': ['images/cow.png', None]}
    """
    root = folder.absolute()
    relative = {
        name: [None if file is None else Path(os.path.relpath(file.absolute(), root)).as_posix() for file in row]
        for name, row in files.items()
    }
    return {"files": relative, "folder": SessionFolder(root)}


def common_folder(files: Iterable[Path]) -> Path:
    """The deepest folder that all files lie in, or the working folder if there are no files.

    >>> common_folder([Path("/data/images/cow.png"), Path("/data/masks/cow.png")]).name
    'data'
    """
    parents = {file.absolute().parent for file in files}
    return Path(os.path.commonpath(parents)) if parents else Path.cwd()


def find_source_files(info: Mapping[str, Any], name: str, folder: str | Path | None = None) -> list[Path | None]:
    """The files that the bag of this name was built from, below ``folder`` or where they were in this session."""
    if name not in info.get("files", {}):
        raise ValueError(f"bag {name!r} was not built from a file; pass image, and segments if any.")
    if folder is None:
        folder = getattr(info.get("folder"), "path", None)
    if folder is None:
        first = info["files"][name][0]
        raise ValueError(
            f"bag {name!r} was built from {first}, in a folder that saved bags do not name: pass folder, or "
            "image; on the command line, say where with --pictures."
        )
    return [None if file is None else Path(folder) / file for file in info["files"][name]]

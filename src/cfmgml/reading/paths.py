"""Folders, globs and files as a list of files."""

import glob
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal


def list_files(sources: Sequence[str | Path], suffixes: Collection[str], noun: str) -> list[Path]:
    """The files that folders, globs (``"photos/**/*.jpg"``) and file names stand for, each once, in a fixed order.

    A folder stands for its files with one of the suffixes; those of folders inside it need a glob.
    """
    files = list(dict.fromkeys(path for source in sources for path in _expand(source, suffixes, noun)))
    if not files:
        raise ValueError(f"no {noun} was named.")
    return files


def _expand(source: str | Path, suffixes: Collection[str], noun: str) -> list[Path]:
    path, where, hint = Path(source), f"matches {source}", ""
    if path.is_dir():
        inside, where, hint = (
            list(path.iterdir()),
            f"in {path}",
            f" For folders inside it, use a glob: '{path}/**/*'.",
        )
    elif path.exists():
        return [path]
    elif glob.has_magic(str(source)):
        inside = [Path(name) for name in glob.glob(str(source), recursive=True)]
    else:
        raise FileNotFoundError(f"there is no file or folder {source}.")
    files = sorted(file for file in inside if file.suffix.lower() in suffixes and file.is_file())
    if not files:
        raise FileNotFoundError(f"no {noun} {where}; looked for {', '.join(sorted(suffixes))}.{hint}")
    return files


def file_names(files: Sequence[Path], *further: Callable[[Path], str]) -> list[str]:
    """What to call each file: without folder and suffix, where these names differ; or else as one of the ``further``
    ways makes them differ; or else by its path."""
    namings: list[Callable[[Path], str]] = [lambda file: file.stem, *further, Path.as_posix]
    for naming in namings:
        names = [naming(file) for file in files]
        if len(set(names)) == len(names):
            break
    return names


def file_state(file: str | Path | Literal[False] | None) -> list[str | int] | None:
    """What shows whether a file has changed."""
    if not file:
        return None
    path = Path(file).absolute()
    about = path.stat() if path.exists() else None
    return [path.as_posix()] if about is None else [path.as_posix(), about.st_size, about.st_mtime_ns]

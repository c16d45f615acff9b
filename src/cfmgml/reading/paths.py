"""Folders, globs and files as a list of files."""

import glob
from collections.abc import Callable, Collection, Iterable, Sequence
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


def file_names(files: Sequence[Path], *namings: Callable[[Path], str]) -> list[str]:
    """What to call each file: as the first of the ``namings`` that tells all of them apart, or else by its path. By
    default without its folder and with its suffix, as tables of labels call files."""
    ways = [*(namings or [lambda file: file.name]), Path.as_posix]
    for naming in ways:
        names = [naming(file) for file in files]
        if len(set(names)) == len(names):
            break
    return names


def stems_of_names(names: Iterable[str] | None, n_bags: int, suffixes: Collection[str] = ()) -> list[str]:
    """What to call a file made of each bag: the last part of the bag's name, without one of the ``suffixes``, where
    these differ; or else with it; or else all of it, its parts joined by ``-``; numbers for bags without names.

    >>> stems_of_names(["a/cow", "b/sky"], 2), stems_of_names(["a/cow", "b/cow"], 2), stems_of_names(None, 2)
    (['cow', 'sky'], ['a-cow', 'b-cow'], ['0', '1'])
    >>> stems_of_names(["cow.png", "no.5"], 2, [".png"]), stems_of_names(["cow.png", "cow.jpg"], 2, [".png", ".jpg"])
    (['cow', 'no.5'], ['cow.png', 'cow.jpg'])
    """
    called = [str(number) for number in range(n_bags)] if names is None else [str(name) for name in names]
    last = [Path(name).name for name in called]
    plain = [Path(name).stem if Path(name).suffix.lower() in suffixes else name for name in last]
    for tried in (plain, last):
        if len(set(tried)) == len(tried):
            return tried
    return ["-".join(Path(name).parts) for name in called]


def file_state(file: str | Path | Literal[False] | None) -> list[str | int] | None:
    """What shows whether a file has changed."""
    if not file:
        return None
    path = Path(file).absolute()
    about = path.stat() if path.exists() else None
    return [path.as_posix()] if about is None else [path.as_posix(), about.st_size, about.st_mtime_ns]

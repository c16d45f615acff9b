"""Which row of a table is about which file, text or bag: by exact names, and never by guessing."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple


class RowMatch(NamedTuple):
    """For each thing the name of its row, None if it has none; the rows of the table that are about nothing; and the
    table's name."""

    keys: Sequence[str | None] = ()
    unmatched: Sequence[str] = ()
    source: str = ""

    def complete(self, names: Sequence[str], nouns: str) -> list[str]:
        """The name of each thing's row; every one of these must have a row."""
        lacking = [name for name, key in zip(names, self.keys, strict=True) if key is None]
        if lacking:
            many = f"{len(lacking)} of {len(names)} {nouns}"
            raise ValueError(f"{self.source} has no row for {lacking[0]} ({many} have none).")
        return [key for key in self.keys if key is not None]


def match_names(rows: Iterable[str], names: Sequence[str], source: str) -> RowMatch:
    """Rows for things with names of their own: a row must have the very name.

    >>> match_names(["a", "b"], ["b", "c"], "labels.csv")
    RowMatch(keys=['b', None], unmatched=['a'], source='labels.csv')
    """
    keys, wanted = dict.fromkeys(rows), set(names)
    matched = [name if name in keys else None for name in names]
    return RowMatch(matched, [key for key in keys if key not in wanted], source)


def match_files(rows: Iterable[str], files: Sequence[Path], suffixes: Collection[str], source: str) -> RowMatch:
    """Rows for files: a row has the file's name, with or without folders before it; a name without suffix will do
    where it is that of one file.

    ``suffixes`` are what a name may end in; with any other ending it is a name without suffix. ``source`` is the
    table's name, for messages.

    >>> files = [Path("photos/cow.png"), Path("photos/sky.jpg"), Path("photos/sky.png")]
    >>> match_files(["cow.png", "photos/sky.png", "dog"], files, [".jpg", ".png"], "labels.csv")
    RowMatch(keys=['cow.png', None, 'photos/sky.png'], unmatched=['dog'], source='labels.csv')
    >>> match_files(["sky"], files, [".jpg", ".png"], "labels.csv")
    Traceback (most recent call last):
    ValueError: labels.csv has a row for 'sky', which may be photos/sky.jpg or photos/sky.png; write the name in full.
    """
    paths = {file.as_posix(): [place] for place, file in enumerate(files)}
    names, stems = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for place, file in enumerate(files):
        names[file.name].append(place)
        stems[file.stem].append(place)
    keys: list[str | None] = [None] * len(files)
    unmatched = []
    for key in dict.fromkeys(rows):
        path = PurePath(key)
        has_suffix = path.suffix.lower() in suffixes
        places = paths.get(path.as_posix()) or _within(path, names[path.name], files)
        if not places and not has_suffix:
            places = _within(path, stems[path.name], files)
        if len(places) > 1:
            first, second = (files[place].as_posix() for place in places[:2])
            hint = "with its folder" if has_suffix else "in full"
            raise ValueError(
                f"{source} has a row for {key!r}, which may be {first} or {second}; write the name {hint}."
            )
        for place in places:
            if keys[place] is not None:
                raise ValueError(f"{source} has two rows for {files[place].name}: {keys[place]!r} and {key!r}.")
            keys[place] = key
        if not places:
            unmatched.append(key)
    return RowMatch(keys, unmatched, source)


def _within(path: PurePath, places: list[int], files: Sequence[Path]) -> list[int]:
    """Those files whose folder ends as the path's does."""
    folder = path.parent.parts
    return [k for k in places if not folder or files[k].absolute().parent.parts[-len(folder) :] == folder]

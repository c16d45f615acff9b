"""Which row of a table is about which file, text or bag: by exact names, and never by guessing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    found = [name if name in keys else None for name in names]
    return RowMatch(found, [key for key in keys if key not in wanted], source)


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
    index = _Index(files, suffixes)
    keys: list[str | None] = [None] * len(files)
    unmatched = []
    for key in dict.fromkeys(rows):
        places = index.find(key)
        if len(places) > 1:
            first, second = (files[place].as_posix() for place in places[:2])
            hint = "with its folder" if index.has_suffix(key) else "in full"
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


class _Index:
    """Files by path, by name and by name without suffix."""

    def __init__(self, files: Sequence[Path], suffixes: Collection[str]) -> None:
        self._suffixes = suffixes
        self._paths = {file.as_posix(): place for place, file in enumerate(files)}
        self._folders = [file.absolute().parent.parts for file in files]
        self._names: dict[str, list[int]] = {}
        self._stems: dict[str, list[int]] = {}
        for place, file in enumerate(files):
            self._names.setdefault(file.name, []).append(place)
            self._stems.setdefault(file.stem, []).append(place)

    def has_suffix(self, key: str) -> bool:
        return PurePath(key).suffix.lower() in self._suffixes

    def find(self, key: str) -> list[int]:
        path = PurePath(key)
        if path.as_posix() in self._paths:
            return [self._paths[path.as_posix()]]
        places = self._within(path, self._names)
        return places or ([] if self.has_suffix(key) else self._within(path, self._stems))

    def _within(self, path: PurePath, by_name: Mapping[str, list[int]]) -> list[int]:
        """Files of this name whose folder ends as the path's does."""
        folder = path.parent.parts
        return [
            place
            for place in by_name.get(path.name, ())
            if self._folders[place][-len(folder) :] == folder or not folder
        ]

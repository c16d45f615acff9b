"""Which pictures to build, what they are called, and which mask belongs to which."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES, image_files
from cfmgml.reading.paths import file_names

MASK_SUFFIXES = IMAGE_SUFFIXES | {".mat"}


@dataclass(frozen=True)
class Task:
    """One picture to build; image and segments are files or arrays."""

    name: str
    image: Any
    segments: Any

    @property
    def files(self) -> list[Path | None]:
        """Picture and mask, None for what is no file."""
        return [Path(part) if isinstance(part, str | Path) else None for part in (self.image, self.segments)]

    @property
    def from_anywhere(self) -> "Task":
        """The same with whole paths: a worker process may have started in another folder."""
        image, segments = (None if file is None else file.absolute() for file in self.files)
        return Task(self.name, image or self.image, segments or self.segments)


def list_tasks(images: Any, segments: Any, names: Sequence[str] | None) -> list[Task]:
    """Pictures with their names and masks, from folders or lists; refuses what does not go together."""
    pictures = image_files(images) if isinstance(images, str | Path) else _check_list(images, "images")
    called = _check_names(names, pictures)
    if isinstance(segments, str | Path):
        masks: list[Any] = _masks_in(Path(segments), pictures)
    else:
        masks = [None] * len(pictures) if segments is None else _check_list(segments, "segments")
    if len(masks) != len(pictures):
        raise ValueError(f"segments must have one mask an image, {len(pictures)}, got {len(masks)}.")
    return [Task(*task) for task in zip(called, pictures, masks, strict=True)]


def _check_list(values: Any, name: str) -> list[Any]:
    if isinstance(values, np.ndarray) and values.ndim < 4 and name == "images":
        raise TypeError(f"images must be a folder or a list, got one array of shape {values.shape}; pass [image].")
    items = list(values)
    if not items:
        raise ValueError(f"{name} must hold at least one image, got none.")
    return items


def _check_names(names: Sequence[str] | None, pictures: list[Any]) -> list[str]:
    if names is not None:
        called = [str(name) for name in names]
        if len(called) != len(pictures):
            raise ValueError(f"names must have one entry an image, {len(pictures)}, got {len(called)}.")
        if len(set(called)) < len(called):
            raise ValueError(f"names must differ; {max(called, key=called.count)!r} occurs more than once.")
        return called
    files = [Path(part if isinstance(part, str | Path) else f"image{k}") for k, part in enumerate(pictures)]
    called = file_names(files)
    if len(set(called)) < len(called):
        twice = max(called, key=called.count)
        raise ValueError(f"an image is given more than once: {twice}; pass names to tell the two apart.")
    return called


def _masks_in(folder: Path, pictures: list[Any]) -> list[Path]:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} with masks.")
    if not all(isinstance(picture, str | Path) for picture in pictures):
        raise TypeError("a folder of masks goes with images that are files; pass a list of masks.")
    masks = _by_stem(
        path for path in sorted(folder.iterdir()) if path.suffix.lower() in MASK_SUFFIXES and path.is_file()
    )
    called = _by_stem(map(Path, pictures))
    for stem in called:
        if stem in masks and max(len(masks[stem]), len(called[stem])) > 1:
            names = [" and ".join(file.name for file in files[stem]) for files in (masks, called)]
            raise ValueError(f"a picture has one mask, of its name; in {folder} there is {names[0]} for {names[1]}.")
    return [masks.get(picture.stem, [folder / f"{picture.stem}.png"])[0] for picture in map(Path, pictures)]


def _by_stem(paths: Iterable[Path]) -> dict[str, list[Path]]:
    by_stem: dict[str, list[Path]] = {}
    for path in paths:
        by_stem.setdefault(path.stem, []).append(path)
    return by_stem

"""Collections of pictures whose segments have classes: what their loaders share."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.image_files import import_pillow
from cfmgml.builders.pictures.source_files import source_info
from cfmgml.common.cache import cached
from cfmgml.common.digests import files_digest
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import library_versions


class Collection(NamedTuple):
    """Pictures by name, and the class of every segment of each."""

    segment_labels: dict[str, dict[int, str]]
    label_names: list[str]


@dataclass(frozen=True)
class Layout:
    """How a collection lies on disk, in ``folder``.

    ``sources`` are all files that decide what is built, ``locate`` gives a picture's file and its mask's, and
    ``collect`` reads the labels, which may take a while: it is not called when the bags are in the cache.
    """

    folder: Path
    sources: list[Path]
    locate: Callable[[str], tuple[Path, Path]]
    collect: Callable[[], Collection]


def table_layout(folder: Path, not_labels: tuple[int, ...]) -> Layout:
    """``images/``, ``segments/``, ``segments.csv`` (image, segment, class_id) and ``classes.csv`` (id, name)."""
    pictures = {path.stem: path for path in sorted((folder / "images").iterdir())}
    masks = {path.stem: path for path in sorted((folder / "segments").iterdir())}
    return Layout(
        folder,
        sources=[folder / "classes.csv", folder / "segments.csv", *pictures.values(), *masks.values()],
        locate=lambda name: (
            pictures.get(name, folder / "images" / f"{name}.webp"),
            masks.get(name, folder / "segments" / f"{name}.png"),
        ),
        collect=lambda: _read_tables(folder, not_labels),
    )


def _read_tables(folder: Path, not_labels: tuple[int, ...]) -> Collection:
    classes = {int(row["id"]): row["name"] for row in _rows(folder / "classes.csv", "id", "name")}
    segment_labels: dict[str, dict[int, str]] = {}
    for row in _rows(folder / "segments.csv", "image", "segment", "class_id"):
        number = int(row["class_id"])
        if number not in classes:
            raise ValueError(f"{folder / 'segments.csv'} names class {number}, which classes.csv does not have.")
        if number not in not_labels:
            segment_labels.setdefault(row["image"], {})[int(row["segment"])] = classes[number]
    return Collection(segment_labels, [name for number, name in sorted(classes.items()) if number not in not_labels])


def _rows(path: Path, *wanted: str) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        missing = [name for name in wanted if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}; it has {reader.fieldnames}.")
        return list(reader)


def load_collection(
    name: str,
    layout: Layout,
    about: Json,
    builder: PictureBuilder,
    cache_dir: str | Path | Literal[False] | None,
    on_error: Literal["raise", "skip"],
    **running: object,
) -> BagDataset:
    """The collection's bags, from the cache if the same files were built with the same builder before.

    ``running`` (``n_jobs``, ``verbose``) does not change what is built. Where the files lie is not cached:
    ``info["folder"]`` is the place of today.
    """

    def build() -> BagDataset:
        labels, label_names = layout.collect()
        files = [layout.locate(name) for name in labels]
        images, masks = ([pair[side] for pair in files] for side in (0, 1))
        told = {"label_names": label_names, "segment_labels": list(labels.values()), "names": list(labels)}
        return builder.build(images, segments=masks, info=about, on_error=on_error, **told, **running)

    import_pillow()  # says which extra to install
    built_by = {"builder": builder.told(), "on_error": on_error, "versions": library_versions(builder)}
    key = {"content": files_digest(layout.sources), "about": about, **built_by}
    bags = cached(BagDataset, f"{name}.bags", key, build, cache_dir)
    names = [] if bags.bag_names is None else bags.bag_names.tolist()
    files = source_info({name: layout.locate(name) for name in names}, layout.folder)
    return replace(bags, info={**bags.info, **files})

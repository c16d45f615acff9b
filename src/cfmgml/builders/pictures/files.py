"""Bags from pictures in folders, globs and tables, with labels from a table."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cfmgml.builders.pictures.building import PictureBuild
from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES
from cfmgml.common.tables import Row, format_of, read_table
from cfmgml.data.builder import FileInput
from cfmgml.reading.labels import LabelTable, key_column, labels_of_rows, read_labels
from cfmgml.reading.matching import RowMatch, match_files
from cfmgml.reading.paths import list_files

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder, PictureFiles

FILE_COLUMNS = ("image", "file", "filename", "path")
MASK_COLUMNS = ("segments", "mask")


def image_build(builder: "PictureBuilder", given: FileInput) -> tuple[PictureBuild, RowMatch]:
    """What to build of folders, globs, picture files; or of one table with a column ``image`` (paths relative to the
    table), and if wanted ``segments`` and labels. And which row of a table of labels is of which picture.

    In a table of labels, every picture must have a row, unless those without are to be skipped. A table of
    ``segment_labels`` has ``image``, ``segment`` (a number in the mask) and ``label``, to measure predictions with.
    """
    options = cast("PictureFiles", given.options or builder.file_options())
    files, masks, table = _pictures(given.paths)
    if given.labels is not None:
        table = read_labels(given.labels) if given.labels else None
    known: dict[str, Any] = {"on_error": "raise" if options.on_error == "stop" else "skip"}
    known |= {"n_jobs": options.n_jobs, "device": options.device}
    matched, left_out = RowMatch(), dict[str, str]()
    if table is not None:
        table = table.in_order(given.label_names)
        matched = match_files(table.rows, files, IMAGE_SUFFIXES, table.source)
        kept = _with_rows(files, matched, known["on_error"])
        without = sorted(set(range(len(files))) - set(kept))
        left_out = {files[k].name: f"it has no row in {Path(matched.source).name}" for k in without}
        files, masks = [files[k] for k in kept], None if masks is None else [masks[k] for k in kept]
        known["labels"] = table.matrix([key for key in matched.keys if key is not None])
        known["label_names"] = table.label_names
    elif options.segment_labels is not None:
        known["label_names"] = given.label_names
    if options.segment_labels is not None:
        known["segment_labels"] = _segment_labels(options.segment_labels, files)
    build = builder.prepare(files, masks if options.segments is None else options.segments, **known)
    build.left_out = left_out
    return build, matched


def _pictures(sources: Sequence[str | Path]) -> tuple[list[Path], list[Path] | None, LabelTable | None]:
    """Picture files, and masks and labels if a table names them."""
    if len(sources) == 1 and format_of(sources[0]) is not None:
        return _pictures_of_table(Path(sources[0]))
    return list_files(sources, IMAGE_SUFFIXES, "picture"), None, None


def _pictures_of_table(path: Path) -> tuple[list[Path], list[Path] | None, LabelTable | None]:
    rows = read_table(path)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    key = key_column(columns, str(path), FILE_COLUMNS)
    mask = next((name for name in columns if name.lower() in MASK_COLUMNS), None)
    by_file = {str(row[key]).strip(): row for row in reversed(rows) if row.get(key)}
    names = list(dict.fromkeys(str(row[key]).strip() for row in rows if row.get(key)))
    if not names:
        raise ValueError(f"{path} names no picture in its column {key}.")
    masks = None if mask is None else [path.parent / _mask_of(by_file[name], mask, name, path) for name in names]
    if {name for name in columns if name not in (key, mask)}:
        own = labels_of_rows(rows, str(path), MASK_COLUMNS)
        placed = {(path.parent / name).as_posix(): own.rows[name] for name in names}
        return [path.parent / name for name in names], masks, LabelTable(own.label_names, placed, str(path))
    return [path.parent / name for name in names], masks, None


def _mask_of(row: Row, column: str, name: str, path: Path) -> str:
    if not row.get(column):
        raise ValueError(f"{path}: {name} has no {column}; give every picture one, or leave the column out.")
    return str(row[column]).strip()


def _with_rows(files: list[Path], matched: RowMatch, on_error: str) -> list[int]:
    """The numbers of the pictures that a table has labels for."""
    lacking = [file.name for file, key in zip(files, matched.keys, strict=True) if key is None]
    many = f"{len(lacking)} of {len(files)} pictures"
    if lacking and (on_error == "raise" or len(lacking) == len(files)):
        other = f", and its row for {matched.unmatched[0]!r} is of no picture" if matched.unmatched else ""
        raise ValueError(
            f"{matched.source} has no row for {lacking[0]} ({many} have none){other}; add a row, with empty labels if "
            "it has none, or skip such pictures (--on-error skip)."
        )
    if lacking:
        what = f"{many} have no row in {matched.source}, such as {lacking[0]}; they are left out."
        warnings.warn(f"{what} cfmgml inspect lists all of them.", stacklevel=2)
    return [k for k, key in enumerate(matched.keys) if key is not None]


def _segment_labels(path: str | Path, files: list[Path]) -> list[dict[int, list[str]]]:
    """For each picture the labels of its segments, by number."""
    rows = read_table(path)
    names = {name.lower(): name for name in rows[0]}
    if not {"segment", "label"} <= set(names):
        raise ValueError(f"{path} must have the columns image, segment and label; it has {', '.join(rows[0])}.")
    key = key_column(list(rows[0]), str(path))
    by_name: dict[str, dict[int, list[str]]] = {}
    for number, row in enumerate(rows, start=1):
        try:
            segment = int(row[names["segment"]])
        except (TypeError, ValueError):
            value = row[names["segment"]]
            raise ValueError(f"{path}: row {number} must have a number as segment, got {value!r}.") from None
        label = str(row[names["label"]] or "").strip()
        by_name.setdefault(str(row[key]).strip(), {}).setdefault(segment, []).extend([label] if label else [])
    matched = match_files(by_name, files, IMAGE_SUFFIXES, str(path))
    return [by_name[key] for key in matched.complete([file.name for file in files], "pictures")]

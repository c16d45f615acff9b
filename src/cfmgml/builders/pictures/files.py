"""Bags from pictures in folders, globs and tables, with labels from a table."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cfmgml.builders.pictures.building import PictureBuild
from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES
from cfmgml.common.tables import Row, format_of, read_table
from cfmgml.data.builder import Paths
from cfmgml.reading.labels import LabelTable, key_column, labels_of_rows, read_labels
from cfmgml.reading.matching import RowMatch, match_files
from cfmgml.reading.paths import list_files
from cfmgml.reading.remarks import UnusedRows

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder, PictureFiles

FILE_COLUMNS = ("image", "file", "filename", "path")
MASK_COLUMNS = ("segments", "mask")


def image_build(
    builder: "PictureBuilder",
    sources: Paths,
    labels: str | Path | Literal[False] | None,
    label_names: Sequence[str] | None,
    options: "PictureFiles",
) -> tuple[PictureBuild, UnusedRows]:
    """What to build of pictures as they lie on disk, and the rows of labels that are of no picture.

    Parameters
    ----------
    sources
        Folders, globs, picture files; or one table with a column ``image`` (paths relative to the table), and if
        wanted ``segments`` and labels.
    labels
        A table of the pictures' labels (`cfmgml.reading.labels` says in which forms). A picture is found by its exact
        name, folders before it or not; a name without suffix must be that of one picture. Every picture must have a
        row, unless those without are to be skipped; rows of no picture are warned of. None takes the labels of the
        pictures' own table, if it has any, and False none at all.
    label_names
        The labels in this order, as a model has them; others are refused.
    options
        Masks, each called like its picture, without which regions are found in the pictures; a table of ``image``,
        ``segment`` (a number in the mask) and ``label``, the regions' own labels, to measure predictions with; and
        whether to leave out pictures that cannot be read or have no labels.
    """
    files, masks, table = _pictures(sources)
    on_error = "raise" if options.on_error == "stop" else "skip"
    if labels is not None:
        table = None if labels is False else read_labels(labels)
    given: dict[str, Any] = {}
    matched = RowMatch([], [])
    if table is not None:
        table = table.in_order(label_names)
        matched = match_files(table.rows, files, IMAGE_SUFFIXES, table.source)
        files, masks, given = _labelled(files, masks, table, matched, on_error)
    elif label_names is not None and options.segment_labels is not None:
        given["label_names"] = list(label_names)
    if options.segment_labels is not None:
        given["segment_labels"] = _segment_labels(options.segment_labels, files)
    chosen = masks if options.segments is None else options.segments
    build = builder.prepare(files, chosen, on_error=on_error, n_jobs=options.n_jobs, **given)
    return build, UnusedRows("" if table is None else table.source, matched.unmatched)


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


def _labelled(
    files: list[Path], masks: list[Path] | None, table: LabelTable, matched: RowMatch, on_error: str
) -> tuple[list[Path], list[Path] | None, dict[str, Any]]:
    """The pictures that the table has labels for, and those labels."""
    keys = matched.keys
    lacking = [file for file, key in zip(files, keys, strict=True) if key is None]
    if lacking and (on_error == "raise" or len(lacking) == len(files)):
        other = f", and its row for {matched.unmatched[0]!r} is of no picture" if matched.unmatched else ""
        raise ValueError(
            f"{table.source} has no row for {lacking[0].name} ({len(lacking)} of {len(files)} pictures have none)"
            f"{other}; add a row, with empty labels if it has none, or skip such pictures (--on-error skip)."
        )
    if lacking:
        warnings.warn(
            f"{len(lacking)} of {len(files)} pictures have no row in {table.source}, such as {lacking[0].name}; "
            "they are left out.",
            stacklevel=2,
        )
    kept = [k for k, key in enumerate(keys) if key is not None]
    matrix = table.matrix([key for key in keys if key is not None])
    given = {"labels": matrix, "label_names": table.label_names}
    return [files[k] for k in kept], None if masks is None else [masks[k] for k in kept], given


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
    keys = match_files(by_name, files, IMAGE_SUFFIXES, str(path)).keys
    if None in keys:
        raise ValueError(f"{path} has no row for {files[keys.index(None)].name}.")
    return [by_name[key] for key in keys if key is not None]

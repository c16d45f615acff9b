"""The labels of pictures and of their regions, in whichever form they come, as matrices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.common.typing import BoolArray, IntArray, NameArray
from cfmgml.data.label_sets import check_label_matrix

RegionLabels = Mapping[int, str | Iterable[str]]


@dataclass(frozen=True)
class PictureLabels:
    """What is known of a collection's labels: of whole pictures, of their regions, of both or of neither."""

    label_names: NameArray
    Y: BoolArray | None  # (n_images, n_labels)
    Y_known: BoolArray | None  # None: all of Y
    regions: Sequence[Mapping[int, list[str]]] | None

    def of_regions(self, image: int, numbers: IntArray, dropped: Sequence[int]) -> BoolArray:
        """Labels of one picture's regions, (n_regions, n_labels); refuses a mask that the labels do not fit."""
        assert self.regions is not None
        given, there = self.regions[image], numbers.tolist()
        strange = sorted(set(given) - set(there) - set(dropped))
        if strange:
            raise ImageError(f"segment_labels names segment {strange[0]}, but the mask has {there}.")
        unnamed = sorted(set(there) - set(given))
        if unnamed:
            raise ImageError(f"segment {unnamed[0]} has no entry in segment_labels; give it [] if it has no label.")
        labels = np.array([np.isin(self.label_names, given[number]) for number in there], dtype=bool)
        if self.Y is not None:
            lacking = labels.any(axis=0) & ~self.Y[image] & (True if self.Y_known is None else self.Y_known[image])
            if lacking.any():
                name = str(self.label_names[lacking][0])
                raise ImageError(f"a segment is labelled {name!r}, which is not among the image's labels.")
        return labels


def check_labels(labels: Any, label_names: Any, segment_labels: Any, n_images: int) -> PictureLabels | None:
    """Labels given as lists of names or as a matrix, and segments' labels as mappings; None if there are none."""
    if labels is None and segment_labels is None:
        return None
    regions = None if segment_labels is None else _check_regions(segment_labels, n_images)
    used = {name for row in regions or () for names in row.values() for name in names}
    if labels is None:
        return PictureLabels(_label_names(label_names, used), None, None, regions)
    if _is_matrix(labels):
        Y, known = check_label_matrix(labels, n_images, "labels", "image")
        numbered = np.arange(Y.shape[1]).astype(np.str_) if label_names is None else label_names
        return PictureLabels(_label_names(numbered, used), Y, known, regions)
    rows = [_names(row, f"labels[{k}]") for k, row in enumerate(labels)]
    if len(rows) != n_images:
        raise ValueError(f"labels must have one row an image, {n_images}, got {len(rows)}.")
    names = _label_names(label_names, used.union(*rows))
    return PictureLabels(names, np.array([np.isin(names, row) for row in rows]), None, regions)


def _is_matrix(labels: Any) -> bool:
    if hasattr(labels, "toarray") or (isinstance(labels, np.ndarray) and labels.dtype.kind in "biuf"):
        return True
    entries = (entry for row in labels if not isinstance(row, str) for entry in row)
    return isinstance(next(entries, ""), bool | int | float | np.number | np.bool_)


def _names(row: Any, where: str) -> list[str]:
    names = [row] if isinstance(row, str) else list(row)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"{where} must hold label names, got {wrong[0]!r}.")
    return [str(name) for name in names]


def _check_regions(segment_labels: Any, n_images: int) -> list[dict[int, list[str]]]:
    if len(segment_labels) != n_images:
        raise ValueError(f"segment_labels must have one entry an image, {n_images}, got {len(segment_labels)}.")
    for k, row in enumerate(segment_labels):
        if not isinstance(row, Mapping):
            raise TypeError(f"segment_labels[{k}] must map segment numbers to label names, got {type(row).__name__}.")
    return [
        {int(number): _names(names, f"segment_labels[{k}][{number}]") for number, names in row.items()}
        for k, row in enumerate(segment_labels)
    ]


def _label_names(given: Any, used: set[str]) -> NameArray:
    names = np.asarray(sorted(used) if given is None else given, dtype=np.str_)
    if not len(names):
        raise ValueError("labels hold no label at all; leave them out, or pass label_names.")
    unknown = sorted(used - set(names.tolist()))
    if unknown:
        raise ValueError(f"label {unknown[0]!r} is not among label_names: {', '.join(names.tolist())}.")
    return names

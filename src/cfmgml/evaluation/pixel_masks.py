"""A folder of masks as pixel truth: whose mask is whose, and what its values mean."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES, read_mask
from cfmgml.builders.pictures.tasks import MASK_SUFFIXES
from cfmgml.common.tables import Row, read_table
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.evaluation.pixel_truth import PixelTruth, pixel_truth
from cfmgml.reading.labels import key_column
from cfmgml.reading.matching import match_files

BACKGROUND = "background"
VALUE_COLUMNS = ("value", "index", "segment")
IMAGE_COLUMNS = ("image", "file", "filename", "path")
Values = dict[int, int]  # a class for each value of a mask that counts


class Classes(NamedTuple):
    """What values of masks mean: in all pictures, or in each by its name."""

    values: dict[str | None, Values]
    background: bool
    source: str

    def of_files(self, files: Sequence[Path]) -> list[Values]:
        if None in self.values:
            return [self.values[None]] * len(files)
        matched = match_files([name for name in self.values if name is not None], files, IMAGE_SUFFIXES, self.source)
        return [{} if key is None else self.values[key] for key in matched.keys]


def read_pixel_truth(
    bags: BagDataset, masks: str | Path, classes: str | Path, *, n_jobs: int | None = 1, **content: Any
) -> PixelTruth:
    """The truth about bags from a folder of masks, called like the pictures, and a table of what their values mean.

    The table has a column ``value`` (or ``index``, as in the legend of painted masks, or ``segment``) and a column
    ``label``; with a column ``image``, a row is about one picture only. Pixels with other values are not counted, nor
    are pictures without a mask. An empty label, or ``background``, makes background a class of its own.
    """
    if bags.label_names is None:
        raise ValueError("these bags have no labels to compare pixels with.")
    meaning = read_classes(classes, bags.label_names.tolist())
    files = _files_of(bags)
    found = _masks_of(Path(masks), files)
    maps = [
        None if mask is None else partial(class_map, mask.absolute(), values)
        for mask, values in zip(found, meaning.of_files(files), strict=True)
    ]
    return pixel_truth(bags, maps, bags.n_labels, background=meaning.background, n_jobs=n_jobs, **content)


def class_map(mask: Path, values: Values) -> IntArray:
    """The class of each pixel; -1 for values that mean nothing."""
    numbers = read_mask(mask)
    known = {value: label for value, label in values.items() if value >= 0}
    lookup = np.full(max(known, default=0) + 2, -1)  # the last is for all larger values
    lookup[list(known)] = list(known.values())
    return lookup[np.minimum(numbers, len(lookup) - 1)]


def read_classes(path: str | Path, label_names: Sequence[str]) -> Classes:
    """A table of values and labels, as `read_pixel_truth` takes it."""
    rows, source = read_table(path), str(path)
    columns = list(rows[0])
    value, label = key_column(columns, source, VALUE_COLUMNS), key_column(columns, source, ("label", "class"))
    image = next((name for name in columns if name.lower() in IMAGE_COLUMNS), None)
    values: dict[str | None, Values] = {}
    for number, row in enumerate(rows, start=1):
        own = values.setdefault(None if image is None else str(row[image]).strip(), {})
        means = _class_number(str(row[label] or "").strip(), label_names, f"{source}, row {number}")
        if own.setdefault(_value(row, value, f"{source}, row {number}"), means) != means:
            raise ValueError(f"{source}, row {number}: the value {row[value]} means something else in an earlier row.")
    background = any(len(label_names) in own.values() for own in values.values())
    return Classes(values, background, source)


def _value(row: Row, column: str, where: str) -> int:
    try:
        return int(row[column])
    except (TypeError, ValueError):
        raise ValueError(f"{where} must have a whole number as {column}, got {row[column]!r}.") from None


def _class_number(label: str, label_names: Sequence[str], where: str) -> int:
    if label in label_names:
        return list(label_names).index(label)
    if label in ("", BACKGROUND):
        return len(label_names)
    raise ValueError(f"{where}: there is no label {label!r} in these bags; they have {', '.join(label_names)}.")


def _files_of(bags: BagDataset) -> list[Path]:
    """The picture of each bag; those of unknown file have the name of their bag."""
    names = [str(k) for k in range(bags.n_bags)] if bags.bag_names is None else bags.bag_names.tolist()
    known = bags.info.get("files", {})
    return [Path(known.get(name, [None])[0] or f"{name}.png") for name in names]


def _masks_of(folder: Path, files: Sequence[Path]) -> list[Path | None]:
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} with masks.")
    masks: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in MASK_SUFFIXES and masks.setdefault(path.stem, path) != path:
            raise ValueError(f"a picture has one mask, of its name; in {folder} there is {masks[path.stem].name} "
                             f"and {path.name}.")  # fmt: skip
    found = [masks.get(file.stem) for file in files]
    if not any(found):
        raise ValueError(f"no mask in {folder} is called like a picture, such as {files[0].stem}.png.")
    return found

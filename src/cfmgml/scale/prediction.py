"""Prediction over a store, a few bags at a time: one table in any format, or a folder with a file a partition."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from cfmgml.common.digests import digest_of
from cfmgml.common.files import atomic_write
from cfmgml.common.progress import progress
from cfmgml.common.tables import PARQUET, Piece, Table, TableFormat, TextFormat, Writable, check_writable
from cfmgml.data.parquet.folder import KEY, cut
from cfmgml.kernels.files import kernel_digest
from cfmgml.learning.learned import Learned
from cfmgml.learning.predictions import LEVELS, Predictor, check_level, prediction_kinds, prediction_table
from cfmgml.scale.engines import running
from cfmgml.stores import BagStore

GRAPHS_AT_ONCE = 1000  # whose rows are in memory
PARTITIONS_AT_ONCE = 2  # a worker; more would pile up where writing is slower than predicting
Item = tuple[int, int]  # a partition's number, and that of its first bag
Told = dict[str, str | list[str]]  # by a file of itself


class StorePredictor(Predictor, Protocol):
    """A fitted `CfMGML`, with the parameters on which its scores depend."""

    learned_: Learned
    dtype: str
    n_jobs: int | None


@dataclass(frozen=True)
class StorePredictions:
    """The table of `prediction_table` for every bag, graph or node of a store; refused if it was built in another way.

    ``engine`` and ``n_jobs`` are as for `cfmgml.scale.fit_store`.
    """

    model: StorePredictor
    store: BagStore
    level: str = "bag"
    engine: object = "inline"
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        """Refuse before anything is written."""
        check_level(self.model, self.level)
        if self.model.learned_.builder is not None:
            self.model.learned_.builder.check_same(self.store.builder)

    def write(self, path: str | Path) -> int:
        """Write the table that the name asks for, in one step; returns how many rows it has."""
        form = check_writable(path)
        with atomic_write(path) as stream, form.join(stream, self._kinds) as add:
            return self._add_all(add, form)

    @property
    def _kinds(self) -> dict[str, type]:
        return prediction_kinds(self.model, self.level, has_texts(self.store))

    def write_text(self, stream: Writable, form: TextFormat) -> int:
        """The same as `write`, to a stream."""
        with form.join(stream, self._kinds) as add:
            return self._add_all(add, form)

    def write_folder(self, folder: str | Path) -> Path:
        """A file a partition, by `predict_store`; returns the folder in it that the files are in."""
        with running(self.engine, self.n_jobs) as workers:
            predict_store(self.model, self.store, folder, self.level, engine=workers, verbose=self.verbose)
        return Path(folder) / f"{self.level}s"

    def _add_all(self, add: Callable[[Piece], object], form: TableFormat) -> int:
        n_rows, items = 0, _items(self.store)
        shown = progress("Predicting", len(items), self.verbose)
        with running(self.engine, self.n_jobs) as workers, shown as advance:
            at_once = PARTITIONS_AT_ONCE * workers.n_workers
            for start in range(0, len(items), at_once):
                run = items[start : start + at_once]
                for pieces in workers.map(_encoded, run, self.model, self.store, self.level, form):
                    for n_more, piece in pieces:
                        add(piece)
                        n_rows += n_more
                    advance(1)
        return n_rows


def predict_store(
    model: StorePredictor,
    store: BagStore,
    out: str | Path,
    level: str | Sequence[str] = ("bag", "graph"),
    *,
    engine: object = "inline",
    verbose: bool = False,
) -> None:
    """Write a model's predictions for every bag, graph or node of a store.

    Makes a folder ``bags``, ``graphs`` or ``nodes`` in ``out``, with one Parquet file a partition, whose columns are
    those that `cfmgml.learning.predictions` describes. The names of labels are also in each file's metadata. Files that
    are there already, of the same model and partition, are left as they are: what was interrupted goes on.

    Parameters
    ----------
    model
        A fitted `CfMGML`.
    level
        One or several of ``"bag"``, ``"graph"`` and ``"node"``.
    engine
        As for `fit_store`.

    Examples
    --------
    >>> import tempfile, pyarrow.dataset
    >>> from cfmgml import CfMGML, NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=20, random_state=0)
    >>> model = CfMGML(NodeSum("linear"), alpha=1e-2).fit(bags)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bags.to_store(f"{folder}/digits", graphs_per_partition=30)
    ...     predict_store(model, BagStore(f"{folder}/digits"), f"{folder}/out", "bag")
    ...     table = pyarrow.dataset.dataset(f"{folder}/out/bags").to_table()
    >>> table.column_names[:4], len(table)
    (['bag', 'labels', 'best', 'score:0'], 20)
    """
    levels = (level,) if isinstance(level, str) else tuple(level)
    if not levels or not set(levels) <= set(LEVELS):
        raise ValueError(f"level must be one or several of {LEVELS}, got {level!r}.")
    for name in levels:
        check_level(model, name)
    folders = {name: Path(out).absolute() / f"{name}s" for name in levels}  # workers may be elsewhere
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    items = _items(store)
    with running(engine, model.n_jobs) as workers, progress("Predicting", len(items), verbose) as advance:
        for _ in workers.map(_write_partition, items, model, model_digest(model), store, folders):
            advance(1)


def model_digest(model: StorePredictor) -> str:
    """Of what a model's predictions depend on."""
    learned = model.learned_
    arrays = {**learned.scorer.arrays(), "intercept": learned.intercept, "thresholds": learned.thresholds}
    if learned.calibration is not None:
        arrays |= {"slope": learned.calibration.slope, "offset": learned.calibration.offset}
    kind, columns = type(learned.scorer).__name__, list(prediction_kinds(model, "graph"))
    return digest_of(arrays, kernel_digest(learned.scorer.kernel), kind, columns, model.dtype)


def has_texts(store: BagStore) -> bool:
    return "graphs.text" in store.columns


def _items(store: BagStore) -> list[Item]:
    first_bags = np.cumsum([0, *(part.n_bags for part in store.partitions)])[:-1].tolist()
    return list(enumerate(first_bags))


def _tables(item: Item, model: StorePredictor, store: BagStore, levels: Sequence[str]) -> Iterator[dict[str, Table]]:
    """The tables of one partition, a few bags at a time."""
    number, first_bag = item
    bags = store.read(number)
    for start, stop in cut(bags.bag_ptr, GRAPHS_AT_ONCE):
        some = bags[start:stop]
        scores = None if tuple(levels) == ("node",) else model.decision_function_graphs(some)
        yield {level: prediction_table(model, some, level, first_bag + start, scores) for level in levels}


def _encoded(
    item: Item, model: StorePredictor, store: BagStore, level: str, form: TableFormat
) -> list[tuple[int, Piece]]:
    """The pieces of one partition: how many rows, and what to write of them."""
    return [(len(tables[level]), form.encode(tables[level])) for tables in _tables(item, model, store, [level])]


def _write_partition(item: Item, model: StorePredictor, digest: str, store: BagStore, folders: dict[str, Path]) -> None:
    number, names = item[0], model.label_names_.tolist()
    told: Told = {"partition": store.partitions[number].name, "model": digest, "label_names": names}
    name, metadata = f"part-{number:06d}.parquet", {KEY: json.dumps(told).encode()}
    missing = {level: folder / name for level, folder in folders.items() if not _is_done(folder / name, told)}
    if not missing:
        return
    with ExitStack() as files:
        adders = {}
        for level, path in missing.items():
            stream = files.enter_context(atomic_write(path))
            adders[level] = files.enter_context(
                PARQUET.join(stream, prediction_kinds(model, level, has_texts(store)), metadata)
            )
        for tables in _tables(item, model, store, list(missing)):
            for level, table in tables.items():
                adders[level](PARQUET.encode(table))


def _is_done(path: Path, told: Told) -> bool:
    try:
        return bool(json.loads(PARQUET.metadata(path)[KEY]) == told)
    except (OSError, KeyError, ValueError):
        return False

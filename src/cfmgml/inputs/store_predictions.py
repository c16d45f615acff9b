"""A model's predictions for a store as one table, the same as for a file of bags, in the memory of a few partitions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from cfmgml.common.files import atomic_write
from cfmgml.common.progress import progress
from cfmgml.data.bags import BagDataset
from cfmgml.data.parquet.folder import cut
from cfmgml.inputs.predictions import check_level, prediction_columns, prediction_rows
from cfmgml.model.cfmgml import CfMGML
from cfmgml.reading.tables import check_writable, format_table, import_pyarrow, table_head
from cfmgml.scale import predict_store
from cfmgml.scale.engines import Engine, running
from cfmgml.stores import BagStore

GRAPHS_AT_ONCE = 1000  # whose rows are in memory as Python's objects
PARTITIONS_AT_ONCE = 2  # a worker; more would pile up where writing is slower than predicting


@dataclass(frozen=True)
class StorePredictions:
    """Rows as `prediction_rows` makes them, for every bag, graph or node of a store, in its order.

    Parameters
    ----------
    model, store
        Bags that were built in another way than the model's are refused.
    level
        ``"bag"``, ``"graph"`` or ``"node"``.
    engine, n_jobs
        As for `cfmgml.scale.fit_store`.
    verbose
        Whether to show how far it is.

    Examples
    --------
    >>> import tempfile
    >>> from cfmgml import NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=20, random_state=0)
    >>> model = CfMGML(NodeSum("linear"), alpha=1e-2).fit(bags)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bags.to_store(f"{folder}/digits", graphs_per_partition=30)
    ...     StorePredictions(model, BagStore(f"{folder}/digits")).write(f"{folder}/bags.csv")
    20
    """

    model: CfMGML
    store: BagStore
    level: str = "bag"
    engine: Any = "inline"
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        """Refuse before anything is written."""
        check_level(self.model, self.level)
        if self.model.builder_ is not None:
            self.model.builder_.check_same(self.store.builder)

    def write(self, path: str | Path) -> int:
        """Write the table that the name asks for, in one step; returns how many rows it has."""
        suffix = check_writable(path)
        with atomic_write(path) as stream:
            if suffix == ".parquet":
                return self._write_parquet(stream)
            return self.write_text(lambda text: stream.write(text.encode()), suffix)

    def write_text(self, write: Callable[[str], Any], suffix: str = ".csv") -> int:
        """The same text as `format_table`'s, piece by piece."""
        begin, between, end = ("[\n", ",\n", "\n]\n") if suffix == ".json" else ("", "", "")
        write(begin + table_head(prediction_columns(self.model, self.level), suffix))
        rows = 0
        for n_rows, text in self._pieces(suffix):
            write(between + text if rows else text)
            rows += n_rows
        write(end)
        return rows

    def write_folder(self, folder: str | Path) -> Path:
        """Write scores with `cfmgml.scale.predict_store`, a file a partition, and go on where that was interrupted.

        Returns the folder in it that the files are in.
        """
        with running(self.engine, self.n_jobs) as workers:
            predict_store(self.model, self.store, folder, self.level, engine=workers, verbose=self.verbose)
        return Path(folder) / f"{self.level}s"

    def _write_parquet(self, stream: IO[bytes]) -> int:
        rows = 0
        with import_pyarrow().parquet.ParquetWriter(stream, table_schema(self.model, self.level)) as writer:
            for n_rows, table in self._pieces(".parquet"):
                writer.write_table(table)
                rows += n_rows
        return rows

    def _pieces(self, suffix: str) -> Iterator[tuple[int, Any]]:
        """Runs of rows, in their order: how many, and what to write of them."""
        first_bags = np.cumsum([0, *(part.n_bags for part in self.store.partitions)])[:-1].tolist()
        items = list(enumerate(first_bags))
        shown = progress("Predicting", len(items), self.verbose)
        with running(self.engine, self.n_jobs) as workers, shown as advance:
            for run in _runs(items, workers):
                for pieces in workers.map(_predict, run, self.model, self.store, self.level, suffix):
                    yield from (piece for piece in pieces if piece[0])
                    advance(1)


def _runs(items: list[tuple[int, int]], workers: Engine) -> Iterator[list[tuple[int, int]]]:
    at_once = PARTITIONS_AT_ONCE * workers.n_workers
    return (items[start : start + at_once] for start in range(0, len(items), at_once))


def _predict(item: tuple[int, int], model: CfMGML, store: BagStore, level: str, suffix: str) -> list[tuple[int, Any]]:
    """One partition, a few bags at a time: pieces of text, or of a table."""
    number, first_bag = item
    bags = store.read(number)
    if bags.bag_names is None:
        bags = replace(bags, bag_names=np.arange(first_bag, first_bag + bags.n_bags).astype(np.str_))
    return [_piece(model, bags[start:stop], level, suffix) for start, stop in cut(bags.bag_ptr, GRAPHS_AT_ONCE)]


def _piece(model: CfMGML, bags: BagDataset, level: str, suffix: str) -> tuple[int, Any]:
    rows = prediction_rows(model, bags, level)
    if suffix == ".parquet":
        return len(rows), import_pyarrow().Table.from_pylist(rows, table_schema(model, level))
    text = format_table(rows, suffix, head=False)
    return len(rows), text[len("[\n") : -len("\n]\n")] if suffix == ".json" else text


def table_schema(model: CfMGML, level: str) -> Any:
    """Types of the columns: a piece in which no label is predicted would not show them."""
    pa = import_pyarrow()
    kinds = {"bag": pa.string(), "graph": pa.string(), "node": pa.string(), "best": pa.string()}
    kinds["labels"] = pa.list_(pa.string())
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in prediction_columns(model, level)])

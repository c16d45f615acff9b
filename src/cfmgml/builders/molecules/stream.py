"""Molecules in files as a stream of bags, for stores and for files of bags: `MoleculeStream`."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cfmgml.builders.base import with_label_names
from cfmgml.builders.molecules.building import MoleculeBuild
from cfmgml.builders.molecules.files import Columns, Entry, MoleculeFiles, entry_of, molecule_files, rows_of
from cfmgml.builders.molecules.row_labels import RowLabels, TableLabels, choose_labels
from cfmgml.common.progress import progress
from cfmgml.common.tables import Row
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput
from cfmgml.data.streams import BagStream, Piece
from cfmgml.reading.matching import RowMatch
from cfmgml.reading.paths import file_state
from cfmgml.reading.remarks import remark_labels

if TYPE_CHECKING:
    from cfmgml.builders.molecules.builder import MoleculeBuilder

SIGHT = 100  # rows that are looked at for their columns: records of an SDF need not have the same


class MoleculeStream(BagStream):
    """Molecules as bags, some at a time."""

    def __init__(self, builder: "MoleculeBuilder", given: FileInput) -> None:
        options = given.options if isinstance(given.options, MoleculeFiles) else MoleculeFiles()
        self._builder, self._given, self._options = builder, given, options
        self._files = molecule_files(given.paths)
        on_error = "raise" if options.on_error == "stop" else "skip"
        workers = -1 if options.n_jobs is None else options.n_jobs
        self._build = MoleculeBuild(builder, None, on_error, workers)

    @property
    def key(self) -> Any:
        given, table = self._given, self._given.labels if isinstance(self._labels, TableLabels) else None
        told = [self._builder.told(), self._options.on_error, list(self._columns), given.label_names, str(given.labels)]
        return [*told, *map(file_state, [*self._files, table])]

    def load(self) -> BagDataset:
        """All bags at once."""
        self.settle(None)
        entries = list(self._entries(0))
        with progress("Building graphs of molecules", len(entries), None) as done:
            bags = self._build.load(entries, done)
        bags = replace(bags, info={**bags.info, **self._label_remarks()})
        return with_label_names(bags, self._given.label_names)

    # -- reading -----------------------------------------------------------------------------

    def _rows(self) -> Iterator[Row]:
        return rows_of(self._files, self._builder.max_atoms)

    @cached_property
    def _seen_columns(self) -> dict[str, None]:
        return {name: None for row in itertools.islice(self._rows(), SIGHT) for name in row}

    @cached_property
    def _columns(self) -> Columns:
        return Columns.choose(self._seen_columns, self._options, ", ".join(file.name for file in self._files))

    @cached_property
    def _labels(self) -> RowLabels | None:
        return choose_labels(self._given, self._rows, list(self._seen_columns))

    def _entries(self, start: int) -> Iterator[Entry]:
        rows = itertools.islice(enumerate(self._rows()), start, None)
        return (entry_of(row, number, self._columns, self._labels) for number, row in rows)

    # -- building ----------------------------------------------------------------------------

    def settle(self, settled: Any) -> Any:
        names = None if self._labels is None else self._labels.names
        self._build.label_names = names
        return names

    def pieces(self, start: int) -> Iterator[Piece]:
        for bags, inputs in self._build.pieces(self._entries(start), start):
            yield with_label_names(bags, self._given.label_names), inputs

    def report(self, start: int, stop: int) -> Any:
        return self._build.report(start, stop)

    def recall(self, report: Any, n_bags: int) -> None:
        self._build.recall(report, n_bags)

    def info(self) -> Mapping[str, Any]:
        return {**self._builder.told(), **self._build.info(), **self._label_remarks()}

    def _label_remarks(self) -> Json:
        about = self._labels
        unmatched = RowMatch((), about.unused, about.table.source) if isinstance(about, TableLabels) else RowMatch()
        return remark_labels(None if about is None else about.names, unmatched)

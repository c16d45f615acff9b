"""Texts as a stream of bags, for stores: what `text_bags` builds, a few documents at a time."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.base import read_text, with_label_names
from cfmgml.builders.texts.counting import count_texts
from cfmgml.builders.texts.files import (
    Documents,
    check_names_differ,
    columns_of,
    documents_of,
    keeps_text,
    label_arguments,
    match_documents,
    text_files,
)
from cfmgml.builders.texts.sentences import texts_of
from cfmgml.common.processes import Processes, WorkerLost
from cfmgml.common.segments import segment_sum
from cfmgml.common.tables import format_of, stream_table
from cfmgml.common.typing import IntArray, Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput
from cfmgml.data.streams import BagStream, Piece
from cfmgml.reading.labels import LabelTable, read_labels, table_of_sets
from cfmgml.reading.matching import RowMatch
from cfmgml.reading.paths import file_state
from cfmgml.reading.remarks import RepeatedGraphs, remark_labels

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder

DOCUMENTS_AT_ONCE = 1000
ALONE = 5 * DOCUMENTS_AT_ONCE  # so many documents are built before worker processes would have started


class TextStream(BagStream):
    """Texts as bags, some documents at a time; `text_bags` says what is read.

    The input is read several times: for its columns, for names, labels and the vocabulary, and to be built.
    """

    def __init__(self, builder: "TextBuilder", given: FileInput) -> None:
        self._builder, self._sources, self._source = builder, given.paths, ", ".join(map(str, given.paths))
        self._is_table = len(given.paths) == 1 and format_of(given.paths[0]) is not None
        self._labels, self._label_names, self._text = given.labels, given.label_names, keeps_text(given)
        self._table: LabelTable | None = None  # where documents have labels of their own, it says only which there are
        self._keys: list[str] = []  # of each document in a table of labels of its own
        self._n_empty, self._empty = 0, dict[int, int]()  # texts without words: of what is written, of each input
        self._repeated, self._label_remarks = RepeatedGraphs(), dict[str, Any]()
        self._n_documents = 0

    @property
    def key(self) -> Any:
        files = self._sources if self._is_table else list(self._files.values())
        states = [file_state(file) for file in [*files, self._labels or None]]
        return [self._builder.told(), self._label_names, self._labels is False, self._text, *states]

    # -- reading -----------------------------------------------------------------------------

    @cached_property
    def _files(self) -> dict[str, Path]:
        return text_files(self._sources)

    @cached_property
    def _columns(self) -> dict[str, str]:
        return columns_of(stream_table(self._sources[0]))

    def _documents(self, start: int = 0) -> Iterator[tuple[int, Documents]]:
        """Runs of documents from this one on, each with the number of its first."""
        rows: Iterator[Any] = stream_table(self._sources[0]) if self._is_table else iter(self._files.items())
        rows = itertools.islice(rows, start, None)
        for first in itertools.count(start, DOCUMENTS_AT_ONCE):
            run = list(itertools.islice(rows, DOCUMENTS_AT_ONCE))
            if not run:
                return
            if self._is_table:
                yield first, documents_of(run, self._source, self._columns, first)
            else:
                yield first, Documents([name for name, _ in run], [read_text(file) for _, file in run])

    # -- what depends on all documents -------------------------------------------------------

    def settle(self, settled: Any) -> Any:
        """Check names and labels; count words and learn their vectors, if graphs depend on that and it was not done."""
        self._table = read_labels(self._labels) if self._labels else None
        names: list[str] = []
        own: set[str] = set()
        for _, documents in self._documents():
            names += documents.names
            own.update(label for row in documents.labels or () for label in row or ())
        self._n_documents = len(names)
        if self._is_table:
            check_names_differ(names, self._source, self._columns)
        matched = RowMatch()
        if self._table is not None:
            files = None if self._is_table else list(self._files.values())
            matched = match_documents(self._table.in_order(self._label_names), names, files)
            self._keys = matched.complete(names, "texts")
        elif self._labels is None and self._is_table and "labels" in self._columns:
            self._table = table_of_sets({"": sorted(own)}, self._source)
        which = self._label_names if self._table is None else self._table.in_order(self._label_names).label_names
        self._label_remarks = remark_labels(which, matched)
        if settled is None:
            settled = self._settled()
        self._builder = replace(self._builder, **settled)
        return settled

    def _settled(self) -> Json:
        """What the builder has to know of all texts and does not know yet."""
        settled: Json = {}
        if self._builder.counted and self._builder.vocabulary is None:
            settled["vocabulary"] = count_texts(self._texts(), self._builder).to_json()
        learned = self._builder.having_learned(self._texts())
        if learned is not self._builder:
            settled["word_vectors"] = learned.word_vectors
        return settled

    def _texts(self) -> Iterator[str]:
        for first, documents in self._documents():
            for number, document in enumerate(documents.contents, first):
                yield from texts_of(document, number, self._builder.split)

    # -- building ----------------------------------------------------------------------------

    def pieces(self, start: int) -> Iterator[Piece]:
        for first, bags in self._built(start):
            inputs = first + np.arange(bags.n_bags)
            self._repeated.add(bags, inputs)
            self._empty |= dict(zip(inputs.tolist(), _n_blank(bags).tolist(), strict=True))
            yield with_label_names(bags, self._label_names), inputs

    def _built(self, start: int) -> Iterator[tuple[int, BagDataset]]:
        """Bags of runs of documents, each with the number of its first; many are built in worker processes."""
        todo = ((first, documents.contents, self._arguments(documents, first))
                for first, documents in self._documents(start))  # fmt: skip
        one_by_one = self._n_documents - start <= ALONE or self._builder.encoder is not None  # workers do not know that
        with Processes(1 if one_by_one else -1) as workers:
            try:
                for first, bags in workers.map(partial(_build_run, self._builder), todo):
                    yield first, bags
                    start = first + bags.n_bags
            except WorkerLost as error:
                which = f"one of {DOCUMENTS_AT_ONCE:,} texts from number {start + 1:,} on"
                raise ValueError(f"{which} cannot be built: {error}") from error

    def _arguments(self, documents: Documents, first: int) -> Json:
        return {**self._label_arguments(documents, first), "bag_names": documents.names, "text": self._text}

    def report(self, start: int, stop: int) -> Any:
        n_empty = sum(self._empty.pop(number, 0) for number in range(start, stop))
        self._n_empty += n_empty
        return {"repeated": self._repeated.report(start, stop), "n_without_keywords": n_empty}

    def recall(self, report: Any, n_bags: int) -> None:
        self._repeated.recall(report["repeated"])
        self._n_empty += report["n_without_keywords"]

    def _label_arguments(self, documents: Documents, first: int) -> dict[str, Any]:
        if self._table is None:
            return {}
        table, keys = self._table, documents.names
        if self._labels:
            keys = self._keys[first : first + len(keys)]
        else:
            assert documents.labels is not None
            table = table_of_sets(dict(zip(keys, documents.labels, strict=True)), self._source, table.label_names)
        return label_arguments(documents, table.in_order(self._label_names), keys)

    def info(self) -> Mapping[str, Any]:
        told = {
            "n_without_keywords": self._n_empty + sum(self._empty.values()),
            "overlap": self._repeated.summary(),
            **self._label_remarks,
        }
        return {**self._builder.told(), **told}


def _build_run(builder: "TextBuilder", run: tuple[int, list[str | list[str]], Json]) -> tuple[int, BagDataset]:
    first, contents, given = run
    return first, builder.build(contents, **given)


def _n_blank(bags: BagDataset) -> IntArray:
    """How many graphs without words each bag has."""
    assert bags.builder is not None
    blank = bags.builder.blank(bags.graphs)
    assert blank is not None
    return np.asarray(segment_sum(blank.astype(np.float64), bags.bag_ptr), dtype=np.int64)

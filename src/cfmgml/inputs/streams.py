"""Pictures and texts as streams of bags, for stores: what `image_bags` and `text_bags` build, a few bags at a time."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cfmgml.builders.texts.counting import count_texts
from cfmgml.builders.texts.keyword_graphs import Recipe as KeywordRecipe
from cfmgml.builders.texts.texts import texts_of
from cfmgml.data.bags import BagDataset
from cfmgml.inputs.images import image_build
from cfmgml.inputs.labels import LabelTable, read_labels, table_of_sets
from cfmgml.inputs.like import Pattern
from cfmgml.inputs.remarks import RepeatedGraphs, UnusedRows, remark_labels
from cfmgml.inputs.tables import Row, stream_table, table_suffix
from cfmgml.inputs.texts import (
    Documents,
    check_names_differ,
    columns_of,
    documents_of,
    keys_of,
    label_arguments,
    match_documents,
    read_text,
    text_files,
)
from cfmgml.recipes import Recipe, recipe_of
from cfmgml.stores import BagStream
from cfmgml.stores.building import Piece

DOCUMENTS_AT_ONCE = 1000
GRAPHS_PER_PARTITION = {"images": 1_000, "texts": 10_000}  # the nodes of pictures have 900 numbers each


def input_stream(
    kind: Literal["images", "texts"],
    sources: Sequence[str | Path],
    pattern: Pattern | None = None,
    **options: Any,
) -> BagStream:
    """A stream of the bags that `image_bags` or `text_bags` would build, or `bags_like` a pattern."""
    made = ImageStream if kind == "images" else TextStream
    if pattern is None:
        return made(sources, **options)
    names = pattern.label_names
    return made(sources, recipe=recipe_of(pattern.info), label_names=names, default_names=names, **options)


class ImageStream(BagStream):
    """Pictures as bags, some pictures at a time; `image_bags` says what the parameters are."""

    def __init__(
        self, sources: Sequence[str | Path], *, default_names: Sequence[str] | None = None, **options: Any
    ) -> None:
        self._build, unused = image_build(sources, **options)
        self._default_names, self._repeated = default_names, RepeatedGraphs()
        known = self._build.known
        self._label_remarks = remark_labels(default_names if known is None else known.label_names, unused)
        self._tables = [options.get(name) for name in ("labels", "segment_labels")]

    @property
    def key(self) -> Any:
        build, known = self._build, self._build.known
        files = [file for task in build.tasks for file in task.files if file is not None]
        names = None if known is None else known.label_names.tolist()
        return ["images", build.recipe.to_json(), build.on_error, names, *map(_state_of, [*self._tables, *files])]

    def pieces(self, start: int) -> Iterator[Piece]:
        for bags, inputs in self._build.pieces(start):
            self._repeated.add(bags, inputs)
            yield _named(bags, self._default_names), inputs

    def report(self, start: int, stop: int) -> Any:
        return [self._build.report(start, stop), self._repeated.report(start, stop)]

    def recall(self, report: Any, n_bags: int) -> None:
        self._build.recall(report[0], n_bags)
        self._repeated.recall(report[1])

    def info(self) -> Mapping[str, Any]:
        return {**self._build.info(), "overlap": self._repeated.summary(), **self._label_remarks}


class TextStream(BagStream):
    """Texts as bags, some documents at a time; `text_bags` says what the parameters are.

    The input is read several times: for its columns, for names, labels and the vocabulary, and to be built.
    """

    def __init__(
        self,
        sources: Sequence[str | Path],
        *,
        labels: str | Path | Literal[False] | None = None,
        label_names: Sequence[str] | None = None,
        default_names: Sequence[str] | None = None,
        recipe: Recipe | None = None,
        **options: Any,
    ) -> None:
        self._sources = list(sources)
        self._labels, self._label_names, self._default_names = labels, label_names, default_names
        self._recipe, self._options = recipe or Recipe("texts"), options
        self._table: LabelTable | None = None  # where documents have labels of their own, it says only which there are
        self._keys: list[str] = []  # of each document in a table of labels of its own
        self._n_empty = 0
        self._repeated, self._label_remarks = RepeatedGraphs(), dict[str, Any]()

    @property
    def key(self) -> Any:
        files = self._sources if self._is_table else list(self._files.values())
        recipe = [dict(self._recipe.parameters), self._recipe.version, self._options, self._label_names]
        states = [_state_of(file) for file in [*files, self._labels or None]]
        return ["texts", recipe, self._recipe.vocabulary, self._labels is False, *states]

    # -- reading -----------------------------------------------------------------------------

    @property
    def _is_table(self) -> bool:
        return len(self._sources) == 1 and table_suffix(self._sources[0]) is not None

    @cached_property
    def _files(self) -> dict[str, Path]:
        return text_files(self._sources)

    @cached_property
    def _columns(self) -> dict[str, str]:
        return columns_of(stream_table(self._sources[0]))

    @property
    def _source(self) -> str:
        return ", ".join(map(str, self._sources))

    def _documents(self, start: int = 0) -> Iterator[tuple[int, Documents]]:
        """Runs of documents from this one on, each with the number of its first."""
        rows: Iterator[Any] = stream_table(self._sources[0]) if self._is_table else iter(self._files.items())
        rows = itertools.islice(rows, start, None)
        for first in itertools.count(start, DOCUMENTS_AT_ONCE):
            run = list(itertools.islice(rows, DOCUMENTS_AT_ONCE))
            if not run:
                return
            yield first, self._read(run, first)

    def _read(self, run: list[Row] | list[tuple[str, Path]], first: int) -> Documents:
        if self._is_table:
            return documents_of(run, self._source, self._columns, first)  # type: ignore[arg-type]
        return Documents([name for name, _ in run], [read_text(file) for _, file in run])  # type: ignore[arg-type]

    # -- what depends on all documents -------------------------------------------------------

    def settle(self, settled: Any) -> Any:
        """Check names and labels; count words, and texts without keyword, unless they were counted."""
        self._table = read_labels(self._labels) if self._labels else None
        names: list[str] = []
        own: set[str] = set()
        for _, documents in self._documents():
            names += documents.names
            own.update(label for row in documents.labels or () for label in row or ())
        if self._is_table:
            check_names_differ(names, self._source, self._columns)
        unused = UnusedRows()
        if self._table is not None:
            files = None if self._is_table else list(self._files.values())
            matched = match_documents(self._table.in_order(self._label_names), names, files)
            self._keys = keys_of(self._table, matched, names)
            unused = UnusedRows(self._table.source, matched.unmatched)
        elif self._labels is None and self._is_table and "labels" in self._columns:
            self._table = table_of_sets({"": sorted(own)}, self._source)
        which = self._default_names if self._table is None else self._table.in_order(self._label_names).label_names
        self._label_remarks = remark_labels(which, unused)
        settled = settled or self._count()
        self._recipe = replace(self._recipe, vocabulary=settled["vocabulary"])
        self._n_empty = settled["n_without_keywords"]
        return settled

    def _count(self) -> dict[str, Any]:
        parameters = {**self._recipe.parameters, **self._options}
        parameters.pop("single_graph", None)
        runs = ((first, documents.contents) for first, documents in self._documents())
        texts = (t for first, run in runs for k, document in enumerate(run, first) for t in texts_of(document, k))
        vocabulary, n_empty = count_texts(texts, KeywordRecipe(**parameters))
        given = self._recipe.vocabulary
        return {"vocabulary": vocabulary.to_json() if given is None else dict(given), "n_without_keywords": n_empty}

    # -- building ----------------------------------------------------------------------------

    def pieces(self, start: int) -> Iterator[Piece]:
        for first, documents in self._documents(start):
            given = self._label_arguments(documents, first)
            bags = self._recipe.build_texts(documents.contents, names=documents.names, **given, **self._options)
            inputs = first + np.arange(bags.n_bags)
            self._repeated.add(bags, inputs)
            yield _named(bags, self._default_names), inputs

    def report(self, start: int, stop: int) -> Any:
        return self._repeated.report(start, stop)

    def recall(self, report: Any, n_bags: int) -> None:
        self._repeated.recall(report)

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
        told = {"n_without_keywords": self._n_empty, "overlap": self._repeated.summary(), **self._label_remarks}
        return {**self._recipe.build_texts([""], **self._options).info, **told}


def _named(bags: BagDataset, names: Sequence[str] | None) -> BagDataset:
    """With the labels that can be predicted, where none are known."""
    return bags if bags.label_names is not None or names is None else replace(bags, label_names=np.array(names))


def _state_of(file: str | Path | Literal[False] | None) -> list[Any] | None:
    """What shows whether a file has changed."""
    if not file:
        return None
    path = Path(file).absolute()
    about = path.stat() if path.exists() else None
    return [path.as_posix()] if about is None else [path.as_posix(), about.st_size, about.st_mtime_ns]

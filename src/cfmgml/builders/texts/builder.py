"""The kind ``texts``: `TextBuilder`."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cfmgml.builders.base import Builder
from cfmgml.builders.texts.answering import answer_text
from cfmgml.builders.texts.cooccurrence import Vocabulary, pairs_within
from cfmgml.builders.texts.descriptions import WordDescription, description_names, find_description
from cfmgml.builders.texts.drawing import plot_text_bag
from cfmgml.builders.texts.files import text_bags
from cfmgml.builders.texts.keyword_graphs import NO_KEYWORD, KeywordGraph, batch_of, join_graphs
from cfmgml.builders.texts.keywords import STOP_WORDS, Reading, read_text
from cfmgml.builders.texts.sentences import texts_of
from cfmgml.builders.texts.stream import TextStream
from cfmgml.builders.texts.text_graphs import Running, text_graphs
from cfmgml.common.segments import lengths, offsets, segment_max
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray
from cfmgml.data.bags import BagDataset, check_label_matrix
from cfmgml.data.builder import FileInput, parameter, state
from cfmgml.data.graphs import GraphBatch, label_codes
from cfmgml.data.questions import Form, InputLimits, Question, Reply
from cfmgml.data.streams import BagStream


@dataclass(frozen=True)
class TextBuilder(Builder):
    """Texts as bags of sentences, each a graph of keywords; `bags_from_texts` says what the parameters mean."""

    kind = "texts"
    version = 2
    command = "text"
    nouns = "texts"
    part = "sentence"
    words = True
    form = Form("text", "A text, cut into sentences")
    help = (
        "Texts: each becomes a bag, and each of its sentences (or of a list of texts) a graph of keywords.\n\n"
        "INPUT is a table (JSONL, CSV or Parquet) with a document a row: text, or texts (a list), and if wanted id and "
        "labels; or a folder, a glob or names of .txt files.\n\n\b\nExamples:\n"
        "  cfmgml build text papers.jsonl -o papers.bags\n"
        "  cfmgml build text letters --labels letters.csv --no-stem -o letters.bags\n"
        "  cfmgml build text new.jsonl --like papers.bags -o new_papers.bags\n"
        "  cfmgml build text papers.jsonl --store papers"
    )

    single_graph: bool = parameter(False, "One graph a document.")
    max_keywords: int | None = parameter(40, "Most keywords of a text.", least=1, shown="40")
    window: int = parameter(2, "How far apart joined keywords may stand.", least=1, shown="2")
    threshold: float = parameter(0.1, "Least weight of an edge.", least=0, most=1, shown="0.1")
    stop_words: Literal["english"] | Collection[str] = "english"
    stem: bool = parameter(True, "Cut English endings off words.", shown="stem")
    features: str | None = parameter(None, "Describe words by vectors.", choices=description_names)
    features_version: int | None = state("features_version")  # of the description, if there is one
    vocabulary: Mapping[str, Any] | None = state("vocabulary")  # the counts that decide on keywords and edges

    def __post_init__(self) -> None:
        if self.max_keywords is not None and self.max_keywords < 1:
            raise ValueError(f"max_keywords must be at least 1, or None for all, got {self.max_keywords}.")
        if self.window < 1:
            raise ValueError(f"window must be at least 1 (neighbouring content words), got {self.window}.")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, as the weights are, got {self.threshold}.")
        if not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted({word.casefold() for word in self.stop_words})))
        elif self.stop_words != "english":
            raise ValueError(f"stop_words must be 'english' or a list of words, got the string {self.stop_words!r}.")
        if self.description is not None and self.features_version is None:
            object.__setattr__(self, "features_version", self.description.version)

    @cached_property
    def stops(self) -> frozenset[str]:
        return STOP_WORDS if isinstance(self.stop_words, str) else frozenset(self.stop_words)

    @property
    def description(self) -> WordDescription | None:
        return None if self.features is None else find_description(self.features)

    @property
    def gamma(self) -> float | None:
        return None if self.description is None else self.description.gamma

    def blank(self, graphs: GraphBatch) -> BoolArray | None:
        """Texts without keywords."""
        if graphs.node_labels is None:
            return None
        nothing = label_codes([NO_KEYWORD])[0]
        return (lengths(graphs.node_ptr) == 1) & (graphs.node_labels[graphs.node_ptr[:-1]] == nothing)

    def describe(self) -> str:
        if self.vocabulary is None:
            return super().describe()
        return f"{super().describe()}; {len(self.vocabulary.get('counts', ())):,} words that occur in several texts"

    # -- one text ----------------------------------------------------------------------------

    def words_of(self, text: str) -> Reading:
        return read_text(text, stem=self.stem, stop_words=self.stops, gap=self.window)

    def graph_of(self, text: Reading, vocabulary: Vocabulary) -> KeywordGraph:
        """The keywords with the largest tf-idf, in order, and the pairs of them that stand close and weigh enough."""
        counts = Counter(text.keys)  # in the order in which they occur, so that ties go to the first
        chosen = set(counts)
        if self.max_keywords is not None and len(counts) > self.max_keywords:
            chosen = set(sorted(counts, key=lambda key: -counts[key] * vocabulary.idf(key))[: self.max_keywords])
        graph = KeywordGraph({}, {})
        for key, surface in zip(text.keys, text.surfaces, strict=True):
            if key in chosen:
                graph.names.setdefault(key, surface)
        for pair in pairs_within(text, self.window):
            weight = vocabulary.weight(pair)
            if weight >= self.threshold and chosen.issuperset(pair):
                graph.weights[pair] = weight
        return graph

    # -- building ----------------------------------------------------------------------------

    def build(  # type: ignore[override]  # its options are named
        self,
        sources: Sequence[str | Sequence[str]],
        labels: ArrayLike | None = None,
        *,
        graph_Y: ArrayLike | None = None,
        label_names: Sequence[str] | None = None,
        bag_names: Sequence[str] | None = None,
        graph_names: Sequence[str] | None = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> BagDataset:
        """Bags from documents; ``labels`` is a matrix, and the rest is as in `bags_from_texts`."""
        texts = [texts_of(document, number) for number, document in enumerate(_check_documents(sources))]
        every = (text for bag in texts for text in bag)
        graphs, counts = text_graphs(every, self, self.vocabulary, Running(n_jobs, verbose))
        bags = [[graphs[text] for text in bag] for bag in texts]
        ptr = offsets(np.array([len(bag) for bag in bags]))
        if graph_Y is not None:
            graph_Y, _ = check_label_matrix(graph_Y, int(ptr[-1]), "graph_Y", "graph")
            labels = segment_max(graph_Y.astype(np.float64), ptr) if labels is None else labels
        if bag_names is None:
            bag_names = [str(number) for number in range(len(bags))]
        if graph_names is None and len(bag_names) == len(bags):  # if not, BagDataset says what is wrong
            graph_names = [f"{name}:{k}" for name, bag in zip(bag_names, bags, strict=True) for k in range(len(bag))]
        n_empty = sum(not graph.names for bag in bags for graph in bag)
        if self.single_graph:
            bags, ptr = [[join_graphs(bag)] for bag in bags], np.arange(len(bags) + 1)
            graph_Y, graph_names = None, bag_names
        given: dict[str, Any] = {"Y": labels, "graph_Y": graph_Y, "label_names": label_names}
        given |= {"bag_names": bag_names, "graph_names": graph_names, "info": {"n_without_keywords": n_empty}}
        batch = batch_of([graph for bag in bags for graph in bag], self.description)
        return BagDataset(batch, ptr, **given, builder=replace(self, vocabulary=counts.to_json()))

    def rebuild(self, sources: Any, **options: Any) -> BagDataset:
        if self.vocabulary is None:
            raise ValueError("the vocabulary is missing: without it new texts cannot be built as the old ones were.")
        return super().rebuild(sources, **options)

    def from_files(self, given: FileInput) -> BagDataset:
        self.check_version()
        return text_bags(self, given)

    def stream(self, given: FileInput) -> BagStream:
        self.check_version()
        return TextStream(self, given)

    # -- showing and answering ---------------------------------------------------------------

    def show(self, bags: BagDataset, k: int = 0, contributions: FloatArray | None = None, **shown: Any) -> Any:
        return plot_text_bag(bags, k, contributions=contributions, **shown)

    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        assert not isinstance(sent.content, bytes)
        return answer_text(sent.content, self, limits)

    def example(self) -> Question | None:
        return Question("Warm hands. Cold feet.")


def _check_documents(documents: Any) -> list[Any]:
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise TypeError(
            f"documents must be a list of strings or of lists of strings, got {type(documents).__name__}; "
            "for one document pass [text]."
        )
    checked = list(documents)
    if not checked:
        raise ValueError("documents must hold at least one document, got none.")
    return checked

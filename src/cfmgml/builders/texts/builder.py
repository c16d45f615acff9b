"""The kind ``texts``: `TextBuilder`."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from cfmgml.builders.base import Builder
from cfmgml.builders.texts.answering import answer_text
from cfmgml.builders.texts.cooccurrence import Vocabulary, pairs_within
from cfmgml.builders.texts.counting import different_texts
from cfmgml.builders.texts.descriptions import WordDescription, description_names, find_description
from cfmgml.builders.texts.drawing import plot_text_bag
from cfmgml.builders.texts.files import TextOptions, text_bags
from cfmgml.builders.texts.former_sentences import former_sentences
from cfmgml.builders.texts.keyword_graphs import (
    NO_KEYWORD,
    KeywordGraph,
    add_beginnings,
    add_pairs,
    add_repeats,
    batch_of,
    describe_nodes,
    join_graphs,
    placed,
)
from cfmgml.builders.texts.keywords import Reading, Spelling, read_text
from cfmgml.builders.texts.sentences import Splitter, split_sentences, texts_of
from cfmgml.builders.texts.stop_words import ENGLISH, FUNCTION_WORDS, SINGLE_LETTERS, find_stop_words
from cfmgml.builders.texts.stream import TextStream
from cfmgml.builders.texts.text_graphs import Running, text_graphs
from cfmgml.common.segments import lengths, offsets, segment_max
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import PARAMETERS, FileInput, parameter, state
from cfmgml.data.checks import label_codes
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.label_sets import check_label_matrix
from cfmgml.data.questions import Form, InputLimits, Question, Reply
from cfmgml.data.streams import BagStream

RECIPE, FORMER_RECIPE = 3, 2


@dataclass(frozen=True)
class TextBuilder(Builder):
    """Texts as bags of sentences, each a graph of words; `bags_from_texts` says what the parameters mean."""

    kind = "texts"
    version = 2
    command = "text"
    nouns = "texts"
    part = "sentence"
    words = True
    context_scale = "unit"
    form = Form("text", "A text, cut into sentences")
    file_options = TextOptions
    help = (
        "Texts: each becomes a bag, and each of its sentences (or of a list of texts) a graph of words.\n\n"
        "INPUT is a table (JSONL, CSV or Parquet) with a document a row: text, or texts (a list), and if wanted id and "
        "labels; or a folder, a glob or names of .txt files.\n\n\b\nExamples:\n"
        "  cfmgml build text papers.jsonl -o papers.bags\n"
        "  cfmgml build text letters --labels letters.csv --no-stem -o letters.bags\n"
        "  cfmgml build text papers.jsonl --stop-words none --position -o roles.bags\n"
        "  cfmgml build text new.jsonl --like papers.bags -o new_papers.bags\n"
        "  cfmgml build text papers.jsonl --store papers"
    )

    single_graph: bool = parameter(False, "One graph a document.")
    max_keywords: int | None = parameter(
        None, "Most words of a text: those with the largest tf-idf.", least=1, shown="all"
    )
    window: int = parameter(1, "Without pairs: how far apart joined words may stand.", least=1, shown="1")
    threshold: float = parameter(0.0, "Without pairs: least weight of an edge.", least=0, most=1, shown="0")
    stop_words: str | Collection[str] = parameter(
        "english", "Words to leave out: none, a language, or a file.", shown="english"
    )
    stem: bool = parameter(True, "Cut English endings off words.", shown="stem")
    features: str | None = parameter(None, "Describe words by vectors.", choices=description_names)
    pairs: bool = parameter(True, "A node for every two neighbouring words, too.", shown="pairs")
    repeats: bool = parameter(
        True, "Further nodes for a word that comes 2, 4, 8, ... times in a text.", shown="repeats"
    )
    case: bool = parameter(False, "Tell capitals from small letters.")
    numbers: bool = parameter(False, "Words of digits only are words, too.")
    order: bool = parameter(
        False, "Edges go from a word to the next: WeisfeilerLehman(edge_labels='directed') sees it."
    )
    position: bool = parameter(False, "A node that says where a sentence stands: first, last or between.")
    beginnings: int | None = parameter(
        None, "A node for the first letters of longer words, this many.", least=1, shown="none"
    )
    recipe: int = parameter(RECIPE)  # FORMER_RECIPE: sentences and words as version 2 cut them
    features_version: int | None = state("features_version")  # of the description, if there is one
    vocabulary: Mapping[str, Any] | None = state("vocabulary")  # the counts that decide on keywords and edges
    encoder: Json | None = state("encoder")  # what an encoder of the user's is known by
    word_vectors: Json | None = state("word_vectors")  # what a description learned from the texts

    def __post_init__(self) -> None:
        if self.max_keywords is not None and self.max_keywords < 1:
            raise ValueError(f"max_keywords must be at least 1, or None for all, got {self.max_keywords}.")
        if self.beginnings is not None and self.beginnings < 1:
            raise ValueError(f"beginnings must be at least 1 letter, or None for none, got {self.beginnings}.")
        if self.window < 1:
            raise ValueError(f"window must be at least 1 (neighbouring words), got {self.window}.")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, as the weights are, got {self.threshold}.")
        if self.pairs and (self.window > 1 or self.threshold):
            raise ValueError("window and threshold are for words joined by edges: pass pairs=False with them.")
        if self.recipe not in (RECIPE, FORMER_RECIPE):
            raise ValueError(f"recipe must be {RECIPE}, or {FORMER_RECIPE} for the former one, got {self.recipe!r}.")
        object.__setattr__(self, "stop_words", find_stop_words(self.stop_words))
        if self.features is not None and self.features_version is None:
            described = find_description(self.features)
            object.__setattr__(self, "features_version", described.version)
            object.__setattr__(self, "encoder", described.identity())

    @classmethod
    def from_told(cls, info: Mapping[str, Any]) -> Self:
        named = info.get(PARAMETERS, {})
        if not isinstance(named, Mapping):
            return super().from_told(info)
        told = {"recipe": FORMER_RECIPE, "pairs": False, "repeats": False, **named}
        if isinstance(told.get("stop_words"), str) and told["stop_words"] != ENGLISH:  # a file could name another one
            raise ValueError(f"bags of {cls.kind} must hold their stop words themselves, got {told['stop_words']!r}.")
        return super().from_told({**info, PARAMETERS: told})

    @cached_property
    def stops(self) -> frozenset[str]:
        stops = FUNCTION_WORDS if isinstance(self.stop_words, str) else frozenset(self.stop_words)
        return stops if self.recipe == RECIPE else stops | SINGLE_LETTERS

    @property
    def spelling(self) -> Spelling:
        return Spelling(self.stem, self.case, self.numbers, self.recipe == RECIPE, self.beginnings)

    @property
    def split(self) -> Splitter:
        return split_sentences if self.recipe == RECIPE else former_sentences

    @property
    def counted(self) -> bool:
        """Whether graphs depend on how often words occur in all texts."""
        return self.recipe != RECIPE or self.max_keywords is not None or self.threshold > 0

    @property
    def suited_kernel(self) -> Mapping[str, Any]:
        """Frequent words say little; where pairs are nodes, nothing is seen by looking around, and many are rare."""
        words = {"n_iter": 0, "tfidf": True, "min_graphs": 2} if self.pairs else {"n_iter": 1, "tfidf": True}
        if self.features is None or self.encoder is not None:
            return words
        return {**words, "node_kernel": find_description(self.features).node_kernel}

    @property
    def description(self) -> WordDescription | None:
        """What the attributes of nodes are, with what it has learned; None if they have none."""
        if self.features is None:
            return None
        found = find_description(self.features)
        return found if self.word_vectors is None else found.recalling(self.word_vectors)

    @property
    def gamma(self) -> float | None:
        if self.encoder is not None:  # also where that encoder is not known
            return float(self.encoder["gamma"])
        return None if self.features is None else find_description(self.features).gamma

    def check_version(self) -> None:
        super().check_version()
        if self.encoder is not None and not find_description(self.features or "").is_like(self.encoder):
            raise ValueError(
                f"these texts were described by the encoder {self.encoder['name']!r}, and what has that name here "
                "gives other vectors: use the encoder and weights that trained the model, or train anew."
            )

    def having_learned(self, texts: Iterable[str]) -> Self:
        """The builder with what its description learns from texts, if it does and has not yet."""
        described = None if self.features is None else find_description(self.features)
        if described is None or not described.learns or self.word_vectors is not None:
            return self
        return replace(self, word_vectors=described.learn(self.words_of(one).keys for one in different_texts(texts)))

    def blank(self, graphs: GraphBatch) -> BoolArray | None:
        """Texts without words."""
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
        return read_text(text, self.spelling, self.stops, self.window, self.split)

    def graph_of(self, text: Reading, vocabulary: Vocabulary | None) -> KeywordGraph:
        """The words, or those with the largest tf-idf, in order, and what joins those that stand close."""
        chosen = dict.fromkeys(text.keys)  # in the order in which they occur, so that ties go to the first
        if self.max_keywords is not None and len(chosen) > self.max_keywords:
            assert vocabulary is not None
            counts = Counter(text.keys)
            chosen = dict.fromkeys(
                sorted(chosen, key=lambda key: -counts[key] * vocabulary.idf(key))[: self.max_keywords]
            )
        graph = KeywordGraph({}, {})
        for key, surface in zip(text.keys, text.surfaces, strict=True):
            if key in chosen:
                graph.names.setdefault(key, surface)
        if self.repeats:
            add_repeats(graph, text)
        if self.beginnings is not None:
            add_beginnings(graph, text, self.beginnings)
        if self.pairs:
            add_pairs(graph, text)
            return graph
        for pair in pairs_within(text, self.window, self.order):
            weight = 1.0 if vocabulary is None else vocabulary.weight(pair)
            if weight >= self.threshold and pair[0] in chosen and pair[1] in chosen:
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
        text: bool = True,
        n_jobs: int | None = None,
        verbose: bool | None = None,
    ) -> BagDataset:
        """Bags from documents; ``labels`` is a matrix, and the rest is as in `bags_from_texts`."""
        texts = [texts_of(document, number, self.split) for number, document in enumerate(_check_documents(sources))]
        every = (one for bag in texts for one in bag)
        graphs, counts = text_graphs(every, self, self.vocabulary, Running(n_jobs, verbose))
        bags = [[graphs[one] for one in bag] for bag in texts]
        ptr = offsets(np.array([len(bag) for bag in bags]))
        if graph_Y is not None:
            graph_Y, _ = check_label_matrix(graph_Y, int(ptr[-1]), "graph_Y", "graph")
            labels = segment_max(graph_Y.astype(np.float64), ptr) if labels is None else labels
        if bag_names is None:
            bag_names = [str(number) for number in range(len(bags))]
        if graph_names is None and len(bag_names) == len(bags):  # if not, BagDataset says what is wrong
            graph_names = [f"{name}:{k}" for name, bag in zip(bag_names, bags, strict=True) for k in range(len(bag))]
        if self.single_graph:
            bags, ptr = [[join_graphs(bag)] for bag in bags], np.arange(len(bags) + 1)
            graph_Y, graph_names, texts = None, bag_names, [["\n".join(bag)] for bag in texts]
        elif self.position:
            bags = [[placed(graph, k, len(bag)) for k, graph in enumerate(bag)] for bag in bags]
        n_empty = sum(not graph.names for bag in bags for graph in bag)
        given: dict[str, Any] = {"Y": labels, "graph_Y": graph_Y, "label_names": label_names}
        given |= {"bag_names": bag_names, "graph_names": graph_names, "info": {"n_without_keywords": n_empty}}
        flat = [one for bag in texts for one in bag]
        given["graph_texts"] = flat if text else None
        every_graph = [graph for bag in bags for graph in bag]
        batch = batch_of(every_graph, self.counted, self.order)
        own = self.having_learned(flat)
        if own.description is not None:
            batch = replace(batch, node_attributes=describe_nodes(own.description, every_graph, flat))
        vocabulary = None if counts is None else counts.to_json()
        return BagDataset(batch, ptr, **given, builder=replace(own, vocabulary=vocabulary))

    def rebuild(self, sources: Any, **options: Any) -> BagDataset:
        if self.vocabulary is None and self.counted:
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

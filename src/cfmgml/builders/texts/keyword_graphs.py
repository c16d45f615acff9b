"""Graphs of keywords: the recipe for one text, graphs joined, and many as a `GraphBatch`."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from cfmgml.builders.texts.cooccurrence import Pair, Vocabulary, pairs_within
from cfmgml.builders.texts.keywords import STOP_WORDS, Reading, Word, read_text, words
from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.graphs import GraphBatch, label_codes

RECIPE_VERSION = 2  # of what makes graphs of texts; part of every cache key
NO_KEYWORD = "(no keyword)"  # no word of a text has brackets or a space in it


class KeywordGraph(NamedTuple):
    """Keywords by key, each with the spelling met first, and the fuzzy weights between them."""

    names: dict[str, str]
    weights: dict[Pair, float]


@dataclass(frozen=True)
class Recipe:
    """How a text becomes a graph of keywords; `bags_from_texts` says what the parameters mean."""

    max_keywords: int | None = 40
    window: int = 2
    threshold: float = 0.1
    stop_words: Literal["english"] | Collection[str] = "english"
    stem: bool = True

    def __post_init__(self) -> None:
        if self.max_keywords is not None and self.max_keywords < 1:
            raise ValueError(f"max_keywords must be at least 1, or None for all, got {self.max_keywords}.")
        if self.window < 1:
            raise ValueError(f"window must be at least 1 (neighbouring content words), got {self.window}.")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, as the weights are, got {self.threshold}.")
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ValueError(f"stop_words must be 'english' or a list of words, got the string {self.stop_words!r}.")

    @cached_property
    def stops(self) -> frozenset[str]:
        return (
            STOP_WORDS if isinstance(self.stop_words, str) else frozenset(word.casefold() for word in self.stop_words)
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """As JSON can hold them."""
        stop_words = self.stop_words if isinstance(self.stop_words, str) else sorted(self.stops)
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, "stop_words": stop_words}

    def read(self, text: str) -> Reading:
        return read_text(text, stem=self.stem, stop_words=self.stops, gap=self.window)

    def graph(self, text: Reading, vocabulary: Vocabulary) -> KeywordGraph:
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


def join_graphs(graphs: Iterable[KeywordGraph]) -> KeywordGraph:
    """One graph of all keywords and pairs; a pair weighs the same in every text."""
    joined = KeywordGraph({}, {})
    for graph in graphs:
        for key, name in graph.names.items():
            joined.names.setdefault(key, name)
        joined.weights.update(graph.weights)
    return joined


def batch_of(graphs: Sequence[KeywordGraph]) -> GraphBatch:
    """The keys' codes are node labels, and edges go both ways; a graph without keywords gets one node that says so."""
    keys: list[str] = []
    names: list[str] = []
    edges: list[tuple[int, int]] = []
    weights: list[float] = []
    for graph in graphs:
        place = {key: len(keys) + number for number, key in enumerate(graph.names)}
        keys += list(graph.names) or [NO_KEYWORD]
        names += list(graph.names.values()) or [NO_KEYWORD]
        ends = [(place[first], place[second]) for first, second in graph.weights]
        edges += ends + [(second, first) for first, second in ends]
        weights += 2 * list(graph.weights.values())
    return GraphBatch(
        node_ptr=offsets(np.array([max(len(graph.names), 1) for graph in graphs])),
        edge_ptr=offsets(np.array([2 * len(graph.weights) for graph in graphs])),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        node_labels=label_codes(keys),
        edge_weights=np.array(weights),
        node_names=np.array(names),
    )


def find_nodes(text: str, node_labels: IntArray, stem: bool) -> list[tuple[Word, int]]:
    """The words of a text that are nodes of its graph, each with its node's position among ``node_labels``.

    >>> [(word.surface, node) for word, node in find_nodes("Gene, genes.", label_codes(["cell", "gene"]), stem=True)]
    [('Gene', 1), ('genes', 1)]
    """
    found = words(text, stem)
    codes = label_codes([word.key for word in found]).tolist() if found else []
    node_of = {code: node for node, code in enumerate(node_labels.tolist())}
    return [(word, node_of[code]) for word, code in zip(found, codes, strict=True) if code in node_of]

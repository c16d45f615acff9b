"""Graphs of keywords: joined, and many as a `GraphBatch`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cfmgml.builders.texts.cooccurrence import Pair
from cfmgml.builders.texts.descriptions import WordDescription
from cfmgml.builders.texts.keywords import Word, words
from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.graphs import GraphBatch, label_codes

NO_KEYWORD = "(no keyword)"  # no word of a text has brackets or a space in it


class KeywordGraph(NamedTuple):
    """Keywords by key, each with the spelling met first, and the fuzzy weights between them."""

    names: dict[str, str]
    weights: dict[Pair, float]


def join_graphs(graphs: Iterable[KeywordGraph]) -> KeywordGraph:
    """One graph of all keywords and pairs; a pair weighs the same in every text."""
    joined = KeywordGraph({}, {})
    for graph in graphs:
        for key, name in graph.names.items():
            joined.names.setdefault(key, name)
        joined.weights.update(graph.weights)
    return joined


def batch_of(graphs: Sequence[KeywordGraph], description: WordDescription | None = None) -> GraphBatch:
    """The keys' codes are node labels, and edges go both ways; a graph without keywords gets one node that says so.

    A description of words makes node attributes.
    """
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
    attributes = None
    if description is not None:
        different, place_of = np.unique(keys, return_inverse=True)
        attributes = description.describe(different.tolist())[place_of]
    return GraphBatch(
        node_ptr=offsets(np.array([max(len(graph.names), 1) for graph in graphs])),
        edge_ptr=offsets(np.array([2 * len(graph.weights) for graph in graphs])),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        node_labels=label_codes(keys),
        node_attributes=attributes,
        edge_weights=np.array(weights),
        node_names=np.array(names),
    )


def find_nodes(text: str, node_labels: IntArray, stem: bool) -> list[tuple[Word, int]]:
    """The words of a text that are nodes of its graph, each with its node's position among ``node_labels``.

    >>> [(word.surface, node) for word, node in find_nodes("Gene, genes.", label_codes(["cell", "gene"]), stem=True)]
    [('Gene', 1), ('genes', 1)]
    """
    spelt = words(text, stem)
    codes = label_codes([word.key for word in spelt]).tolist() if spelt else []
    node_of = {code: node for node, code in enumerate(node_labels.tolist())}
    return [(word, node_of[code]) for word, code in zip(spelt, codes, strict=True) if code in node_of]

"""Graphs of keywords: joined, and many as a `GraphBatch`."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cfmgml.builders.texts.cooccurrence import Pair
from cfmgml.builders.texts.descriptions import WordDescription
from cfmgml.builders.texts.keywords import Reading, Spelling, Word, words
from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.checks import label_code, label_codes
from cfmgml.data.graphs import GraphBatch

NO_KEYWORD = "(no keyword)"  # no word of a text has brackets or a space in it
FIRST, MIDDLE, LAST = "(first)", "(middle)", "(last)"
LONGEST_NAME = 64  # names of all nodes take the room of the longest


class KeywordGraph(NamedTuple):
    """Words, and pairs of them, by key, each with the spelling met first; and the weights of what joins them."""

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


def add_pairs(graph: KeywordGraph, text: Reading) -> None:
    """A node for every two words of the graph that stand side by side in the text, between the two.

    >>> graph = KeywordGraph({"not": "not", "good": "good"}, {})
    >>> add_pairs(graph, Reading(["not", "good"], ["not", "good"], [0, 1]))
    >>> list(graph.names), list(graph.weights)
    (['not', 'good', 'not good'], [('not', 'not good'), ('not good', 'good')])
    """
    names, weights = graph
    for (key, name, place), (next_key, next_name, next_place) in pairwise(zip(*text, strict=True)):
        if next_place == place + 1 and key in names and next_key in names:
            both = f"{key} {next_key}"
            if both not in names:
                names[both] = f"{name} {next_name}"
                weights[key, both] = weights[both, next_key] = 1.0


def add_repeats(graph: KeywordGraph, text: Reading) -> None:
    """Nodes that say that a word of the graph comes at least 2, 4, 8, ... times: so counts are seen as their logarithm.

    >>> graph = KeywordGraph({"cell": "cell"}, {})
    >>> add_repeats(graph, Reading(["cell"] * 5, ["cell"] * 5, [0, 1, 2, 3, 4]))
    >>> list(graph.names)
    ['cell', 'cell ×2', 'cell ×4']
    """
    if len(set(text.keys)) == len(text.keys):
        return
    for key, count in Counter(text.keys).items():
        if count > 1 and key in graph.names:
            for times in (2**power for power in range(1, count.bit_length())):
                graph.names[f"{key} ×{times}"] = f"{graph.names[key]} ×{times}"


def add_beginnings(graph: KeywordGraph, text: Reading, length: int) -> None:
    """A node for the first letters of every longer word of the graph, which words of one family share.

    >>> graph = KeywordGraph({"angiogen": "angiogenesis", "gene": "gene"}, {})
    >>> add_beginnings(graph, Reading(["angiogen", "gene"], ["angiogenesis", "gene"], [0, 1]), 5)
    >>> list(graph.names)
    ['angiogen', 'gene', 'angio…']
    """
    for key, surface in zip(text.keys, text.surfaces, strict=True):
        name = beginning(surface, length)
        if name is not None and key in graph.names:
            graph.names.setdefault(name, name)


def beginning(surface: str, length: int) -> str | None:
    """The key of a word's first letters, which no word has; None for a word of no more letters."""
    return f"{surface[:length]}…" if len(surface) > length else None


def placed(graph: KeywordGraph, number: int, n_texts: int) -> KeywordGraph:
    """With a node that says where in its document a text stands; one without words stays as it is."""
    place = FIRST if number == 0 else LAST if number == n_texts - 1 else MIDDLE
    return KeywordGraph({**graph.names, place: place}, graph.weights) if graph.names else graph


def describe_nodes(description: WordDescription, graphs: Sequence[KeywordGraph], texts: Sequence[str]) -> FloatArray:
    """Node attributes of the graphs of these texts, in the order of `batch_of`."""
    if description.sees == "whole":
        different, place_of = np.unique(np.array(texts, dtype=object), return_inverse=True)
        sizes = [max(len(graph.names), 1) for graph in graphs]
        return description.describe(different.tolist())[np.repeat(place_of, sizes)]
    words: list[str] = []
    for graph in graphs:
        words += list(graph.names if description.sees == "keys" else graph.names.values()) or [NO_KEYWORD]
    different, place_of = np.unique(np.array(words, dtype=object), return_inverse=True)
    return description.describe(different.tolist())[place_of]


def batch_of(graphs: Sequence[KeywordGraph], weighted: bool, ordered: bool) -> GraphBatch:
    """The keys' codes are node labels; a graph without keywords gets one node that says so.

    Edges that are weighted go both ways; others stand once, and where order counts they have a label, so that it can
    be seen.
    """
    keys: list[str] = []
    names: list[str] = []
    edges: list[tuple[int, int]] = []
    weights: list[float] = []
    sizes: list[int] = []
    for graph in graphs:
        place = {key: len(keys) + number for number, key in enumerate(graph.names)}
        keys += list(graph.names) or [NO_KEYWORD]
        names += list(graph.names.values()) or [NO_KEYWORD]
        ends = [(place[first], place[second]) for first, second in graph.weights]
        both_ways = weighted and not ordered
        edges += ends + [(second, first) for first, second in ends] if both_ways else ends
        weights += (1 + both_ways) * list(graph.weights.values())
        sizes.append((1 + both_ways) * len(ends))
    return GraphBatch(
        node_ptr=offsets(np.array([max(len(graph.names), 1) for graph in graphs])),
        edge_ptr=offsets(np.array(sizes)),
        edges=np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        node_labels=_codes(keys),
        edge_weights=np.array(weights) if weighted else None,
        node_names=np.array(names if weighted else [_shown(name) for name in names]),
        edge_labels=np.zeros(len(edges), dtype=np.int64) if ordered else None,
    )


def _shown(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _codes(keys: Sequence[str]) -> IntArray:
    """As `label_codes`, which sorts: most keys come many times, and that would take longest."""
    code = {key: label_code(key) for key in dict.fromkeys(keys)}
    return np.array([code[key] for key in keys], dtype=np.int64)


def word_values(text: str, node_labels: IntArray, values: FloatArray, spelling: Spelling) -> list[tuple[Word, float]]:
    """The words of a text that are nodes of its graph, each with what its node adds, the nodes that say how often it
    comes and how it begins, and half of its pairs."""
    found = [word for word, _ in find_nodes(text, node_labels, spelling)]
    value_of = dict(zip(node_labels.tolist(), values.tolist(), strict=True))

    def told(keys: list[str]) -> list[float]:
        return [value_of.get(code, 0.0) for code in _codes(keys).tolist()]

    own = dict.fromkeys(dict.fromkeys(word.key for word in found), 0.0)
    for times in (1, *(2**power for power in range(1, len(found).bit_length()))):
        for key, value in zip(own, told([key if times == 1 else f"{key} ×{times}" for key in own]), strict=True):
            own[key] += value
    halves = [0.0, *(value / 2 for value in told([f"{one.key} {two.key}" for one, two in pairwise(found)])), 0.0]
    length = spelling.beginnings
    shown = [word.surface if spelling.case else word.surface.casefold() for word in found]
    begun = [0.0] * len(found) if length is None else told([beginning(one, length) or NO_KEYWORD for one in shown])
    return [(word, own[word.key] + begun[k] + halves[k] + halves[k + 1]) for k, word in enumerate(found)]


def find_nodes(text: str, node_labels: IntArray, spelling: Spelling) -> list[tuple[Word, int]]:
    """The words of a text that are nodes of its graph, each with its node's position among ``node_labels``.

    >>> codes = label_codes(["cell", "gene"])
    >>> [(word.surface, node) for word, node in find_nodes("Gene, genes.", codes, Spelling(stem=True))]
    [('Gene', 1), ('genes', 1)]
    """
    spelt = words(text, spelling)
    codes = label_codes([word.key for word in spelt]).tolist() if spelt else []
    node_of = {code: node for node, code in enumerate(node_labels.tolist())}
    return [(word, node_of[code]) for word, code in zip(spelt, codes, strict=True) if code in node_of]

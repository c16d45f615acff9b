"""Texts that a model has not seen, as a part of a page: what it says of every sentence, and which words decided."""

from collections.abc import Mapping
from html import escape

import numpy as np

from cfmgml.builders.texts.keyword_graphs import word_values
from cfmgml.builders.texts.keywords import PLAIN, Spelling
from cfmgml.common.segments import segment_max
from cfmgml.common.typing import BoolArray, FloatArray, NameArray
from cfmgml.paper.contact_sheets import Shown

FAINT = 0.08  # of the loudest word of a text: what is softer is not marked
LEGEND = (
    "<p class=muted>Under every sentence stand the labels that are predicted, with their scores, and the true ones. "
    "<mark class=for>Such words</mark> speak for the sentence’s best label, <mark class=against>such</mark> against "
    "it: the darker, the louder.</p>"
)


def marked_texts(shown: Shown, texts: Mapping[str, str]) -> str:
    """All bags that are shown, as HTML; ``texts`` by graph name."""
    bags = shown.bags
    best = segment_max(shown.scores, bags.bag_ptr)
    assert bags.label_names is not None
    assert bags.Y is not None
    parts = []
    for bag, (start, stop) in enumerate(zip(bags.bag_ptr[:-1].tolist(), bags.bag_ptr[1:].tolist(), strict=True)):
        name = str(bag) if bags.bag_names is None else str(bags.bag_names[bag])
        told = _told(bags.label_names, best[bag], bags.Y[bag])
        lines = "".join(_sentence(shown, graph, texts) for graph in range(start, stop))
        parts.append(f"<article class=reading><h3>{escape(name)}: {told}</h3>{lines}</article>")
    return f"<p class=muted>{escape(shown.summary)}.</p>{LEGEND}{''.join(parts)}"


def _sentence(shown: Shown, graph: int, texts: Mapping[str, str]) -> str:
    bags = shown.bags
    assert bags.graph_names is not None
    assert bags.label_names is not None
    assert bags.graph_Y is not None
    told = _told(bags.label_names, shown.scores[graph], bags.graph_Y[graph])
    return f"<p>{_marked(shown, graph, texts[str(bags.graph_names[graph])])}<br><small>{told}</small></p>"


def _told(names: NameArray, scores: FloatArray, truth: BoolArray) -> str:
    """What is predicted, the best first, and what is true."""
    order = [c for c in np.argsort(-scores, kind="stable").tolist() if scores[c] > 0]
    predicted = ", ".join(f"{names[c]} {scores[c]:+.2f}" for c in order) or "none"
    right = ", ".join(names[truth].tolist()) or "none"
    kind = "right" if set(order) == set(np.flatnonzero(truth).tolist()) else "wrong"
    return f"<span class={kind}>predicted {escape(predicted)}; true {escape(right)}</span>"


def _marked(shown: Shown, graph: int, text: str) -> str:
    """A sentence with its words marked by what they add to its best label."""
    graphs = shown.bags.graphs
    assert graphs.node_labels is not None
    nodes = slice(*graphs.node_ptr[graph : graph + 2].tolist())
    spelling: Spelling = getattr(shown.bags.builder, "spelling", PLAIN)
    values = shown.contributions[nodes, int(shown.scores[graph].argmax())]
    found = word_values(text, graphs.node_labels[nodes], values, spelling)
    loudest = max((abs(value) for _, value in found), default=0.0) or 1.0
    parts, done = [], 0
    for word, value in found:
        if abs(value) < FAINT * loudest:
            continue
        side = "for" if value > 0 else "against"
        mark = f'<mark class={side} style="--strength:{abs(value) / loudest:.2f}">'
        parts += [escape(text[done : word.start]), mark, escape(text[word.start : word.stop]), "</mark>"]
        done = word.stop
    return "".join(parts) + escape(text[done:])

"""Texts with what was predicted of them, and the words that decided, as a page or as Markdown: `write_coloured`."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cfmgml.builders.texts.keyword_graphs import word_values
from cfmgml.builders.texts.keywords import PLAIN, Spelling
from cfmgml.common.files import atomic_write
from cfmgml.common.segments import segment_max
from cfmgml.common.typing import FloatArray, NameArray
from cfmgml.data.bags import BagDataset

FORMS = (".html", ".md")
STRONG = 0.5  # of the strongest word of a text: written in bold
SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&-])")
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<style>
:root {{ --paper: #fff; --ink: #111; --quiet: #555; --most: .8; background: var(--paper); color: var(--ink); }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --paper: #121212; --ink: #eee; --quiet: #aaa; --most: .45; }}
}}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
main {{ overflow-wrap: anywhere; }}
mark {{ color: var(--ink); border-radius: 3px; padding: 0 1px; print-color-adjust: exact; }}
.for {{ background: rgba(230, 159, 0, calc(var(--most) * var(--strength))); }}
.against {{ background: rgba(86, 180, 233, calc(var(--most) * var(--strength))); }}
small {{ color: var(--quiet); }}
@media (forced-colors: active) {{ .for::after {{ content: "+"; }} .against::after {{ content: "\\2212"; }} }}
</style>
<main>
<h1>{title}</h1>
<p><small>Under each text its labels with their scores. Words on
<mark class="for" style="--strength: 1">orange</mark> speak for its best label, words on
<mark class="against" style="--strength: 1">blue</mark> against it.</small></p>
{body}
</main>
</html>
"""


class Piece(NamedTuple):
    """A stretch of a text, and how loudly it speaks for the label, from -1 to 1; 0 for what is no word of a graph."""

    text: str
    value: float


def check_form(path: Path) -> None:
    """Raise unless this is a name that `write_coloured` can write."""
    if path.suffix not in FORMS:
        raise ValueError(f"coloured texts are written as {' or '.join(FORMS)}, got {path.name!r}.")


def write_coloured(
    bags: BagDataset,
    label_names: NameArray,
    scores: FloatArray,
    contributions: FloatArray,
    path: str | Path,
    thresholds: FloatArray | float = 0.0,
) -> None:
    """Write every text of bags with its predicted labels, and its words coloured by what they add to the best one's.

    Parameters
    ----------
    bags
        With ``graph_texts``.
    scores, contributions
        (n_graphs, n_labels) and (n_nodes, n_labels), as `CfMGML.decision_function_graphs` and `CfMGML.explain` have
        them. What a pair of words adds counts half for each.
    thresholds
        The scores above which labels are predicted, ``model.thresholds_``.
    path
        ``.html``, or ``.md``, where the words that speak loudest for the label are bold.
    """
    path = Path(path)
    check_form(path)
    if bags.graph_texts is None:
        raise ValueError("these bags have no texts to colour: build them from texts, and without --no-text.")
    best = segment_max(scores, bags.bag_ptr)
    parts = []
    for number, (start, stop) in enumerate(zip(bags.bag_ptr[:-1].tolist(), bags.bag_ptr[1:].tolist(), strict=True)):
        name = str(number) if bags.bag_names is None else str(bags.bag_names[number])
        texts = [
            (_pieces(bags, k, scores[k], contributions), _told(label_names, scores[k], thresholds))
            for k in range(start, stop)
        ]
        parts.append((name, _told(label_names, best[number], thresholds), texts))
    write = _as_html if path.suffix == ".html" else _as_markdown
    with atomic_write(path) as stream:
        stream.write(write(path.stem, parts).encode("utf-8", "replace"))


Part = tuple[str, str, list[tuple[list[Piece], str]]]


def _told(names: NameArray, scores: FloatArray, thresholds: FloatArray | float) -> str:
    """The predicted labels with their scores, the best first."""
    order = [c for c in np.argsort(-scores, kind="stable").tolist() if (scores > thresholds)[c]]
    return ", ".join(f"{names[c]} {scores[c]:+.2f}" for c in order) or "no label"


def _pieces(bags: BagDataset, graph: int, scores: FloatArray, contributions: FloatArray) -> list[Piece]:
    assert bags.graph_texts is not None
    assert bags.graphs.node_labels is not None
    text = str(bags.graph_texts[graph])
    nodes = slice(*bags.graphs.node_ptr[graph : graph + 2].tolist())
    spelling: Spelling = getattr(bags.builder, "spelling", PLAIN)
    values = contributions[nodes, int(scores.argmax())]
    found = word_values(text, bags.graphs.node_labels[nodes], values, spelling)
    loudest = max((abs(value) for _, value in found), default=0) or 1
    pieces, done = [], 0
    for word, value in found:
        pieces += [Piece(text[done : word.start], 0), Piece(text[word.start : word.stop], value / loudest)]
        done = word.stop
    return [*pieces, Piece(text[done:], 0)]


def _as_html(title: str, parts: list[Part]) -> str:
    def lines() -> Iterator[str]:
        for name, told, texts in parts:
            yield f"<h2>{html.escape(name)}</h2>\n<p><small>{html.escape(told)}</small></p>"
            for pieces, own in texts:
                yield f'<p dir="auto">{"".join(map(_marked, pieces))}<br><small>{html.escape(own)}</small></p>'

    return PAGE.format(title=html.escape(title), body="\n".join(lines()))


def _marked(piece: Piece) -> str:
    shown = html.escape(piece.text)
    if not piece.value:
        return shown
    way = "for" if piece.value > 0 else "against"
    return f'<mark class="{way}" style="--strength: {abs(piece.value):.2f}">{shown}</mark>'


def _as_markdown(title: str, parts: list[Part]) -> str:
    def lines() -> Iterator[str]:
        yield f"# {_plain(title)}"
        for name, told, texts in parts:
            yield f"\n## {_plain(name)}\n{_plain(told)}\n"
            for pieces, own in texts:
                yield f"- {''.join(map(_bold, pieces))} *{_plain(own)}*"

    return "\n".join(lines()) + "\n"


def _bold(piece: Piece) -> str:
    return f"**{_plain(piece.text)}**" if piece.value >= STRONG else _plain(piece.text)


def _plain(text: str) -> str:
    return SPECIAL.sub(r"\\\1", " ".join(text.split("\n")))

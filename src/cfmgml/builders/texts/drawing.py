"""A bag of texts as a picture: the texts with their deciding words marked, and the keyword graph of one of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.builders.texts.keyword_graphs import word_values
from cfmgml.builders.texts.keywords import Spelling
from cfmgml.common.typing import BoolArray, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.plots.graphs import decider, draw_graph
from cfmgml.plots.shown import UNKNOWN, Shown, heat_colour, import_pyplot, select_bag, strongest
from cfmgml.plots.text_flow import Block, Mark, draw_blocks, drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_text_bag(
    bags: BagDataset,
    bag: int = 0,
    *,
    texts: Sequence[str] | Mapping[str, str] | None = None,
    scores: FloatArray | None = None,
    contributions: FloatArray | None = None,
    label: int | str | None = None,
    thresholds: FloatArray | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a bag of `bags_from_texts`: on the left its texts, on the right the keyword graph of the text that decides.

    Over each text stands what was predicted and what is true (green if the best label is right, red if not, also where
    one is predicted and none is true). Keywords are shaded; with contributions, red words speak for the label and blue
    words against it. The graph is the one that scores best for the label, its words in a circle in the order of the
    text, its edges as wide as their weights.

    Parameters
    ----------
    bags, bag, scores, contributions, label, thresholds, ax
        As in `cfmgml.plots.plot_bag`. Set the size of ``ax`` before: lines are broken to fit.
    texts
        The bag's texts, in order; or texts by graph name, as `load_hallmarks_texts` gives them. Without them,
        those that the bags keep are shown, or else each text's words.

    Examples
    --------
    >>> from cfmgml.builders.texts.texts import bags_from_texts
    >>> documents = ["Gene expression rises. Tumour cells grow."]
    >>> bags = bags_from_texts(documents, graph_Y=[[0], [1]], label_names=["growth"])
    >>> ax = plot_text_bag(bags, 0, texts=["Gene expression rises.", "Tumour cells grow."])
    >>> ax.get_title(loc="left")
    'bag 0; words for growth'
    """
    plt = import_pyplot()
    shown = select_bag(bags, bag, scores, contributions, label, thresholds)
    if ax is None:
        ax = plt.figure(figsize=(13, 6.5)).add_axes((0.02, 0.02, 0.96, 0.88))
    ax.set_axis_off()
    title = "bag" if shown.bag.bag_names is None else f"bag {shown.bag.bag_names[0]}"
    title += f"; words for {shown.label_name}" if shown.label_name else ""
    ax.set_title(drawable(title), loc="left", fontsize=10, parse_math=False)
    draw_blocks(ax.inset_axes((0.0, 0.0, 0.6, 1.0)), _blocks(shown, _texts_of(shown.bag, texts)))
    number = decider(shown)
    draw_graph(ax.inset_axes((0.62, 0.0, 0.38, 1.0)), shown, number, f"text {number + 1}", "keywords")
    return ax


# -- what is shown ---------------------------------------------------------------------------


def _texts_of(one: BagDataset, texts: Sequence[str] | Mapping[str, str] | None) -> list[str] | None:
    if texts is None:
        return None if one.graph_texts is None else one.graph_texts.tolist()
    if isinstance(texts, Mapping):
        names = [] if one.graph_names is None else one.graph_names.tolist()
        missing = [name for name in names if name not in texts]
        if missing or not names:
            raise ValueError(f"texts must have every graph name of the bag; there is no text for {missing[:3]}.")
        return [texts[name] for name in names]
    if isinstance(texts, str) or (one.n_graphs > 1 and len(texts) != one.n_graphs):
        got = "one string" if isinstance(texts, str) else f"{len(texts)} of them"
        raise ValueError(f"texts must be a list of the bag's {one.n_graphs} texts, got {got}.")
    return list(texts)


def _verdict(shown: Shown, scores: FloatArray | None, truth: BoolArray | None) -> tuple[str, str]:
    """What was predicted and what is true, and the colour that says whether they agree."""
    names = shown.bag.label_names
    if names is None:
        return "", UNKNOWN
    parts, colour = [], UNKNOWN
    if scores is not None:
        order = np.argsort(-scores, kind="stable")
        predicted = [f"{names[c]} {scores[c]:+.2f}" for c in order if shown.predicted(scores)[c]]
        parts.append("predicted " + (", ".join(predicted) or f"none (best {names[order[0]]} {scores[order[0]]:+.2f})"))
        colour = shown.verdict(scores, truth)
    if truth is not None:
        parts.append("true " + (", ".join(names[truth].tolist()) or "none"))
    return " | ".join(parts), colour


# -- texts -----------------------------------------------------------------------------------


def _blocks(shown: Shown, texts: list[str] | None) -> list[Block]:
    graphs = shown.bag.graphs
    if texts is None:
        assert graphs.node_names is not None
        texts = [" ".join(graph.node_names.tolist()) for graph in graphs]  # type: ignore[union-attr]
    owner = list(range(len(texts))) if graphs.n_graphs > 1 else [0] * len(texts)
    largest = strongest(shown)
    best = None if shown.scores is None else shown.scores.max(axis=0)
    verdict, colour = _verdict(shown, best, None if shown.bag.Y is None else shown.bag.Y[0])
    blocks = [Block(f"bag | {verdict}", colour, "", [])] if verdict else []
    for number, (text, graph) in enumerate(zip(texts, owner, strict=True)):
        verdict, colour = "", UNKNOWN
        if number == graph:
            scores = None if shown.scores is None else shown.scores[graph]
            verdict, colour = _verdict(shown, scores, shown.truth(graph))
        header = " | ".join(part for part in (f"{number + 1}", verdict) if part)
        blocks.append(Block(header, colour, text, _marks(shown, graph, text, largest)))
    return blocks


def _marks(shown: Shown, graph: int, text: str, largest: float) -> list[Mark]:
    spelling = getattr(shown.bag.builder, "spelling", Spelling())
    values, labels = shown.of_nodes(graph), shown.bag.graphs[graph].node_labels
    assert labels is not None
    return [
        Mark(word.start, word.stop, heat_colour(value, largest))
        for word, value in word_values(text, labels, values, spelling)
    ]

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch, Rectangle

from cfmgml.builders.texts.drawing import plot_text_bag
from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.plots.shown import NEUTRAL, RIGHT, UNKNOWN, WRONG
from cfmgml.plots.text_flow import flow

TEXTS = ["Gene expression rises.", "Tumour cells migrate; cells are migrating."]


def word_bags(documents, *labels, **options):
    """Without nodes for pairs of words, and without texts, which tests give."""
    return bags_from_texts(documents, *labels, **{"pairs": False, "repeats": False, "text": False, **options})


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def bags():
    return word_bags([["Nothing here."], TEXTS], graph_Y=[[0, 0], [1, 0], [0, 1]], label_names=["genes", "spread"])


def panels(ax):
    """The panel of the texts and that of the graph."""
    return ax.child_axes


def marks(ax):
    return [patch for patch in panels(ax)[0].patches if isinstance(patch, Rectangle)]


def test_every_keyword_is_marked_in_the_text_and_is_a_node(bags):
    ax = plot_text_bag(bags, 1, texts=TEXTS)
    assert [mark.get_width() for mark in marks(ax)] == [4, 10, 5, 6, 5, 7, 5, 9]
    assert {mark.get_facecolor() for mark in marks(ax)} == {to_rgba(NEUTRAL)}
    assert [text.get_text() for text in panels(ax)[1].texts] == ["gene", "expression", "rises"]
    ax.figure.canvas.draw()


def test_marks_stand_where_their_words_stand(bags):
    ax = plot_text_bag(bags, 1, texts=TEXTS)
    tumour = marks(ax)[3]
    assert tumour.get_xy()[0] == 0
    assert marks(ax)[4].get_xy()[0] == len("Tumour ")
    letters = [patch for patch in panels(ax)[0].patches if isinstance(patch, PathPatch)][-1].get_path().get_extents()
    assert (letters.x0, letters.x1) == pytest.approx((0, len(TEXTS[1])), abs=1)
    assert tumour.get_xy()[1] <= letters.y0 < letters.y1 <= tumour.get_xy()[1] + 1.1


def test_the_best_graph_for_the_label_is_drawn_and_its_words_are_coloured(bags):
    scores = np.array([[-1.0, -1.0], [-0.5, -0.2], [-0.3, 0.7]])
    contributions = np.zeros((bags.graphs.n_nodes, 2))
    tumour = bags.graphs.node_names.tolist().index("tumour")
    contributions[tumour, 1], contributions[tumour + 1, 1] = 1.0, -1.0
    ax = plot_text_bag(bags, 1, texts=TEXTS, scores=scores, contributions=contributions)
    assert ax.get_title(loc="left") == "bag 1; words for spread"
    assert [text.get_text() for text in panels(ax)[1].texts] == ["tumour", "cells", "migrate"]
    red, blue = (mark.get_facecolor() for mark in marks(ax)[3:5])
    assert red[0] > red[2]
    assert blue[2] > blue[0]
    headers = [patch.get_facecolor() for patch in panels(ax)[0].patches if isinstance(patch, PathPatch)]
    assert headers[1] == to_rgba(WRONG)  # the first text is about genes, and spread scores best
    assert headers[3] == to_rgba(RIGHT)


def test_a_prediction_for_a_text_without_a_label_is_wrong(bags):
    bare = bags[0]  # "Nothing here.", no label
    for score, colour in ((0.1, WRONG), (-0.1, UNKNOWN)):
        ax = plot_text_bag(bare, 0, scores=np.array([[score, -1.0]]))
        headers = [patch.get_facecolor() for patch in panels(ax)[0].patches if isinstance(patch, PathPatch)]
        assert headers[:2] == [to_rgba(colour)] * 2  # of the bag and of its text


def test_a_threshold_below_0_makes_a_prediction(bags):
    ax = plot_text_bag(bags[0], 0, scores=np.array([[-0.1, -1.0]]), thresholds=np.array([-0.2, 0.0]))
    headers = [patch.get_facecolor() for patch in panels(ax)[0].patches if isinstance(patch, PathPatch)]
    assert headers[:2] == [to_rgba(WRONG)] * 2


def test_a_label_can_be_asked_for_by_name_or_number(bags):
    scores = np.array([[-1.0, -1.0], [0.5, -0.2], [-0.3, 0.7]])
    for label in ("genes", 0):
        ax = plot_text_bag(bags, 1, scores=scores, label=label)
        assert ax.get_title(loc="left") == "bag 1; words for genes"
        assert panels(ax)[1].get_title() == "text 1: 3 keywords"


def test_texts_are_found_by_graph_name(bags):
    by_name = plot_text_bag(bags, 1, texts={"1:0": TEXTS[0], "1:1": TEXTS[1], "other": "x"})
    assert len(marks(by_name)) == 8


def test_without_texts_the_keywords_stand_for_them(bags):
    assert len(marks(plot_text_bag(bags, 1))) == 6


def test_a_joined_graph_marks_all_texts():
    bags = word_bags([TEXTS], single_graph=True)
    ax = plot_text_bag(bags, 0, texts=TEXTS)
    assert len(marks(ax)) == 8
    assert len(panels(ax)[1].texts) == 6


def test_bags_without_labels_keywords_or_letters_in_the_font_are_drawn():
    bags = word_bags([["", "猫 が 好き $x$"]], bag_names=["$b$ 猫"])
    ax = plot_text_bag(bags, 0, texts=["", "猫 が 好き $x$"])
    assert ax.get_title(loc="left") == "bag $b$ □"
    ax.figure.canvas.draw()


def test_an_axes_given_is_used_and_long_texts_end_in_a_note():
    _, ax = plt.subplots(figsize=(5, 2))
    bags = word_bags([[f"Gene number{'x' * k} expression in cells" for k in range(60)]])
    assert plot_text_bag(bags, 0, ax=ax) is ax
    written = [patch for patch in panels(ax)[0].patches if isinstance(patch, PathPatch)]
    assert 2 < len(written) < 120
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"scores": np.zeros((2, 2))},
            r"scores must have shape \(3, 2\), as model.decision_function_graphs\(bags\) has, got \(2, 2\)",
        ),
        (
            {"contributions": np.zeros((3, 2))},
            r"contributions must have shape \(\d+, 2\), as model.explain\(bags\) has, got \(3, 2\)",
        ),
        ({"label": "growth"}, "label must be one of genes, spread, got 'growth'"),
        ({"label": 2}, "label must be a name, or a number from 0 to 1, got 2"),
        ({"texts": ["one"]}, "texts must be a list of the bag's 2 texts, got 1 of them"),
        ({"texts": "one"}, "texts must be a list of the bag's 2 texts, got one string"),
        ({"texts": {"1:0": "one"}}, r"texts must have every graph name of the bag; there is no text for \['1:1'\]"),
    ],
)
def test_what_does_not_fit_is_refused(bags, options, message):
    with pytest.raises(ValueError, match=message):
        plot_text_bag(bags, 1, **options)


def test_contributions_without_a_label_are_not_drawn():
    """Nothing says which column is meant: the keywords are grey, as without contributions."""
    bags = word_bags([TEXTS], [[0, 0]])
    ax = plot_text_bag(bags, 0, texts=TEXTS, contributions=np.ones((bags.graphs.n_nodes, 2)))
    assert {mark.get_facecolor() for mark in marks(ax)} == {to_rgba(NEUTRAL)}


def test_missing_library_names_the_extra(bags, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'cfmgml\[plots\]'"):
        plot_text_bag(bags, 0)


def test_lines_break_between_words_and_long_words_anywhere():
    text = "an extraordinary cat"
    pieces = flow(text, 8)
    assert [text[p.start : p.stop] for p in pieces] == ["an", "extraord", "inary", "cat"]
    assert [(p.line, p.column) for p in pieces] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert all(p.column + p.stop - p.start <= 8 for p in flow(text * 9, 8))
    assert flow("  ", 8) == []

"""What a notebook shows of graphs, bags and reports, and its progress without widgets."""

import sys
import types
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from cfmgml import BagDataset, GraphBatch
from cfmgml.common.layout import spring_layout
from cfmgml.common.progress import progress
from cfmgml.data.notebook import MOST_DRAWN, MOST_LABELS
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import bag_report, graph_report
from examples import random_bags, random_graphs


def parsed(thing):
    """The HTML, which must be well-formed."""
    return ElementTree.fromstring(thing._repr_html_())


def texts(tree):
    return [text for text in tree.itertext() if text.strip()]


def drawings(tree):
    return tree.findall("{http://www.w3.org/2000/svg}svg")


def test_bags_and_graphs(bags):
    tree = parsed(bags)
    assert texts(tree)[0] == repr(bags)
    assert texts(tree)[1:3] == ["a", f"{bags.Y[:, 0].sum()} bags"]
    assert len(drawings(tree)) == bags[0].n_graphs
    tree = parsed(bags.graphs)
    assert texts(tree) == [repr(bags.graphs)]
    assert len(drawings(tree)) == MOST_DRAWN
    graph = bags.graphs[3]
    drawn = drawings(parsed(graph))[0]
    circles = drawn.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == graph.n_nodes
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}line"))) == len(
        {frozenset(e) for e in graph.edges.T.tolist()}
    )
    assert len({circle.get("fill") for circle in circles}) == len(np.unique(graph.node_labels))


def test_hostile_names_are_text():
    evil = "</td><script>alert(1)</script>\x1b[2J\u202e" + "x" * 500
    names = [evil, *(f"l{k}" for k in range(40))]
    bags = replace(random_bags(3), Y=np.ones((3, 41)), graph_Y=None, label_names=names)
    tree = parsed(bags)
    assert not list(tree.iter("script"))
    assert max(map(len, texts(tree))) < 120
    assert texts(tree)[1].startswith("</td><script>")
    assert texts(tree)[-1] == f"and {41 - MOST_LABELS} more"


def test_large_ones_are_bounded():
    n = 3000
    large = GraphBatch([0, n], [0, n - 1], np.stack([np.arange(n - 1), np.arange(1, n)]))
    many = BagDataset(GraphBatch.concatenate([large] * 50), [0, 50], label_names=["x" * 1000])
    assert len(many._repr_html_()) < 5000
    assert texts(parsed(large))[-1] == "3,000 nodes"


def test_digits_lie_where_they_were_written():
    bags = load_digit_bags(n_bags=1)
    circles = drawings(parsed(bags))[0].findall("{http://www.w3.org/2000/svg}circle")
    row, column = bags.graphs[0].node_attributes[:, :2].T
    places = np.array([[float(circle.get(name)) for name in ("cx", "cy")] for circle in circles])
    assert np.corrcoef(places[:, 0], column)[0, 1] > 0.999
    assert np.corrcoef(places[:, 1], row)[0, 1] > 0.999  # downwards, as in the picture


def test_reports_are_dictionaries_with_a_table(bags):
    for report in (bag_report(bags.Y, bags.Y - 0.5), graph_report(bags.graph_Y, bags.graph_Y - 0.5)):
        assert report == dict(report)
        shown = texts(parsed(report))
        assert dict(zip(shown[::2], shown[1::2], strict=True)) == {name: f"{v:.4f}" for name, v in report.items()}


def test_the_layout_is_the_same_every_time_and_shows_what_is_joined():
    graphs = random_graphs(20, seed=5, largest=20)
    for graph in graphs:
        places = spring_layout(graph.edges, graph.n_nodes)
        np.testing.assert_array_equal(places, spring_layout(graph.edges, graph.n_nodes))
        assert np.isfinite(places).all()
        assert np.abs(places).max() <= 1 + 1e-9
    assert spring_layout(np.zeros((2, 0), dtype=int), 1).tolist() == [[0.0, 0.0]]
    ring = np.stack([np.arange(12), (np.arange(12) + 1) % 12])
    places = spring_layout(ring, 12)
    joined = np.linalg.norm(places[ring[0]] - places[ring[1]], axis=1)
    assert joined.max() < np.linalg.norm(places - places[[6]], axis=1).max() / 2


@pytest.mark.parametrize("inside", [True, False])
def test_progress_in_a_notebook_is_one_line(monkeypatch, capsys, inside):
    """Without ipywidgets, for which rich would ask."""
    if inside:
        monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    with progress("Learning\x1b[2J", 1000, True) as done:
        for _ in range(1000):
            done(1)
    said = capsys.readouterr().err
    assert ("\r" in said and said.endswith("1,000/1,000\n")) == inside
    assert "\x1b[2J" not in said
    assert said.count("\r") <= 101

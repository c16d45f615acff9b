"""Bags of any graphs as pictures: where nodes lie, their names and labels, labels of edges, contributions."""

from dataclasses import replace

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum, WeisfeilerLehman
from cfmgml.datasets import load_digit_bags
from cfmgml.plots import plot_bag
from examples import random_bags


@pytest.fixture(autouse=True)
def closed():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def insets(ax):
    return ax.child_axes


def test_labels_of_nodes_and_edges():
    graphs = GraphBatch([0, 3], [0, 3], [[0, 1, 1], [1, 0, 2]], node_labels=[6, 7, 8], edge_labels=[1, 1, 2])
    drawn = insets(plot_bag(BagDataset(graphs, [0, 1])))[0]
    assert sorted(words(drawn)) == ["1", "2", "6", "7", "8"]  # the edge that is stored both ways is drawn once
    assert {line.get_linestyle() for line in drawn.lines} == {"-", "--"}
    coded = replace(graphs, node_labels=["C", "N", "O"], edge_labels=["a", "a", "b"])
    drawn = insets(plot_bag(BagDataset(coded, [0, 1])))[0]
    assert words(drawn) == []  # codes of words say nothing
    assert len(drawn.lines) == 2
    named = replace(coded, node_names=["$C$", "N" * 99, "<O>"])
    assert words(insets(plot_bag(BagDataset(named, [0, 1])))[0])[1] == "N" * 12


def test_contributions_are_colours():
    bags = random_bags(12)
    model = CfMGML(WeisfeilerLehman(1), alpha=1e-2, max_iter=20).fit(bags)
    scores, parts = model.decision_function_graphs(bags), model.explain(bags)
    ax = plot_bag(bags, 2, scores=scores, contributions=parts, label="b")
    assert "nodes for b" in ax.get_title(loc="left")
    best = int(scores[bags.bag_ptr[2] : bags.bag_ptr[3], 1].argmax())
    dots = insets(ax)[0].collections[0]
    assert len(dots.get_offsets()) == bags[2].graphs[best].n_nodes
    assert len(np.unique(dots.get_facecolors(), axis=0)) > 1


def test_given_positions_are_kept():
    bags = random_bags(3)
    places = np.random.default_rng(0).normal(size=(bags.graphs.n_nodes, 2))
    ax = plot_bag(bags, 1, positions=places)
    first = bags.bag_ptr[1]
    own = places[slice(*bags.graphs.node_ptr[first : first + 2])]
    found = np.asarray(insets(ax)[0].collections[0].get_offsets())
    np.testing.assert_allclose(found - found[0], (own - own[0]) * 2 / max(np.ptp(own, axis=0).max(), 1e-300), atol=1e-9)
    with pytest.raises(ValueError, match=r"positions must have shape \(.*, 2\), one a node"):
        plot_bag(bags, 1, positions=places[1:])
    with pytest.raises(TypeError, match="are drawn without image"):
        plot_bag(bags, 1, image=places)


def test_digits_of_the_readme():
    bags = load_digit_bags(n_bags=6)
    model = CfMGML(NodeSum(), alpha=1e-2, max_iter=10).fit(bags)
    ax = plot_bag(bags, 0, scores=model.decision_function_graphs(bags), contributions=model.explain(bags), label=3)
    assert len(insets(ax)) == min(bags[0].n_graphs, 6)
    found = np.asarray(insets(ax)[0].collections[0].get_offsets())
    assert len(np.unique(found[:, 0].round(6))) <= 8
    assert words(insets(ax)[0]) == []


def test_large_graphs_are_thinned():
    n = 400
    graphs = GraphBatch([0, n], [0, n - 1], np.stack([np.arange(n - 1), np.arange(1, n)]))
    title = insets(plot_bag(BagDataset(graphs, [0, 1])))[0].get_title()
    assert title == "graph 1: 400 nodes, 150 of them shown"

"""The embedded digit bags."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cfmgml.builders.digits import INK, digit_graphs, digit_pictures
from cfmgml.datasets import load_digit_bags


def test_bags_hold_two_to_five_digits_and_their_labels():
    bags = load_digit_bags("train", 50, random_state=3)
    assert set(np.diff(bags.bag_ptr)) <= {2, 3, 4, 5}
    np.testing.assert_array_equal(np.logical_or.reduceat(bags.graph_Y, bags.bag_ptr[:-1]), bags.Y)
    truth = load_digits().target[bags.graph_names.astype(int)]
    np.testing.assert_array_equal(bags.graph_Y.argmax(1), truth)


def test_training_and_test_bags_draw_from_different_digits():
    train, test = load_digit_bags("train", 600), load_digit_bags("test", 600)
    assert not set(train.graph_names) & set(test.graph_names)
    assert len(set(test.graph_names)) > 500


def test_seeds():
    first, again, other = (load_digit_bags(n_bags=20, random_state=seed) for seed in (1, 1, 2))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()


def test_nodes_are_inked_pixels_and_edges_their_neighbours():
    image = np.zeros((1, 8, 8))
    image[0, 2, 3], image[0, 3, 4], image[0, 7, 7], image[0, 0, 0] = 1.0, 0.5, INK, INK / 2
    graphs = digit_graphs(image)
    assert graphs.node_attributes.tolist() == [[2, 3, 2], [3, 4, 1], [7, 7, 2 * INK]]
    assert graphs.node_names.tolist() == ["2,3", "3,4", "7,7"]
    assert graphs.edges.tolist() == [[0, 1], [1, 0]]


def test_edges_by_brute_force():
    graphs = load_digit_bags(n_bags=4).graphs
    place = graphs.node_attributes[:, :2]
    graph = np.repeat(np.arange(graphs.n_graphs), np.diff(graphs.node_ptr))
    near = np.abs(place[:, None] - place).max(-1) == 1
    expected = {(a, b) for a, b in np.argwhere(near & (graph[:, None] == graph))}
    assert {tuple(pair) for pair in graphs.edges.T} == expected


def test_pictures_undo_graphs():
    images = load_digits().images[:5] / 16
    graphs = digit_graphs(images)
    ink = digit_pictures(graphs)
    np.testing.assert_array_equal(np.isnan(ink), images < INK)
    np.testing.assert_allclose(ink[~np.isnan(ink)], images[images >= INK])
    numbered = digit_pictures(graphs, np.arange(graphs.n_nodes, dtype=float))
    assert np.nanmax(numbered) == graphs.n_nodes - 1


@pytest.mark.parametrize(
    ("subset", "n_bags", "message"), [("all", 5, "subset must be one of"), ("train", 0, "1 or more")]
)
def test_bad_input(subset, n_bags, message):
    with pytest.raises(ValueError, match=message):
        load_digit_bags(subset, n_bags)

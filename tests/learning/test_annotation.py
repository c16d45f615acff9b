"""Labels of a bag given to its graphs, against every way there is to give them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.learning.annotation import annotate


def best_sum(scores):
    """The largest sum of scores where every label and every graph is served and the longer side is served once."""
    if len(scores) < scores.shape[1]:
        return best_sum(scores.T)
    n_graphs, n_labels = scores.shape
    ways = product(range(n_labels), repeat=n_graphs)
    return max(scores[np.arange(n_graphs), way].sum() for way in ways if len(set(way)) == n_labels)


@given(n_graphs=st.integers(1, 4), n_labels=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_no_way_scores_higher(n_graphs, n_labels, seed):
    scores = np.random.default_rng(seed).normal(size=(n_graphs, n_labels))
    given_labels = annotate(scores, np.array([0, n_graphs]), np.ones((1, n_labels), dtype=bool))
    assert given_labels.any(axis=0).all()
    assert given_labels.any(axis=1).all()
    assert given_labels.sum() == max(n_graphs, n_labels)
    assert scores[given_labels].sum() == pytest.approx(best_sum(scores))


def test_each_bag_has_its_own_labels_and_none_has_none():
    scores = np.array([[5.0, 1, 0], [4, 3, 9], [1, 2, 3], [7, 1, 0], [2, 3, 1]])
    Y = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=bool)
    found = annotate(scores, np.array([0, 2, 3, 4, 5]), Y)
    np.testing.assert_array_equal(found.astype(int), [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1], [0, 1, 0]])
    assert found.dtype == bool


def test_there_must_be_labels_for_every_bag():
    with pytest.raises(ValueError, match="shorter"):
        annotate(np.zeros((3, 2)), np.array([0, 1, 3]), np.ones((1, 2), dtype=bool))

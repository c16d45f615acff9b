"""Activation maps: a classifier of pooled nodes, read at every node."""

import numpy as np
import pytest

from cfmgml.baselines import ActivationMaps
from cfmgml.common.segments import segment_ids
from cfmgml.datasets import load_digit_bags


@pytest.fixture(scope="module")
def bags():
    return load_digit_bags(n_bags=30)


def test_a_bag_scores_as_the_mean_of_its_nodes(bags):
    model = ActivationMaps().fit(bags)
    of_bag = segment_ids(bags.graphs.node_ptr[bags.bag_ptr])
    nodes = model._node_scores(bags)
    means = np.array([nodes[of_bag == k].mean(axis=0) for k in range(bags.n_bags)])
    np.testing.assert_allclose(model.decision_function(bags), means, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("background", [None, 0.2, 0.7])
def test_what_is_quiet_is_background(bags, background):
    """Against loops over nodes; without a share nothing is background."""
    model = ActivationMaps(background=background).fit(bags)
    painted, nodes = model.paint(bags, given=True), model._node_scores(bags)
    of_bag = segment_ids(bags.graphs.node_ptr[bags.bag_ptr])
    loudest = np.array([nodes[of_bag == k].max(axis=0) for k in range(bags.n_bags)])
    for node, (label, bag) in enumerate(zip(painted, of_bag, strict=True)):
        scores = {k: nodes[node, k] for k in np.flatnonzero(bags.Y[bag])}
        if background is not None:
            scores = {k: value / loudest[bag, k] for k, value in scores.items() if value > 0}
            scores = {k: share for k, share in scores.items() if share >= background}
        assert label == max(scores, key=scores.get, default=-1)
    assert (painted == -1).any() == (background is not None)

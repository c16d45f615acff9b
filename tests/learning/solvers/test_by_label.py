"""Losses without pairs, label by label: the same parts, the same minimisers, in fewer steps."""

import numpy as np
import pytest

from cfmgml import NodeSum, gram_matrix
from cfmgml.learning.objective import Linearisation, RankLoss
from cfmgml.learning.solvers import by_label
from cfmgml.learning.solvers.cccp import Problem, minimise_bound
from cfmgml.learning.solvers.on_gram import GramProblem, minimise_by_label, solve_cccp_on_gram
from examples import random_bags

HOWS = [{}, {"irrelevant_graphs": "all"}, {"term_weights": "sum", "rounding": 0.0, "sharpness": 0.0}]


@pytest.fixture(scope="module")
def given():
    bags = random_bags(25, seed=4)
    K = gram_matrix(NodeSum(), bags.graphs)
    known = np.random.default_rng(1).random(bags.Y.shape) < 0.9

    def make(alpha, fit_intercept=True, **setting):
        weights = np.array([0.5, 2.0, 1.0, 3.0])
        loss = RankLoss(bags.bag_ptr, bags.Y & known, ~bags.Y & known, weights, loss="hamming", **setting)
        return Problem(K, loss, alpha, fit_intercept)

    return make


@pytest.mark.parametrize("how", HOWS, ids=str)
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_parts_of_labels_add_up_to_the_loss(given, rng, how, scale):
    loss = given(1.0, **how).loss
    scores, start = (rng.normal(size=(loss.bag_ptr[-1], 4)) * scale for _ in range(2))
    around = loss.linearise(start)
    value, gradient = loss.value_and_gradient(scores, around)
    parts = Linearisation(*(np.ascontiguousarray(part.T) for part in around))
    values, slopes = loss.values_and_gradients_by_label(np.ascontiguousarray(scores.T), np.arange(4), parts)
    assert values.sum() == pytest.approx(value)
    np.testing.assert_allclose(slopes.T, gradient, atol=1e-12)
    some = np.array([3, 1])
    of_some, _ = loss.values_and_gradients_by_label(np.ascontiguousarray(scores.T[some]), some, parts)
    np.testing.assert_allclose(of_some, values[some])


def test_labels_that_are_compared_have_no_parts(given):
    loss = RankLoss(
        *(getattr(given(1.0).loss, name) for name in ("bag_ptr", "relevant", "irrelevant", "label_weights"))
    )
    with pytest.raises(ValueError, match="loss='rank' compares labels"):
        loss.values_and_gradients_by_label(np.zeros((4, 1)), np.arange(4), Linearisation(np.zeros(1), np.zeros(1)))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("how", HOWS[:2], ids=str)
def test_a_round_ends_where_all_labels_together_end(given, how, fit_intercept):
    problem = GramProblem(given(1e-3, fit_intercept, **how))
    zero, space = problem.start(), problem.space()
    bound, enough = problem.bound(zero), 1e-7 * space.steepness(problem.value_and_gradient(zero)[1])
    together, n_together, _ = minimise_bound(bound, zero, space, 3000, enough)
    apart, n_apart, norm = minimise_by_label(bound, zero, space, 3000, enough)
    assert norm <= enough * 1.001
    assert n_apart < n_together
    assert bound.value_and_gradient(apart)[0] == pytest.approx(bound.value_and_gradient(together)[0], rel=1e-6)
    np.testing.assert_allclose(problem.scores(apart), problem.scores(together), atol=1e-3)


def test_no_label_takes_more_steps_than_allowed_and_ended_ones_cost_nothing(given, monkeypatch):
    problem = GramProblem(given(1e-5))
    zero, space, widths = problem.start(), problem.space(), []
    product = by_label.products_of_labels
    monkeypatch.setattr(by_label, "products_of_labels", lambda rows, K: widths.append(len(rows)) or product(rows, K))
    bound = problem.bound(zero)
    _, steps, norm = minimise_by_label(bound, zero, space, 5, 0.0)
    assert steps == 5
    widths.clear()
    minimise_by_label(bound, zero, space, 1000, norm / 100)
    assert min(widths) < 4 == max(widths)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_the_space_of_a_problem_over_the_same_matrix_serves_another(given, weight):
    """As a teacher's serves: its terms are other ones, and so is its alpha."""
    first, _ = solve_cccp_on_gram(given(1e-3), 3, 3000, 1e-8)
    rows, other = first.space.source, given(1e-3 * weight, term_weights="mean")
    other = Problem(rows, other.loss, other.alpha, True)
    alone, expected = solve_cccp_on_gram(other, 3, 3000, 1e-8)
    along, scores = solve_cccp_on_gram(other, 3, 3000, 1e-8, like=first.space)
    np.testing.assert_allclose(scores, expected, atol=1e-3)
    assert along.space.bend == pytest.approx(first.space.bend * weight)
    assert along.space.bend != pytest.approx(alone.space.bend)
    far, _ = solve_cccp_on_gram(Problem(rows, other.loss, 1e-6, True), 3, 3000, 1e-6, like=first.space)
    assert far.space.bend == pytest.approx(alone.space.bend)  # its own: another one's curvature would not do

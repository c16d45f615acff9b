"""MI-SVM beyond the shared contract."""

import numpy as np
import pytest

from cfmgml import NodeSum, Precomputed, gram_matrix
from cfmgml.baselines.m3miml import M3MIML
from cfmgml.baselines.mi_svm import MISVM
from cfmgml.common.segments import segment_argmax
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import graph_report


@pytest.fixture(scope="module")
def digits():
    return load_digit_bags(subset="train", n_bags=60, random_state=0)


def training_duals(model, bags):
    duals = np.zeros((bags.n_graphs, len(model.intercept_)))
    duals[model.support_rows_] = model.dual_coef_
    return duals


def test_without_rounds_it_is_m3miml(bags):
    first, start = MISVM(n_rounds=0).fit(bags), M3MIML().fit(bags)
    np.testing.assert_array_equal(first.decision_function(bags), start.decision_function(bags))
    assert (first.n_iter_ == 0).all()


def test_published_algorithm_ends_at_a_fixed_point(bags):
    """At temperature 0 only the best graph of a bag with the label carries its dual variable."""
    model = MISVM(temperature=0, n_rounds=50).fit(bags)
    assert (model.n_iter_ < 50).all()
    duals = training_duals(model, bags)
    best = segment_argmax(model.decision_function_graphs(bags), bags.bag_ptr)
    for c, has in enumerate(bags.Y.T):
        positive = np.flatnonzero(duals[:, c] > 0)
        assert set(positive) <= set(best[has, c])


def test_objective_does_not_rise_from_round_to_round(digits):
    kernel = Precomputed(gram_matrix(NodeSum(), digits.graphs))
    values = [misvm_objective(kernel, digits, n_rounds) for n_rounds in range(1, 5)]
    assert all(after <= before + 1e-4 for before, after in zip(values[:-1], values[1:], strict=True))
    assert values[-1] < values[0] - 0.1


def misvm_objective(kernel, bags, n_rounds):
    model = MISVM(kernel, C=1.0, temperature=0, n_rounds=n_rounds, tol=1e-6).fit(bags)
    duals, f = training_duals(model, bags), model.decision_function_graphs(bags)
    top = np.maximum.reduceat(f, bags.bag_ptr[:-1])
    of_graphs = np.repeat(bags.Y, np.diff(bags.bag_ptr), axis=0)
    slack = np.where(bags.Y, np.maximum(0, 1 - top), 0).sum() + np.where(of_graphs, 0, np.maximum(0, 1 + f)).sum()
    return 0.5 * np.einsum("ic,ij,jc->", duals, kernel.K, duals) + slack


def test_finds_which_graph_carries_a_label_better_than_its_start(digits):
    start, model = (
        graph_report(digits.graph_Y, made.fit(digits).decision_function_graphs(digits))["accuracy"]
        for made in (M3MIML(), MISVM())
    )
    assert model > start


@pytest.mark.parametrize(
    ("params", "message"),
    [({"temperature": -1}, "temperature must be 0 or more"), ({"n_rounds": -1}, "n_rounds must be 0 or more")],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        MISVM(**params).fit(bags)

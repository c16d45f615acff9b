"""What every estimator must keep, whatever it is: the public rules, and the same for any bags that hypothesis finds."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cfmgml import BagDataset
from cfmgml.checks import check_bag_estimator
from cfmgml.checks.estimator_rules import demand_any_order, demand_selection
from examples import ESTIMATORS, random_bags
from injected import assert_all_or_nothing

SLOW = {"cfmgml-wl-refined", "cfmgml-thresholds", "gin-attention"}  # take seconds each


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in ESTIMATORS])
def estimator(request):
    return ESTIMATORS[request.param]()


def test_registry_is_not_empty():
    assert len(ESTIMATORS) >= 8


def test_rules(estimator):
    check_bag_estimator(estimator, atol=1e-8)


def test_a_poor_method_is_still_no_worse_than_chance(bags):
    for name in ("cfmgml-printed", "dummy"):
        assert ESTIMATORS[name]().fit(bags).score(bags) > 0.5


@pytest.mark.parametrize(
    ("X", "Y", "error", "message"),
    [
        ([1, 2], None, TypeError, "X must be a BagDataset"),
        (0, None, ValueError, "no Y"),
        (1, np.ones((3, 2)), ValueError, "one row a bag"),
        (1, np.full((24, 2), 7), ValueError, "0/1, bool"),
    ],
)
def test_what_bad_input_is_told(estimator, bags, X, Y, error, message):
    if X == 0:
        X = BagDataset(bags.graphs, bags.bag_ptr)
    elif X == 1:
        X = bags
    with pytest.raises(error, match=message):
        estimator.fit(X, Y)


@pytest.mark.parametrize(("name", "parameter"), [("cfmgml-wl", "alpha"), ("mi-svm", "C")])
def test_a_search_among_values(name, parameter, bags):
    search = GridSearchCV(ESTIMATORS[name](), {parameter: [0.1, 1.0]}, cv=2).fit(bags, bags.Y)
    assert search.best_params_[parameter] in (0.1, 1.0)
    assert search.predict(bags).shape == bags.Y.shape


@pytest.mark.slow
def test_a_fit_that_fails_anywhere_changes_nothing(estimator):
    """Fitted on other labels or not at all, it has the attributes, and predicts, as before."""
    bags, others = random_bags(6, seed=5), random_bags(5, seed=6, n_labels=3)
    for model in (estimator, clone(estimator).fit(others)):
        assert_all_or_nothing(model, lambda model: model.fit(bags))
    assert model.label_names_.tolist() == list("abc")
    assert model.decision_function(bags).shape == (6, 3)


@functools.cache
def fitted(name):
    return ESTIMATORS[name]().fit(random_bags(24, seed=5))


@given(name=st.sampled_from(sorted(ESTIMATORS)), index=st.lists(st.integers(-8, 7), min_size=1, max_size=6))
def test_any_selection_commutes_with_prediction(name, index):
    demand_selection(fitted(name), random_bags(8, seed=77), index, atol=1e-4)


@given(name=st.sampled_from(sorted(ESTIMATORS)), seed=st.integers(0, 10**6))
def test_order_of_graphs_and_nodes_does_not_matter(name, seed):
    demand_any_order(fitted(name), random_bags(6, seed=78), seed, atol=1e-4)

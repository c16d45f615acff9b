"""What every estimator must keep, whatever it is."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate

from cfmgml import BagDataset
from examples import ESTIMATORS, random_bags, shuffle_nodes
from injected import assert_all_or_nothing


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return ESTIMATORS[request.param]()


@pytest.fixture(scope="module")
def new():
    return random_bags(8, seed=77)


def graph_scores(model, bags):
    return model.decision_function_graphs(bags) if "graph" in model.levels else np.zeros((bags.n_graphs, 0))


def test_registry_is_not_empty():
    assert len(ESTIMATORS) >= 8


def test_clone_and_params(estimator):
    again = clone(estimator)
    assert repr(again) == repr(estimator)
    assert again.set_params(**again.get_params(deep=False)) is again


def test_unfitted_says_so(estimator, bags):
    with pytest.raises(NotFittedError):
        estimator.predict(bags)


def test_shapes_and_thresholds(estimator, bags, new):
    model = estimator.fit(bags)
    assert model is estimator
    scores = model.decision_function(new)
    assert scores.shape == (new.n_bags, bags.n_labels)
    assert np.isfinite(scores).all()
    assert model.predict(new).dtype == bool
    assert model.label_names_.tolist() == bags.label_names.tolist()
    if "graph" in model.levels:
        assert model.decision_function_graphs(new).shape == (new.n_graphs, bags.n_labels)
        assert model.predict_graphs(new).shape == (new.n_graphs, bags.n_labels)
    else:
        with pytest.raises(TypeError, match="not of a graph"):
            model.decision_function_graphs(new)


def test_selection_commutes_with_prediction(estimator, bags, new):
    model = estimator.fit(bags)
    index = [5, 0, 5]
    np.testing.assert_allclose(model.decision_function(new[index]), model.decision_function(new)[index], atol=1e-8)


def test_same_seed_same_result(estimator, bags, new):
    first = clone(estimator).fit(bags).decision_function(new)
    np.testing.assert_array_equal(clone(estimator).fit(bags).decision_function(new), first)


def test_labels_given_to_fit(estimator, bags, new):
    inside = clone(estimator).fit(bags).decision_function(new)
    outside = clone(estimator).fit(bags, bags.Y.astype(float)).decision_function(new)
    np.testing.assert_array_equal(inside, outside)


def test_learns_something(estimator, bags):
    """Better than chance on its own training bags; `printed` and `Dummy` need not be."""
    model = estimator.fit(bags)
    floor = 0.5 if getattr(model, "solver", "") == "printed" or type(model).__name__ == "Dummy" else 0.75
    assert model.score(bags) > floor


def test_bags_at_the_edge(estimator, bags):
    """A bag with no label, one with all, a label never seen, one graph a bag: each fits and predicts."""
    Y = bags.Y.copy()
    Y[0], Y[1], Y[2:, 3] = False, True, False
    cases = {
        "no label, all labels": (bags, Y),
        "a label never seen": (bags, np.where(np.arange(4) == 2, False, bags.Y)),
        "a label always there": (bags, np.where(np.arange(4) == 2, True, bags.Y)),
        "no label at all": (bags, np.zeros_like(bags.Y)),
    }
    first = bags.bag_ptr[:-1]
    single = BagDataset(bags.graphs[first], np.arange(bags.n_bags + 1), bags.Y, bags.graph_Y[first])
    cases["one graph a bag"] = (single, bags.Y)
    for name, (data, labels) in cases.items():
        model = clone(estimator).fit(data, labels)
        assert np.isfinite(model.decision_function(data)).all(), name
        assert model.predict(data).shape == labels.shape, name


def test_one_bag_and_one_label(estimator, bags):
    one = bags[:1]
    assert np.isfinite(clone(estimator).fit(one).decision_function(one)).all()
    single = BagDataset(bags.graphs, bags.bag_ptr, bags.Y[:, :1], bags.graph_Y[:, :1], label_names=["a"])
    assert clone(estimator).fit(single).predict(single).shape == (bags.n_bags, 1)


@pytest.mark.parametrize(
    ("X", "Y", "error", "message"),
    [
        ([1, 2], None, TypeError, "X must be a BagDataset"),
        (0, None, ValueError, "no Y"),
        (1, np.ones((3, 2)), ValueError, "one row a bag"),
        (1, np.full((24, 2), 7), ValueError, "0/1, bool"),
    ],
)
def test_bad_input(estimator, bags, X, Y, error, message):
    if X == 0:
        X = BagDataset(bags.graphs, bags.bag_ptr)
    elif X == 1:
        X = bags
    with pytest.raises(error, match=message):
        estimator.fit(X, Y)


def test_scikit_learns_model_selection(estimator, bags):
    folds = cross_validate(estimator, bags, bags.Y, cv=2)
    assert np.isfinite(folds["test_score"]).all()
    assert cross_val_predict(estimator, bags, bags.Y, cv=2).shape == bags.Y.shape
    name = next((n for n in ("alpha", "C") if n in estimator.get_params()), None)
    if name:
        search = GridSearchCV(estimator, {name: [0.1, 1.0]}, cv=2).fit(bags, bags.Y)
        assert search.best_params_[name] in (0.1, 1.0)
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
    bags = random_bags(8, seed=77)
    model = fitted(name)
    expected = model.decision_function(bags)[index]
    np.testing.assert_allclose(model.decision_function(bags[index]), expected, atol=1e-4)
    clear = np.abs(expected) > 1e-4  # a score within rounding of 0 may fall on either side
    np.testing.assert_array_equal(model.predict(bags[index])[clear], model.predict(bags)[index][clear])


@given(name=st.sampled_from(sorted(ESTIMATORS)), seed=st.integers(0, 10**6))
def test_order_of_graphs_and_nodes_does_not_matter(name, seed):
    """A bag is a set of graphs and a graph a set of nodes: shuffle both, and each bag scores as before."""
    rng = np.random.default_rng(seed)
    bags = random_bags(6, seed=78)
    order = np.concatenate(
        [a + rng.permutation(b - a) for a, b in zip(bags.bag_ptr[:-1], bags.bag_ptr[1:], strict=True)]
    )
    shuffled = BagDataset(shuffle_nodes(bags.graphs[order], rng), bags.bag_ptr, bags.Y)
    model = fitted(name)
    np.testing.assert_allclose(model.decision_function(shuffled), model.decision_function(bags), atol=1e-4)

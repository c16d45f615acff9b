"""Thresholds of labels: what is predicted changes, scores do not, and every answer agrees."""

import numpy as np
import pytest
from sklearn.base import clone

from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum, WeisfeilerLehman
from cfmgml.common.segments import segment_max
from cfmgml.datasets import load_digit_bags
from cfmgml.learning.predictions import prediction_rows
from cfmgml.learning.thresholds import thresholds_by_counts
from cfmgml.metrics import bag_report
from cfmgml.stores import BagStore
from examples import random_bags

SOFT = {"alpha": 0.03, "loss": "hamming", "term_weights": "sum", "class_weight": "balanced"}  # few scores above 0


@pytest.fixture(scope="module")
def bags():
    return load_digit_bags(n_bags=60, random_state=0)


@pytest.fixture(scope="module")
def model(bags):
    return CfMGML(NodeSum(), thresholds="counts", random_state=0, **SOFT).fit(bags)


def test_as_many_bags_get_a_label_as_have_it():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(200, 6)) - 2, rng.random((200, 6)) < [0, 0.05, 0.3, 0.6, 0.9, 1]
    thresholds = thresholds_by_counts(scores, labels, np.ones_like(labels))
    assert thresholds.max() <= 0
    got = (scores > thresholds).sum(0)
    np.testing.assert_array_equal(got[1:], labels.sum(0)[1:])
    assert thresholds[0] == 0  # a label that no bag has
    np.testing.assert_array_equal(thresholds_by_counts(scores + 9, labels, np.ones_like(labels)), 0)


def test_bags_of_which_a_label_is_unknown_do_not_count():
    scores = np.array([[-0.1], [-0.3], [-0.5], [-0.7]])
    labels = np.array([[True], [True], [False], [False]])
    known = np.array([[True], [False], [True], [True]])
    np.testing.assert_allclose(thresholds_by_counts(scores, labels, known), [-0.3])


def test_what_is_predicted_is_mended_and_scores_stay(bags, model):
    plain = clone(model).set_params(thresholds="zero").fit(bags)
    np.testing.assert_array_equal(model.decision_function_graphs(bags), plain.decision_function_graphs(bags))
    assert (model.thresholds_ <= 0).all()
    assert (model.thresholds_ < 0).any()
    f1 = [bag_report(bags.Y, one.decision_function(bags), one.predict(bags))["macro_f1"] for one in (plain, model)]
    assert f1[1] > f1[0] + 0.1


def test_thresholds_come_from_bags_that_were_held_out():
    """Every bag has a node of its own: what was learned by heart says nothing of others."""
    ptr, none = np.arange(31), np.zeros(31, dtype=np.int64)
    labels = np.arange(30)[:, None] % 5 == [0, 1]
    bags = BagDataset(GraphBatch(ptr, none, np.zeros((2, 0), dtype=np.int64), node_labels=np.arange(30)), ptr, labels)
    fitted = CfMGML(WeisfeilerLehman(0), alpha=1e-4, thresholds="counts", random_state=0).fit(bags)
    own = thresholds_by_counts(fitted.decision_function(bags), labels, np.ones_like(labels))
    np.testing.assert_allclose(own, 0, atol=1e-3)
    assert (fitted.thresholds_ < -0.1).all()


def test_every_answer_agrees(bags, model):
    predicted = model.predict(bags)
    np.testing.assert_array_equal(predicted, model.decision_function(bags) > model.thresholds_)
    of_graphs = model.predict_graphs(bags)
    np.testing.assert_array_equal(predicted, segment_max(of_graphs.astype(float), bags.bag_ptr) > 0)
    assert not ((model.decision_function(bags) > 0) & ~predicted).any()
    names = model.label_names_
    for level, expected in (("bag", predicted), ("graph", of_graphs)):
        rows = prediction_rows(model, bags, level)
        assert [row["labels"] for row in rows] == [names[row].tolist() for row in expected]


def test_painting_is_among_predicted_labels(bags, model):
    painted, node_bag = model.paint(bags), np.repeat(bags.bag_ids, np.diff(bags.graphs.node_ptr))
    some = painted >= 0
    assert some.any()
    assert model.predict(bags)[node_bag[some], painted[some]].all()


@pytest.mark.slow
def test_a_path_and_probabilities_have_the_same_thresholds(bags, model):
    exact = clone(model).set_params(probability=True, tol=1e-5, max_iter=1000)
    alone, path = clone(exact).set_params(alpha=0.01).fit(bags), clone(exact).fit_path(bags, [0.03, 0.01])
    first = clone(exact).set_params(probability=False, alpha=0.03).fit(bags)
    np.testing.assert_allclose(path[0].thresholds_, first.thresholds_, atol=1e-9)
    np.testing.assert_allclose(path[1].thresholds_, alone.thresholds_, atol=0.02)  # convex, from another start
    np.testing.assert_allclose(path[1].predict_proba(bags), alone.predict_proba(bags), atol=0.02)


@pytest.mark.parametrize("settings", [{"context": 0.4}, {"refine": 1}, {"context": 0.4, "context_scale": "unit"}])
def test_with_context_and_learning_twice(bags, settings):
    fitted = CfMGML(NodeSum(), thresholds="counts", random_state=0, **{**SOFT, **settings}).fit(bags)
    assert (fitted.thresholds_ <= 0).all()
    np.testing.assert_array_equal(fitted.predict(bags), fitted.decision_function(bags) > fitted.thresholds_)


def test_a_file_keeps_them(bags, model, tmp_path):
    model.save(tmp_path / "m.cfmgml")
    loaded = CfMGML.load(tmp_path / "m.cfmgml")
    np.testing.assert_array_equal(loaded.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(loaded.predict_graphs(bags), model.predict_graphs(bags))


def test_one_bag_has_nothing_to_hold_out(bags):
    np.testing.assert_array_equal(CfMGML(NodeSum(), thresholds="counts").fit(bags[:1]).thresholds_, 0)


# -- numbers ---------------------------------------------------------------------------------


def test_numbers_are_obeyed_in_memory_by_stores_and_by_streams(tmp_path):
    bags = random_bags(20, seed=1, n_labels=3)
    bags.to_store(tmp_path / "bags", graphs_per_partition=20)
    name = str(bags.label_names[1]) if bags.label_names is not None else "1"
    given = CfMGML(alpha=1e-2, thresholds={name: -0.5}, max_iter=5, n_rounds=1)
    explicit = clone(given).set_params(kernel=NodeSum("linear"))
    fitted = [explicit.fit(bags), clone(explicit).fit(BagStore(tmp_path / "bags")), clone(explicit).partial_fit(bags)]
    for one in fitted:
        np.testing.assert_array_equal(one.thresholds_, [0, -0.5, 0])
        one.partial_fit(bags[:5])
        np.testing.assert_array_equal(one.thresholds_, [0, -0.5, 0])
    fitted[0].save(tmp_path / "m.cfmgml")
    assert CfMGML.load(tmp_path / "m.cfmgml").thresholds == {name: -0.5}


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ("half", "thresholds must be 'zero', 'counts' or a mapping"),
        ({"3": 0.1}, "must be 0 or less"),
        ({"3": float("nan")}, "must be 0 or less"),
        ({"sword": -0.1}, "labels that are not there"),
    ],
)
def test_bad_ones_are_refused(bags, thresholds, message):
    with pytest.raises(ValueError, match=message):
        CfMGML(thresholds=thresholds).fit(bags)


def test_stores_and_streams_refuse_to_count(model, bags, tmp_path):
    bags.to_store(tmp_path / "bags")
    for data in (bags, BagStore(tmp_path / "bags")):
        with pytest.raises(ValueError, match="thresholds='counts' is for bags in memory"):
            clone(model).partial_fit(data)
    with pytest.raises(ValueError, match="thresholds='counts' is for bags in memory"):
        clone(model).fit(BagStore(tmp_path / "bags"))


def test_a_stream_does_not_forget_them_unsaid(bags):
    fitted = CfMGML(NodeSum(), thresholds={str(bags.label_names[0]): -0.2}, max_iter=3).fit(bags)
    with pytest.raises(ValueError, match="other thresholds than it is given now"):
        fitted.set_params(thresholds="zero").partial_fit(bags)

"""Learning from streams, bag after bag."""

from dataclasses import replace

import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum
from cfmgml.kernels import HashedWL
from cfmgml.metrics import bag_report
from cfmgml.scale.minibatches import AdaGrad, bag_means, batches
from cfmgml.scale.partitions import Job, loss_of, prepare
from examples import random_bags


def precision(model, bags):
    return bag_report(bags.Y, model.decision_function(bags))["average_precision"]


def test_learns_from_a_stream():
    train, test = random_bags(600, seed=3), random_bags(100, seed=4)
    model = CfMGML(HashedWL(1, n_bits=8), alpha=1e-4)
    seen = []
    for start in range(0, 600, 60):
        model.partial_fit(train[start : start + 60])
        seen.append(precision(model, test))
    whole = CfMGML(HashedWL(1, n_bits=8), alpha=1e-4).fit(train)
    assert seen[-1] > seen[0]
    assert seen[-1] > precision(whole, test) - 0.05
    assert len(model.objective_) == 10
    assert model.objective_[-1] < model.objective_[0]


def test_a_store_is_a_stream(many, store):
    whole = CfMGML(HashedWL(1, n_bits=8)).partial_fit(store)
    parts = CfMGML(HashedWL(1, n_bits=8))
    for bags in store:
        parts.partial_fit(bags)
    np.testing.assert_array_equal(whole.scorer_.coef, parts.scorer_.coef)
    assert whole.decision_function(many).shape == many.Y.shape


def test_a_streamed_model_can_be_saved(many, tmp_path):
    model = CfMGML(HashedWL(1, n_bits=8), class_weight="balanced").partial_fit(many)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(CfMGML.load(tmp_path / "m").decision_function(many), model.decision_function(many))


def test_what_a_stream_cannot_do(many):
    model = CfMGML(HashedWL(1, n_bits=8)).partial_fit(many[:50])
    with pytest.raises(ValueError, match="the model learned"):
        model.partial_fit(replace(many, label_names=list("wxyz")))
    model.partial_fit(many[50:])
    with pytest.raises(ValueError, match="has no explicit feature map"):
        CfMGML(NodeSum()).partial_fit(many)
    with pytest.raises(ValueError, match="needs solver='cccp'"):
        CfMGML(HashedWL(1), solver="paper").partial_fit(many)


def test_batches_are_the_whole(many, store):
    kernel = HashedWL(1, n_bits=6).resolve(many.graphs)
    problem = prepare(Job(store, kernel, loss_of(CfMGML(), 4), True, store.path, 0, "key"), many).problem
    theta = np.random.default_rng(0).normal(size=len(problem.start()))
    parts = [(batch.value_and_gradient(theta), batch.loss.n_bags) for batch in batches(problem, 40)]
    assert [n for _, n in parts] == [40, 40, 40, 30]
    value, gradient = problem.value_and_gradient(theta)
    np.testing.assert_allclose(sum(v * n for (v, _), n in parts) / 150, value)
    np.testing.assert_allclose(sum(g * n for (_, g), n in parts) / 150, gradient, atol=1e-12)


def test_steps_go_down(many, store):
    kernel = HashedWL(1, n_bits=6).resolve(many.graphs)
    problem = prepare(Job(store, kernel, loss_of(CfMGML(), 4), True, store.path, 0, "key"), many).problem
    means = bag_means(problem)
    descent = AdaGrad.start(problem.start())
    values = [descent.step(problem, 1e-3, means) for _ in range(30)]
    assert values[-1] < 0.7 * values[0]

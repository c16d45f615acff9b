"""Learning from streams, bag after bag."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from cfmgml import CfMGML, NodeSum, ProductKernel, SumKernel, WeisfeilerLehman
from cfmgml.kernels import HashedWL
from cfmgml.kernels.gram import gram_matrix
from cfmgml.learning.training import Training
from cfmgml.metrics import bag_report
from cfmgml.scale.minibatches import AdaGrad, batches, linearised_at_zero
from cfmgml.scale.partitions import Job, prepare
from examples import random_bags
from injected import assert_all_or_nothing, state_of

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


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
    problem = prepare(
        Job(store, kernel, Training.of(CfMGML()).loss_of_no_bags(4), True, store.path, 0, "key", "run"), many
    ).problem
    theta = np.random.default_rng(0).normal(size=len(problem.start()))
    parts = [(batch.value_and_gradient(theta), batch.loss.n_bags) for batch in batches(problem, 40)]
    assert [n for _, n in parts] == [40, 40, 40, 30]
    value, gradient = problem.value_and_gradient(theta)
    np.testing.assert_allclose(sum(v * n for (v, _), n in parts) / 150, value)
    np.testing.assert_allclose(sum(g * n for (_, g), n in parts) / 150, gradient, atol=1e-12)


def test_steps_go_down(many, store):
    kernel = HashedWL(1, n_bits=6).resolve(many.graphs)
    loss = Training.of(CfMGML()).loss_of_no_bags(4)
    problem = prepare(Job(store, kernel, loss, True, store.path, 0, "key", "run"), many).problem
    means = linearised_at_zero(problem)
    descent = AdaGrad.start(problem.start())
    values = [descent.step(problem, 1e-3, means) for _ in range(30)]
    assert values[-1] < 0.7 * values[0]


# -- going on --------------------------------------------------------------------------------

GOING_ON = {
    "explicit": {"kernel": HashedWL(1, n_bits=8)},
    "sum": {"kernel": SumKernel([HashedWL(1, n_bits=6), NodeSum(approximation="fourier", n_components=60)])},
    "dictionary": {"kernel": WeisfeilerLehman(2, tfidf=True)},
    "landmarks of nodes": {"kernel": NodeSum(approximation="nystrom", n_components=40)},
    "coefficients": {"kernel": NodeSum()},
    "chosen": {},
    "low rank": {"kernel": NodeSum(), "rank": 40},
    "float32": {"kernel": NodeSum(), "dtype": "float32"},
    "on torch": {"kernel": NodeSum(), "device": "torch:cpu"},
    "product": {"kernel": ProductKernel([NodeSum(), WeisfeilerLehman(1)])},
    "function": {"kernel": lambda a, b: gram_matrix(NodeSum(gamma=0.7), a, b)},
    "no intercept": {"kernel": NodeSum(), "fit_intercept": False},
}


@pytest.fixture(scope="module")
def further():
    """Bags to fit, bags to go on with, and bags to measure on."""
    return random_bags(80, seed=3), random_bags(60, seed=5), random_bags(150, seed=4)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "on torch" else name for name in GOING_ON]
)
def test_a_fitted_model_goes_on(further, name):
    first, more, test = further
    model = CfMGML(alpha=1e-3, n_rounds=2, max_iter=60, **GOING_ON[name]).fit(first)
    kernel, start = model.kernel_, precision(model, test)
    for k in range(0, 60, 10):
        model.partial_fit(more[k : k + 10])
        assert precision(model, test) > start - 0.02
        assert model.kernel_ is kernel
    assert model.n_iter_ > 6
    assert model.representatives_.shape == (0, 4)


@pytest.mark.parametrize("name", ["explicit", "coefficients", "product"])
def test_going_on_learns_what_is_new(further, name):
    """Of one label the fitted bags have nothing; the stream teaches it, and the others stay."""
    first, more, test = further
    few = first.Y & (np.arange(4) != 2)
    model = CfMGML(alpha=1e-3, n_rounds=2, max_iter=60, **GOING_ON[name]).fit(first, few)
    before = average_precisions(model, test)
    for _ in range(20):
        model.partial_fit(more)
    after = average_precisions(model, test)
    assert after[2] > before[2] + 0.1
    assert model.objective_[-1] < 0.3 * model.objective_[-20]
    assert (np.delete(after, 2) > np.delete(before, 2) - 0.03).all()


def average_precisions(model, bags):
    """Of each label, over bags."""
    pairs = zip(bags.Y.T, model.decision_function(bags).T, strict=True)
    return np.array([average_precision_score(has, scores) for has, scores in pairs])


@pytest.mark.parametrize("name", ["explicit", "coefficients", "low rank", "product"])
def test_without_gradients_nothing_moves(further, name):
    """Bags of which no label is known say nothing, not even how long a step may be."""
    first, more, test = further
    model = CfMGML(alpha=1e-3, n_rounds=2, max_iter=60, **GOING_ON[name]).fit(first)
    scores = model.decision_function_graphs(test)
    model.partial_fit(more, np.full(more.Y.shape, np.nan))
    np.testing.assert_array_equal(model.decision_function_graphs(test), scores)
    start = precision(model, test)
    assert precision(model.partial_fit(more), test) > start - 0.02


@pytest.mark.parametrize("name", ["explicit", "dictionary", "coefficients", "low rank"])
def test_a_loaded_model_goes_on_where_the_saved_one_was(further, name, tmp_path):
    first, more, test = further
    model = CfMGML(alpha=1e-3, n_rounds=2, max_iter=60, **GOING_ON[name]).fit(first)
    for k in range(0, 60, 20):
        model.save(tmp_path / "m")
        again = CfMGML.load(tmp_path / "m").partial_fit(more[k : k + 20])
        model.partial_fit(more[k : k + 20])
        expected = model.decision_function(test)
        np.testing.assert_allclose(again.decision_function(test), expected, atol=1e-9 * np.abs(expected).max())
        assert again.n_iter_ == model.n_iter_
        assert again.label_counts_.tolist() == model.label_counts_.tolist()


def test_a_streamed_model_goes_on_after_loading(many, tmp_path):
    model = CfMGML(HashedWL(1, n_bits=8), class_weight="balanced").partial_fit(many[:50])
    model.save(tmp_path / "m")
    again = CfMGML.load(tmp_path / "m").partial_fit(many[50:])
    model.partial_fit(many[50:])
    np.testing.assert_array_equal(again.scorer_.coef, model.scorer_.coef)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)


@pytest.mark.parametrize("name", ["streamed", "streamed-nystrom", "nodes-rbf", "wl"])
def test_models_saved_by_0_1_0_go_on(name):
    """Their files know nothing of steps: those are short then."""
    bags = random_bags(60, seed=5)
    model = CfMGML.load(FIXTURES / f"{name}.cfmgml")
    start = precision(model, bags)
    assert precision(model.partial_fit(bags[:10]), bags) > start - 0.02


def test_a_fit_between_streams(further):
    """What was streamed before a fit is forgotten: no old weights with a new kernel, and no old step lengths."""
    first, more, test = further
    model = CfMGML(NodeSum(approximation="nystrom", n_components=40), alpha=1e-3).partial_fit(more)
    model.fit(first)
    alone = CfMGML(NodeSum(approximation="nystrom", n_components=40), alpha=1e-3).fit(first)
    for k in range(0, 60, 10):
        model.partial_fit(more[k : k + 10])
        alone.partial_fit(more[k : k + 10])
    np.testing.assert_array_equal(model.decision_function(test), alone.decision_function(test))


def test_labels_of_a_stream_are_matched_by_name(many):
    turned = [2, 0, 3, 1]
    other = replace(many, Y=many.Y[:, turned], label_names=many.label_names[turned], graph_Y=None)
    a, b = CfMGML(HashedWL(1, n_bits=8)).partial_fit(many[:50]), CfMGML(HashedWL(1, n_bits=8)).partial_fit(many[:50])
    np.testing.assert_array_equal(a.partial_fit(many).scorer_.coef, b.partial_fit(other).scorer_.coef)
    nameless = replace(many, label_names=None)
    assert CfMGML(HashedWL(1, n_bits=8)).partial_fit(nameless).partial_fit(nameless).score(nameless) > 0.5


def test_a_stream_counts_the_labels_of_the_fit(many):
    model = CfMGML(HashedWL(1, n_bits=8), class_weight="balanced").fit(many[:100])
    assert model.label_counts_.tolist() == many[:100].Y.sum(0).tolist()
    assert model.partial_fit(many[100:]).label_counts_.tolist() == many.Y.sum(0).tolist()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"kernel": NodeSum(gamma=3.0)},
            "the kernel is NodeSum.gamma=3.0., the model learned with NodeSum.gamma=0.7.:",
        ),
        ({"kernel": HashedWL()}, "the kernel is HashedWL.., the model learned with NodeSum"),
        ({"fit_intercept": False}, "learned an intercept, which fit_intercept=False would drop"),
        ({"probability": True}, "needs scores of held-out bags, which a stream has not"),
        ({"solver": "paper"}, "needs solver='cccp'"),
        ({"context": 0.5}, "context=0.5 is for bags in memory"),
    ],
)
def test_parameters_that_say_other_than_what_was_learned(many, params, message):
    model = CfMGML(NodeSum(gamma=0.7), n_rounds=1, max_iter=3).fit(many[:20]).set_params(**params)
    before = state_of(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(many[20:])
    assert state_of(model) == before


def test_a_model_with_context_cannot_go_on(many):
    model = CfMGML(NodeSum(), n_rounds=1, max_iter=3, context=0.4).fit(many[:20]).set_params(context=0.0)
    with pytest.raises(ValueError, match="was fitted with context, which a stream cannot learn"):
        model.partial_fit(many[20:])


@pytest.mark.slow
@pytest.mark.parametrize("before", ["nothing", "fit", "partial_fit"])
def test_a_stream_that_fails_anywhere_changes_nothing(many, store, before):
    model = CfMGML(HashedWL(1, n_bits=6), n_rounds=1, max_iter=3)
    if before != "nothing":
        getattr(model, before)(many[:20])
    assert_all_or_nothing(model, lambda model: model.partial_fit(many[20:40]))
    assert_all_or_nothing(model, lambda model: model.partial_fit(store))
    assert_all_or_nothing(model, lambda model: model.fit(store))
    assert_all_or_nothing(model, lambda model: model.fit_path(many[:20], [1e-2, 1e-3]))


def test_a_stream_of_coefficients_that_fails_anywhere_changes_nothing(many):
    model = CfMGML(NodeSum(), n_rounds=1, max_iter=3).fit(many[:20])
    assert_all_or_nothing(model, lambda model: model.partial_fit(many[20:40]))


def test_refused_labels_leave_no_trace(many):
    model = CfMGML(HashedWL(1, n_bits=8)).partial_fit(many[:50])
    before = state_of(model)
    with pytest.raises(ValueError, match="the model learned"):
        model.partial_fit(replace(many, label_names=list("wxyz")))
    with pytest.raises(ValueError, match="no Y"):
        model.fit(replace(many, Y=None))
    assert state_of(model) == before
    assert model.classes_.tolist() == model.label_names_.tolist() == list("abcd")

"""The loss against its formula, its gradient against finite differences, and what it costs."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from cfmgml.common.segments import segment_max
from cfmgml.learning.objective import RankLoss

PTR = np.array([0, 3, 4, 8, 10])
CHOICES = list(itertools.product(["rank", "hamming"], ["paper", "mean"], ["max", "all"]))


def make(seed, loss="rank", term_weights="paper", irrelevant="max", **smoothing):
    rng = np.random.default_rng(seed)
    Y, known = rng.random((4, 5)) < 0.4, rng.random((4, 5)) < 0.9
    weights = rng.uniform(0.5, 2, size=5)
    return RankLoss(PTR, Y & known, ~Y & known, weights, loss, term_weights, irrelevant, **smoothing), rng.normal(
        size=(10, 5)
    )


def hinge(gap, width):
    """max(gap, 0) with its corner rounded over this width."""
    if gap <= 0:
        return 0.0
    return gap - width / 2 if gap >= width else gap**2 / (2 * width)


def soft_maximum(rows, width, reduce):
    """width log reduce exp(rows / width), column by column: the maximum where the width is 0."""
    best = rows.max(0)
    return best + width * np.log(reduce(np.exp((rows - best) / width), axis=0)) if width else best


def by_formula(loss, scores):
    """Equation 5 with our parameters, term by term."""
    total, power, width = 0.0, 2 if loss.term_weights == "paper" else 1, loss.rounding
    for bag in range(4):
        rows = scores[PTR[bag] : PTR[bag + 1]]
        wanted = soft_maximum(rows, loss.temperature, np.mean)
        against = rows if loss.irrelevant_graphs == "all" else soft_maximum(rows, loss.sharpness, np.sum)[None]
        P, Q = np.flatnonzero(loss.relevant[bag]), np.flatnonzero(loss.irrelevant[bag])
        for p in P:
            total += loss.label_weights[p] * hinge(1 - wanted[p], width) / len(P) ** power
        for q, row in itertools.product(Q, against):
            total += hinge(1 + row[q], width) / len(Q) ** power
            for p in P:
                if loss.loss == "rank":
                    total += loss.label_weights[p] * hinge(2 + row[q] - wanted[p], width) / (len(P) * len(Q))
    return total / 4


@pytest.mark.parametrize(("loss", "term_weights", "irrelevant"), CHOICES)
@given(seed=st.integers(0, 10**6))
def test_plain_loss_is_the_formula(loss, term_weights, irrelevant, seed):
    made, scores = make(seed, loss, term_weights, irrelevant)
    plain = made.plain
    assert (plain.temperature, plain.sharpness, plain.rounding) == (0, 0, 0)
    assert plain.value(scores) == pytest.approx(by_formula(plain, scores), abs=1e-12)


@pytest.mark.parametrize(("loss", "term_weights", "irrelevant"), CHOICES)
@pytest.mark.parametrize("rounding", [0.1, 3.0])
@given(seed=st.integers(0, 10**6))
def test_smoothed_loss_is_the_formula(loss, term_weights, irrelevant, rounding, seed):
    made, scores = make(seed, loss, term_weights, irrelevant, temperature=0.3, sharpness=0.2, rounding=rounding)
    assert made.value(scores) == pytest.approx(by_formula(made, scores), abs=1e-12)


def test_defaults_are_what_the_docs_say():
    made, _ = make(0)
    assert (made.temperature, made.sharpness, made.rounding) == (0.3, 0.02, 0.1)
    assert (made.loss, made.term_weights, made.irrelevant_graphs) == ("rank", "paper", "max")


def test_a_corner_counts_as_active():
    """Where a term of the plain loss is exactly 0 its slope is that of the side above, as in Algorithm 1's ``<=``."""
    Y = np.array([[True, False]])
    loss = RankLoss(np.array([0, 1]), Y, ~Y, np.array([3.0, 1.0])).plain
    value, slope = loss.bag_value_and_gradient(np.array([[1.0, -1.0]]))
    assert value == 0
    np.testing.assert_array_equal(
        slope, [[-6.0, 4.0]]
    )  # label 0 has weight 3: its own term and the pair; label 1 its own and the pair


@pytest.mark.parametrize(("loss", "term_weights", "irrelevant"), CHOICES)
@pytest.mark.parametrize("linearised", [False, True])
@given(seed=st.integers(0, 10**6))
def test_gradient_matches_finite_differences(loss, term_weights, irrelevant, linearised, seed):
    made, scores = make(seed, loss, term_weights, irrelevant, temperature=0.5, sharpness=0.1, rounding=0.3)
    around = made.linearise(scores + 1) if linearised else None

    def value(x):
        return made.value_and_gradient(x.reshape(10, 5), around)[0]

    def gradient(x):
        return made.value_and_gradient(x.reshape(10, 5), around)[1].ravel()

    assert check_grad(value, gradient, scores.ravel(), epsilon=1e-7) < 1e-6


@given(seed=st.integers(0, 10**6))
def test_linearised_loss_lies_above_and_touches(seed):
    made, scores = make(seed)
    around = made.linearise(scores)
    assert made.value_and_gradient(scores, around)[0] == pytest.approx(made.value(scores), abs=1e-12)
    other = scores + np.random.default_rng(seed).normal(size=scores.shape)
    assert made.value_and_gradient(other, around)[0] >= made.value(other) - 1e-12


def test_smoothing_vanishes_with_its_parameters():
    made, scores = make(0)
    near = RankLoss(
        PTR, made.relevant, made.irrelevant, made.label_weights, temperature=1e-9, sharpness=1e-9, rounding=1e-9
    )
    assert near.value(scores) == pytest.approx(made.plain.value(scores), abs=1e-6)


def test_loss_at_zero_is_the_corrected_bound():
    """L(0) is the mean over bags of 1/|Y+| + 1/|Y-| + 2, not 1 as the proof says."""
    made, _ = make(3)
    plus, minus = made.relevant.sum(1), made.irrelevant.sum(1)
    made = RankLoss(PTR, made.relevant, made.irrelevant, np.ones(5)).plain
    expected = np.mean(
        [(p > 0) / max(p, 1) + (m > 0) / max(m, 1) + 2 * (p > 0 and m > 0) for p, m in zip(plus, minus, strict=True)]
    )
    assert made.value(np.zeros((10, 5))) == pytest.approx(expected)


def test_bag_scores_chosen_elsewhere():
    made, scores = make(1)
    best = segment_max(scores, PTR)
    value, gradient = made.plain.bag_value_and_gradient(best)
    assert value == pytest.approx(made.plain.value(scores))
    assert gradient.shape == best.shape
    assert (
        check_grad(
            lambda x: made.plain.bag_value_and_gradient(x.reshape(4, 5))[0],
            lambda x: made.plain.bag_value_and_gradient(x.reshape(4, 5))[1].ravel(),
            best.ravel(),
            epsilon=1e-7,
        )
        < 1e-6
    )


def test_bags_without_or_with_all_labels_drop_terms():
    none, every = np.zeros((4, 5), dtype=bool), np.ones((4, 5), dtype=bool)
    scores = np.full((10, 5), -0.5)
    assert RankLoss(PTR, none, every, np.ones(5)).plain.value(scores) == pytest.approx(0.5 * 5 / 25)
    assert RankLoss(PTR, every, none, np.ones(5)).plain.value(scores) == pytest.approx(1.5 * 5 / 25)
    assert RankLoss(PTR, none, none, np.ones(5)).value(scores) == 0


@pytest.mark.parametrize(("term_weights", "power"), [("paper", 2), ("mean", 1)])
def test_coefficients_by_hand(term_weights, power):
    relevant = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]], dtype=bool)
    irrelevant = ~relevant
    irrelevant[3, 0] = False  # unknown
    coefficients = RankLoss(PTR, relevant, irrelevant, np.ones(4), "rank", term_weights).coefficients()
    np.testing.assert_allclose(coefficients[0], np.array([1 / 3**power, 0, 1 / 4**power, 1]) / 4)
    np.testing.assert_allclose(coefficients[1], np.array([1, 1 / 4**power, 0, 1 / 2**power]) / 4)
    np.testing.assert_allclose(coefficients[2], np.array([1 / 3, 0, 0, 1 / 2]) / 4)
    without_pairs = RankLoss(PTR, relevant, irrelevant, np.ones(4), "hamming", term_weights).coefficients()
    np.testing.assert_array_equal(without_pairs, [*coefficients[:2], np.zeros(4)])


def test_a_thousand_labels_need_no_cube():
    """Memory stays a few times n x C; an n x C x C tensor would be 1.6 GB here."""
    rng = np.random.default_rng(0)
    ptr, scores = np.arange(0, 401, 2), rng.normal(size=(400, 1000))
    Y = rng.random((200, 1000)) < 0.5
    loss = RankLoss(ptr, Y, ~Y, np.ones(1000))
    loss.value_and_gradient(scores)
    tracemalloc.start()
    loss.value_and_gradient(scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * scores.nbytes


@pytest.mark.parametrize("option", [{"loss": "other"}, {"term_weights": "other"}, {"irrelevant": "other"}])
def test_unknown_names_list_the_known(option):
    with pytest.raises(ValueError, match="must be one of"):
        make(0, **option)


@pytest.mark.parametrize("name", ["temperature", "sharpness", "rounding"])
def test_no_width_is_negative(name):
    with pytest.raises(ValueError, match="not be negative"):
        make(0, **{name: -1e-9})


def test_a_loss_is_itself_and_does_not_change():
    made, same = make(0)[0], make(0)[0]
    assert len({made, same}) == 2  # arrays have no one answer to ==
    with pytest.raises(AttributeError):
        made.rounding = 0.5

"""Measures by hand, at the edges, and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.metrics import bag_report, coverage, graph_report, macro_average_precision, macro_f1, one_error

KEYS = {"one_error", "hamming_loss", "coverage", "ranking_loss", "average_precision", "macro_f1"}


def by_definition(Y, scores):
    """Zhang & Zhou's formulas, label by label; ties against the model."""
    one, cover, rank, precision = [], [], [], []
    for y, f in zip(Y, scores, strict=True):
        order = sorted(range(len(y)), key=lambda c: (-f[c], y[c]))
        place = {c: k for k, c in enumerate(order)}
        plus, minus = [c for c in place if y[c]], [c for c in place if not y[c]]
        if plus:
            one.append(not y[order[0]])
        cover.append(max((place[c] for c in plus), default=0))
        rank.append(np.mean([f[p] <= f[q] for p in plus for q in minus]) if plus and minus else 0)
        hits = [sum(place[o] <= place[c] for o in plus) / (place[c] + 1) for c in plus]
        precision.append(np.mean(hits) if plus and minus else 1)
    return np.mean(one) if one else np.nan, np.mean(cover), np.mean(rank), np.mean(precision)


@given(seed=st.integers(0, 500), ties=st.booleans())
def test_against_definitions(seed, ties):
    rng = np.random.default_rng(seed)
    Y = rng.random((5, 4)) < rng.random()
    scores = rng.integers(-2, 3, size=(5, 4)).astype(float) if ties else rng.normal(size=(5, 4))
    report = bag_report(Y, scores)
    found = [report[k] for k in ("one_error", "coverage", "ranking_loss", "average_precision")]
    np.testing.assert_allclose(found, by_definition(Y, scores))
    assert report["hamming_loss"] == pytest.approx(np.mean((scores > 0) != Y))


def test_keys_and_own_predictions():
    Y, scores = np.eye(3, dtype=bool), np.zeros((3, 3))
    assert set(bag_report(Y, scores)) >= KEYS
    assert set(graph_report(Y, scores)) >= KEYS | {"accuracy", "macro_average_precision"}
    assert bag_report(Y, scores, predicted=Y)["hamming_loss"] == 0
    assert bag_report(Y, scores)["macro_f1"] == 0


def test_ties_are_broken_against_the_model():
    report = bag_report([[1, 0]], [[0.0, 0.0]])
    assert report["one_error"] == 1
    assert report["ranking_loss"] == 1
    assert report["average_precision"] == 0.5


def test_bags_without_and_with_all_labels():
    none, every = bag_report([[0, 0]], [[1.0, 2.0]]), bag_report([[1, 1]], [[1.0, 2.0]])
    assert none["coverage"] == 0
    assert np.isnan(none["one_error"])
    assert every["coverage"] == 1
    assert every["one_error"] == 0
    assert none["ranking_loss"] == every["ranking_loss"] == 0
    assert none["average_precision"] == every["average_precision"] == 1
    assert np.isnan(graph_report([[0, 0]], [[1.0, 2.0]])["macro_average_precision"])


@pytest.mark.parametrize(
    ("Y", "scores", "message"),
    [
        ([[1, 0]], [[1.0]], "one shape"),
        ([[1, -1]], [[1.0, 2.0]], "pass Y > 0"),
        ([[1, np.nan]], [[1.0, 2.0]], "Y must be known; leave out rows such as 0"),
        ([[1]], [1.0], "scores must have shape"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "no rows"),
        ([[1, 0]], [[np.nan, 1]], "scores must not be NaN; row 0"),
    ],
)
def test_bad_input(Y, scores, message):
    with pytest.raises(ValueError, match=message):
        bag_report(Y, scores)
    with pytest.raises(ValueError, match="predicted and scores must have one shape"):
        bag_report([[1]], [[1.0]], predicted=[[1, 0]])


def test_a_single_label():
    report = graph_report([[1], [0], [0], [0]], [[2.0], [1.0], [-1.0], [-2.0]])
    assert report["macro_f1"] == pytest.approx(2 / 3)
    assert report["hamming_loss"] == pytest.approx(1 / 4)
    assert (report["ranking_loss"], report["average_precision"], report["coverage"]) == (0, 1, 0)
    assert report["macro_average_precision"] == 1


def test_two_labels_by_hand():
    report = graph_report([[1, 0], [0, 1], [0, 1], [0, 0]], [[0.5, 0.1], [0.2, 0.4], [0.3, -0.1], [-1, -2]])
    assert report == pytest.approx(
        {
            "one_error": 1 / 3,
            "hamming_loss": 4 / 8,
            "coverage": 1 / 4,
            "coverage_normalized": 1 / 8,
            "ranking_loss": 1 / 4,
            "average_precision": 3.5 / 4,
            "macro_f1": (2 / 4 + 2 / 4) / 2,
            "accuracy": 2 / 3,
            "macro_average_precision": (1 + (1 / 2 + 1 / 2 * 2 / 3) / 1) / 2,
        }
    )


def test_labels_that_no_row_has():
    """Counted as 0 in F1, as scikit-learn does, and left out of the mean of average precisions."""
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
    assert macro_f1(truth, truth) == pytest.approx(2 / 3)
    assert macro_average_precision(truth, truth + 0.0) == 1
    assert np.isnan(macro_average_precision(truth & False, truth + 0.0))
    assert np.isnan(one_error(truth & False, truth + 0.0))
    assert coverage(truth & False, truth + 0.0) == 0


@pytest.mark.parametrize(
    ("Y", "scores", "predicted", "message"),
    [
        (
            [[1, 0], [0, 1], [1, np.nan], [np.nan, 0]],
            [[1.0, 2.0]] * 4,
            None,
            "Y must be known; leave out rows such as 2",
        ),
        ([[1, 0]] * 4, [[0, 1], [1, 2], [0, np.nan], [np.nan, 1]], None, "scores must not be NaN; row 2 is"),
        ([[1, 0]] * 2, [[1.0, 2.0]] * 2, [[0, 1], [0, np.nan]], "predicted must be known.* such as 1"),
        ([[1, 0], [0, 1]], [[1.0, 2.0, 3.0]] * 2, None, r"Y and scores .* got \(2, 2\) and \(2, 3\)"),
        (np.zeros((2, 0)), np.zeros((2, 0)), None, "Y must have at least one label"),
    ],
)
def test_bad_input_names_the_row(Y, scores, predicted, message):
    with pytest.raises(ValueError, match=message):
        graph_report(Y, scores, predicted)

"""Measures by hand, at the edges, and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.metrics import (
    bag_report,
    coverage,
    graph_report,
    macro_average_precision,
    macro_f1,
    one_error,
    pixel_report,
)

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
            "coverage": 1 / 3,
            "coverage_normalized": 1 / 6,
            "ranking_loss": 1 / 3,
            "average_precision": (1 + 1 + 1 / 2) / 3,
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


# -- pixels ----------------------------------------------------------------------------------


def pixels_by_definition(truth, painted):
    """Pixel by pixel, class by class."""
    pairs = [(t, p) for t, p in zip(np.ravel(truth).tolist(), np.ravel(painted).tolist(), strict=True) if t != -1]
    ious, recalls = [], []
    for c in {c for pair in pairs for c in pair} - {-1}:
        both = sum(t == c and p == c for t, p in pairs)
        ious.append(both / sum(c in (t, p) for t, p in pairs))
        if any(t == c for t, _ in pairs):
            recalls.append(both / sum(t == c for t, _ in pairs))
    return {
        "pixel_accuracy": np.mean([t == p for t, p in pairs]),
        "mean_iou": np.mean(ious),
        "class_accuracy": np.mean(recalls),
    }


@given(seed=st.integers(0, 10**6), n_classes=st.integers(1, 5), n_maps=st.integers(1, 3))
def test_pixels_against_definitions(seed, n_classes, n_maps):
    rng = np.random.default_rng(seed)
    shapes = rng.integers(1, 6, size=(n_maps, 2))
    truth, painted = ([rng.integers(-1, n_classes, size=shape) for shape in shapes] for _ in range(2))
    truth[0][0, 0] = 0  # something to count
    flat = [np.concatenate([part.ravel() for part in maps]) for maps in (truth, painted)]
    report = pixel_report(truth, painted)
    assert report == pytest.approx(pixels_by_definition(*flat))
    assert report == pixel_report(*flat) == pixel_report(iter(truth), (part.astype(np.int32) for part in painted))
    number = rng.permutation(n_classes)  # what the classes are called does not matter
    renamed = [np.append(number, -1)[part] for part in flat]
    assert pixel_report(*renamed) == pytest.approx(report)
    right = np.where(flat[0] < 0, flat[1], flat[0])
    assert set(pixel_report(flat[0], right).values()) == {1.0}


def test_what_is_not_counted_and_what_is_always_wrong():
    truth, painted = np.array([[0, 0, 1, 1, -1, -1]]), np.array([[0, -1, 1, 7, 7, -1]])
    assert pixel_report(truth, painted) == pytest.approx(
        {"pixel_accuracy": 1 / 2, "mean_iou": (1 / 2 + 1 / 2 + 0) / 3, "class_accuracy": 1 / 2}
    )
    assert set(pixel_report(truth, np.full((1, 6), -1)).values()) == {0.0}


@pytest.mark.parametrize(
    ("truth", "painted", "message"),
    [
        ([], [], "no pixel has a true label"),
        ([[-1, -1]], [[0, 1]], "no pixel has a true label"),
        ([[0, 1]], [[0, 1, 1]], r"one shape, got \(2,\) and \(3,\)"),
        ([[0], [1]], [[0]], "one of them ends before the other"),
        ([[0.5]], [[0]], "truth must hold whole numbers, got float64"),
        ([[0]], [[-2]], "painted must hold labels from 0 to 1,048,576, or -1 for none, got -2 to -2"),
        ([[2**40]], [[0]], "truth must hold labels"),
    ],
)
def test_bad_maps(truth, painted, message):
    with pytest.raises(ValueError, match=message):
        pixel_report(truth, painted)


def test_graphs_without_a_label_are_not_ranked():
    """They would count as ranked perfectly; what goes label by label counts them."""
    truth, scores = (
        np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=bool),
        np.array([[1, 2, 0], [0, 1, -1], [1, -1, -2]]),
    )
    report, labelled, all_rows = (
        graph_report(truth, scores), bag_report(truth[:2], scores[:2]), bag_report(truth, scores)
    )  # fmt: skip
    for name in ("average_precision", "ranking_loss", "coverage", "one_error"):
        assert report[name] == labelled[name]
    assert report["average_precision"] < all_rows["average_precision"]
    assert report["hamming_loss"] == all_rows["hamming_loss"] != labelled["hamming_loss"]

"""Measures of both levels.

Standard definitions (Zhang & Zhou, TKDE 2014), from scikit-learn where it has them. Labels that score the same are
ranked against the model: an irrelevant one comes first. A row with no label or with all labels has nothing to rank: its
one-error is 0 with all labels and is left out of the mean without any, its ranking loss is 0, its average precision 1
and its coverage 0 without labels and n_labels - 1 with all.

>>> Y = np.array([[1, 0, 1], [0, 1, 0]], dtype=bool)
>>> scores = np.array([[.9, .3, -.2], [-.5, .4, .6]])
>>> report = bag_report(Y, scores)
>>> {name: round(value, 3) for name, value in report.items()}  # doctest: +NORMALIZE_WHITESPACE
{'one_error': 0.5, 'hamming_loss': 0.5, 'coverage': 1.5, 'ranking_loss': 0.5, 'average_precision': 0.667,
 'macro_f1': 0.556, 'coverage_normalized': 0.5}
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
from sklearn import metrics

from cfmgml.common.typing import Array, ArrayLike, BoolArray, FloatArray, IntArray
from cfmgml.data.label_sets import check_label_matrix
from cfmgml.data.notebook import report_html

__all__ = ["bag_report", "graph_report", "pixel_report"]


class Report(dict[str, float]):
    """Measures by name; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        return report_html(self)


RANKED = ("one_error", "coverage", "ranking_loss", "average_precision", "coverage_normalized")  # labels of one row
LabelMaps: TypeAlias = Array | Iterable[ArrayLike]  # one, or one after another
MOST_CLASSES = 2**20  # counts are kept for each; a map with larger numbers is none of labels


def bag_report(Y: ArrayLike, scores: ArrayLike, predicted: ArrayLike | None = None) -> dict[str, float]:
    """The six bag-level measures of the paper, and coverage divided by the number of labels.

    Parameters
    ----------
    Y
        True labels, (n, n_labels).
    scores
        Shape (n, n_labels); higher means more relevant.
    predicted
        Predicted labels, (n, n_labels); ``scores > 0`` if left out.

    Examples
    --------
    >>> report = bag_report([[1, 0, 1], [0, 1, 0]], [[.5, -.2, .1], [.3, .2, -1]])
    >>> report["average_precision"], report["one_error"]
    (0.75, 0.5)
    """
    truth, scores, chosen = _check(Y, scores, predicted)
    against = ranked_against(truth, scores)
    one_label = truth.shape[1] < 2  # nothing to rank
    measures = {
        "one_error": one_error(truth, against),
        "hamming_loss": float((truth != chosen).mean()),
        "coverage": coverage(truth, against),
        "ranking_loss": 0.0 if one_label else float(metrics.label_ranking_loss(truth, against)),
        "average_precision": 1.0 if one_label else float(metrics.label_ranking_average_precision_score(truth, against)),
        "macro_f1": macro_f1(truth, chosen),
        "coverage_normalized": coverage(truth, against) / truth.shape[1],
    }
    return Report(measures)


def graph_report(graph_Y: ArrayLike, scores: ArrayLike, predicted: ArrayLike | None = None) -> dict[str, float]:
    """The same measures for graphs, with ``accuracy`` and ``macro_average_precision``.

    Whatever compares labels with each other is a mean over graphs that have a label: ranking loss, average precision,
    coverage, one-error, and accuracy, the share of them whose best label is a true one. Hamming loss, macro-F1 and
    macro average precision, which go label by label, count all graphs.

    >>> report = graph_report([[1, 0], [0, 1], [0, 1], [0, 0]], [[.5, .1], [.2, .4], [.3, .1], [-1, -2]])
    >>> round(report["accuracy"], 3)
    0.667
    """
    truth, scores, chosen = _check(graph_Y, scores, predicted)
    report, labelled = bag_report(truth, scores, chosen), truth.any(axis=1)
    if labelled.any():
        ranked = bag_report(truth[labelled], scores[labelled], chosen[labelled])
        report |= {name: ranked[name] for name in RANKED}
    own = {"accuracy": 1 - report["one_error"], "macro_average_precision": macro_average_precision(truth, scores)}
    return Report({**report, **own})


def pixel_report(truth: LabelMaps, painted: LabelMaps) -> dict[str, float]:
    """Pixel accuracy, mean intersection over union and mean class accuracy, from one confusion matrix over all pixels.

    Pixels whose true label is -1 are not counted, whatever is painted there. Painted -1 means nothing, and is wrong
    wherever there is a true label. Background is a class if it has a number of its own, in both.

    Parameters
    ----------
    truth, painted
        Label maps, numbers from -1: an array of any shape, or several of different shapes, one after another.

    Returns
    -------
    dict
        ``pixel_accuracy``: share of the counted pixels painted with their label. ``mean_iou``: a class's intersection
        over union is the share that is right of the pixels that have it or are painted with it; the mean is over
        classes that occur in either, as VOC's: one that is painted and nowhere true counts 0. ``class_accuracy``: share
        of a class's pixels painted with it, mean over classes that are true somewhere.

    Examples
    --------
    >>> report = pixel_report([[0, 0, 0, 1], [1, 1, -1, -1]], [[0, 0, 1, 1], [1, 2, 2, -1]])
    >>> {name: round(value, 3) for name, value in report.items()}
    {'pixel_accuracy': 0.667, 'mean_iou': 0.389, 'class_accuracy': 0.667}
    """
    counts = np.zeros((3, 0), dtype=np.int64)
    for one, other in _pairs(truth, painted):
        counts = add_counts(counts, pixel_counts(one, other))
    return pixel_measures(counts)


def pixel_counts(truth: ArrayLike, painted: ArrayLike) -> IntArray:
    """Of each class the pixels that have it, that are painted with it, and both, (3, n_classes), where truth is not -1.

    >>> pixel_counts([0, 1, 1, -1], [0, 0, 1, 1])
    array([[1, 2],
           [2, 1],
           [1, 1]])
    """
    true, said = _check_map(truth, "truth"), _check_map(painted, "painted")
    if true.shape != said.shape:
        raise ValueError(f"truth and painted must have one shape, got {true.shape} and {said.shape}.")
    true, said = true[true >= 0].astype(np.int64), said[true >= 0].astype(np.int64)
    n_classes = int(max(true.max(initial=-1), said.max(initial=-1))) + 1
    # one more in front, for painted -1
    counted = [np.bincount(part + 1, minlength=n_classes + 1)[1:] for part in (true, said, true[true == said])]
    return np.stack(counted)


def add_counts(first: IntArray, second: IntArray) -> IntArray:
    """The `pixel_counts` of two sets of pixels together; they need not have the same number of classes."""
    total = np.zeros((3, max(first.shape[1], second.shape[1])), dtype=np.int64)
    for part in (first, second):
        total[:, : part.shape[1]] += part
    return total


def pixel_measures(counts: IntArray) -> dict[str, float]:
    """What `pixel_report` gives, from `pixel_counts`."""
    true, said, both = counts
    if not true.any():
        raise ValueError("there is nothing to measure: no pixel has a true label.")
    union, occurs = true + said - both, true > 0
    return {
        "pixel_accuracy": float(both.sum() / true.sum()),
        "mean_iou": float((both[union > 0] / union[union > 0]).mean()),
        "class_accuracy": float((both[occurs] / true[occurs]).mean()),
    }


def one_error(truth: BoolArray, scores: FloatArray) -> float:
    """Share of rows whose best label is not a true one, among rows with a label; NaN if there are none.

    >>> one_error(np.array([[True, False], [True, False]]), np.array([[1., 0.], [0., 1.]]))
    0.5
    """
    some = truth.any(axis=1)
    if not some.any():
        return float("nan")
    best = ranked_against(truth, scores)[some].argmax(axis=1)
    return float(1 - truth[some][np.arange(some.sum()), best].mean())


def coverage(truth: BoolArray, scores: FloatArray) -> float:
    """How far down the ranking one must go to meet all true labels, counted from 0 (Zhang & Zhou's).

    >>> coverage(np.array([[True, False, True], [False, False, False]]), np.array([[3., 2., 1.], [1., 2., 3.]]))
    1.0
    """
    some = truth.any(axis=1)
    if not some.any() or truth.shape[1] < 2:
        return 0.0
    return float(metrics.coverage_error(truth[some], scores[some]) - 1) * float(some.mean())


def macro_f1(truth: BoolArray, predicted: BoolArray) -> float:
    """Mean over labels of F1; a label that is neither there nor predicted counts 0, as in scikit-learn."""
    average = "binary" if truth.shape[1] < 2 else "macro"
    return float(metrics.f1_score(truth, predicted, average=average, zero_division=0))


def macro_average_precision(truth: BoolArray, scores: FloatArray) -> float:
    """Mean, over labels that occur, of the area under the precision-recall curve; NaN if none does."""
    occurs = truth.any(axis=0)
    if not occurs.any():
        return float("nan")
    return float(metrics.average_precision_score(truth[:, occurs], scores[:, occurs], average="macro"))


def ranked_against(truth: BoolArray, scores: FloatArray) -> FloatArray:
    """Ranks (n_labels the best) in which ties go to the irrelevant label.

    >>> ranked_against(np.array([[True, False]]), np.array([[1., 1.]]))
    array([[1., 2.]])
    """
    order = np.lexsort((~truth, scores), axis=1)
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, scores.shape[1] + 1)[None, :].repeat(len(scores), 0), axis=1)
    return ranks


def _check(Y: ArrayLike, scores: ArrayLike, predicted: ArrayLike | None) -> tuple[BoolArray, FloatArray, BoolArray]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"scores must have shape (n, n_labels), got {values.shape}.")
    if not len(values):
        raise ValueError("there is nothing to measure: no rows.")
    if np.isnan(values).any():
        raise ValueError(f"scores must not be NaN; row {int(np.argwhere(np.isnan(values))[0][0])} is.")
    truth = _check_labels(Y, values, "Y")
    return truth, values, values > 0 if predicted is None else _check_labels(predicted, values, "predicted")


def _check_labels(labels: ArrayLike, scores: FloatArray, name: str) -> BoolArray:
    matrix, known = check_label_matrix(labels, len(scores), name, "row of scores")
    if matrix.shape != scores.shape:
        raise ValueError(
            f"{name} and scores must have one shape, (n, n_labels), got {matrix.shape} and {scores.shape}."
        )
    if known is not None and not known.all():
        raise ValueError(f"{name} must be known; leave out rows such as {int(np.argwhere(~known)[0][0])}.")
    return matrix


def _pairs(truth: LabelMaps, painted: LabelMaps) -> Iterator[tuple[ArrayLike, ArrayLike]]:
    """Map beside map; an array is one map, anything else is gone through once."""
    maps = [iter([given] if isinstance(given, np.ndarray) else given) for given in (truth, painted)]
    for one, other in zip_longest(*maps):
        if one is None or other is None:
            raise ValueError("truth and painted must be as many maps, and one of them ends before the other.")
        yield one, other


def _check_map(given: ArrayLike, name: str) -> Array:
    labels = np.asarray(given)
    if not np.issubdtype(labels.dtype, np.integer) and labels.size:
        raise ValueError(f"{name} must hold whole numbers, got {labels.dtype}.")
    if labels.size and not (labels.min() >= -1 and labels.max() <= MOST_CLASSES):
        raise ValueError(
            f"{name} must hold labels from 0 to {MOST_CLASSES:,}, or -1 for none, got {labels.min()} to {labels.max()}."
        )
    return labels

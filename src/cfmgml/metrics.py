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

import numpy as np
from sklearn import metrics

from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray
from cfmgml.data.bags import check_label_matrix


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
    """
    truth, scores, chosen = _check(Y, scores, predicted)
    against = ranked_against(truth, scores)
    one_label = truth.shape[1] < 2  # nothing to rank
    return {
        "one_error": one_error(truth, against),
        "hamming_loss": float((truth != chosen).mean()),
        "coverage": coverage(truth, against),
        "ranking_loss": 0.0 if one_label else float(metrics.label_ranking_loss(truth, against)),
        "average_precision": 1.0 if one_label else float(metrics.label_ranking_average_precision_score(truth, against)),
        "macro_f1": macro_f1(truth, chosen),
        "coverage_normalized": coverage(truth, against) / truth.shape[1],
    }


def graph_report(graph_Y: ArrayLike, scores: ArrayLike, predicted: ArrayLike | None = None) -> dict[str, float]:
    """The same measures for graphs, with ``accuracy`` and ``macro_average_precision``.

    Accuracy is the share of graphs whose best label is a true one, among graphs that have a label.

    >>> report = graph_report([[1, 0], [0, 1], [0, 1], [0, 0]], [[.5, .1], [.2, .4], [.3, .1], [-1, -2]])
    >>> round(report["accuracy"], 3)
    0.667
    """
    truth, scores, chosen = _check(graph_Y, scores, predicted)
    report = bag_report(truth, scores, chosen)
    return {
        **report,
        "accuracy": 1 - report["one_error"],
        "macro_average_precision": macro_average_precision(truth, scores),
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

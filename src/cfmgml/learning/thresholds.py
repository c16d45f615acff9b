"""Which scores are high enough for a label to be predicted.

Where every label weighs the same, the regularisation that ranks labels best leaves few scores above 0, those of rare
labels least of all. A threshold a label mends what is predicted and leaves scores, and so the order of labels, alone.
None is ever above 0: a score above 0 means yes, with thresholds or without.
"""

from collections.abc import Mapping

import numpy as np

from cfmgml.common.typing import BoolArray, FloatArray, IntArray

ZERO, COUNTS = "zero", "counts"
Thresholds = str | Mapping[str, float]


def thresholds_by_counts(scores: FloatArray, labels: BoolArray, known: BoolArray) -> FloatArray:
    """One threshold a label, 0 or as far below as it takes for as many bags to get the label as have it.

    Parameters
    ----------
    scores
        Of bags that were not learned from, (n_bags, n_labels): of others most are above 0 for a label that they have.
    labels, known
        The bags' labels, and which of them are known.

    Examples
    --------
    >>> scores = np.array([[-0.2, 0.5], [-0.4, 0.1], [-0.8, -0.9]])
    >>> labels = np.array([[True, True], [True, False], [False, False]])
    >>> thresholds_by_counts(scores, labels, np.ones_like(labels)).round(3)
    array([-0.6,  0. ])
    """
    counts = (labels & known).sum(0)
    return np.array([_threshold(own[k], int(n)) for own, k, n in zip(scores.T, known.T, counts, strict=True)])


def _threshold(scores: FloatArray, n_having: int) -> float:
    """Half-way between the last score that is high enough and the next; 0 for a label that no bag has."""
    if not n_having:
        return 0.0
    ordered = np.append(np.sort(scores)[::-1], scores.min() - 1.0)
    return min(float(ordered[n_having - 1 : n_having + 1].mean()), 0.0)


def f1_by_thresholds(scores: FloatArray, labels: BoolArray, known: BoolArray, fold: IntArray) -> dict[str, float]:
    """Macro-F1 of held-out bags with thresholds of 0, and by counts.

    ``fold`` (n_bags,) says which bags were held out together: those of one are judged by the counts of the others.

    >>> scores = np.array([[-0.2], [-0.4], [-0.8], [-0.3], [-0.9], [-0.7]])
    >>> labels = np.array([[True], [True], [False], [True], [False], [False]])
    >>> f1_by_thresholds(scores, labels, np.ones_like(labels), np.array([0, 0, 0, 1, 1, 1]))
    {'zero': 0.0, 'counts': 1.0}
    """
    from cfmgml.metrics import macro_f1  # brings in scikit-learn's metrics

    by_counts = np.zeros_like(labels)
    for own in (fold == number for number in np.unique(fold)):
        by_counts[own] = scores[own] > thresholds_by_counts(scores[~own], labels[~own], known[~own])
    return {ZERO: macro_f1(labels & known, (scores > 0) & known), COUNTS: macro_f1(labels & known, by_counts & known)}


def check_thresholds(given: Thresholds) -> None:
    """Raise unless it is one of the words, or numbers that are not above 0."""
    if isinstance(given, Mapping):
        high = [name for name, value in given.items() if not (np.isfinite(value) and value <= 0)]
        if high:
            raise ValueError(
                f"thresholds must be 0 or less, so that a score above 0 means yes; they are not for {high}."
            )
    elif not isinstance(given, str) or given not in (ZERO, COUNTS):
        raise ValueError(f"thresholds must be {ZERO!r}, {COUNTS!r} or a mapping from labels to numbers, got {given!r}.")


def given_thresholds(given: Thresholds, names: list[str]) -> FloatArray:
    """Those that were given as numbers; 0 for every other label."""
    by_name = {str(name): value for name, value in given.items()} if isinstance(given, Mapping) else {}
    unknown = [name for name in by_name if name not in names]
    if unknown:
        raise ValueError(f"thresholds names labels that are not there: {unknown}; known: {names}.")
    return np.array([by_name.get(name, 0.0) for name in names], dtype=np.float64)

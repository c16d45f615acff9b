"""What is measured of a fitted model on test bags, at both levels."""

import math
from typing import NamedTuple

import numpy as np

from cfmgml.common.typing import BoolArray
from cfmgml.data.bags import BagDataset
from cfmgml.learning.annotation import annotate
from cfmgml.learning.estimator import BagEstimator
from cfmgml.metrics import bag_report, graph_report, ranked_against

Columns = dict[str, float | list[int] | None]


class Measure(NamedTuple):
    """A measure as tables show it; `cfmgml.metrics` computes it under ``key``."""

    level: str  # "bag" or "graph"
    key: str
    title: str
    higher_is_better: bool

    @property
    def arrow(self) -> str:
        return "↑" if self.higher_is_better else "↓"


# Those of all tables, in their order. A new measure is a value in a report of `cfmgml.metrics` and a line here.
MEASURES = [
    Measure("bag", "one_error", "one-error", False),
    Measure("bag", "hamming_loss", "Hamming loss", False),
    Measure("bag", "coverage", "coverage", False),
    Measure("bag", "ranking_loss", "ranking loss", False),
    Measure("bag", "average_precision", "average precision", True),
    Measure("bag", "macro_f1", "macro-F1", True),
    Measure("graph", "accuracy", "graph accuracy", True),
    Measure("graph", "annotated", "graph accuracy, labels given", True),
    Measure("graph", "average_precision", "graph average precision", True),
    Measure("graph", "macro_f1", "graph macro-F1", True),
    Measure("graph", "ranking_loss", "graph ranking loss", False),
    Measure("graph", "new_accuracy", "accuracy of graphs not seen in training", True),
]
CRITERIA = {"bag": "average_precision", "graph": "accuracy"}  # what parameters are chosen by


def find_measure(level: str, key: str) -> Measure:
    return next(measure for measure in MEASURES if (measure.level, measure.key) == (level, key))


def measures_of(level: str) -> list[Measure]:
    """All measures of a level.

    >>> [measure.key for measure in measures_of("bag")][:2]
    ['one_error', 'hamming_loss']
    """
    return [measure for measure in MEASURES if measure.level == level]


def measure_model(
    model: BagEstimator, test: BagDataset, levels: tuple[str, ...], seen: BoolArray | None = None
) -> Columns:
    """Measures of both levels, as columns of a row.

    Parameters
    ----------
    model
        A fitted estimator.
    test
        Bags with ``Y``; those with unknown labels are left out. Without ``graph_Y`` graphs are not measured.
    levels
        Of ``"bag"`` and ``"graph"``, those to measure.
    seen
        Which graphs of ``test`` were in the training bags too; the rest is measured as ``graph.new_accuracy``.

    Examples
    --------
    >>> from cfmgml.baselines import Dummy
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=20)
    >>> measured = measure_model(Dummy().fit(bags), bags, ("bag", "graph"))
    >>> round(measured["bag.one_error"], 2), round(measured["graph.accuracy"], 2)
    (0.55, 0.13)
    """
    whole = np.ones(test.n_bags, dtype=bool) if test.Y_known is None else test.Y_known.all(axis=1)
    if test.Y is None or not whole.any():
        raise ValueError("measuring needs test bags whose labels are all known, and there is none.")
    bags = bag_report(test.Y[whole], model.decision_function(test)[whole], model.predict(test)[whole])
    columns: Columns = {f"bag.{key}": _number(value) for key, value in bags.items()}
    if "graph" in levels and test.graph_Y is not None:
        columns |= _measure_graphs(model, test, test.Y, test.graph_Y, seen)
    return columns


def _measure_graphs(
    model: BagEstimator, test: BagDataset, Y: BoolArray, truth: BoolArray, seen: BoolArray | None
) -> Columns:
    scores, predicted = model.decision_function_graphs(test), model.predict_graphs(test)
    report = graph_report(truth, scores, predicted)
    labelled = truth.any(axis=1)
    given = annotate(scores, test.bag_ptr, Y)
    report["annotated"] = _share(np.any(given & truth, axis=1)[labelled])
    best = ranked_against(truth, scores).argmax(axis=1)  # ties count against the model
    hits = truth[np.arange(len(truth)), best]
    if seen is not None:
        report["new_accuracy"] = _share(hits[labelled & ~seen])
    columns: Columns = {f"graph.{key}": _number(value) for key, value in report.items()}
    columns |= {
        "labels.graphs": truth.sum(0).tolist(),
        "labels.predicted": predicted.sum(0).tolist(),
        "labels.right": (predicted & truth).sum(0).tolist(),
        "labels.best_right": truth[hits].sum(0).tolist(),
    }
    if (truth.sum(axis=1) <= 1).all():
        pairs = np.stack([truth[labelled].argmax(axis=1), scores[labelled].argmax(axis=1)])
        pairs, counts = np.unique(pairs, axis=1, return_counts=True)
        columns["confusion"] = np.vstack([pairs, counts]).T.ravel().tolist()  # true and best label, graphs
    return columns


def _share(right: BoolArray) -> float:
    return float(right.mean()) if len(right) else math.nan


def _number(value: float) -> float | None:
    """As rows keep it: six decimals are enough for any table, and keep rows short."""
    return None if math.isnan(value) else round(value, 6)

"""What every method that learns from bags must keep, a function a rule."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.utils import get_tags

from cfmgml.checks.made import shuffle_graphs
from cfmgml.checks.verdict import demand, demand_close, demand_error, named_rules
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator
from cfmgml.metrics import bag_report

METHODS = ("fit", "predict", "decision_function", "score", "get_params", "set_params")
OF_GRAPHS = ("decision_function_graphs", "predict_graphs")


@dataclass(frozen=True)
class BagCase:
    """A method, bags to learn from and bags to predict."""

    estimator: BagEstimator  # or what has its manners
    train: BagDataset
    new: BagDataset
    atol: float = 1e-4

    def unfitted(self) -> BagEstimator:
        made: BagEstimator = clone(self.estimator)
        return made

    def fit(self, bags: BagDataset | None = None, Y: ArrayLike | None = None) -> BagEstimator:
        return self.unfitted().fit(self.train if bags is None else bags, Y)

    @cached_property
    def model(self) -> BagEstimator:
        """Fitted once, for rules that only predict."""
        return self.fit()

    @property
    def labels(self) -> BoolArray:
        assert self.train.Y is not None
        return self.train.Y

    @property
    def of_graphs(self) -> bool:
        return "graph" in levels_of(self.estimator)


def levels_of(estimator: object) -> tuple[str, ...]:
    """What it predicts labels of; one that does not say so predicts both, or bags if it has no method for graphs."""
    found = ("bag", "graph") if hasattr(estimator, OF_GRAPHS[0]) else ("bag",)
    return tuple(getattr(estimator, "levels", found))


def interface(case: BagCase) -> None:
    """It is an instance with scikit-learn's methods, and those for graphs if ``levels`` has "graph"."""
    if isinstance(case.estimator, type):
        raise AssertionError(f"it is a class; check {case.estimator.__name__}().")
    wanted = METHODS + (OF_GRAPHS if case.of_graphs else ())
    lacking = [name for name in wanted if not callable(getattr(case.estimator, name, None))]
    demand(not lacking, f"it has no {', no '.join(lacking)}.")
    levels = levels_of(case.estimator)
    demand("bag" in levels and set(levels) <= {"bag", "graph"}, f"levels is {levels}.")


def parameters(case: BagCase) -> None:
    """``clone`` and ``set_params`` give the same method again, and a clone has learned nothing."""
    again = case.unfitted()
    demand(repr(again) == repr(case.estimator), f"a clone is {again!r}.")
    demand(again.set_params(**again.get_params(deep=False)) is again, "set_params does not return the method itself.")
    learned = sorted(name for name in vars(clone(case.model)) if name.endswith("_") and not name.startswith("_"))
    demand(not learned, f"a clone of a fitted model remembers {learned}.")


def unfitted_says_so(case: BagCase) -> None:
    """What has learned nothing raises scikit-learn's NotFittedError."""
    for name in ("predict", "decision_function", *(OF_GRAPHS if case.of_graphs else ())):
        demand_error(lambda name=name: getattr(case.unfitted(), name)(case.new), NotFittedError, f"{name} before fit")  # type: ignore[misc]


def fit_returns_itself(case: BagCase) -> None:
    """``fit`` returns the method, which then has the bags' ``label_names_``."""
    estimator = case.unfitted()
    demand(estimator.fit(case.train) is estimator, "fit does not return the method itself.")
    names = case.train.label_names
    if names is not None:
        found = np.asarray(getattr(estimator, "label_names_", ())).tolist()
        demand(found == names.tolist(), f"label_names_ is {found}, expected {names.tolist()}.")


def shapes(case: BagCase) -> None:
    """Scores are finite, labels are truth values; a row a bag, or a graph, and a column a label."""
    n_labels = case.labels.shape[1]
    rows = {"decision_function": case.new.n_bags, "predict": case.new.n_bags}
    if case.of_graphs:
        rows |= dict.fromkeys(OF_GRAPHS, case.new.n_graphs)
    for name, n_rows in rows.items():
        found = np.asarray(getattr(case.model, name)(case.new))
        demand(found.shape == (n_rows, n_labels), f"{name} has shape {found.shape}, expected {(n_rows, n_labels)}.")
        if name.startswith("predict"):
            demand(found.dtype == bool, f"{name} gives {found.dtype}, expected bool.")
        else:
            demand(np.isfinite(found).all(), f"{name} has {(~np.isfinite(found)).sum()} values that are not finite.")


def above_zero_means_yes(case: BagCase) -> None:
    """A label whose score is above 0 is predicted."""
    pairs = [("decision_function", "predict")] + ([OF_GRAPHS] if case.of_graphs else [])
    for scores, labels in pairs:
        left_out = (getattr(case.model, scores)(case.new) > 0) & ~getattr(case.model, labels)(case.new)
        demand(not left_out.any(), f"{labels} leaves out {left_out.sum()} labels whose {scores} is above 0.")


def no_level_that_it_lacks(case: BagCase) -> None:
    """A method without the level "graph" raises a TypeError when asked for it, or has no such method."""
    if not case.of_graphs and hasattr(case.model, OF_GRAPHS[0]):
        demand_error(lambda: case.model.decision_function_graphs(case.new), TypeError, OF_GRAPHS[0])


def selection(case: BagCase) -> None:
    """What is predicted for a bag does not depend on the bags beside it."""
    demand_selection(case.model, case.new, [1, 0, 1], case.atol)


def demand_selection(model: BagEstimator, bags: BagDataset, index: list[int], atol: float) -> None:
    expected = model.decision_function(bags)[index]
    found = model.decision_function(bags[index])
    demand_close(found, expected, "decision_function of selected bags", "as among all", atol)
    clear = np.abs(expected) > atol  # a score within rounding of 0 may fall on either side
    same = model.predict(bags[index])[clear] == model.predict(bags)[index][clear]
    demand(same.all(), f"predict differs from that of all bags for {(~same).sum()} labels of selected ones.")


def order_of_graphs_and_nodes(case: BagCase) -> None:
    """A bag is a set of graphs and a graph a set of nodes: shuffle both, and each bag scores as before."""
    demand_any_order(case.model, case.new, 0, case.atol)


def demand_any_order(model: BagEstimator, bags: BagDataset, seed: int, atol: float) -> None:
    found = model.decision_function(shuffle_graphs(bags, np.random.default_rng(seed)))
    expected = model.decision_function(bags)
    demand_close(found, expected, "decision_function of shuffled bags", "as in the order given", atol)


def same_seed_same_result(case: BagCase) -> None:
    """Two fits of the same method on the same bags score alike, to the last bit."""
    demand_close(
        _scores(case.fit(), case), _scores(case.model, case), "decision_function", "as of the first fit", atol=0
    )


def labels_given_to_fit(case: BagCase) -> None:
    """``fit(X, Y)`` with the bags' own labels, as numbers, is ``fit(X)``."""
    found = _scores(case.fit(case.train, case.labels.astype(np.float64)), case)
    demand_close(found, _scores(case.model, case), "decision_function after fit(X, Y)", "as after fit(X)", atol=0)


def learns_something(case: BagCase) -> None:
    """It ranks the labels of its own training bags better than their frequency does, unless its tags say poor_score."""
    of_classifier = get_tags(case.estimator).classifier_tags
    if of_classifier is not None and of_classifier.poor_score:
        return
    Y = case.labels
    by_frequency = bag_report(Y, np.tile(Y.mean(axis=0), (len(Y), 1)))["average_precision"]
    floor = (1 + by_frequency) / 2
    found = case.model.score(case.train)
    demand(
        found > floor,
        f"its average precision is {found:.3f}, expected above {floor:.3f}; frequency: {by_frequency:.3f}.",
    )


def bags_at_the_edge(case: BagCase) -> None:
    """Bags with no label or all, a label never or always there, one graph a bag, one bag, one label: all fit."""
    for name, (bags, Y) in _edge_cases(case.train, case.labels).items():
        model = case.fit(bags, Y)
        scores, predicted = np.asarray(model.decision_function(bags)), np.asarray(model.predict(bags))
        demand(np.isfinite(scores).all(), f"{name}: scores are not finite.")
        demand(predicted.shape == Y.shape, f"{name}: predict has shape {predicted.shape}, expected {Y.shape}.")


def _edge_cases(bags: BagDataset, Y: BoolArray) -> dict[str, tuple[BagDataset, BoolArray]]:
    last = np.arange(Y.shape[1]) == Y.shape[1] - 1
    extremes = Y.copy()
    extremes[0], extremes[1] = False, True
    first = bags.bag_ptr[:-1]
    truth = bags.graph_Y  # some methods learn from it
    single = BagDataset(bags.graphs[first], np.arange(bags.n_bags + 1), Y, None if truth is None else truth[first])
    one = BagDataset(bags.graphs, bags.bag_ptr, Y[:, :1], None if truth is None else truth[:, :1])
    return {
        "no label, all labels": (bags, extremes),
        "a label never seen": (bags, Y & ~last),
        "a label always there": (bags, Y | last),
        "no label at all": (bags, np.zeros_like(Y)),
        "one graph a bag": (single, Y),
        "one bag": (bags[:1], Y[:1]),
        "one label": (one, Y[:, :1]),
    }


def bad_input(case: BagCase) -> None:
    """A list instead of bags is a TypeError; no Y, and a Y that does not fit, are ValueErrors: each says so."""
    bags, n_bags = case.train, case.train.n_bags
    bare = BagDataset(bags.graphs, bags.bag_ptr)
    for what, kinds, word, given in (
        ("fit on a list", TypeError, "BagDataset", ([1, 2], None)),
        ("fit on bags without Y", ValueError, "Y", (bare, None)),
        ("fit with too few rows of Y", ValueError, "Y", (bags, np.ones((n_bags - 1, 2)))),
        ("fit with Y other than 0 and 1", ValueError, "Y", (bags, np.full((n_bags, 2), 7))),
    ):
        demand_error(lambda given=given: case.unfitted().fit(*given), kinds, what, word)  # type: ignore[misc]
    demand_error(lambda: case.model.predict([1, 2]), TypeError, "predict on a list", "BagDataset")  # type: ignore[arg-type]


def refused_fit_changes_nothing(case: BagCase) -> None:
    """After a fit that raises, the model predicts as before, or is still unfitted."""
    model, wrong = case.fit(), np.full((case.train.n_bags, 2), 7)
    before, attributes = _scores(model, case), set(vars(model))
    demand_error(lambda: model.fit(case.train, wrong), ValueError, "fit with Y other than 0 and 1")
    demand_close(_scores(model, case), before, "decision_function after a fit that raised", "as before it", atol=0)
    demand(set(vars(model)) == attributes, f"attributes changed: {sorted(set(vars(model)) ^ attributes)}.")
    estimator = case.unfitted()
    demand_error(lambda: estimator.fit(case.train, wrong), ValueError, "fit with Y other than 0 and 1")
    demand_error(lambda: estimator.predict(case.new), NotFittedError, "predict after a first fit that raised")


def travels(case: BagCase) -> None:
    """A fitted model can be sent to other processes, and a copy of it scores alike."""
    joblib.hash(case.model)  # pickles it, as joblib does to send it, and keeps nothing
    found = _scores(copy.deepcopy(case.model), case)
    demand_close(found, _scores(case.model, case), "decision_function of a copy", "as of the model", atol=0)


def model_selection(case: BagCase) -> None:
    """scikit-learn's cross_val_score or GridSearchCV, and cross_val_predict, take it."""
    bags, Y, params = case.train, case.labels, case.estimator.get_params(deep=False)
    predicted = cross_val_predict(case.unfitted(), bags, Y, cv=2)
    demand(predicted.shape == Y.shape, f"cross_val_predict has shape {predicted.shape}, expected {Y.shape}.")
    if not params:
        scores = cross_val_score(case.unfitted(), bags, Y, cv=2, error_score="raise")
        demand(np.isfinite(scores).all(), f"cross_val_score gives {scores}.")
        return
    name = next((name for name in ("alpha", "C") if name in params), min(params))
    search = GridSearchCV(case.unfitted(), {name: [params[name]]}, cv=2, error_score="raise").fit(bags, Y)
    demand(np.isfinite(search.best_score_), f"GridSearchCV has the best score {search.best_score_}.")
    shape = search.predict(bags).shape
    demand(shape == Y.shape, f"predict of a GridSearchCV has shape {shape}, expected {Y.shape}.")


def _scores(model: BagEstimator, case: BagCase) -> FloatArray:
    return np.asarray(model.decision_function(case.new))


ESTIMATOR_RULES: dict[str, Callable[[BagCase], None]] = named_rules(
    (
        interface, parameters, unfitted_says_so, fit_returns_itself, shapes, above_zero_means_yes,
        no_level_that_it_lacks, selection, order_of_graphs_and_nodes, same_seed_same_result, labels_given_to_fit,
        learns_something, bags_at_the_edge, bad_input, refused_fit_changes_nothing, travels, model_selection,
    )
)  # fmt: skip

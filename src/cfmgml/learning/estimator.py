"""What every estimator shares: scikit-learn's manners at two levels.

`decision_function` and `predict` speak of bags, `decision_function_graphs` and `predict_graphs` of graphs; ``levels``
says which of both an estimator has.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cfmgml.common.segments import segment_max
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.label_sets import check_label_matrix

Estimator = TypeVar("Estimator")
P = ParamSpec("P")
R = TypeVar("R")


def unchanged_on_error(fit: Callable[Concatenate[Estimator, P], R]) -> Callable[Concatenate[Estimator, P], R]:
    """A method that leaves the estimator's attributes as they were if it raises: half a fit is none."""

    @wraps(fit)
    def whole(self: Estimator, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole


class BagEstimator(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A method that learns from bags of graphs.

    Subclasses implement ``fit``, which begins with `_begin_fit` and is `unchanged_on_error`, and
    ``decision_function_graphs`` or ``decision_function``.
    """

    levels: ClassVar[tuple[str, ...]] = ("bag", "graph")

    label_names_: NameArray
    classes_: NameArray

    @abstractmethod
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags; ``Y`` (n_bags, n_labels) takes the place of ``X.Y``."""

    def _begin_fit(self, X: object, Y: ArrayLike | None) -> tuple[BagDataset, BoolArray, BoolArray]:
        """Check what was given; returns bags, Y and which entries of Y are known."""
        bags = check_bags(X)
        labels, known = check_targets(bags, Y)
        self.label_names_ = self.classes_ = label_names_of(bags, labels)
        return bags, labels, known

    def _check_predict(self, X: object, level: str) -> BagDataset:
        if level not in self.levels:
            own = " and a ".join(self.levels)
            raise TypeError(f"{type(self).__name__} predicts labels of a {own}, not of a {level}.")
        check_is_fitted(self, "label_names_")
        return check_bags(X)

    # -- graphs ------------------------------------------------------------------------------

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels); above 0 means that the graph has the label."""
        self._check_predict(X, "graph")
        raise TypeError(f"{type(self).__name__} does not say how it scores graphs.")

    def predict_graphs(self, X: BagDataset) -> BoolArray:
        """Labels of every graph, (n_graphs, n_labels)."""
        return self.decision_function_graphs(X) > 0

    # -- bags --------------------------------------------------------------------------------

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels): a bag scores as its best graph."""
        bags = self._check_predict(X, "bag")
        return segment_max(self.decision_function_graphs(bags), bags.bag_ptr)

    def predict(self, X: BagDataset) -> BoolArray:
        """Labels of every bag, (n_bags, n_labels): the union of its graphs' labels."""
        return self.decision_function(X) > 0

    def score(self, X: BagDataset, Y: ArrayLike | None = None, sample_weight: None = None) -> float:
        """Average precision at bag level, over bags whose labels are all known: what grid searches maximise."""
        from cfmgml.metrics import bag_report  # brings in scikit-learn's metrics: `import cfmgml` need not wait

        labels, known = self._true_labels(X, Y)
        whole = known.all(axis=1)
        if not whole.any():
            raise ValueError("score needs bags whose labels are all known, and there is none.")
        return bag_report(labels[whole], self.decision_function(X)[whole])["average_precision"]

    def _true_labels(self, X: object, Y: ArrayLike | None) -> tuple[BoolArray, BoolArray]:
        """The labels of bags to compare predictions with, in the order of ``label_names_``, and which are known."""
        check_is_fitted(self, "label_names_")
        return targets_in_order(check_bags(X), Y, self.label_names_)


def check_bags(X: object) -> BagDataset:
    if not isinstance(X, BagDataset):
        raise TypeError(f"X must be a BagDataset, got {type(X).__name__}.")
    return X


def label_names_of(bags: BagDataset, labels: BoolArray) -> NameArray:
    """The names of the columns of Y: those of the bags, or their numbers where the bags have none for them."""
    if bags.label_names is not None and len(bags.label_names) == labels.shape[1]:
        return bags.label_names
    return np.arange(labels.shape[1]).astype(np.str_)


def targets_in_order(bags: BagDataset, Y: ArrayLike | None, names: NameArray) -> tuple[BoolArray, BoolArray]:
    """The labels of bags and which of them are known, in the order of these names; other labels are refused."""
    labels, known = check_targets(bags, Y)
    if labels.shape[1] != len(names) and Y is not None:
        raise ValueError(f"Y must have one column for each of {len(names)} labels, got {labels.shape[1]}.")
    own, wanted = label_names_of(bags, labels).tolist(), names.tolist()
    if Y is None and own != wanted:
        if sorted(own) != sorted(wanted):
            raise ValueError(f"these bags have the labels {own}, the model learned {wanted}.")
        order = [own.index(name) for name in wanted]
        return labels[:, order], known[:, order]
    return labels, known


def check_targets(bags: BagDataset, Y: ArrayLike | None) -> tuple[BoolArray, BoolArray]:
    """The labels to learn from, and which of them are known."""
    if Y is None:
        if bags.Y is None:
            raise ValueError("these bags have no Y: give labels to the BagDataset, or to fit(X, Y).")
        labels, known = bags.Y, bags.Y_known
    else:
        labels, known = check_label_matrix(Y, bags.n_bags, "Y", "bag")
    return labels, np.ones(labels.shape, dtype=bool) if known is None else known

"""Pooled features and a linear classifier, read back at every node: class activation maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cfmgml.baselines.method import Method
from cfmgml.common.segments import lengths, segment_ids, segment_sum
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error
from cfmgml.learning.painting import loudest_labels


@dataclass(eq=False, repr=False)
class ActivationMaps(BagEstimator):
    """Logistic regression on the mean of a bag's node attributes: what one would do with a network and no graphs.

    The classifier is linear, so a bag's score is the mean of its nodes' scores. Those are class activation maps (Zhou
    et al., CVPR 2016), the seed that weakly supervised segmentation starts from. A graph scores as the mean of its
    nodes.

    Parameters
    ----------
    columns
        Names of the parts of the attributes to look at, such as ``["last"]`` for the last map of a network (see
        ``bags.info["columns"]``); None: those of a network's maps, or else all.
    C
        Of the logistic regression.
    background
        Which share of the loudest node's score, in its bag, a node must reach to be painted; None: every node of a bag
        with labels is.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> ActivationMaps().fit(bags).decision_function(bags).shape
    (40, 10)
    """

    compared = (Method(
        "activation-maps", "Activation maps", "logistic regression on the mean of a bag's nodes, read at every node",
        "graphs", {"C": (0.001, 0.01, 0.1, 1.0, 10.0)}, quick={"C": (0.1,)}, cost=0.2,
    ),)  # fmt: skip

    columns: Sequence[str] | None = None
    C: float = 0.1
    background: float | None = 0.2
    max_iter: int = 500

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags and their labels; unknown ones are left out."""
        bags, labels, known = self._begin_fit(X, Y)
        pooled = self._pooled(bags)
        self.mean_, self.scale_ = pooled.mean(axis=0), np.maximum(pooled.std(axis=0), 1e-9)
        scaled = (pooled - self.mean_) / self.scale_
        columns = [self._fit_label(scaled[k], has[k]) for has, k in zip(labels.T, known.T, strict=True)]
        self.coef_ = np.stack([coef for coef, _ in columns], axis=1)
        self.intercept_ = np.array([intercept for _, intercept in columns])
        return self

    def _fit_label(self, rows: FloatArray, has: BoolArray) -> tuple[FloatArray, float]:
        from sklearn.linear_model import LogisticRegression

        if has.all() or not has.any():
            return np.zeros(rows.shape[1]), 1.0 if len(has) and has.all() else -1.0
        fitted: Any = LogisticRegression(C=self.C, max_iter=self.max_iter).fit(rows, has)
        return fitted.coef_[0], float(fitted.intercept_[0])

    def _attributes(self, bags: BagDataset) -> FloatArray:
        values = bags.graphs.node_attributes
        if values is None:
            raise ValueError(f"{type(self).__name__} looks at node attributes, and these graphs have none.")
        spans = getattr(bags.builder, "columns", None) or {}
        names = self.columns
        if names is None:
            names = [name for name in ("last",) if name in spans]
        unknown = sorted(set(names) - set(spans))
        if unknown:
            raise ValueError(f"columns must be among {', '.join(spans) or 'none'}, got {unknown[0]!r}.")
        return np.concatenate([values[:, slice(*spans[name])] for name in names], axis=1) if names else values

    def _pooled(self, bags: BagDataset) -> FloatArray:
        ptr = bags.graphs.node_ptr[bags.bag_ptr]
        return np.asarray(segment_sum(self._attributes(bags).astype(np.float64), ptr) / lengths(ptr)[:, None])

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels): of the mean of a bag's nodes."""
        bags = self._check_predict(X, "bag")
        return np.asarray((self._pooled(bags) - self.mean_) / self.scale_ @ self.coef_ + self.intercept_)

    def _node_scores(self, bags: BagDataset) -> FloatArray:
        weights = self.coef_ / self.scale_[:, None]
        return np.asarray(self._attributes(bags) @ weights + (self.intercept_ - self.mean_ @ weights))

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels): of the mean of a graph's nodes."""
        bags = self._check_predict(X, "graph")
        ptr = bags.graphs.node_ptr
        return np.asarray(segment_sum(self._node_scores(bags), ptr) / lengths(ptr)[:, None])

    def paint(self, X: BagDataset, given: bool = False) -> IntArray:
        """The label that each node speaks for most, (n_nodes,), -1 for none, as `CfMGML.paint` has it."""
        scores = self._node_scores(self._check_predict(X, "graph"))
        labels, known = self._true_labels(X, None) if given else (self.predict(X), True)
        ptr = X.graphs.node_ptr[X.bag_ptr]
        loud = np.where((labels & known)[segment_ids(ptr)], scores, -np.inf)
        return loudest_labels(loud, ptr, self.background)

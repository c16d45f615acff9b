"""Logistic regression on the mean of a bag's graphs: what one would do with a kernel's features and no bags."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cfmgml.baselines.method import Method
from cfmgml.common.compute import Compute
from cfmgml.common.numbers import check_number
from cfmgml.common.segments import lengths, segment_ids
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, IntArray, Rows
from cfmgml.data.bags import BagDataset
from cfmgml.kernels import choose_kernel
from cfmgml.kernels.context import Context, bag_means
from cfmgml.kernels.function import KernelLike
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error
from cfmgml.learning.scoring import training_rows


@dataclass(eq=False, repr=False)
class Pooled(BagEstimator):
    """Logistic regression, one a label, on the mean of the kernel's feature vectors over a bag's graphs.

    It is linear, so it can be read at each graph too, which is what class activation maps do. Labels that all or no
    training bags have get a constant score, 1 or -1; an unknown entry of Y leaves the bag out for that label.

    Parameters
    ----------
    kernel
        As in `CfMGML`.
    C
        Of the logistic regression.
    balanced
        Whether bags that have a label count as much, together, as those that have it not.
    dtype, n_jobs
        Of the Gram matrix, for kernels without an explicit map.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> model = Pooled().fit(bags)
    >>> model.decision_function(bags).shape, model.decision_function_graphs(bags).shape == bags.graph_Y.shape
    ((40, 10), True)
    """

    compared = (Method(
        "pooled", "Pooled, logistic regression", "on the mean of the kernel's features over a bag", "features",
        {"balanced": (0, 1), "C": tuple(10.0**k for k in range(-1, 6))}, quick={"C": (10.0, 1e3)}, by_default=True,
        short={"balanced": (0, 1), "C": (1.0, 10.0, 100.0, 1e3)}, cost=0.5,
    ),)  # fmt: skip

    kernel: KernelLike | None = None
    C: float = 100.0
    balanced: bool = False
    max_iter: int = 500
    dtype: str = "float64"
    n_jobs: int | None = None

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags and their labels."""
        bags, labels, known = self._begin_fit(X, Y)
        check_number(self.C, "C", above=0)
        check_number(self.max_iter, "max_iter", at_least=1, whole=True)
        kernel = choose_kernel(self.kernel, bags.graphs).resolve(bags.graphs)
        compute = Compute(self.dtype, n_jobs=self.n_jobs)
        train = training_rows(kernel, bags.graphs, Context(bags.bag_ptr, 0.0), compute)
        pooled = _means(train.rows, bags.bag_ptr)
        columns = [self._fit_label(pooled[k], has[k]) for has, k in zip(labels.T, known.T, strict=True)]
        self.scorer_ = train.scorer(np.stack([coef for coef, _ in columns], axis=1))
        self.intercept_ = np.array([intercept for _, intercept in columns])
        self.kernel_ = kernel
        return self

    def _fit_label(self, rows: Rows, has: BoolArray) -> tuple[FloatArray, float]:
        from sklearn.linear_model import LogisticRegression

        if has.all() or not has.any():
            return np.zeros(rows.shape[1]), 1.0 if len(has) and has.all() else -1.0
        weight = "balanced" if self.balanced else None
        fitted: Any = LogisticRegression(C=self.C, class_weight=weight, max_iter=self.max_iter).fit(rows, has)
        return fitted.coef_[0], float(fitted.intercept_[0])

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels): what a bag of this graph alone would score."""
        bags = self._check_predict(X, "graph")
        return np.asarray(self.scorer_.scores(bags.graphs) + self.intercept_)

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels): the mean over a bag's graphs."""
        bags = self._check_predict(X, "bag")
        return bag_means(self.decision_function_graphs(bags), bags.bag_ptr)


def _means(rows: Rows, bag_ptr: IntArray) -> Rows:
    """The mean row of each bag; sparse ones stay so."""
    if isinstance(rows, np.ndarray):
        return bag_means(rows, bag_ptr)
    from scipy import sparse

    bag, sizes = segment_ids(bag_ptr), lengths(bag_ptr)
    share = sparse.csr_array((1 / sizes[bag], (bag, np.arange(len(bag)))), shape=(len(sizes), len(bag)))
    return sparse.csr_array(share @ rows)

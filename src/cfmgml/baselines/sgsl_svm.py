"""SGSL SVM: a support vector machine that is told every graph's label."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.svm import SVC

from cfmgml.baselines.method import FEW_C, ONE_C, Method
from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.kernels import choose_kernel
from cfmgml.kernels.function import KernelLike
from cfmgml.kernels.gram import gram_matrix
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error


@dataclass(eq=False, repr=False)
class SgslSVM(BagEstimator):
    """One C-SVC a label on the graph kernel, over graphs with known labels: the supervised ceiling of the tables.

    The paper trains LIBSVM on graphs (Chang & Lin 2011) and takes a bag's labels as the union of its graphs'. We
    train one classifier a label, so that graphs with several labels or none are served too, and score a bag as its
    best graph. Labels that all or no training graphs have get a constant score.

    Parameters
    ----------
    kernel
        As in `CfMGML`.
    C
        Of the SVC; the paper searches 10^1 to 10^7.
    dtype, n_jobs
        Of the Gram matrix.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> SgslSVM().fit(bags).predict_graphs(bags).shape == bags.graph_Y.shape
    True
    """

    compared = (Method(
        "sgsl-svm", "SGSL SVM", "told the label of every training graph: the ceiling", "kernel",
        {"C": tuple(10.0**k for k in range(1, 8))}, sees_graph_labels=True, by_default=True, quick=FEW_C, short=FEW_C,
        shortest=ONE_C, cost=0.2,
    ),)  # fmt: skip

    kernel: KernelLike | None = None
    C: float = 10.0
    dtype: str = "float64"
    n_jobs: int | None = None

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from ``X.graph_Y``; bag labels are checked and not used."""
        bags, labels, _ = self._begin_fit(X, Y)
        if bags.graph_Y is None:
            raise ValueError("SgslSVM learns from the labels of graphs, and these bags have no graph_Y.")
        if bags.graph_Y.shape[1] != labels.shape[1]:
            raise ValueError(f"Y has {labels.shape[1]} labels and graph_Y {bags.graph_Y.shape[1]}.")
        check_pairwise_size("SgslSVM", bags.n_graphs, "graphs", 2, "use fewer graphs")
        self.kernel_ = choose_kernel(self.kernel, bags.graphs).resolve(bags.graphs)
        K = gram_matrix(self.kernel_, bags.graphs, dtype=self.dtype, n_jobs=self.n_jobs)
        columns = [self._fit_label(K, column) for column in bags.graph_Y.T]
        coef = np.stack([dual for dual, _ in columns], axis=1)
        self.intercept_ = np.array([intercept for _, intercept in columns])
        used = np.flatnonzero(coef.any(axis=1)) if coef.any() else [0]
        self.support_, self.dual_coef_ = bags.graphs[used], coef[used]
        return self

    def _fit_label(self, K: FloatArray, has: BoolArray) -> tuple[FloatArray, float]:
        dual = np.zeros(len(K))
        if has.all() or not has.any():
            return dual, 1.0 if has.all() else -1.0
        svc = SVC(C=self.C, kernel="precomputed").fit(K, has)
        dual[svc.support_] = svc.dual_coef_[0]
        return dual, float(svc.intercept_[0])

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels)."""
        bags = self._check_predict(X, "graph")
        K = gram_matrix(self.kernel_, bags.graphs, self.support_, dtype=self.dtype, n_jobs=self.n_jobs)
        return np.asarray(K @ self.dual_coef_ + self.intercept_)

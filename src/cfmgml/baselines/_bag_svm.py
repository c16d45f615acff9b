"""What M3MIML and MI-SVM share as estimators: the Gram matrix before the solver, the scores after it."""

from abc import abstractmethod
from typing import Self

import numpy as np

from cfmgml.baselines._label_svm import LabelProblem, first_twins, mean_weights
from cfmgml.baselines.instances import MeanVectors, one_node_graphs
from cfmgml.common.compute import Compute
from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.numbers import check_number
from cfmgml.common.typing import ArrayLike, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, Precomputed, choose_kernel
from cfmgml.kernels.approximation import AUTO, settle_rank
from cfmgml.kernels.context import Context, join_parts
from cfmgml.kernels.function import KernelLike
from cfmgml.kernels.gram import compute_gram
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error
from cfmgml.learning.scoring import DualScorer

INSTANCES = ("graphs", "mean")


class BagSVM(BagEstimator):
    """One support vector machine a label over bags of graphs; subclasses say how it is solved."""

    kernel: KernelLike | None
    C: float
    instances: str
    context: float
    rank: str | None
    dtype: str
    n_jobs: int | None
    verbose: bool

    @abstractmethod
    def _solve(self, problems: list[LabelProblem], K: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (n_graphs, n_labels) and intercepts (n_labels,)."""

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags; ``Y`` (n_bags, n_labels) takes the place of ``X.Y``.

        Where an entry of Y is NaN or masked, the bag is left out for that label.
        """
        bags, labels, known = self._begin_fit(X, Y)
        self._check_params()
        check_pairwise_size(type(self).__name__, bags.n_graphs, "graphs", 3, "use fewer, or CfMGML(rank=...)")
        self.vectors_ = MeanVectors.of(bags.graphs) if self.instances == "mean" else None
        graphs = self._instances(bags.graphs)
        resolved = choose_kernel(self.kernel, graphs).resolve(graphs)
        self.kernel_ = settle_rank(resolved, graphs, self.rank, self._compute()).kernel
        context = Context(bags.bag_ptr, float(self.context))
        K = context.of_gram(compute_gram(self.kernel_, graphs, self._compute()))
        weights, twins = mean_weights(bags.bag_ptr), first_twins(K, _rounding(self.kernel_, K))
        problems = [
            LabelProblem(bags.bag_ptr, has & certain, ~has & certain, weights, twins)
            for has, certain in zip(labels.T, known.T, strict=True)
        ]
        duals, self.intercept_ = self._solve(problems, K)
        coef = context.split_duals(duals)
        self.support_rows_ = np.flatnonzero(coef.any(axis=1)) if coef.any() else np.zeros(1, dtype=np.int64)
        self.dual_coef_ = coef[self.support_rows_]
        self.support_: GraphBatch = graphs[self.support_rows_]
        return self

    def _check_params(self) -> None:
        check_number(self.C, "C", above=0)
        check_number(self.context, "context", at_least=0, below=1)
        if self.rank not in (None, AUTO):
            raise ValueError(f"rank must be 'auto' or None, got {self.rank!r}.")
        if self.instances not in INSTANCES:
            raise ValueError(f"instances must be one of {INSTANCES}, got {self.instances!r}.")
        self._compute()

    def _compute(self) -> Compute:
        return Compute(self.dtype, n_jobs=self.n_jobs, verbose=self.verbose)

    def _instances(self, graphs: GraphBatch) -> GraphBatch:
        return graphs if self.vectors_ is None else one_node_graphs(self.vectors_(graphs), graphs.graph_ids)

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels); above 0 means that the graph has the label."""
        bags = self._check_predict(X, "graph")
        scorer = DualScorer(self.kernel_, self.support_, self.dual_coef_, self._compute())
        scores = scorer.scores(self._instances(bags.graphs))
        return (
            join_parts(scores, bags.bag_ptr) if scorer.n_scores > len(self.intercept_) else scores
        ) + self.intercept_


def _rounding(kernel: Kernel, K: FloatArray) -> float:
    """Of the values in K: a matrix that was given may have been rounded more than what holds it now."""
    given = getattr(kernel.K, "dtype", K.dtype) if isinstance(kernel, Precomputed) else K.dtype
    return float(max(np.finfo(dtype).eps for dtype in (K.dtype, given) if np.issubdtype(dtype, np.floating)))

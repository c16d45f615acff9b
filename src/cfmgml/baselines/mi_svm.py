"""MI-SVM: a maximum margin for every label, where each bag is represented by its best graph."""

from dataclasses import dataclass, replace

import numpy as np

from cfmgml.baselines._bag_svm import BagSVM
from cfmgml.baselines._label_svm import LabelProblem, room_for_points, solve_exactly
from cfmgml.baselines.method import FEW_C, ONE_C, SHARES, Method
from cfmgml.common.numbers import check_number
from cfmgml.common.progress import progress
from cfmgml.common.segments import segment_ids, segment_log_mean_exp
from cfmgml.common.typing import FloatArray
from cfmgml.kernels.approximation import AUTO
from cfmgml.kernels.function import KernelLike

SETTLED = 1e-3  # largest change of a graph's weight at which a label is done


@dataclass(eq=False, repr=False)
class MISVM(BagSVM):
    """MI-SVM (Andrews, Tsochantaridis & Hofmann, NIPS 2002), one a label, over any graph kernel.

    It starts as `M3MIML`. Then, label by label, a bag that has the label is represented by its best graph (or by a
    softmax of its graphs' scores, where ``temperature`` is above 0), and the machine is solved again, until nothing
    changes. Graphs of bags without the label are negative throughout, as published. A bag scores as its best graph.
    Labels that all or no bags have, and unknown entries of Y, are treated as there.

    Parameters
    ----------
    kernel, C, instances, tol, dtype, n_jobs, verbose, context, rank
        As in `M3MIML`.
    temperature
        Of the softmax over a bag's graphs; 0 is the published algorithm.
    n_rounds
        Most rounds of weighting.

    Attributes
    ----------
    n_iter_
        Shape (n_labels,): rounds until the weights settled, or ``n_rounds``.
    support_rows_, dual_coef_, intercept_, kernel_, label_names_, classes_
        As in `M3MIML`.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> MISVM().fit(bags).predict_graphs(bags).shape == bags.graph_Y.shape
    True
    """

    compared = (
        Method("misvm", "MI-SVM, graphs", "on the same graph kernel as CfMGML", "kernel",
               {"C": (0.1, 1.0, 10.0, 100.0, 1e3)}, by_default=True, quick=FEW_C, short=FEW_C, shortest=ONE_C,
               cost=0.6),
        Method("misvm-context", "MI-SVM with context", "with the bag's mean in a graph's score, as CfMGML has it",
               "kernel", {"context": SHARES, **FEW_C}, quick={"context": (0.3,), **ONE_C},
               short={"context": (0.0, 0.6), **FEW_C}, shortest={"context": (0.0, 0.6), **ONE_C}, cost=0.6),
    )  # fmt: skip

    kernel: KernelLike | None = None
    C: float = 10.0
    instances: str = "graphs"
    temperature: float = 0.0
    n_rounds: int = 10
    tol: float = 1e-3
    dtype: str = "float64"
    n_jobs: int | None = None
    verbose: bool = False
    context: float = 0.0
    rank: str | None = AUTO

    def _check_params(self) -> None:
        super()._check_params()
        check_number(self.temperature, "temperature", at_least=0)
        check_number(self.n_rounds, "n_rounds", at_least=0, whole=True)

    def _solve(self, problems: list[LabelProblem], K: FloatArray) -> tuple[FloatArray, FloatArray]:
        coef, intercept = np.zeros((len(K), len(problems))), np.zeros(len(problems))
        self.n_iter_ = np.zeros(len(problems), dtype=np.int64)
        with progress("Training (MISVM)", len(problems), self.verbose) as advance:
            for c, problem in enumerate(problems):
                coef[:, c], intercept[c], self.n_iter_[c] = self._solve_label(problem, K)
                advance(1)
        return coef, intercept

    def _solve_label(self, problem: LabelProblem, K: FloatArray) -> tuple[FloatArray, float, int]:
        room = room_for_points(problem, K)
        coef, intercept = solve_exactly(problem, K, self.C, self.tol, room)
        counts = problem.positive[segment_ids(problem.bag_ptr)]  # whose weights matter
        for done in range(self.n_rounds):
            _, weights = segment_log_mean_exp(K @ coef, problem.bag_ptr, self.temperature)
            change = np.abs(weights - problem.weights)[counts].max(initial=0)
            if problem.constant is not None or change <= SETTLED:
                return coef, intercept, done
            problem = replace(problem, weights=weights)
            coef, intercept = solve_exactly(problem, K, self.C, self.tol, room)
        return coef, intercept, self.n_rounds

"""M3MIML: a maximum margin for every label, with a bag's mean instead of its best graph."""

from dataclasses import dataclass, replace

import numpy as np

from cfmgml.baselines._bag_svm import BagSVM
from cfmgml.baselines._label_svm import LabelProblem, solve_exactly, solve_frank_wolfe
from cfmgml.baselines.method import FEW_C, ONE_C, SHARES, Method
from cfmgml.common.numbers import check_number
from cfmgml.common.progress import progress
from cfmgml.common.typing import FloatArray
from cfmgml.kernels.approximation import AUTO
from cfmgml.kernels.function import KernelLike

SOLVERS = ("exact", "frank-wolfe")


@dataclass(eq=False, repr=False)
class M3MIML(BagSVM):
    """Maximum margin multi-instance multi-label learning (Zhang & Zhou, ICDM 2008), over any graph kernel.

    Each label is a C-SVC in which a bag that has the label is the kernel mean of its graphs and a bag that has it not
    contributes each of its graphs. A graph scores <w, phi(g)> + b and a bag as its best graph. Labels that all or no
    training bags have get a constant score, 1 or -1. An unknown entry of Y leaves the bag out for that label.

    Bags of vectors are bags of one-node graphs: the default kernel is then the rbf kernel of the vectors.

    Parameters
    ----------
    kernel
        As in `CfMGML`.
    C
        Cost of a violated margin; the paper searches 10^-2 to 10^6.
    instances
        ``"graphs"`` compares graphs; ``"mean"`` compares the mean node attributes of each graph, as the paper's
        bag-of-instances runs (see `cfmgml.baselines.instances`); the kernel then sees one-node graphs.
    solver
        ``"exact"``: LIBSVM, label by label, to the optimum up to ``tol``. ``"frank-wolfe"``: as the authors' program,
        which stops after ``max_iter`` directions, far from the optimum.
    max_iter
        Directions of ``"frank-wolfe"``; theirs are 5.
    tol
        How far from its optimality conditions ``"exact"`` may stop.
    dtype, n_jobs
        Of the Gram matrix. Memory grows with the square of the number of graphs.
    verbose
        Show progress on stderr.
    context
        As in `CfMGML`: how much of a graph's score comes from its bag as a whole.
    rank
        ``"auto"`` or None as in `CfMGML`: kernel values through landmarks where all of them would be slow. The machines
        themselves still see all pairs of graphs.

    Attributes
    ----------
    support_rows_
        Rows of the training graphs that the scores depend on.
    dual_coef_, intercept_, kernel_, label_names_, classes_
        A coefficient for each of those graphs and label (two with ``context``: the graph's own and its bag's), b, the
        resolved kernel, and the labels.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> model = M3MIML().fit(bags)
    >>> model.decision_function(bags).shape, model.decision_function_graphs(bags).shape == bags.graph_Y.shape
    ((40, 10), True)
    """

    compared = (
        Method("m3miml-vectors", "M3MIML, vectors", "on the mean node of each graph, as in the paper", "vectors",
               {"C": tuple(10.0**k for k in range(-2, 7))}, quick=FEW_C, short=FEW_C, shortest=ONE_C, cost=0.3),
        Method("m3miml", "M3MIML, graphs", "on the same graph kernel as CfMGML", "kernel",
               {"C": tuple(10.0**k for k in range(-2, 7))}, quick=FEW_C, short=FEW_C, shortest=ONE_C, cost=0.3,
               by_default=True),
        Method("m3miml-context", "M3MIML with context", "with the bag's mean in a graph's score, as CfMGML has it",
               "kernel", {"context": SHARES, **FEW_C}, quick={"context": (0.3,), **ONE_C},
               short={"context": (0.0, 0.6), **FEW_C}, shortest={"context": (0.0, 0.6), **ONE_C}, cost=0.3),
    )  # fmt: skip

    kernel: KernelLike | None = None
    C: float = 10.0
    instances: str = "graphs"
    solver: str = "exact"
    max_iter: int = 5
    tol: float = 1e-3
    dtype: str = "float64"
    n_jobs: int | None = None
    verbose: bool = False
    context: float = 0.0
    rank: str | None = AUTO

    def _check_params(self) -> None:
        super()._check_params()
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {SOLVERS}, got {self.solver!r}.")
        check_number(self.max_iter, "max_iter", at_least=1, whole=True)

    def _solve(self, problems: list[LabelProblem], K: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.solver == "frank-wolfe":
            one_by_one = [replace(problem, twins=None) for problem in problems]  # as in the authors' program
            return solve_frank_wolfe(one_by_one, K, self.C, self.max_iter)
        coef, intercept = np.zeros((len(K), len(problems))), np.zeros(len(problems))
        with progress("Training (M3MIML)", len(problems), self.verbose) as advance:
            for c, problem in enumerate(problems):
                coef[:, c], intercept[c] = solve_exactly(problem, K, self.C, self.tol)
                advance(1)
        return coef, intercept

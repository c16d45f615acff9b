"""`cccp`: the objective minimised properly, by the concave-convex procedure and L-BFGS.

Each round replaces the relevant labels' bag scores by their linearisation around the last scores, which turns the
objective into a smooth convex bound that touches it there, and minimises that. So the objective cannot go up from round
to round. The first round starts at zero, where the linearisation is each bag's mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from cfmgml._typing import FloatArray
from cfmgml.objective import Linearisation, RankLoss


@dataclass(frozen=True)
class Solution:
    """What a solver found, in the space of the rows it was given."""

    coef: FloatArray  # (n_features, n_labels)
    intercept: FloatArray  # (n_labels,)
    objective: list[float]  # a value a round
    n_iter: int
    gradient_norm: float  # relative to the one at the start


@dataclass(frozen=True)
class Problem:
    """Minimise ``alpha / 2 |W|^2 + loss(rows @ W + b)`` over W and, if asked for, b."""

    rows: Any  # (n_graphs, n_features), dense or sparse
    loss: RankLoss
    alpha: float
    fit_intercept: bool

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        n_labels = self.loss.relevant.shape[1]
        split = self.rows.shape[1] * n_labels
        intercept = theta[split:] if self.fit_intercept else np.zeros(n_labels)
        return theta[:split].reshape(-1, n_labels), intercept

    def start(self) -> FloatArray:
        n_labels = self.loss.relevant.shape[1]
        return np.zeros((self.rows.shape[1] + self.fit_intercept) * n_labels)

    def scores(self, theta: FloatArray) -> FloatArray:
        coef, intercept = self.unpack(theta)
        return np.asarray(self.rows @ coef) + intercept

    def value_and_gradient(self, theta: FloatArray, around: Linearisation | None = None) -> tuple[float, FloatArray]:
        coef, _ = self.unpack(theta)
        value, slope = self.loss.value_and_gradient(self.scores(theta), around)
        gradient = np.asarray(self.rows.T @ slope) + self.alpha * coef
        parts = [gradient.ravel(), slope.sum(0)] if self.fit_intercept else [gradient.ravel()]
        return value + self.alpha / 2 * float(np.vdot(coef, coef)), np.concatenate(parts)


def solve_cccp(
    problem: Problem,
    n_rounds: int,
    max_iter: int,
    tol: float,
    on_round: Callable[[int, float], None] = lambda done, value: None,
) -> Solution:
    """Rounds of L-BFGS until the objective stops falling or ``n_rounds`` are done.

    A round ends after ``max_iter`` iterations or when the largest entry of the gradient is ``tol`` times what it was
    at the very start.
    """
    theta = problem.start()
    first = np.abs(problem.value_and_gradient(theta)[1]).max()
    objective: list[float] = []
    n_iter = 0
    for done in range(1, n_rounds + 1):
        around = problem.loss.linearise(problem.scores(theta))
        found = optimize.minimize(
            problem.value_and_gradient,
            theta,
            args=(around,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": tol * first, "ftol": 0.0, "maxcor": 20},
        )
        theta, n_iter = found.x, n_iter + int(found.nit)
        objective.append(problem.value_and_gradient(theta)[0])
        on_round(done, objective[-1])
        if done > 1 and objective[-2] - objective[-1] <= 1e-6 * abs(objective[-2]):
            break
    last = np.abs(problem.value_and_gradient(theta)[1]).max()
    return Solution(*problem.unpack(theta), objective, n_iter, float(last / first) if first else 0.0)

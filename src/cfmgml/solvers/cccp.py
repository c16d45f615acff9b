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

CURVATURE = 0.1
ROUND_GAIN = 1e-3  # a round that lowers the objective by less, relatively, is the last


@dataclass(frozen=True)
class Solution:
    """What a solver found, in the space of the rows it was given."""

    coef: FloatArray  # (n_features, n_labels)
    intercept: FloatArray  # (n_labels,)
    objective: list[float]  # a value a round
    n_iter: int
    gradient_norm: float  # of the last round's convex bound, relative to the one at the start


@dataclass(frozen=True)
class Problem:
    """Minimise ``alpha / 2 |W|^2 + loss(rows @ W + b)`` over W and, if asked for, b."""

    rows: Any  # (n_graphs, n_features), dense or sparse
    loss: RankLoss
    alpha: float
    fit_intercept: bool

    @property
    def n_labels(self) -> int:
        return int(self.loss.relevant.shape[1])

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        split = self.rows.shape[1] * self.n_labels
        intercept = theta[split:] if self.fit_intercept else np.zeros(self.n_labels)
        return theta[:split].reshape(-1, self.n_labels), intercept

    def start(self) -> FloatArray:
        return np.zeros((self.rows.shape[1] + self.fit_intercept) * self.n_labels)

    def scales(self) -> FloatArray:
        """Units for the entries of theta in which the curvature is about the same in all directions.

        The loss bends along feature j about as |column j|^2 / n_bags, times a constant that does not matter much
        (CURVATURE), the penalty as alpha. Measured in these units L-BFGS needs 2 to 4 times fewer steps.
        """
        squares = self.rows.multiply(self.rows) if hasattr(self.rows, "multiply") else self.rows**2
        bend = CURVATURE / self.loss.n_bags * np.asarray(squares.sum(axis=0)).ravel() + self.alpha
        if self.fit_intercept:
            bend = np.append(bend, CURVATURE)
        return np.repeat(1 / np.sqrt(bend), self.n_labels)

    def scores(self, theta: FloatArray) -> FloatArray:
        coef, intercept = self.unpack(theta)
        return np.asarray(self.rows @ coef) + intercept

    def value_and_gradient(self, theta: FloatArray, around: Linearisation | None = None) -> tuple[float, FloatArray]:
        coef, _ = self.unpack(theta)
        value, slope = self.loss.value_and_gradient(self.scores(theta), around)
        gradient = np.asarray(self.rows.T @ slope) + self.alpha * coef
        parts = [gradient.ravel(), slope.sum(0)] if self.fit_intercept else [gradient.ravel()]
        return value + self.alpha / 2 * float(np.vdot(coef, coef)), np.concatenate(parts)


class _Descent:
    """One convex round: L-BFGS in scaled units, ended by the norm of the true gradient."""

    def __init__(self, problem: Problem, around: Linearisation, scales: FloatArray, enough: float) -> None:
        self.problem, self.around, self.scales, self.enough = problem, around, scales, enough
        self.norm = np.inf

    def value_and_gradient(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.problem.value_and_gradient(scaled * self.scales, self.around)
        self.norm = float(np.linalg.norm(gradient))
        return value, gradient * self.scales

    def check(self, intermediate_result: Any) -> None:
        """scipy calls this after each step, with the last evaluation at the point it has reached."""
        if self.norm <= self.enough:
            raise StopIteration

    def run(self, theta: FloatArray, max_iter: int) -> tuple[FloatArray, int]:
        options = {"maxiter": max_iter, "maxfun": 3 * max_iter, "gtol": 0.0, "ftol": 0.0, "maxcor": 20}
        start = theta / self.scales
        found = optimize.minimize(
            self.value_and_gradient, start, jac=True, method="L-BFGS-B", callback=self.check, options=options
        )
        theta = found.x * self.scales
        self.norm = float(np.linalg.norm(self.problem.value_and_gradient(theta, self.around)[1]))
        return theta, int(found.nit)


def solve_cccp(
    problem: Problem,
    n_rounds: int,
    max_iter: int,
    tol: float,
    on_round: Callable[[int, float], None] = lambda done, value: None,
) -> Solution:
    """Rounds of L-BFGS until the objective stops falling or ``n_rounds`` are done.

    A round ends after ``max_iter`` steps, or when the norm of its gradient is ``tol`` times the one at the very start.
    """
    theta, scales = problem.start(), problem.scales()
    first = float(np.linalg.norm(problem.value_and_gradient(theta)[1]))
    objective: list[float] = []
    n_iter, norm = 0, first
    for done in range(1, n_rounds + 1):
        descent = _Descent(problem, problem.loss.linearise(problem.scores(theta)), scales, tol * first)
        theta, steps = descent.run(theta, max_iter)
        n_iter, norm = n_iter + steps, descent.norm
        objective.append(problem.value_and_gradient(theta)[0])
        on_round(done, objective[-1])
        if done > 1 and objective[-2] - objective[-1] <= ROUND_GAIN * abs(objective[-2]):
            break
    return Solution(*problem.unpack(theta), objective, n_iter, norm / first if first else 0.0)

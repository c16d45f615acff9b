"""`cccp`: the objective minimised properly, by the concave-convex procedure and L-BFGS.

Each round replaces the relevant labels' bag scores by their linearisation around the last scores, which turns the
objective into a smooth convex bound that touches it there, and minimises that. So the objective cannot go up from round
to round. The first round starts at zero, where the linearisation is each bag's mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.typing import FloatArray, Rows
from cfmgml.learning.objective import Linearisation, RankLoss
from cfmgml.learning.solvers.lbfgs import Algebra, Arrays, Function, State, Vector, descend

CURVATURE = 0.03  # of .1, .03, .01 and .003, the fewest steps over alphas from .1 to 1e-6 on MSRC v2
CURVATURE_OF_SLOPE = 0.2  # of .07, .2 and .6, the fewest steps with HLK's terms, which are 20 times smaller
ROUND_GAIN = 1e-3  # a round that lowers the objective by less, relatively, is the last
FULL_BLOCK = 4  # labels that a product of dense matrices takes at a time
FEW_LABELS = 3  # are quicker one by one: of 1,700 graphs, 1 takes .15 ms and 2 together .62
NEAR = 1.5  # times what is enough: from there on a gradient's norm is looked at after each step, even if it is dear
SINGLE_PRECISION_TOL = 1e-4  # rounding in float32 moves a gradient by about 1e-6 of the first one's norm


@dataclass(frozen=True)
class Solution(Generic[Vector]):
    """What a solver hands back, in the space of the rows it was given."""

    coef: FloatArray  # (n_features, n_labels)
    intercept: FloatArray  # (n_labels,)
    objective: list[float]  # a value a round that was kept
    n_iter: int
    gradient_norm: float  # of the last round's convex bound, relative to the one at the start
    trail: tuple[Vector, ...] = ()  # where each round ended, for a solver of a problem nearby
    reached: Sequence[float] = ()  # a value a round before it is judged; beyond rounding, a rise is a fault
    space: Any = None  # that it was found in, where making one is dear: for another problem over the same rows


class Bound(Protocol[Vector]):
    """A convex function above the objective that touches it at one point."""

    def value_and_gradient(self, theta: Vector) -> tuple[float, Vector]: ...


class Space(Algebra[Vector], Protocol[Vector]):
    """Where L-BFGS steps: units and an inner product in which a bound bends about the same in all directions."""

    def enter(self, theta: Vector) -> Vector:
        """A point of this space."""

    def leave(self, point: Vector) -> Vector: ...
    def lower(self, gradient: Vector) -> Vector:
        """A gradient of this space as one with respect to theta."""

    def steepness(self, gradient: Vector) -> float:
        """The norm of a gradient with respect to theta."""

    def function(self, bound: Any) -> Function[Vector]:
        """A bound of this space's problem as a function of points of this space."""


class Minimisable(Protocol[Vector]):
    """What `solve_cccp` needs of a problem; wherever its rows are, and however they are summed over."""

    def start(self) -> Vector: ...
    def space(self) -> Space[Vector]: ...
    def bound(self, theta: Vector) -> Bound[Vector]: ...
    def value_and_gradient(self, theta: Vector) -> tuple[float, Vector]: ...
    def unpack(self, theta: Vector) -> tuple[FloatArray, FloatArray]: ...
    def in_precision(self, dtype: DTypeLike) -> Self: ...


@dataclass(frozen=True)
class Units(Arrays):
    """Arrays whose entries are measured in units of their own."""

    scales: FloatArray

    def enter(self, theta: FloatArray) -> FloatArray:
        return theta / self.scales

    def leave(self, point: FloatArray) -> FloatArray:
        return point * self.scales

    def lower(self, gradient: FloatArray) -> FloatArray:
        return gradient / self.scales

    def steepness(self, gradient: FloatArray) -> float:
        return float(np.linalg.norm(gradient))

    def function(self, bound: Bound[FloatArray]) -> Function[FloatArray]:
        def scaled(point: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = bound.value_and_gradient(point * self.scales)
            return value, gradient * self.scales

        return scaled


@dataclass(frozen=True)
class Problem:
    """Minimise ``alpha / 2 |W|^2 + loss(rows @ W + b)`` over W and, if asked for, b."""

    rows: Rows  # (n_graphs, n_features)
    loss: RankLoss
    alpha: float
    fit_intercept: bool

    @property
    def n_labels(self) -> int:
        return int(self.loss.relevant.shape[1])

    def in_precision(self, dtype: DTypeLike) -> Self:
        """The same problem over rows of this precision."""
        return replace(self, rows=self.rows.astype(dtype, copy=False))

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        split = self.rows.shape[1] * self.n_labels
        intercept = theta[split:] if self.fit_intercept else np.zeros(self.n_labels, dtype=theta.dtype)
        return theta[:split].reshape(-1, self.n_labels), intercept

    def pack(self, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        parts = [coef.ravel(), intercept] if self.fit_intercept else [coef.ravel()]
        return np.concatenate(parts).astype(self.rows.dtype, copy=False)

    def start(self) -> FloatArray:
        return np.zeros((self.rows.shape[1] + self.fit_intercept) * self.n_labels, dtype=self.rows.dtype)

    def scales(self) -> FloatArray:
        settings = self.loss.n_bags, self.alpha, self.fit_intercept, self.n_labels, self.curvature()
        return units_of_theta(column_squares(self.rows), *settings).astype(self.rows.dtype, copy=False)

    def curvature(self) -> float:
        """Less where terms are small: a loss bends about as much as it slopes at zero."""
        slope = self.loss.value_and_gradient(np.zeros((self.rows.shape[0], self.n_labels)))[1]
        return min(CURVATURE, CURVATURE_OF_SLOPE * float(np.abs(slope).mean()) * self.loss.n_bags) or CURVATURE

    def space(self) -> Units:
        return Units(self.scales())

    def scores(self, theta: FloatArray) -> FloatArray:
        coef, intercept = self.unpack(theta)
        return scores_of_rows(self.rows, coef) + intercept

    def bound(self, theta: FloatArray) -> "ProblemBound":
        return ProblemBound(self, self.loss.linearise(self.scores(theta)))

    def value_and_gradient(self, theta: FloatArray, around: Linearisation | None = None) -> tuple[float, FloatArray]:
        coef, _ = self.unpack(theta)
        value, slope = self.loss.value_and_gradient(self.scores(theta), around)
        slope = slope.astype(self.rows.dtype, copy=False)
        gradient = self.pack(sums_of_rows(self.rows, slope) + self.alpha * coef, slope.sum(0))
        return value + self.alpha / 2 * float(np.vdot(coef, coef)), gradient


@dataclass(frozen=True)
class ProblemBound:
    """A `Problem` with the relevant labels' bag scores linearised."""

    problem: Problem
    around: Linearisation

    def value_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        return self.problem.value_and_gradient(theta, self.around)


def scores_of_rows(rows: Rows, coef: FloatArray) -> FloatArray:
    """``rows @ coef``; with few labels, up to 3 times faster as (labels, features) @ (features, graphs)."""
    return np.ascontiguousarray(products_of_labels(coef.T, rows.T).T)


def sums_of_rows(rows: Rows, amounts: FloatArray) -> FloatArray:
    """``rows.T @ amounts``, likewise."""
    return products_of_labels(amounts.T, rows).T


def products_of_labels(by_label: FloatArray, rows: Rows) -> FloatArray:
    """``by_label @ rows``, a row a label: a few one by one, more filled up with zeros to a full block of the product.

    24 take three quarters of the time of 23.
    """
    n, n_full = len(by_label), -(-len(by_label) // FULL_BLOCK) * FULL_BLOCK
    if not isinstance(rows, np.ndarray) or n == n_full:
        return np.asarray(by_label @ rows)
    if n <= FEW_LABELS:
        return np.stack([row @ rows for row in by_label])
    filled = np.zeros((n_full, by_label.shape[1]), dtype=by_label.dtype)
    filled[:n] = by_label
    return np.asarray((filled @ rows)[:n])


def column_squares(rows: Rows) -> FloatArray:
    """The squared length of each column."""
    if hasattr(rows, "multiply"):
        return np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", rows, rows))


def units_of_theta(
    squares: FloatArray, n_bags: int, alpha: float, fit_intercept: bool, n_labels: int, curvature: float = CURVATURE
) -> FloatArray:
    """Units in which the curvature is about the same in all directions.

    The loss bends along feature j about as |column j|^2 / n_bags, times a constant that does not matter much
    (``curvature``), the penalty as alpha. Measured in these units L-BFGS needs 2 to 4 times fewer steps.
    """
    bend = curvature / n_bags * squares + alpha
    if fit_intercept:
        bend = np.append(bend, curvature)
    return np.repeat(1 / np.sqrt(bend), n_labels)


@dataclass(frozen=True)
class Standing(Generic[Vector]):
    """Where a run stands between two steps: all that is needed to take it up again."""

    around: Vector  # the point that this round's bound touches
    state: State[Vector]  # of this round's descent, in the problem's space
    steps: int  # of this round
    objective: list[float]  # after each round before
    n_iter: int  # steps of all rounds before
    first: float  # norm of the gradient at zero


def minimise_bound(
    bound: Bound[Vector],
    theta: Vector,
    space: Space[Vector],
    max_iter: int,
    enough: float,
    on_step: Callable[[State[Vector], int], None] = lambda state, steps: None,
    resume: tuple[State[Vector], int] | None = None,
) -> tuple[Vector, int, float]:
    """One round: L-BFGS in a space until the true gradient's norm is ``enough``; point, steps and that norm."""
    function, look_every = space.function(bound), getattr(space, "look_every", 1)
    state, steps = (State.start(function, space.enter(theta)), 0) if resume is None else resume
    norm = space.steepness(space.lower(state.gradient))
    on_step(state, steps)
    if norm > enough and steps < max_iter:
        states, ratio = descend(function, state, algebra=space), norm / (float(space.norm(state.gradient)) or 1.0)
        for state in states:
            steps += 1
            on_step(state, steps)
            is_last = steps >= max_iter
            if is_last or steps % look_every == 0 or ratio * float(space.norm(state.gradient)) <= NEAR * enough:
                norm = space.steepness(space.lower(state.gradient))
                ratio = norm / (float(space.norm(state.gradient)) or 1.0)
                if norm <= enough or is_last:
                    break
        else:
            norm = space.steepness(space.lower(state.gradient))
    return space.leave(state.point), steps, norm


AnyMinimisable = TypeVar("AnyMinimisable", bound=Minimisable[Any])


def in_precision_for(tol: float, problem: AnyMinimisable) -> AnyMinimisable:
    """The problem with rows that are multiplied in float32 where a tolerance allows it."""
    return problem.in_precision(np.float32) if tol >= SINGLE_PRECISION_TOL else problem


def solve_cccp(
    problem: Minimisable[Vector],
    n_rounds: int,
    max_iter: int,
    tol: float,
    on_round: Callable[[int, float], None] = lambda done, value: None,
    trail: Sequence[Vector] = (),
    on_step: Callable[[Standing[Vector]], None] = lambda standing: None,
    resume: Standing[Vector] | None = None,
    minimise: Callable[..., tuple[Vector, int, float]] = minimise_bound,
) -> Solution[Vector]:
    """Rounds of L-BFGS until the objective stops falling or ``n_rounds`` are done.

    A round ends after ``max_iter`` steps, or when the norm of its gradient is ``tol`` times the one at zero. With the
    ``trail`` of a problem nearby, a round starts where that one's round ended if its bound is lower there: rounds are
    convex, so this saves steps and changes no result by more than ``tol`` does. (Linearising around that problem's
    solution saves more, and costs a point of average precision on MSRC v2.) Where ``tol`` allows it, rows are
    multiplied in float32. ``on_step`` is told where the run stands, and ``resume`` goes on from there.
    ``minimise`` does a round, as `minimise_bound` does.
    """
    problem = in_precision_for(tol, problem)
    theta, space = problem.start(), problem.space()
    if resume is None:
        first = space.steepness(problem.value_and_gradient(theta)[1])
        objective, n_iter = list[float](), 0
    else:
        first, theta, objective, n_iter = resume.first, resume.around, list(resume.objective), resume.n_iter
    reached, ends = list(objective), list[Vector]()
    norm = first
    taken_up = None if resume is None else (resume.state, resume.steps)
    for done in range(len(objective) + 1, n_rounds + 1):
        tell = _teller(on_step, theta, objective, n_iter, first)
        bound = problem.bound(theta)
        begin = _lower(bound, theta, trail[done - 1]) if done <= len(trail) else theta
        end, steps, end_norm = minimise(bound, begin, space, max_iter, tol * first, tell, taken_up)
        taken_up = None
        value = problem.value_and_gradient(end)[0]
        reached.append(value)
        if objective and not value <= objective[-1]:  # rounding: the last round was the best
            break
        theta, n_iter, norm = end, n_iter + steps, end_norm
        ends.append(theta)
        objective.append(value)
        on_round(done, value)
        if done > 1 and objective[-2] - value <= ROUND_GAIN * abs(objective[-2]):
            break
    coef, intercept = (part.astype(np.float64, copy=False) for part in problem.unpack(theta))
    return Solution(coef, intercept, objective, n_iter, norm / first if first else 0.0, tuple(ends), reached)


def _lower(bound: Bound[Vector], theta: Vector, other: Vector) -> Vector:
    return other if bound.value_and_gradient(other)[0] < bound.value_and_gradient(theta)[0] else theta


def _teller(
    on_step: Callable[[Standing[Vector]], None], around: Vector, objective: list[float], n_iter: int, first: float
) -> Callable[[State[Vector], int], None]:
    return lambda state, steps: on_step(Standing(around, state, steps, list(objective), n_iter, first))

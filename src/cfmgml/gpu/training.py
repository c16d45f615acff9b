"""Training on a device: the rounds of `cfmgml.learning.solvers.cccp`, with an L-BFGS that never leaves it.

Scores are linear in weights, so along a direction they are ``S + t D``: trying another step length costs one evaluation
of the loss, and no product with rows or Gram matrix.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cfmgml.gpu.node_blocks import FloatArray, as_tensor
from cfmgml.gpu.rank_loss import Linear, TorchRankLoss
from cfmgml.gpu.spaces import Gradient, Point, Space

MEMORY = 10
ENOUGH_DESCENT, ENOUGH_FLATTER = 1e-4, 0.9  # the weak Wolfe conditions
MAX_TRIALS = 25


class Trained(NamedTuple):
    """What training found, as `cfmgml.learning.solvers.cccp.Solution`, and the scores of the training graphs."""

    coef: FloatArray
    intercept: FloatArray
    objective: list[float]
    n_iter: int
    gradient_norm: float
    trail: tuple[FloatArray, ...]  # coef and, as the last row, intercept after each round
    scores: FloatArray
    reached: list[float]  # a value a round before it is judged


class Place(NamedTuple):
    """A point, its scores, and what the function is and slopes there."""

    point: Point
    scores: Any
    value: float
    gradient: Gradient


@dataclass(frozen=True)
class Objective:
    """``alpha / 2 |W|^2 + loss(scores)`` over a space; with ``around``, its convex bound."""

    space: Space
    loss: TorchRankLoss
    alpha: float
    fit_intercept: bool
    around: Linear | None = None

    def place(self, point: Point) -> Place:
        scores = self.space.scores(point) + point.intercept
        value, slope = self.loss.value_and_gradient(scores, self.around)
        value = value + self.alpha / 2 * point.product(point)
        return Place(point, scores, float(value), self._gradient(point, slope))

    def _gradient(self, point: Point, slope: Any) -> Gradient:
        intercept = slope.sum(0) * (1.0 if self.fit_intercept else 0.0)
        return Gradient(self.space.pull(slope) + self.alpha * point.coef, intercept)

    def norm(self, gradient: Gradient) -> float:
        return float((self.space.squared_norm(gradient.coef) + gradient.intercept.square().sum()).sqrt())

    def step_along(self, here: Place, towards: Point, slope: float, length: float) -> Place | None:
        """A step that lowers the function enough and is long enough, by bracketing."""
        change = self.space.scores(towards) + towards.intercept
        square, mixed = float(towards.product(towards)), float(here.point.product(towards))
        penalty = self.alpha / 2 * float(here.point.product(here.point))
        noise = 4 * float(np.finfo(np.float64).eps) * abs(here.value)
        short, long, best = 0.0, np.inf, None
        for _ in range(MAX_TRIALS):
            scores = here.scores + length * change
            loss, towards_loss = self.loss.value_and_gradient(scores, self.around)
            value = float(loss) + penalty + self.alpha * (length * mixed + length**2 / 2 * square)
            if not np.isfinite(value) or value > here.value + ENOUGH_DESCENT * length * slope + noise:
                long = length
            else:
                best = scores, value, towards_loss, length
                slope_here = float((towards_loss * change).sum()) + self.alpha * (mixed + length * square)
                if slope_here >= ENOUGH_FLATTER * slope:
                    break
                short = length
            length = 2 * short if np.isinf(long) else (short + long) / 2
        if best is None:
            return None
        scores, value, towards_loss, length = best
        point = here.point.plus(length, towards)
        return Place(point, scores, value, self._gradient(point, towards_loss))


class Memory:
    """The last steps and what each did to the gradient."""

    def __init__(self, space: Space, curvature: float) -> None:
        self.space, self.curvature = space, curvature
        self.steps: list[tuple[Point, Gradient, Any]] = []

    def remember(self, before: Place, after: Place) -> None:
        step, change = after.point.plus(-1.0, before.point), after.gradient.plus(-1.0, before.gradient)
        bend = step.dot(change)
        if float(bend) > 0:
            self.steps = [*self.steps[-MEMORY + 1 :], (step, change, bend)]

    def direction(self, gradient: Gradient) -> Point:
        """Minus the inverse of the remembered curvature times the gradient (Nocedal's two loops)."""
        left, shares = gradient, []
        for step, change, bend in reversed(self.steps):
            shares.append(step.dot(left) / bend)
            left = left.plus(-shares[-1], change)
        coef = self.space.flatten(left.coef)
        found = Point(coef, self.space.dual(coef), left.intercept / self.curvature)
        if self.steps:
            _, change, bend = self.steps[-1]
            coef = self.space.flatten(change.coef)
            flat = Point(coef, self.space.dual(coef), change.intercept / self.curvature)
            found = Point(*(x * (bend / flat.dot(change)) for x in found))
        for (step, change, bend), share in zip(self.steps, reversed(shares), strict=True):
            found = found.plus(share - found.dot(change) / bend, step)
        return Point(-found.coef, -found.dual, -found.intercept)


def minimise(objective: Objective, here: Place, curvature: float, max_iter: int, enough: float) -> tuple[Place, int]:
    """L-BFGS until the norm of the gradient is ``enough``; the place reached, and steps."""
    memory, n_steps = Memory(objective.space, curvature), 0
    while n_steps < max_iter and objective.norm(here.gradient) > enough:
        towards = memory.direction(here.gradient)
        slope = float(towards.dot(here.gradient))
        if slope >= 0 and memory.steps:  # rounding has spoilt the memory: forget it
            memory = Memory(objective.space, curvature)
            continue
        after = objective.step_along(here, towards, slope, 1.0) if slope < 0 else None
        if after is None:
            break
        memory.remember(here, after)
        here, n_steps = after, n_steps + 1
    return here, n_steps


def train(
    space: Space,
    loss: Any,
    alpha: float,
    fit_intercept: bool,
    n_rounds: int,
    max_iter: int,
    tol: float,
    curvature: float,
    round_gain: float,
    device: Any,
    on_round: Callable[[int, float], None] = lambda done, value: None,
    trail: Sequence[FloatArray] = (),
) -> Trained:
    """As `cfmgml.learning.solvers.cccp.solve_cccp`: rounds until the objective stops falling or ``n_rounds`` are done.

    ``loss`` is a `RankLoss`; ``trail`` is that of a problem nearby, whose rounds' ends are tried as starts.
    """
    import torch

    objective = Objective(space, TorchRankLoss(loss, device), alpha, fit_intercept)
    zero = torch.zeros(space.n_weights, loss.relevant.shape[1], dtype=torch.float64, device=device)
    place = objective.place(Point(zero, zero, zero.new_zeros(zero.shape[1])))
    first = objective.norm(place.gradient)
    values: list[float] = []
    every_value: list[float] = []
    ends: list[FloatArray] = []
    n_iter, norm = 0, first
    for done in range(1, n_rounds + 1):
        bound = replace(objective, around=objective.loss.linearise(place.scores))
        begin = bound.place(place.point)
        if done <= len(trail):
            begin = min(begin, bound.place(_point(space, trail[done - 1], device)), key=lambda found: found.value)
        found, steps = minimise(bound, begin, curvature, max_iter, tol * first)
        reached = objective.place(found.point._replace(dual=space.dual(found.point.coef)))  # free of drift
        every_value.append(reached.value)
        if values and not reached.value <= values[-1]:  # rounding: the last round was the best
            break
        place, n_iter, norm = reached, n_iter + steps, bound.norm(found.gradient)
        values.append(reached.value)
        ends.append(torch.vstack([place.point.coef, place.point.intercept]).cpu().numpy())
        on_round(done, reached.value)
        if done > 1 and values[-2] - values[-1] <= round_gain * abs(values[-2]):
            break
    relative = norm / first if first else 0.0
    scores = place.scores.cpu().numpy()
    return Trained(ends[-1][:-1], ends[-1][-1], values, n_iter, relative, tuple(ends), scores, every_value)


def _point(space: Space, end: FloatArray, device: Any) -> Point:
    import torch

    both = as_tensor(end, torch.float64, device)
    return Point(both[:-1], space.dual(both[:-1]), both[-1])

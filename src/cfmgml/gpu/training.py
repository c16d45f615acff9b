"""The objective on a device, as `cfmgml.learning.solvers.cccp` minimises it.

Scores are linear in weights, so along a direction they are ``S + t D``: trying another step length costs one evaluation
of the loss, and no product with rows or Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.typing import FloatArray
from cfmgml.gpu.rank_loss import Linear, TorchRankLoss
from cfmgml.gpu.spaces import Space

if TYPE_CHECKING:
    from torch import Tensor

    Trial = tuple[float, float, Callable[[], tuple[Tensor, Tensor]]]  # value, slope; point and gradient, if it is taken


@dataclass(frozen=True)
class DeviceProblem:
    """Minimise ``alpha / 2 |W|^2 + loss(scores)`` over the theta of a `Space`."""

    make_space: Callable[[str], Space]  # given the name of the precision in which rows are multiplied
    loss: TorchRankLoss
    alpha: float
    fit_intercept: bool
    precision: str = "float64"

    @cached_property
    def _space(self) -> Space:
        return self.make_space(self.precision)

    def space(self) -> Space:
        return self._space

    def in_precision(self, dtype: DTypeLike) -> Self:
        """The same problem; itself where nothing changes, since a space is dear."""
        name = np.dtype(dtype).name
        return self if name == self.precision else replace(self, precision=name)

    def start(self) -> Tensor:
        return self.loss.alone.new_zeros(self._space.n_weights + 1, self.loss.alone.shape[1])

    def unpack(self, theta: Tensor) -> tuple[FloatArray, FloatArray]:
        both = theta.cpu().numpy()
        return both[:-1], both[-1]

    def scores(self, theta: Tensor) -> Tensor:
        return self._space.scores(self._space.enter(theta))

    def bound(self, theta: Tensor) -> DeviceBound:
        return DeviceBound(self, self.loss.linearise(self.scores(theta)))

    def value_and_gradient(self, theta: Tensor, around: Linear | None = None) -> tuple[float, Tensor]:
        point = self._space.enter(theta)
        value, slope = self.loss.value_and_gradient(self._space.scores(point), around)
        coef, dual = self._space.weights(point)
        return float(value + self.alpha / 2 * (coef @ dual)), self.gradient(theta, slope)

    def gradient(self, theta: Tensor, slope: Tensor) -> Tensor:
        """With respect to theta, from the slope of the loss at its scores."""
        import torch

        intercept = slope.sum(0, keepdim=True) * (1.0 if self.fit_intercept else 0.0)
        return torch.cat([self._space.pull(slope) + self.alpha * theta[:-1], intercept])


@dataclass(frozen=True)
class DeviceBound:
    """A `DeviceProblem` with the relevant labels' bag scores linearised."""

    problem: DeviceProblem
    around: Linear

    def value_and_gradient(self, theta: Tensor) -> tuple[float, Tensor]:
        return self.problem.value_and_gradient(theta, self.around)

    def function(self) -> FunctionOfPoints:
        return FunctionOfPoints(self, self.problem.space())


@dataclass
class FunctionOfPoints:
    """A bound as a function of the points of its space."""

    bound: DeviceBound
    space: Space
    last: tuple[Tensor, Tensor] | None = field(default=None, repr=False)  # a point, and its scores

    def __call__(self, point: Tensor) -> tuple[float, Tensor]:
        value, gradient = self.bound.value_and_gradient(self.space.leave(point))
        return value, self.space.lift(gradient)

    def along(self, point: Tensor, towards: Tensor) -> Callable[[float], Trial]:
        """The function on the line through a point."""
        import torch

        problem, space = self.bound.problem, self.space
        scores = self.last[1] if self.last is not None and self.last[0] is point else space.scores(point)
        change = space.scores(towards)
        (coef, dual), (step, step_dual) = space.weights(point), space.weights(towards)
        own, mixed, square = (problem.alpha * product for product in (coef @ dual, coef @ step_dual, step @ step_dual))

        def tried(length: float) -> Trial:
            there = scores + length * change
            loss, slope = problem.loss.value_and_gradient(there, self.bound.around)
            value = loss + own / 2 + length * mixed + length**2 / 2 * square
            slope_here = (slope * change).sum() + mixed + length * square

            def arrive() -> tuple[Tensor, Tensor]:
                arrived = point + length * towards
                self.last = arrived, there
                return arrived, space.lift(problem.gradient(space.leave(arrived), slope))

            both = torch.stack([value, slope_here]).tolist()  # at once: each way to the host is a wait
            return both[0], both[1], arrive

        return tried

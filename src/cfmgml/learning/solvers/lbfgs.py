"""L-BFGS whose whole memory is in plain arrays, so that a run can be written down and taken up again.

scipy's keeps its memory to itself and computes in float64 only. Here a `State` is all there is: `descend` takes one
and yields the next ones, in the precision of the point it starts from. Vectors are arrays of numpy or tensors of torch;
what their inner product is, an `Algebra` says. A gradient is then the vector whose product with a step is the change of
the function, and nothing but single numbers ever leaves the place where vectors are.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from cfmgml.common.typing import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

MEMORY = 10
ENOUGH_DESCENT = 1e-4  # the share of the promised descent that a step must bring
ENOUGH_FLATTER = 0.9  # a step is long enough when the slope along it is at most this share of the one at its start
ENOUGH_CURVATURE = 1e-10  # the cosine between a step and the change of the gradient from which on it is remembered
MAX_TRIALS = 25

Vector = TypeVar("Vector", FloatArray, "Tensor")
Given = TypeVar("Given", FloatArray, "Tensor", contravariant=True)
Number = Any  # a number of numpy, or a tensor of one number, which stays on its device until it is asked for
Function = Callable[[Vector], tuple[float, Vector]]
Trial = tuple[float, float, Callable[[], tuple[Vector, Vector]]]  # value, slope; point and gradient, if it is taken
AnyTrial = Trial[Any]
Search = Generator[float, AnyTrial, AnyTrial | None]  # yields lengths to try, is sent trials, returns the one to take


class Algebra(Protocol[Given]):
    """What is done with vectors beside adding them and multiplying them by numbers."""

    def dot(self, step: Given, gradient: Given) -> Number: ...
    def norm(self, vector: Given) -> Number: ...
    def curvatures(self, steps: Sequence[Given], changes: Sequence[Given]) -> Sequence[Number]:
        """Of the function along steps: the product of each with what it did to the gradient."""

    def eps(self, vector: Given) -> float:
        """Rounding, relatively."""


class Arrays:
    """numpy's arrays with the usual inner product."""

    def dot(self, step: FloatArray, gradient: FloatArray) -> Number:
        return step @ gradient

    def norm(self, vector: FloatArray) -> Number:
        return np.linalg.norm(vector)

    def curvatures(self, steps: Sequence[FloatArray], changes: Sequence[FloatArray]) -> Sequence[Number]:
        return list(np.einsum("ij,ij->i", np.array(steps), np.array(changes))) if len(steps) else []

    def eps(self, vector: FloatArray) -> float:
        return float(np.finfo(vector.dtype).eps)


ARRAYS: Any = Arrays()


@runtime_checkable
class KnowsLines(Protocol[Vector]):
    """A function that is cheaper along a line than at points one by one."""

    def along(self, point: Vector, towards: Vector) -> Callable[[float], Trial[Vector]]: ...


@dataclass(frozen=True)
class State(Generic[Vector]):
    """Where a descent stands."""

    point: Vector
    value: float
    gradient: Vector
    steps: Sequence[Vector] = ()  # the last ones, the newest last
    changes: Sequence[Vector] = ()  # what each did to the gradient

    @classmethod
    def start(cls, function: Function[Vector], point: Vector) -> "State[Vector]":
        value, gradient = function(point)
        return cls(point, value, gradient)

    def remember(self, after: "State[Vector]", memory: int, algebra: Algebra[Vector] = ARRAYS) -> "State[Vector]":
        """``after`` with the step from here in its memory, unless the function does not curve upwards along it."""
        step, change = after.point - self.point, after.gradient - self.gradient
        if not algebra.dot(step, change) > ENOUGH_CURVATURE * algebra.norm(step) * algebra.norm(change):
            return replace(after, steps=self.steps, changes=self.changes)
        steps, changes = list(self.steps[-memory + 1 :]), list(self.changes[-memory + 1 :])
        steps.append(step)
        changes.append(change)
        return replace(after, steps=steps, changes=changes)

    def direction(self, algebra: Algebra[Vector] = ARRAYS) -> Vector:
        """Minus the inverse of the remembered curvature times the gradient (Nocedal's two loops)."""
        towards = -self.gradient
        curvatures = algebra.curvatures(self.steps, self.changes)
        shares = list[Number]()
        for step, change, curvature in zip(self.steps[::-1], self.changes[::-1], curvatures[::-1], strict=True):
            shares.append(algebra.dot(step, towards) / curvature)
            towards -= shares[-1] * change
        if curvatures:
            towards *= curvatures[-1] / algebra.dot(self.changes[-1], self.changes[-1])
        for step, change, curvature in zip(self.steps, self.changes, curvatures, strict=True):
            towards += (shares.pop() - algebra.dot(towards, change) / curvature) * step
        return towards


def descend(
    function: Function[Vector], state: State[Vector], memory: int = MEMORY, algebra: Algebra[Vector] = ARRAYS
) -> Iterator[State[Vector]]:
    """The states after each step, until no step lowers the function any more."""
    along = function.along if isinstance(function, KnowsLines) else partial(_straight, function, algebra)
    while True:
        towards = state.direction(algebra)
        slope = float(algebra.dot(towards, state.gradient))
        if slope >= 0 and len(state.steps):  # rounding has spoilt the memory: forget it
            state = replace(state, steps=(), changes=())
            towards = state.direction(algebra)
            slope = float(algebra.dot(towards, state.gradient))
        if slope >= 0:
            return
        first = 1.0 if len(state.steps) else min(1.0, 1.0 / float(algebra.norm(towards)))
        noise = 4 * algebra.eps(towards) * abs(state.value)
        taken = search(along(state.point, towards), state.value, slope, first, noise)
        if taken is None:
            return
        value, _, arrive = taken
        point, gradient = arrive()
        state = state.remember(State(point, value, gradient), memory, algebra)
        yield state


def _straight(
    function: Function[Vector], algebra: Algebra[Vector], point: Vector, towards: Vector
) -> Callable[[float], Trial[Vector]]:
    """A function along a line, by evaluating it at every trial."""

    def tried(length: float) -> Trial[Vector]:
        there = point + float(length) * towards
        value, gradient = function(there)
        return value, float(algebra.dot(towards, gradient)), lambda: (there, gradient)

    return tried


def search(
    line: Callable[[float], Trial[Vector]], value: float, slope: float, length: float, noise: float
) -> Trial[Vector] | None:
    """A step that lowers the function enough and is long enough (weak Wolfe conditions), by bracketing."""
    lengths = searching(value, slope, length, noise)
    length = next(lengths)
    while True:
        try:
            length = lengths.send(line(length))
        except StopIteration as end:
            taken: Trial[Vector] | None = end.value
            return taken


def searching(value: float, slope: float, length: float, noise: float) -> Search:
    """The same for whoever makes the trials, of many lines at once perhaps: yields lengths, is sent what is there."""
    short, long = 0.0, np.inf
    value_short, slope_short = value, slope
    best: AnyTrial | None = None
    for _ in range(MAX_TRIALS):
        trial = yield length
        value_here, slope_here, _ = trial
        if not np.isfinite(value_here) or value_here > value + ENOUGH_DESCENT * length * slope + noise:
            long = length
            length = _minimiser(short, value_short, slope_short, long, value_here)
            continue
        if best is None or value_here <= best[0]:
            best = trial
        if slope_here < ENOUGH_FLATTER * slope:
            short, value_short, slope_short = length, value_here, slope_here
            length = 2 * length if np.isinf(long) else (short + long) / 2
            continue
        return best
    return best if best is not None and best[0] < value else None


def _minimiser(short: float, value: float, slope: float, long: float, value_long: float) -> float:
    """Of the parabola through a value and slope at the short end and a value at the long one, kept off both ends."""
    width = long - short
    bend = value_long - value - slope * width
    share = -slope * width / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.5
    return short + width * min(max(share, 0.1), 0.9)

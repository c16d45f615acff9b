"""L-BFGS whose whole memory is in plain arrays, so that a run can be written down and taken up again.

scipy's keeps its memory to itself and computes in float64 only. Here a `State` is all there is: `descend` takes one
and yields the next ones, in the precision of the point it starts from.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cfmgml.common.typing import FloatArray

MEMORY = 10
ENOUGH_DESCENT = 1e-4  # the share of the promised descent that a step must bring
ENOUGH_FLATTER = 0.9  # a step is long enough when the slope along it is at most this share of the one at its start
MAX_TRIALS = 25

Function = Callable[[FloatArray], tuple[float, FloatArray]]


@dataclass(frozen=True)
class State:
    """Where a descent stands."""

    point: FloatArray
    value: float
    gradient: FloatArray
    steps: FloatArray  # (k, n): the last steps, the newest last
    changes: FloatArray  # (k, n): what each did to the gradient

    @classmethod
    def start(cls, function: Function, point: FloatArray) -> "State":
        value, gradient = function(point)
        empty = np.zeros((0, len(point)), dtype=point.dtype)
        return cls(point, value, gradient.astype(point.dtype, copy=False), empty, empty)

    def remember(self, after: "State", memory: int) -> "State":
        """``after`` with the step from here in its memory, unless the function does not curve upwards along it."""
        step, change = after.point - self.point, after.gradient - self.gradient
        if float(step @ change) <= 1e-10 * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
            return State(after.point, after.value, after.gradient, self.steps, self.changes)
        steps = np.concatenate([self.steps[-memory + 1 :], step[None]])
        changes = np.concatenate([self.changes[-memory + 1 :], change[None]])
        return State(after.point, after.value, after.gradient, steps, changes)

    def direction(self) -> FloatArray:
        """Minus the inverse of the remembered curvature times the gradient (Nocedal's two loops)."""
        towards = -self.gradient
        curvatures = np.einsum("ij,ij->i", self.steps, self.changes)
        shares = np.zeros(len(curvatures), dtype=towards.dtype)
        for k in range(len(curvatures) - 1, -1, -1):
            shares[k] = self.steps[k] @ towards / curvatures[k]
            towards -= shares[k] * self.changes[k]
        if len(curvatures):
            towards *= curvatures[-1] / (self.changes[-1] @ self.changes[-1])
        for k in range(len(curvatures)):
            towards += (shares[k] - self.changes[k] @ towards / curvatures[k]) * self.steps[k]
        return towards


def descend(function: Function, state: State, memory: int = MEMORY) -> Iterator[State]:
    """The states after each step, until no step lowers the function any more."""
    while True:
        towards = state.direction()
        slope = float(state.gradient @ towards)
        if slope >= 0 and len(state.steps):  # rounding has spoilt the memory: forget it
            state = State(state.point, state.value, state.gradient, state.steps[:0], state.changes[:0])
            towards = state.direction()
            slope = float(state.gradient @ towards)
        if slope >= 0:
            return
        first = 1.0 if len(state.steps) else min(1.0, 1.0 / float(np.linalg.norm(towards)))
        after = _search(function, state, towards, slope, first)
        if after is None:
            return
        state = state.remember(after, memory)
        yield state


def _search(function: Function, state: State, towards: FloatArray, slope: float, length: float) -> State | None:
    """A step that lowers the function enough and is long enough (weak Wolfe conditions), by bracketing."""
    short, long = 0.0, np.inf
    value_short, slope_short = state.value, slope
    noise = 4 * float(np.finfo(towards.dtype).eps) * abs(state.value)
    best: State | None = None
    for _ in range(MAX_TRIALS):
        point = state.point + towards.dtype.type(length) * towards
        value, gradient = function(point)
        slope_here = float(gradient @ towards)
        if not np.isfinite(value) or value > state.value + ENOUGH_DESCENT * length * slope + noise:
            long = length
            length = _minimiser(short, value_short, slope_short, long, value)
            continue
        if best is None or value <= best.value:
            best = State(point, value, gradient.astype(point.dtype, copy=False), state.steps, state.changes)
        if slope_here < ENOUGH_FLATTER * slope:
            short, value_short, slope_short = length, value, slope_here
            length = 2 * length if np.isinf(long) else (short + long) / 2
            continue
        return best
    return best if best is not None and best.value < state.value else None


def _minimiser(short: float, value: float, slope: float, long: float, value_long: float) -> float:
    """Of the parabola through a value and slope at the short end and a value at the long one, kept off both ends."""
    width = long - short
    bend = value_long - value - slope * width
    found = -slope * width / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.5
    return short + width * min(max(found, 0.1), 0.9)

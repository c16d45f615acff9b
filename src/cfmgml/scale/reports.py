"""What a long training run tells those who wait for it."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.learning.solvers.cccp import Standing

SECONDS = 2.0  # between two lines


@dataclass
class Reporter:
    """Lines on stderr: round, step, objective, gradient, and how long this round will still take."""

    enabled: bool
    n_rounds: int
    max_iter: int
    tol: float
    scales: FloatArray | float = 1.0
    write: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)
    _begun: float = field(default_factory=time.monotonic)
    _round: tuple[float, int, float] | None = None  # time, step and gradient at this round's beginning
    _last: float = -np.inf

    def say(self, text: str) -> None:
        if self.enabled:
            self.write(f"[{clock(time.monotonic() - self._begun)}] {text}")

    def step(self, standing: Standing[FloatArray]) -> None:
        """Tell where the run stands, unless that was told just now."""
        now = time.monotonic()
        norm = float(np.linalg.norm(standing.state.gradient / self.scales)) / max(standing.first, 1e-300)
        if standing.steps == 0 or self._round is None:
            self._round = now, standing.steps, norm
        if now - self._last < SECONDS and standing.steps:
            return
        self._last = now
        left = self._left(standing, now, norm)
        wait = "" if left is None else f", about {clock(left)} left in this round"
        self.say(
            f"round {len(standing.objective) + 1} of at most {self.n_rounds}, step {standing.steps}: "
            f"objective {standing.state.value:.6g}, gradient {norm:.1e} of the first (until {self.tol:.0e}){wait}"
        )

    def round(self, done: int, value: float) -> None:
        self.say(f"round {done} done: objective {value:.6g}")

    def _left(self, standing: Standing[FloatArray], now: float, norm: float) -> float | None:
        """Seconds to the end of the round, if the gradient goes on falling as it did; at most all steps allowed."""
        assert self._round is not None
        begun, step, first = self._round
        done = standing.steps - step
        if done < 3:
            return None
        per_step = (now - begun) / done
        most = self.max_iter - standing.steps
        fall = np.log(first / norm) / done if 0 < norm < first else 0.0
        needed = np.log(norm / self.tol) / fall if fall > 0 and self.tol > 0 else most
        return float(per_step * min(max(needed, 0), most))


def clock(seconds: float) -> str:
    """
    >>> clock(75), clock(3_700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""Where a training run stands, on disk: with the optimiser's memory, so that a restart goes on as if nothing had
happened."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.typing import FloatArray
from cfmgml.learning.solvers.cccp import Standing
from cfmgml.learning.solvers.lbfgs import State

KIND = "training checkpoint"


@dataclass
class Checkpoint:
    """A file that is replaced in one step at the start of each round and after every few steps."""

    path: Path
    key: str  # of the job
    every: int = 10

    def save(self, standing: Standing[FloatArray]) -> None:
        if standing.steps % self.every:
            return
        state = standing.state
        told = {name: getattr(standing, name) for name in ("steps", "objective", "n_iter", "first")}
        arrays = {name: np.array(getattr(state, name)) for name in ("point", "gradient", "steps", "changes")}
        meta = {"key": self.key, "value": state.value, **told}
        save_arrays(self.path, KIND, meta, {**arrays, "around": standing.around})

    def load(self) -> Standing[FloatArray] | None:
        """Where the run stood, or None if it had not begun; the checkpoint of another run is refused."""
        if not self.path.exists():
            return None
        meta, arrays = load_arrays(self.path, KIND)
        if meta["key"] != self.key:
            raise ValueError(
                f"{self.path} is the checkpoint of another run: the store, the kernel or the model's parameters have "
                "changed since. Remove it to start anew, or name another."
            )
        memory = tuple(arrays["steps"]), tuple(arrays["changes"])
        state = State(arrays["point"], meta["value"], arrays["gradient"], *memory)
        return Standing(arrays["around"], state, meta["steps"], meta["objective"], meta["n_iter"], meta["first"])

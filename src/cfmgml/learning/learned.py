"""All that a `CfMGML` learned, as one value: a model has all of it or none, and what failed half-way left no trace."""

from dataclasses import dataclass
from typing import Any

from cfmgml.common.typing import FloatArray, IntArray, NameArray
from cfmgml.data.builder import BagBuilder
from cfmgml.kernels.base import Kernel
from cfmgml.learning.calibration import Calibration
from cfmgml.learning.scoring import Scorer


@dataclass(frozen=True, eq=False)
class StepSizes:
    """What `partial_fit` knows of the gradients seen so far: how far its next steps may go."""

    squares: FloatArray  # (n_features + 1, n_labels): sums of squared gradients, the intercepts' in the last row
    rate: float | None = None  # length of the first step; None before it


@dataclass(frozen=True, eq=False)
class Learned:
    """What `fit`, `partial_fit` or a file gives a model, in one step; nothing in it is ever changed."""

    label_names: NameArray
    label_counts: FloatArray  # bags that have each label, and
    n_bags: int  # bags, of all learned from; 0 in old files of streamed models
    kernel: Kernel  # resolved
    scorer: Scorer
    intercept: FloatArray
    objective: FloatArray
    representatives: IntArray
    n_iter: int
    gradient_norm: float
    fingerprint: str
    info: dict[str, Any]
    builder: BagBuilder | None = None  # of what it learned from
    calibration: Calibration | None = None
    steps: StepSizes | None = None  # None: the weights do not come from `partial_fit`


def learned(name: str) -> Any:
    """An attribute of a model that is part of its ``learned_``; missing until there is one."""
    return property(lambda model: getattr(model.learned_, name))

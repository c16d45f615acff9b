"""All that a `CfMGML` learned, as one value: a model has all of it or none, and what failed half-way left no trace."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cfmgml.common.typing import BoolArray, FloatArray, IntArray, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.context import join_node_parts, join_parts
from cfmgml.learning.calibration import Calibration
from cfmgml.learning.painting import BACKGROUND, COVERED, paint
from cfmgml.learning.scoring import Scorer
from cfmgml.learning.seen import Seen
from cfmgml.learning.solvers.cccp import Solution
from cfmgml.stores import BagStore


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
    scorer: Scorer
    intercept: FloatArray
    thresholds: FloatArray  # (n_labels,): a score above has the label; none is above 0
    objective: FloatArray
    representatives: IntArray
    n_iter: int
    gradient_norm: float
    fingerprint: str
    info: dict[str, Any]
    builder: BagBuilder | None = None  # of what it learned from
    calibration: Calibration | None = None
    steps: StepSizes | None = None  # None: the weights do not come from `partial_fit`
    approximation_error: float | None = None  # of kernel values, on graphs kept aside; None: not measured
    covered: float | None = None  # how many training graphs had one of their bag's labels; None: not counted
    context_scale: str = "mean"  # of the bag's part of scores, if they have one
    seen: Seen | None = None  # of the training graphs; None: the scorer keeps them, or a file from before does not tell

    @classmethod
    def of(
        cls,
        source: BagDataset | BagStore,
        names: NameArray,
        counts: FloatArray,
        scorer: Scorer,
        solution: Solution[Any],
        representatives: IntArray,
        thresholds: FloatArray,
    ) -> "Learned":
        """What a solver found for these bags."""
        return cls(
            label_names=names,
            label_counts=counts,
            n_bags=source.n_bags,
            scorer=scorer,
            intercept=solution.intercept,
            thresholds=thresholds,
            objective=np.array(solution.objective),
            representatives=representatives,
            n_iter=solution.n_iter,
            gradient_norm=solution.gradient_norm,
            fingerprint=source.fingerprint(),
            info=dict(source.info),
            builder=source.builder,
        )

    @property
    def kernel(self) -> Kernel:
        """Resolved."""
        return self.scorer.kernel

    @property
    def has_context(self) -> bool:
        """Whether scores have a part that all graphs of a bag have in common."""
        return self.scorer.n_scores > len(self.label_names)

    def graph_scores(self, bags: BagDataset) -> FloatArray:
        """(n_graphs, n_labels)."""
        scores = self.scorer.scores(bags.graphs)
        if self.has_context:
            scores = join_parts(scores, bags.bag_ptr, self._bag_lengths(bags))
        return scores + self.intercept

    def node_scores(self, bags: BagDataset) -> FloatArray:
        """(n_nodes, n_labels): what each node adds to its graph's score."""
        scores = self.scorer.node_scores(bags.graphs)
        if not self.has_context:
            return scores
        return join_node_parts(scores, bags.graphs.node_ptr, bags.bag_ptr, self._bag_lengths(bags))

    def _bag_lengths(self, bags: BagDataset) -> FloatArray | None:
        return self.scorer.bag_lengths(bags.graphs, bags.bag_ptr) if self.context_scale == "unit" else None

    def paint(self, bags: BagDataset, contributions: FloatArray, allowed: BoolArray) -> IntArray:
        """(n_nodes,): each node's label among those that its bag is allowed, (n_bags, n_labels); -1 for none."""
        length = np.sqrt(np.maximum(self.kernel.diagonal(bags.graphs), 0))
        rest = self.covered is None or self.covered < COVERED
        return paint(contributions, length, bags, allowed, BACKGROUND if rest else None)


class Learner(Protocol):
    """A model that was, or will be, given what it learned."""

    learned_: Learned


def learned(name: str) -> Any:
    """An attribute of a model that is part of its ``learned_``; missing until there is one."""
    return property(lambda model: getattr(model.learned_, name))

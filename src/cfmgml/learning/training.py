"""`Training`: how to learn, as one value that every way of learning is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cfmgml.common.compute import Compute
from cfmgml.common.numbers import check_number
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.kernels.approximation import AUTO
from cfmgml.kernels.context import SCALES
from cfmgml.kernels.function import KernelLike
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.thresholds import COUNTS, ZERO, Thresholds, check_thresholds, given_thresholds

SOLVERS = {"cccp": (5, 200), "paper": (10, 100), "printed": (10, 100)}  # default rounds, and steps in each
ClassWeight = str | Mapping[str, float] | Sequence[float] | None
Alpha = float | tuple[float, ...]  # several: the mean of the models for each


def told_alpha(alpha: Alpha) -> str:
    """What a person reads.

    >>> told_alpha(1e-5), told_alpha((1e-4, 3e-5))
    ('1e-05', 'mean of 0.0001, 3e-05')
    """
    return f"mean of {', '.join(f'{one:g}' for one in alpha)}" if isinstance(alpha, tuple) else f"{alpha:g}"


@dataclass(frozen=True, eq=False)
class Training:
    """The parameters of a `CfMGML`, which says what each means; bad ones are refused here."""

    kernel: KernelLike | None
    alpha: Alpha
    solver: str
    class_weight: ClassWeight
    loss: str
    fit_intercept: bool
    term_weights: str
    irrelevant: str
    temperature: float
    context: float
    context_scale: str
    n_rounds: int | None
    max_iter: int | None
    tol: float
    rank: int | str | None
    probability: bool
    random_state: Any  # whatever scikit-learn takes
    refine: int
    refine_folds: int
    thresholds: Thresholds
    compute: Compute

    @classmethod
    def of(cls, model: object) -> "Training":
        """From an estimator's public parameters."""
        own = {field.name: getattr(model, field.name) for field in fields(cls) if field.name != "compute"}
        compute = Compute(**{field.name: getattr(model, field.name) for field in fields(Compute)})
        return cls(**own, compute=compute)

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {tuple(SOLVERS)}, got {self.solver!r}.")
        for alpha in self.alphas:
            check_number(alpha, "alpha", above=0)
        if not self.alphas:
            raise ValueError("alpha must be a number or several, got none.")
        check_number(self.temperature, "temperature", at_least=0)
        check_number(self.context, "context", at_least=0, below=1)
        if self.context_scale not in SCALES:
            raise ValueError(f"context_scale must be one of {SCALES}, got {self.context_scale!r}.")
        check_number(self.tol, "tol", at_least=0)
        check_number(self.refine, "refine", at_least=0, below=2**31, whole=True)
        check_number(self.refine_folds, "refine_folds", at_least=0, below=2**31, whole=True)
        if self.refine_folds == 1:
            raise ValueError("refine_folds must be 0 or at least 2, got 1: one fold leaves nothing to learn from.")
        if self.refine and not self.is_cccp:
            raise ValueError(f"refine={self.refine} learns again by solver='cccp', got {self.solver!r}.")
        check_thresholds(self.thresholds)
        if isinstance(self.rank, str) and self.rank != AUTO:
            raise ValueError(f"rank must be 'auto', None or a number of columns, got {self.rank!r}.")
        for name, value in (("n_rounds", self.n_rounds), ("max_iter", self.max_iter), ("rank", self.rank)):
            if value not in (None, AUTO):
                check_number(value, name, at_least=1, below=2**31, whole=True)

    @property
    def alphas(self) -> tuple[float, ...]:
        return self.alpha if isinstance(self.alpha, tuple) else (self.alpha,)

    @property
    def limits(self) -> tuple[int, int]:
        """Rounds, and most steps in each."""
        rounds, steps = SOLVERS[self.solver]
        return self.n_rounds or rounds, self.max_iter or steps

    @property
    def is_cccp(self) -> bool:
        return self.solver == "cccp"

    @property
    def has_intercept(self) -> bool:
        return bool(self.fit_intercept) and self.is_cccp

    @property
    def counts_for_thresholds(self) -> bool:
        return isinstance(self.thresholds, str) and self.thresholds == COUNTS

    @property
    def holds_out(self) -> bool:
        """Whether it needs scores of bags that were not learned from."""
        return self.probability or self.counts_for_thresholds

    def given_thresholds(self, names: list[str]) -> FloatArray:
        return given_thresholds(self.thresholds, names)

    def label_weights(self, counts: FloatArray, names: list[str]) -> FloatArray:
        """One weight a label, by how many bags have each; ``"balanced"`` ones average 1 over labels as they occur."""
        class_weight = self.class_weight
        if class_weight is None:
            return np.ones(len(names))
        if isinstance(class_weight, str):
            if class_weight != "balanced":
                raise ValueError(f"class_weight must be None, 'balanced', a mapping or a list, got {class_weight!r}.")
            inverse = 1.0 / np.maximum(counts, 1)
            return np.asarray(inverse * counts.sum() / max((counts > 0).sum(), 1))
        if isinstance(class_weight, Mapping):
            by_name = {str(name): weight for name, weight in class_weight.items()}  # labels may be numbers
            unknown = [name for name in by_name if name not in names]
            if unknown:
                raise ValueError(f"class_weight names labels that are not there: {unknown}; known: {names}.")
            weights = np.array([by_name.get(name, 1.0) for name in names], dtype=np.float64)
        else:
            weights = np.asarray(class_weight, dtype=np.float64)
        if weights.shape != (len(names),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(
                f"class_weight must be one number, 0 or more, for each of {len(names)} labels, got {class_weight}."
            )
        return weights

    def rank_loss(self, bag_ptr: IntArray, relevant: BoolArray, irrelevant: BoolArray, weights: FloatArray) -> RankLoss:
        """The loss of bags with these labels; Algorithm 1 knows the paper's own only."""
        how = (self.term_weights, self.irrelevant) if self.is_cccp else ("paper", "max")
        return RankLoss(bag_ptr, relevant, irrelevant, weights, self.loss, *how, float(self.temperature))

    def loss_of_no_bags(self, n_labels: int) -> RankLoss:
        """The settings of the loss, for bags and weights that are not known yet."""
        none = np.zeros((0, n_labels), dtype=bool)
        return self.rank_loss(np.zeros(1, dtype=np.int64), none, none, np.ones(n_labels))

    def check_partwise(self, told: str, without: str) -> None:
        """Raise unless it can be learned from parts of the bags; ``told`` and ``without`` say why not."""
        if not self.is_cccp:
            raise ValueError(f"{told}, got {self.solver!r}.")
        if self.probability:
            raise ValueError(f"probability=True needs scores of held-out bags{without}.")
        for name, value, is_on, off in (
            ("alpha", self.alpha, len(self.alphas) > 1, self.alphas[0]),
            ("refine", self.refine, self.refine > 0, 0),
            ("context", self.context, self.context > 0, 0),
            ("thresholds", self.thresholds, self.counts_for_thresholds, ZERO),
        ):
            if is_on:
                raise ValueError(
                    f"{name}={value!r} is for bags in memory: learn from a store or a stream with {name}={off!r}, or "
                    "from a BagDataset by fit."
                )

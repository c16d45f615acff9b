"""The objective over a store: a map over blocks of partitions, and a sum."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.digests import bytes_digest, json_digest
from cfmgml.common.typing import FloatArray
from cfmgml.learning.solvers.cccp import Units, column_squares, units_of_theta
from cfmgml.scale.engines import Engine, Sums, add
from cfmgml.scale.minibatches import AdaGrad, batches, linearised_at_zero
from cfmgml.scale.partitions import Job, linearised, partition

FEWEST_BLOCKS = 32
LANE_BAGS = 1024  # in a mini-batch: the fewer steps are paid back sooner than shorter ones
LANES = 4  # sequences of mini-batches: fewer learn more from a pass, more run at once
Block = tuple[int, ...]


def cut_blocks(n_partitions: int, n_blocks: int | None = None) -> list[Block]:
    """Runs of partitions that one task works through; they depend on the store only, so the order of sums does too.

    >>> cut_blocks(5, 2)
    [(0, 1), (2, 3, 4)]
    """
    if n_blocks is None:
        n_blocks = max(FEWEST_BLOCKS, n_partitions // 16)
    n_blocks = min(n_blocks, n_partitions)
    ends = (np.arange(1, n_blocks + 1) * n_partitions // n_blocks).tolist()
    return [tuple(range(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


# -- tasks: what a worker does with a block --------------------------------------------------


def describe_block(block: Block, job: Job) -> Sums:
    """Make the features; squares of their columns, and how many bags have each label."""
    problems = (partition(job, number).problem for number in block)
    return add([column_squares(one.rows), one.loss.relevant.sum(0).astype(np.float64)] for one in problems)


def evaluate_block(block: Block, job: Job, theta: FloatArray, around: FloatArray | None, tag: str) -> Sums:
    """Loss and gradient, each the sum over the block's bags; with ``around``, of the bound that touches there."""

    def evaluate(number: int) -> Sums:
        prepared = partition(job, number)
        bound = None if around is None else linearised(job, number, prepared, around, tag)
        value, gradient = prepared.problem.value_and_gradient(theta, bound)
        return [np.array(value * prepared.n_bags), gradient * prepared.n_bags]

    return add(map(evaluate, block))


def descend_block(block: Block, job: Job, alpha: float) -> Sums:
    """One pass of mini-batches from zero, with bags' means for Q; where it ends, times the number of bags seen."""
    descent, seen = AdaGrad.start(partition(job, block[0]).problem.start()), 0
    for number in block:
        for batch in batches(partition(job, number).problem, LANE_BAGS):
            descent.step(batch, alpha, linearised_at_zero(batch))
            seen += batch.loss.n_bags
    return [descent.theta * seen]


# -- the problem that `solve_cccp` sees ------------------------------------------------------


@dataclass(frozen=True)
class StoreProblem:
    """``alpha / 2 |W|^2`` plus the mean loss of all bags of a store."""

    job: Job
    engine: Engine
    blocks: list[Block]
    alpha: float
    squares: FloatArray  # of each column

    @property
    def n_bags(self) -> int:
        return self.job.store.n_bags

    @property
    def n_features(self) -> int:
        return len(self.squares)

    def key(self) -> str:
        """A digest of all that the weights depend on but how long to go on: a checkpoint of another run is refused."""
        loss = self.job.loss
        told = {name: value for name, value in vars(loss).items() if isinstance(value, str | float | int)}
        shape = [self.job.key, self.alpha, self.job.fit_intercept, len(self.blocks), loss.label_weights.tolist()]
        return json_digest([told, shape])

    def start(self) -> FloatArray:
        return np.zeros((self.n_features + self.job.fit_intercept) * self.job.n_labels)

    def space(self) -> Units:
        settings = self.n_bags, self.alpha, self.job.fit_intercept, self.job.n_labels
        return Units(units_of_theta(self.squares, *settings))

    def in_precision(self, dtype: DTypeLike) -> Self:
        """float64 always: over many partitions, processes and machines the last digits of float32 would not agree."""
        return self

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        split = self.n_features * self.job.n_labels
        intercept = theta[split:] if self.job.fit_intercept else np.zeros(self.job.n_labels)
        return theta[:split].reshape(-1, self.job.n_labels), intercept

    def bound(self, theta: FloatArray) -> "StoreBound":
        return StoreBound(self, theta, bytes_digest(repr(self.job.loss.temperature).encode() + theta.tobytes()))

    def value_and_gradient(
        self, theta: FloatArray, around: FloatArray | None = None, tag: str = ""
    ) -> tuple[float, FloatArray]:
        """One pass over the store."""
        total, gradient = self.engine.map_sum(evaluate_block, self.blocks, self.job, theta, around, tag)
        coef, _ = self.unpack(theta)
        gradient /= self.n_bags
        gradient[: coef.size] += self.alpha * coef.ravel()
        return float(total) / self.n_bags + self.alpha / 2 * float(np.vdot(coef, coef)), gradient

    def cheap_start(self) -> FloatArray:
        """A point to start from: a pass of mini-batches in a few lanes, averaged (Zinkevich et al., NIPS 2010)."""
        lanes = cut_blocks(self.job.store.n_partitions, LANES)
        return self.engine.map_sum(descend_block, lanes, self.job, self.alpha)[0] / self.n_bags


@dataclass(frozen=True)
class StoreBound:
    """The convex bound around a point. The bags' weights Q stay with the partitions; the point and its tag travel."""

    problem: StoreProblem
    around: FloatArray
    tag: str

    def value_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        return self.problem.value_and_gradient(theta, self.around, self.tag)

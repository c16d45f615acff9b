"""Small steps on few bags at a time: a cheap start for training over a store, and learning from streams."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.learning.objective import Linearisation
from cfmgml.learning.solvers.cccp import Problem

BAGS = 256  # in a mini-batch of a stream
FITTED_STEPS = 10  # mini-batches that a fit counts as, beside those of its bags; tried from 1 to 300 (docs/scale.md)
LEAST_SQUARE = 0.01  # of a typical one: an entry's gradient may be 0 by chance
REACH = 2.0  # how far the first step may move a typical graph's score; tried from .3 to 8 (docs/scale.md)
TINY = 1e-12


def batches(problem: Problem, n_bags: int = BAGS) -> Iterator[Problem]:
    """The bags of a problem, a few at a time, in their order."""
    loss = problem.loss
    for start in range(0, loss.n_bags, n_bags):
        stop = min(start + n_bags, loss.n_bags)
        ptr = loss.bag_ptr[start : stop + 1]
        labels = {name: getattr(loss, name)[start:stop] for name in ("relevant", "irrelevant")}
        rows = problem.rows[int(ptr[0]) : int(ptr[-1])]
        yield replace(problem, rows=rows, loss=replace(loss, bag_ptr=ptr - ptr[0], **labels))


@dataclass
class AdaGrad:
    """Steps whose length falls with the gradients seen so far, entry by entry (Duchi et al., JMLR 2011)."""

    theta: FloatArray
    squares: FloatArray  # sums of squared gradients
    rate: float | None = None  # length of the first step, in every entry; settled on the first batch
    unseen: float = 0.0  # mini-batches that theta comes from and ``squares`` does not know

    @classmethod
    def start(cls, theta: FloatArray, unseen: float = 0.0) -> "AdaGrad":
        return cls(theta.copy(), np.zeros_like(theta), unseen=unseen)

    def step(self, batch: Problem, alpha: float, around: Linearisation | None = None) -> float:
        """One step on a mini-batch; returns its loss before. Without ``around``, Q is of the scores as they are.

        Weights of columns that the batch does not have stay as they are, unpenalised: most have few of all columns.
        """
        if self.rate is None:
            self.rate = REACH / max(float(abs(batch.rows).sum()) / batch.rows.shape[0], TINY)
        small, entries = touched(batch)
        if self.unseen:
            self._count_unseen(small, entries)
        value, gradient = replace(small, alpha=alpha).value_and_gradient(self.theta[entries], around)
        if self.unseen:  # still: with nothing to learn from it, and no length for a step
            return value
        squares = self.squares[entries] + gradient**2
        self.squares[entries] = squares
        self.theta[entries] -= self.rate * gradient / np.sqrt(squares + TINY)
        return value

    def _count_unseen(self, batch: Problem, entries: IntArray | slice) -> None:
        """Take the gradients not seen to have been as this batch's at zero: a first step as long as a stream's would
        undo a fit. Entries that this batch does not have count as typical ones."""
        squares = batch.value_and_gradient(np.zeros_like(self.theta[entries]))[1] ** 2
        typical = squares.mean()
        if typical > 0:  # not so where no label is known
            self.squares += self.unseen * typical
            self.squares[entries] = self.unseen * np.maximum(squares, LEAST_SQUARE * typical)
            self.unseen = 0.0


def touched(batch: Problem) -> tuple[Problem, IntArray | slice]:
    """A batch over the columns that it has, and where their weights (and the intercepts) are in theta."""
    rows = batch.rows
    if isinstance(rows, np.ndarray):
        return batch, slice(None)
    has = np.zeros(rows.shape[1], dtype=bool)
    has[rows.indices] = True
    columns = np.flatnonzero(has)
    place = (np.cumsum(has) - 1).astype(np.int32)
    narrow = sparse.csr_array((rows.data, place[rows.indices], rows.indptr), shape=(rows.shape[0], len(columns)))
    n_labels = batch.n_labels
    intercepts = rows.shape[1] * n_labels + np.arange(n_labels * batch.fit_intercept)
    entries = (columns[:, None] * n_labels + np.arange(n_labels)).ravel()
    return replace(batch, rows=narrow), np.concatenate([entries, intercepts])


def linearised_at_zero(batch: Problem) -> Linearisation:
    """Q around zero: every graph of a bag counts the same."""
    return batch.loss.linearise(np.zeros((int(batch.loss.bag_ptr[-1]), batch.n_labels)))

"""Support vector machines on bags, label by label: what M3MIML and MI-SVM share.

For one label, a bag that has it is one point, a weighted mean of its graphs, and a bag that has it not gives each of
its graphs as a point. A solution is kept as one coefficient a training graph and label, whatever the weights were.
Bags may share graphs, as papers share references: what comes several times is one point that may weigh as much, which
is the same problem with fewer points.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from cfmgml.common.segments import lengths, segment_ids
from cfmgml.common.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class LabelProblem:
    """The points of one label: positive bags as weighted means of their graphs, graphs of negative bags."""

    bag_ptr: IntArray
    positive: BoolArray  # (n_bags,)
    negative: BoolArray  # (n_bags,); a bag of which neither is known is in none
    weights: FloatArray  # (n_graphs,), each bag's sum to 1
    twins: IntArray | None = None  # `first_twins` of the Gram matrix; without, every graph is a point of its own

    @property
    def constant(self) -> float | None:
        """Where only one class is known, the score of every graph: 1 if all bags have the label, -1 if none has."""
        if self.positive.any() and self.negative.any():
            return None
        return 1.0 if self.positive.any() else -1.0

    @cached_property
    def points(self) -> sparse.csr_array:
        """(n_points, n_graphs): positive bags first; times the Gram matrix it gives the points' inner products."""
        bag = segment_ids(self.bag_ptr)
        means = np.flatnonzero(self.positive[bag])
        rows = np.cumsum(self.positive)[bag[means]] - 1
        graphs, _ = self._negative_graphs
        n_positive = int(self.positive.sum())
        at = np.concatenate([rows, n_positive + np.arange(len(graphs))])
        values = np.concatenate([self.weights[means], np.ones(len(graphs))])
        shape = (n_positive + len(graphs), len(bag))
        return sparse.csr_array((values, (at, np.concatenate([means, graphs]))), shape=shape)

    @cached_property
    def _negative_graphs(self) -> tuple[IntArray, IntArray]:
        """The different graphs of negative bags, and how often each occurs there."""
        graphs = np.flatnonzero(self.negative[segment_ids(self.bag_ptr)])
        if self.twins is None:
            return graphs, np.ones(len(graphs), dtype=np.int64)
        _, first, counts = np.unique(self.twins[graphs], return_index=True, return_counts=True)
        return graphs[first], counts

    @property
    def multiplicities(self) -> FloatArray:
        """(n_points,): how many points of the same place each one stands for."""
        return np.concatenate([np.ones(int(self.positive.sum())), self._negative_graphs[1]])

    @property
    def signs(self) -> FloatArray:
        """(n_points,): 1 for positive bags, -1 for graphs of negative ones."""
        return np.where(np.arange(self.points.shape[0]) < self.positive.sum(), 1.0, -1.0)

    def coefficients(self, duals: FloatArray) -> FloatArray:
        """One coefficient a graph from one dual variable a point."""
        return np.asarray(self.points.T @ (duals * self.signs))


def first_twins(K: FloatArray, eps: float) -> IntArray:
    """For each graph the first one in the same place, as far as values with rounding ``eps`` can tell.

    >>> first_twins(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]]), 1e-16)
    array([0, 1, 0])
    """
    squares = np.diagonal(K)
    out = np.empty(len(K), dtype=np.int64)
    for start in range(0, len(K), 512):  # in runs, so that memory stays small beside K
        both = squares[start : start + 512, None] + squares
        out[start : start + 512] = (both - 2 * K[start : start + 512] <= 8 * eps * both).argmax(axis=1)
    return out


def mean_weights(bag_ptr: IntArray) -> FloatArray:
    """Every graph of a bag counts the same."""
    sizes = lengths(bag_ptr)
    return np.repeat(1.0 / sizes, sizes)


def solve_exactly(
    problem: LabelProblem, K: FloatArray, C: float, tol: float, room: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Coefficients (n_graphs,) and intercept of the C-SVC, by LIBSVM's SMO; optimal up to ``tol``.

    ``room`` is `room_for_points` of a problem that differs in weights only; it is written to.
    """
    if problem.constant is not None:
        return np.zeros(len(K)), problem.constant
    svc = SVC(C=C, kernel="precomputed", tol=tol)
    svc.fit(_point_gram(problem, K, room), problem.signs, sample_weight=problem.multiplicities)
    duals = np.zeros(problem.points.shape[0])
    duals[svc.support_] = np.abs(svc.dual_coef_[0])
    return problem.coefficients(duals), float(svc.intercept_[0])


def room_for_points(problem: LabelProblem, K: FloatArray) -> FloatArray:
    """Room for the products of all points; those of negative graphs, which are K's own, are filled in."""
    n_positive = int(problem.positive.sum())
    graphs = problem.points[n_positive:].indices
    room = np.empty((problem.points.shape[0],) * 2)
    room[n_positive:, n_positive:] = K[np.ix_(graphs, graphs)]
    return room


def _point_gram(problem: LabelProblem, K: FloatArray, room: FloatArray | None) -> FloatArray:
    """points K points^T, in ``room``. Products of negative graphs, most of it, stay the same for other weights."""
    out = room_for_points(problem, K) if room is None else room
    n_positive = int(problem.positive.sum())
    means = problem.points[:n_positive]
    to_graphs = np.asarray(means @ K)
    out[:n_positive, :n_positive] = to_graphs @ means.T
    out[:n_positive, n_positive:] = to_graphs[:, problem.points[n_positive:].indices]
    out[n_positive:, :n_positive] = out[:n_positive, n_positive:].T
    return out


def solve_frank_wolfe(
    problems: list[LabelProblem], K: FloatArray, C: float, max_iter: int, step_tol: float = 1e-6, move_tol: float = 1e-4
) -> tuple[FloatArray, FloatArray]:
    """Coefficients (n_graphs, n_labels) and intercepts by the method of Frank & Wolfe, stopped as M3MIML's authors do.

    All labels move together, with one step length. Every graph of a negative bag is to be a point of its own. The last
    of ``max_iter`` directions is found and not taken, as in their program, so that the intercept belongs to the
    coefficients returned.
    """
    coef, intercepts = np.zeros((len(K), len(problems))), np.array([problem.constant or 0.0 for problem in problems])
    to_solve = [c for c, problem in enumerate(problems) if problem.constant is None]
    if not to_solve:
        return coef, intercepts
    problems = [problems[c] for c in to_solve]
    duals = [np.zeros(problem.points.shape[0]) for problem in problems]
    for iteration in range(max_iter):
        now = _coefficients(problems, duals)
        # gradients of the dual, to be climbed: 1 - y <w, x> for every point
        gains = [1 - p.signs * (p.points @ scores) for p, scores in zip(problems, (K @ now).T, strict=True)]
        moves = [_best_vertex(p, gain, C) - dual for p, gain, dual in zip(problems, gains, duals, strict=True)]
        step = _best_step(gains, moves, _coefficients(problems, moves), K)
        length = np.sqrt(sum(float(move @ move) for move in moves))
        if step <= step_tol or step * length <= move_tol or iteration == max_iter - 1:
            break
        duals = [dual + step * move for dual, move in zip(duals, moves, strict=True)]
    coef[:, to_solve] = now
    intercepts[to_solve] = [_intercept(p, d, gain, C) for p, d, gain in zip(problems, duals, gains, strict=True)]
    return coef, intercepts


def _coefficients(problems: list[LabelProblem], duals: list[FloatArray]) -> FloatArray:
    return np.stack([problem.coefficients(dual) for problem, dual in zip(problems, duals, strict=True)], axis=1)


def _best_vertex(problem: LabelProblem, gain: FloatArray, C: float) -> FloatArray:
    """The largest <gain, x> with 0 <= x <= C and as much on positive as on negative points: pair the best of both."""
    out = np.zeros(len(gain))
    positive = problem.signs > 0
    best, other = (np.flatnonzero(side)[np.argsort(-gain[side], kind="stable")] for side in (positive, ~positive))
    n = min(len(best), len(other))
    pays = int((gain[best[:n]] + gain[other[:n]] > 0).sum())
    out[best[:pays]] = out[other[:pays]] = C
    return out


def _best_step(gains: list[FloatArray], moves: list[FloatArray], direction: FloatArray, K: FloatArray) -> float:
    """The step in [0, 1] at which the dual, a parabola along the direction, is largest."""
    slope = sum(float(gain @ move) for gain, move in zip(gains, moves, strict=True))
    bend = float(np.einsum("ij,ij->", direction, K @ direction))
    return float(np.clip(slope / bend, 0, 1)) if bend > 0 else float(slope > 0)


def _intercept(problem: LabelProblem, duals: FloatArray, gain: FloatArray, C: float) -> float:
    """Mean over points on the margin; without any, the middle of what the others allow."""
    levels = gain * problem.signs
    free = (duals > 0) & (duals < C)
    if free.any():
        return float(levels[free].mean())
    from_below = (duals == 0) == (problem.signs > 0)
    bounds = [levels[from_below].max(initial=-np.inf), levels[~from_below].min(initial=np.inf)]
    return float(np.mean([bound for bound in bounds if np.isfinite(bound)]))

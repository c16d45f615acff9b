"""`paper` and `printed`: Algorithm 1 of Wang et al., corrected and as printed.

Both keep counts for every (bag, label): how often, in the steps so far, a term of the loss was active that moves the
label's weight towards or away from the bag's representative graph. Weights are the counts over
``z = lambda t n |Y+|^2 |Y-|^2``, times the representatives. Both freeze the representatives of all labels for the T
steps of a round, and have no intercept.

`paper` corrects the signs, the weights of the counts, the norm, the projection and what is returned; `printed` does
what the page says, to show what that gives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.segments import lengths, offsets, segment_argmax, segment_sum
from cfmgml.common.typing import BoolArray, FloatArray, IntArray, Rows
from cfmgml.learning.solvers.cccp import Problem, Solution, scores_of_rows, sums_of_rows

OnRound = Callable[[int, float], None]
MAX_BYTES = 2**30  # of products kept at a time


def random_representatives(bag_ptr: IntArray, n_labels: int, rng: np.random.Generator) -> IntArray:
    """A graph of each bag, drawn for each label, (n_bags, n_labels)."""
    sizes = lengths(bag_ptr)[:, None]
    return bag_ptr[:-1, None] + (rng.random((len(sizes), n_labels)) * sizes).astype(np.int64)


def solve_paper(
    problem: Problem,
    n_rounds: int,
    n_steps: int,
    rng: np.random.Generator,
    on_round: OnRound = lambda done, value: None,
    dtype: DTypeLike = "float64",
) -> tuple[Solution[FloatArray], IntArray]:
    """Algorithm 1, corrected: projected subgradient steps of size 1 / (lambda t) on the representatives' scores.

    Counts start from zero in every round and the first step looks at the last round's weights. Returns the weights with
    the representatives they were computed on. ``dtype`` is the precision in which representatives are compared.
    """
    loss, rows, alpha = problem.loss.plain, problem.rows, problem.alpha
    n_labels = loss.relevant.shape[1]
    radius = np.sqrt(2 * loss.value(np.zeros((rows.shape[0], n_labels))) / alpha)
    chosen = random_representatives(loss.bag_ptr, n_labels, rng)
    comparisons = _Comparisons(rows, n_rounds, dtype)
    used, objective = chosen, list[float]()
    scores: FloatArray = np.zeros(chosen.shape)
    for done in range(1, n_rounds + 1):
        counts, scores_for = np.zeros(chosen.shape), comparisons.among(chosen)
        for step in range(1, n_steps + 1):
            counts -= loss.bag_value_and_gradient(scores)[1]
            amounts = counts / (alpha * step)
            scores = scores_for(amounts)
            norm = np.sqrt(max(0.0, float(np.vdot(amounts, scores))))
            if norm > radius:
                counts, amounts, scores = (values * (radius / norm) for values in (counts, amounts, scores))
        used, coef = chosen, _combine(rows, amounts, chosen)
        graph_scores = scores_of_rows(rows, coef)
        chosen = segment_argmax(graph_scores, loss.bag_ptr)
        scores = _at(graph_scores, chosen)
        objective.append(loss.value(graph_scores) + alpha / 2 * float(np.vdot(coef, coef)))
        on_round(done, objective[-1])
    return Solution(coef, np.zeros(n_labels), objective, n_rounds * n_steps, float("nan")), used


def solve_printed(
    problem: Problem,
    n_rounds: int,
    n_steps: int,
    rng: np.random.Generator,
    on_round: OnRound = lambda done, value: None,
    dtype: DTypeLike = "float64",
) -> tuple[Solution[FloatArray], IntArray]:
    """Algorithm 1 as printed, signs and all."""
    loss, rows, alpha = problem.loss.plain, problem.rows, problem.alpha
    relevant, irrelevant = loss.relevant, loss.irrelevant
    n_bags, n_labels = relevant.shape
    plus, minus = relevant.sum(1, keepdims=True), irrelevant.sum(1, keepdims=True)
    chosen = random_representatives(loss.bag_ptr, n_labels, rng)
    squares = np.asarray((rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows).sum(axis=1)).ravel()
    kappa, nu, mu = (np.zeros((n_bags, n_labels)) for _ in range(3))
    comparisons, objective = _Comparisons(rows, n_rounds, dtype), list[float]()
    scores: FloatArray = np.zeros(chosen.shape)
    for done in range(1, n_rounds + 1):
        scores_for = comparisons.among(chosen)
        for step in range(1, n_steps + 1):
            kappa += (relevant & (scores <= 1)) * minus  # lines 5 and 6 stand inside the loop over q
            nu += (irrelevant & (scores >= -1)) * plus  # lines 7 and 8 inside the one over p; += as printed
            mu += _printed_pairs(scores, relevant, irrelevant)
            s = kappa + nu + mu
            z = np.maximum(alpha * step * n_bags * plus**2 * minus**2, np.finfo(float).tiny)
            norm = (s / z * squares[chosen]).sum()  # "sum_i (1/z_i) s_i K(g_i, g_i)": not a norm, as printed
            if norm > 0:
                s = min(1.0, np.sqrt(2 / alpha) / norm) * s
            scores = scores_for(s / z)
        unweighted = _combine(rows, s, chosen)  # line 15 uses s, not s / z
        chosen = segment_argmax(scores_of_rows(rows, unweighted), loss.bag_ptr)
        coef = _combine(rows, s / z, chosen)  # line 16 returns s with the newer representatives
        graph_scores = scores_of_rows(rows, coef)
        scores = _at(graph_scores, chosen)
        objective.append(loss.value(graph_scores) + alpha / 2 * float(np.vdot(coef, coef)))
        on_round(done, objective[-1])
    return Solution(coef, np.zeros(n_labels), objective, n_rounds * n_steps, float("nan")), chosen


def _printed_pairs(scores: FloatArray, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
    """Lines 9 to 11: +1 for p and -1 for q of every pair with F_q >= F_p - 2."""
    bag, p = np.nonzero(relevant)
    active = irrelevant[bag] & (scores[bag] >= scores[bag, p][:, None] - 2)
    out = np.zeros_like(scores)
    out[bag, p] = active.sum(1)
    return out - segment_sum(active.astype(scores.dtype), offsets(relevant.sum(1)))


@dataclass(frozen=True)
class _Comparisons:
    """How representatives are scored while they stay the same, for the steps of a round.

    Only representatives count then, so each label needs the products of its own ones with each other. They are taken
    from those of all graphs, computed once, or computed anew each round, whichever is less work; sparse rows, and ones
    of too many bags and labels, are multiplied as they are.
    """

    rows: Rows
    n_rounds: int
    dtype: DTypeLike

    def among(self, chosen: IntArray) -> Callable[[FloatArray], FloatArray]:
        """A function from an amount for every (bag, label) to the scores of the representatives."""
        rows = self.rows
        if hasattr(rows, "multiply") or chosen.size * len(chosen) * self._dense.itemsize > MAX_BYTES:
            return lambda amounts: _at(scores_of_rows(rows, _combine(rows, amounts, chosen)), chosen)
        products = self._products(chosen)
        return lambda amounts: _each_label(products, amounts)

    def _products(self, chosen: IntArray) -> FloatArray:
        """Of each label's representatives with one another, (n_labels, n_bags, n_bags)."""
        rows, n_all = self._dense, len(self._dense) ** 2
        if self.n_rounds * chosen.size * len(chosen) < n_all or n_all * rows.itemsize > MAX_BYTES:
            return np.stack([rows[graphs] @ rows[graphs].T for graphs in chosen.T])
        return np.stack([self._all[np.ix_(graphs, graphs)] for graphs in chosen.T])

    @cached_property
    def _dense(self) -> FloatArray:
        return np.asarray(self.rows, dtype=self.dtype)

    @cached_property
    def _all(self) -> FloatArray:
        return self._dense @ self._dense.T


def _each_label(products: FloatArray, amounts: FloatArray) -> FloatArray:
    """A label's products times its amounts, for all labels."""
    columns = amounts.T.astype(products.dtype, order="C")
    return np.ascontiguousarray(np.matmul(products, columns[:, :, None])[:, :, 0].T, dtype=np.float64)


def _at(scores: FloatArray, chosen: IntArray) -> FloatArray:
    return np.take_along_axis(np.asarray(scores), chosen, axis=0)


def _combine(rows: FloatArray, amounts: FloatArray, chosen: IntArray) -> FloatArray:
    """Weights (n_features, n_labels): for each label, the representatives' rows times these amounts."""
    spread = np.zeros((rows.shape[0], amounts.shape[1]))
    np.put_along_axis(spread, chosen, amounts, axis=0)
    return sums_of_rows(rows, spread)

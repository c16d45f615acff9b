"""`paper` and `printed`: Algorithm 1 of Wang et al., corrected and as printed.

Both keep counts for every (bag, label): how often, in the steps so far, a term of the loss was active that moves the
label's weight towards or away from the bag's representative graph. Weights are the counts over
``z = lambda t n |Y+|^2 |Y-|^2``, times the representatives. Both freeze the representatives of all labels for the T
steps of a round, and have no intercept.

`paper` corrects the signs, the weights of the counts, the norm, the projection and what is returned; `printed` does
what the page says, to show what that gives.
"""

from collections.abc import Callable

import numpy as np

from cfmgml._segments import lengths, segment_argmax
from cfmgml._typing import BoolArray, FloatArray, IntArray
from cfmgml.solvers.cccp import Problem, Solution, scores_of_rows, sums_of_rows

OnRound = Callable[[int, float], None]


def _quiet(done: int, value: float) -> None:
    pass


def random_representatives(bag_ptr: IntArray, n_labels: int, rng: np.random.Generator) -> IntArray:
    """A graph of each bag, drawn for each label, (n_bags, n_labels)."""
    sizes = lengths(bag_ptr)[:, None]
    drawn = (rng.random((len(sizes), n_labels)) * sizes).astype(np.int64)
    return bag_ptr[:-1, None] + np.minimum(drawn, sizes - 1)


def solve_paper(
    problem: Problem, n_rounds: int, n_steps: int, rng: np.random.Generator, on_round: OnRound = _quiet
) -> tuple[Solution, IntArray]:
    """Algorithm 1, corrected: projected subgradient steps of size 1 / (lambda t) on the representatives' scores.

    Counts start from zero in every round and the first step looks at the last round's weights. Returns the weights with
    the representatives they were computed on.
    """
    loss, rows, alpha = problem.loss.plain, problem.rows, problem.alpha
    n_labels = loss.relevant.shape[1]
    radius = np.sqrt(2 * loss.value(np.zeros((rows.shape[0], n_labels))) / alpha)
    chosen = random_representatives(loss.bag_ptr, n_labels, rng)
    used, coef = chosen, np.zeros((rows.shape[1], n_labels))
    objective = []
    for done in range(1, n_rounds + 1):
        counts = np.zeros((loss.n_bags, n_labels))
        for step in range(1, n_steps + 1):
            counts -= loss.bag_value_and_gradient(_at(scores_of_rows(rows, coef), chosen))[1]
            coef = _combine(rows, counts / (alpha * step), chosen)
            norm = np.linalg.norm(coef)
            if norm > radius:
                counts *= radius / norm
                coef *= radius / norm
        used, scores = chosen, scores_of_rows(rows, coef)
        chosen = segment_argmax(scores, loss.bag_ptr)
        objective.append(loss.value(scores) + alpha / 2 * float(np.vdot(coef, coef)))
        on_round(done, objective[-1])
    zero = np.zeros(n_labels)
    return Solution(coef, zero, objective, n_rounds * n_steps, float("nan")), used


def solve_printed(
    problem: Problem, n_rounds: int, n_steps: int, rng: np.random.Generator, on_round: OnRound = _quiet
) -> tuple[Solution, IntArray]:
    """Algorithm 1 as printed, signs and all."""
    loss, rows, alpha = problem.loss.plain, problem.rows, problem.alpha
    relevant, irrelevant = loss.relevant, loss.irrelevant
    n_bags, n_labels = relevant.shape
    plus, minus = relevant.sum(1, keepdims=True), irrelevant.sum(1, keepdims=True)
    chosen = random_representatives(loss.bag_ptr, n_labels, rng)
    squares = np.asarray((rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows).sum(axis=1)).ravel()
    kappa, nu, mu = (np.zeros((n_bags, n_labels)) for _ in range(3))
    coef, objective = np.zeros((rows.shape[1], n_labels)), []
    for done in range(1, n_rounds + 1):
        for step in range(1, n_steps + 1):
            scores = _at(scores_of_rows(rows, coef), chosen)
            kappa += (relevant & (scores <= 1)) * minus  # lines 5 and 6 stand inside the loop over q
            nu += (irrelevant & (scores >= -1)) * plus  # lines 7 and 8 inside the one over p; += as printed
            mu += _printed_pairs(scores, relevant, irrelevant)
            s = kappa + nu + mu
            z = np.maximum(alpha * step * n_bags * plus**2 * minus**2, np.finfo(float).tiny)
            norm = (s / z * squares[chosen]).sum()  # "sum_i (1/z_i) s_i K(g_i, g_i)": not a norm, as printed
            if norm > 0:
                s = min(1.0, np.sqrt(2 / alpha) / norm) * s
            coef = _combine(rows, s / z, chosen)
        unweighted = _combine(rows, s, chosen)  # line 15 uses s, not s / z
        chosen = segment_argmax(scores_of_rows(rows, unweighted), loss.bag_ptr)
        coef = _combine(rows, s / z, chosen)  # line 16 returns s with the newer representatives
        scores = scores_of_rows(rows, coef)
        objective.append(loss.value(scores) + alpha / 2 * float(np.vdot(coef, coef)))
        on_round(done, objective[-1])
    zero = np.zeros(n_labels)
    return Solution(coef, zero, objective, n_rounds * n_steps, float("nan")), chosen


def _printed_pairs(scores: FloatArray, relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
    """Lines 9 to 11: +1 for p and -1 for q of every pair with F_q >= F_p - 2."""
    out = np.zeros_like(scores)
    for bag in range(len(scores)):
        p, q = np.flatnonzero(relevant[bag]), np.flatnonzero(irrelevant[bag])
        active = scores[bag, q][None, :] >= scores[bag, p][:, None] - 2
        out[bag, p] += active.sum(1)
        out[bag, q] -= active.sum(0)
    return out


def _at(scores: FloatArray, chosen: IntArray) -> FloatArray:
    return np.take_along_axis(np.asarray(scores), chosen, axis=0)


def _combine(rows: FloatArray, amounts: FloatArray, chosen: IntArray) -> FloatArray:
    """Weights (n_features, n_labels): for each label, the representatives' rows times these amounts."""
    spread = np.zeros((rows.shape[0], amounts.shape[1]))
    np.put_along_axis(spread, chosen, amounts, axis=0)
    return sums_of_rows(rows, spread)

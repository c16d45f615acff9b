"""`cccp` over a Gram matrix: weights as coefficients of graphs, one product with a matrix a step, no eigenvectors.

With X X^T = K and W = X^T A, scores are S = K A and |W|^2 = <A, S>. A loss of slope G at S has X^T H as its gradient,
H = G + alpha A. Steps are measured by the curvature that loss and penalty have on average, C = bend K + alpha I, as
`cfmgml.learning.solvers.cccp.Units` measures them in the basis of eigenvectors: so L-BFGS steps along C^-1 H, and all
steps are sums of such. With one matrix M = K C^-1, a Cholesky factor's worth of work, what a step H does to scores is
M H, the inner product of two steps is <H, M H'>, and C A = alpha A + bend S needs no product at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import lapack

from cfmgml.common.typing import FloatArray, Rows
from cfmgml.learning.objective import Linearisation
from cfmgml.learning.solvers.by_label import LabelByLabel
from cfmgml.learning.solvers.cccp import (
    SINGLE_PRECISION_TOL,
    Problem,
    Solution,
    minimise_bound,
    solve_cccp,
    sums_of_rows,
)
from cfmgml.learning.solvers.lbfgs import Arrays, Function

ROWS_AT_ONCE = 256
ALIKE = 8.0  # curvatures that differ by less may stand for one another: HLK took as many steps with .02 as with 2


@dataclass(frozen=True)
class GramProblem:
    """Minimise ``alpha / 2 <A, K A> + loss(K A + b)`` over A and, if asked for, b.

    Theta is flat: A, K A and b, one column a label. Nothing in it depends on alpha.
    """

    given: Problem  # its rows are K
    like: "GramSpace | None" = None  # of another problem over this K

    @property
    def gram(self) -> FloatArray:
        return np.asarray(self.given.rows)

    @cached_property
    def _space(self) -> "GramSpace":
        return GramSpace.of(self.given, self.like)

    def space(self) -> "GramSpace":
        return self._space

    def in_precision(self, dtype: DTypeLike) -> Self:
        """Itself where nothing changes, since a space is dear."""
        return self if self.gram.dtype == dtype else replace(self, given=self.given.in_precision(dtype))

    def start(self) -> FloatArray:
        return np.zeros((2 * len(self.gram) + 1) * self.given.n_labels, dtype=self.gram.dtype)

    def scores(self, theta: FloatArray) -> FloatArray:
        _, scores, intercept = self._space.parts(theta)
        return scores + intercept

    def bound(self, theta: FloatArray) -> "GramBound":
        return GramBound(self, self.given.loss.linearise(self.scores(theta)))

    def value_and_gradient(self, theta: FloatArray, around: Linearisation | None = None) -> tuple[float, FloatArray]:
        """The gradient is X^T H and that along b, written as H and the latter."""
        coef, scores, intercept = self._space.parts(theta)
        value, slope = self.given.loss.value_and_gradient(scores + intercept, around)
        along = slope.sum(0) * self.given.fit_intercept
        gradient = np.vstack([slope + self.given.alpha * coef, along]).astype(self.gram.dtype, copy=False)
        square = float(np.vdot(coef, scores))  # negative where rounding has parted A and K A: no place to go to
        return value + self.given.alpha / 2 * square if square >= 0 else np.inf, gradient.ravel()

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        coef, _, intercept = self._space.parts(theta)
        return coef, intercept[0]


@dataclass(frozen=True)
class GramBound:
    """A `GramProblem` with the relevant labels' bag scores linearised."""

    problem: GramProblem
    around: Linearisation

    def value_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        return self.problem.value_and_gradient(theta, self.around)


@dataclass
class GramSpace(Arrays):
    """Vectors are flat: C A, K A and b for a point, H, M H and b's for a gradient, one column a label."""

    gram: FloatArray
    mixed: FloatArray  # M
    alpha: float
    bend: float
    n_labels: int
    root: float  # of the curvature along b
    look_every: int = 6  # steps: a gradient's norm costs a product
    source: Rows | None = None  # what the matrix was made from

    @classmethod
    def of(cls, problem: Problem, like: "GramSpace | None" = None) -> "GramSpace":
        """With ``like``, its curvature is taken where it will do, in the problem's units: that saves the matrix."""
        gram, curvature, alpha = np.asarray(problem.rows), problem.curvature(), problem.alpha
        bend, root = curvature / problem.loss.n_bags, float(np.sqrt(curvature))
        if like is not None and 1 / ALIKE <= like.bend / like.alpha * alpha / bend <= ALIKE:
            mixed = like.mixed if alpha == like.alpha else like.mixed * gram.dtype.type(like.alpha / alpha)
            return cls(gram, mixed, alpha, like.bend * alpha / like.alpha, problem.n_labels, root)
        return cls(gram, mix(gram, alpha, bend), alpha, bend, problem.n_labels, root)

    def parts(self, vector: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        n, rows = len(self.gram), vector.reshape(-1, self.n_labels)
        return rows[:n], rows[n : 2 * n], rows[2 * n :]

    def enter(self, theta: FloatArray) -> FloatArray:
        coef, scores, intercept = self.parts(theta)
        return np.vstack([self.alpha * coef + self.bend * scores, scores, self.root * intercept]).ravel()

    def leave(self, point: FloatArray) -> FloatArray:
        bent, scores, intercept = self.parts(point)
        return np.vstack([(bent - self.bend * scores) / self.alpha, scores, intercept / self.root]).ravel()

    def coef_of_scores(self, gap: FloatArray) -> FloatArray:
        """What to add to A, of which rounding in C A - bend K A has left K A so far from the scores."""
        mixed = sums_of_rows(self.mixed, gap.astype(self.mixed.dtype, copy=False))  # else M would be copied
        return (gap - self.bend * mixed) * (self.bend / self.alpha)

    def lift(self, gradient: FloatArray) -> FloatArray:
        rows = gradient.reshape(-1, self.n_labels)
        return np.vstack([rows[:-1], sums_of_rows(self.mixed, rows[:-1]), rows[-1:] / self.root]).ravel()

    def lower(self, gradient: FloatArray) -> FloatArray:
        change, _, along = self.parts(gradient)
        return np.vstack([change, self.root * along]).ravel()

    def dot(self, step: FloatArray, gradient: FloatArray) -> float:
        split = len(self.gram) * self.n_labels
        of_scores = step[:split] @ gradient[split : 2 * split]
        return float(of_scores + step[2 * split :] @ gradient[2 * split :])

    def norm(self, vector: FloatArray) -> float:
        return float(np.sqrt(max(self.dot(vector, vector), 0.0)))

    def curvatures(self, steps: Sequence[FloatArray], changes: Sequence[FloatArray]) -> Sequence[float]:
        return [self.dot(step, change) for step, change in zip(steps, changes, strict=True)]

    def steepness(self, gradient: FloatArray) -> float:
        change, along = np.split(gradient, [-self.n_labels])
        rows = change.reshape(-1, self.n_labels)
        square = float(np.vdot(rows, sums_of_rows(self.gram, rows)) + along @ along)
        return float(np.sqrt(max(square, 0.0)))

    def function(self, bound: GramBound) -> Function[FloatArray]:
        def of_points(point: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = bound.value_and_gradient(self.leave(point))
            return value, self.lift(gradient)

        return of_points


def minimise_by_label(
    bound: GramBound, theta: FloatArray, space: GramSpace, max_iter: int, enough: float, *none: object
) -> tuple[FloatArray, int, float]:
    """As `minimise_bound`, each label by itself: for a loss without pairs. It cannot be taken up again."""
    points = np.ascontiguousarray(space.enter(theta).reshape(-1, space.n_labels).T)
    each = LabelByLabel(bound.problem.given, bound.around, points, space.mixed, space.bend, space.root)
    steps, norm = each.minimise(max_iter, enough, space.look_every)
    return space.leave(np.ascontiguousarray(each.points.T).ravel()), steps, norm


def mix(gram: FloatArray, alpha: float, bend: float) -> FloatArray:
    """``K C^-1 = (I - alpha C^-1) / bend`` for ``C = bend K + alpha I``, in the precision of K.

    C, its factor and its inverse take the place of half a matrix (LAPACK's rectangular full packed format): the lower
    triangle of the first half of the columns, and above it the rest, transposed.
    """
    n, half, odd = len(gram), (len(gram) + 1) // 2, len(gram) % 2
    packed = np.empty((n + 1 - odd, half), order="F")
    first, last = packed[1 - odd :], packed[: n - half, odd:]
    np.multiply(gram[:, :half], bend, out=first, dtype=np.float64)
    np.multiply(gram[half:, half:], bend, out=last, dtype=np.float64, where=np.tri(n - half, dtype=bool).T)
    diagonals = [np.einsum("ii->i", part) for part in (first[:half], last)]  # to write to
    for diagonal in diagonals:
        diagonal += alpha
    factor, _ = lapack.dpftrf(n, packed.ravel(order="K"), uplo="L", overwrite_a=1)
    lapack.dpftri(n, factor, uplo="L", overwrite_a=1)
    out, scale = np.empty_like(gram), -alpha / bend
    np.multiply(first, scale, out=out[:, :half], casting="same_kind")
    np.multiply(last.T, scale, out=out[half:, half:], casting="same_kind")
    for start in range(0, n, ROWS_AT_ONCE):  # the lower triangle is there
        rows = slice(start, start + ROWS_AT_ONCE)
        out[rows, rows] = np.tril(out[rows, rows]) + np.tril(out[rows, rows], -1).T
        out[rows, start + ROWS_AT_ONCE :] = out[start + ROWS_AT_ONCE :, rows].T
    out.flat[:: n + 1] = (1 - alpha * np.concatenate(diagonals)) / bend  # they cancel: not in the precision of K
    return out


def solve_cccp_on_gram(
    problem: Problem,
    n_rounds: int,
    max_iter: int,
    tol: float,
    on_round: Callable[[int, float], None] = lambda done, value: None,
    trail: Sequence[FloatArray] = (),
    like: GramSpace | None = None,
) -> tuple[Solution[FloatArray], FloatArray]:
    """As `solve_cccp` over a problem whose rows are a Gram matrix without negative eigenvalues, and the scores.

    The solution's weights are one coefficient a graph; ``like`` is the space of a solution over the same matrix.
    """
    dtype = np.float32 if tol >= SINGLE_PRECISION_TOL else np.float64
    if like is not None and like.source is problem.rows and like.gram.dtype == dtype:
        there = GramProblem(replace(problem, rows=like.gram), like)
    else:
        there = GramProblem(problem.in_precision(dtype))
    minimise = minimise_by_label if problem.loss.loss == "hamming" else minimise_bound
    solution = solve_cccp(there, n_rounds, max_iter, tol, on_round, trail, minimise=minimise)
    reached = there.space().parts(solution.trail[-1])[1]
    coef = solution.coef + there.space().coef_of_scores(reached - problem.rows @ solution.coef)
    scores = np.asarray(problem.rows @ coef)
    value = there.value_and_gradient(np.vstack([coef, scores, solution.intercept]).ravel())[0]
    objective = [*solution.objective[:-1], value]  # of what is handed back, to more digits than it was found with
    space = replace(there.space(), source=problem.rows)
    return replace(solution, coef=coef, objective=objective, space=space), scores + solution.intercept

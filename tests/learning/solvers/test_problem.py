"""What `cccp` is made of: a problem's numbers against finite differences and by hand, its rounds taken apart."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad

from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers import cccp
from cfmgml.learning.solvers.cccp import (
    Problem,
    ProblemBound,
    Solution,
    Standing,
    column_squares,
    minimise_bound,
    solve_cccp,
    units_of_theta,
)

PTR = np.array([0, 2, 3, 6, 8, 9, 12])


def make(alpha=0.1, fit_intercept=True, rows=np.asarray, kind=Problem):
    rng = np.random.default_rng(0)
    relevant = rng.random((6, 3)) < 0.5
    loss = RankLoss(PTR, relevant, ~relevant, np.array([1.0, 2.0, 0.5]), term_weights="mean")
    return kind(rows(rng.normal(size=(12, 4))), loss, alpha, fit_intercept)


def dense(problem):
    return problem.rows.toarray() if sparse.issparse(problem.rows) else problem.rows


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_value_and_gradient(rng, rows, fit_intercept):
    problem = make(0.7, fit_intercept, rows)
    theta = rng.normal(size=problem.start().shape) / 2
    assert theta.shape == ((15,) if fit_intercept else (12,))
    W, b = theta[:12].reshape(4, 3), theta[12:] if fit_intercept else np.zeros(3)
    scores = dense(problem) @ W + b
    np.testing.assert_allclose(problem.scores(theta), scores)
    value = problem.value_and_gradient(theta)[0]
    assert value == pytest.approx(problem.loss.value(scores) + 0.35 * (W**2).sum())
    bound = problem.bound(theta + 0.3)
    around = problem.loss.linearise(problem.scores(theta + 0.3))
    assert bound.value_and_gradient(theta)[0] == pytest.approx(
        problem.loss.value_and_gradient(scores, around)[0] + 0.35 * (W**2).sum()
    )
    for function in (problem.value_and_gradient, bound.value_and_gradient):
        assert check_grad(lambda x, f=function: f(x)[0], lambda x, f=function: f(x)[1], theta) < 1e-6
    np.testing.assert_array_equal(problem.unpack(theta)[0], W)
    np.testing.assert_array_equal(problem.unpack(theta)[1], b)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_units(fit_intercept):
    """One over the root of the curvature: .03 |column|^2 / n_bags + alpha, and .03 for an intercept."""
    problem = make(0.25, fit_intercept)
    bends = [0.03 * (column**2).sum() / 6 + 0.25 for column in problem.rows.T] + [0.03] * fit_intercept
    expected = np.repeat(1 / np.sqrt(bends), 3)
    np.testing.assert_allclose(problem.scales(), expected)
    np.testing.assert_allclose(units_of_theta((problem.rows**2).sum(0), 6, 0.25, fit_intercept, 3), expected)
    np.testing.assert_allclose(column_squares(sparse.csr_array(problem.rows)), (problem.rows**2).sum(0))


def test_precision_is_that_of_the_rows():
    problem = make().in_precision(np.float32)
    theta = problem.start()
    numbers = problem.rows, theta, problem.scales(), problem.value_and_gradient(theta)[1], *problem.unpack(theta)
    assert {array.dtype for array in numbers} == {np.dtype(np.float32)}
    bare = make(fit_intercept=False).in_precision(np.float32)
    assert bare.unpack(bare.start())[1].dtype == np.float32


@pytest.mark.parametrize(("tol", "dtype"), [(1e-4, np.float32), (0.99e-4, np.float64)])
def test_rows_are_multiplied_in_float32_where_the_tolerance_allows_it(tol, dtype):
    solution = solve_cccp(make(), 2, 100, tol)
    assert {end.dtype for end in solution.trail} == {np.dtype(dtype)}
    assert solution.coef.dtype == solution.intercept.dtype == np.float64


# -- one round -----------------------------------------------------------------------------------


def test_a_round_ends_when_the_gradient_is_small_enough():
    problem = make()
    zero, bound = problem.start(), problem.bound(problem.start())
    norms = []

    def on_step(state, steps):
        assert steps == len(norms)
        assert bound.value_and_gradient(state.point * problem.scales())[0] == pytest.approx(state.value)
        norms.append(np.linalg.norm(bound.value_and_gradient(state.point * problem.scales())[1]))

    enough = 1e-3 * np.linalg.norm(bound.value_and_gradient(zero)[1])
    end, steps, norm = minimise_bound(bound, zero, problem.space(), 1000, enough, on_step)
    assert steps == len(norms) - 1 > 5
    assert (np.array(norms[:-1]) > enough).all()
    assert norm == pytest.approx(norms[-1])
    assert norm <= enough
    assert norm == pytest.approx(np.linalg.norm(bound.value_and_gradient(end)[1]))
    assert minimise_bound(bound, end, problem.space(), 1000, 1.01 * norm)[1] == 0


def test_a_round_ends_after_as_many_steps_as_are_allowed():
    problem = make()
    zero, bound = problem.start(), problem.bound(problem.start())
    whole = []
    minimise_bound(bound, zero, problem.space(), 6, 0.0, lambda state, steps: whole.append((state, steps)))
    assert [steps for _, steps in whole] == [0, 1, 2, 3, 4, 5, 6]
    end, steps, norm = minimise_bound(bound, zero, problem.space(), 6, 0.0, resume=whole[3])
    np.testing.assert_array_equal(end, whole[-1][0].point * problem.scales())
    assert steps == 6
    assert norm == np.linalg.norm(whole[-1][0].gradient / problem.scales())
    assert minimise_bound(bound, zero, problem.space(), 6, 0.0, resume=whole[-1])[1] == 6


def test_small_enough_means_no_larger():
    problem = make()
    zero, scales, norms = problem.start(), problem.scales(), []
    bound = problem.bound(zero)
    minimise_bound(
        bound,
        zero,
        problem.space(),
        8,
        0.0,
        lambda state, steps: norms.append(float(np.linalg.norm(state.gradient / scales))),
    )
    for norm in norms:
        first = next(k for k, other in enumerate(norms) if other <= norm)
        assert minimise_bound(bound, zero, problem.space(), 8, norm)[1:] == (first, norms[first])


# -- rounds --------------------------------------------------------------------------------------


def test_rounds_are_told_and_counted():
    told, standings = [], []
    solution = solve_cccp(make(), 3, 50, 1e-6, lambda *done: told.append(done), on_step=standings.append)
    assert told == list(enumerate(solution.objective, 1))
    assert len(told) == len(solution.trail) == 3
    problem = make()
    first = np.linalg.norm(problem.value_and_gradient(problem.start())[1])
    assert {standing.first for standing in standings} == {first}
    starts = [k for k, standing in enumerate(standings) if standing.steps == 0]
    assert [len(standings[k].objective) for k in starts] == [0, 1, 2]
    steps = [standings[k - 1].steps for k in [*starts[1:], len(standings)]]
    assert [standings[k].n_iter for k in starts] == [0, steps[0], steps[0] + steps[1]]
    assert solution.n_iter == sum(steps)
    for k, around in zip(starts, [problem.start(), *solution.trail], strict=False):
        np.testing.assert_array_equal(standings[k].around, around)
    bound, end = problem.bound(solution.trail[-2]), solution.trail[-1]
    assert solution.gradient_norm == pytest.approx(np.linalg.norm(bound.value_and_gradient(end)[1]) / first)
    np.testing.assert_array_equal(solution.coef, end[:12].reshape(4, 3))
    np.testing.assert_array_equal(solution.intercept, end[12:])


@pytest.mark.parametrize("at", [0, 3, 25, -1])
def test_a_run_taken_up_is_the_same_run(at):
    standings = []
    whole = solve_cccp(make(), 3, 20, 1e-9, on_step=standings.append)
    again = solve_cccp(make(), 3, 20, 1e-9, resume=standings[at])
    assert (again.objective, again.reached, again.n_iter) == (whole.objective, whole.reached, whole.n_iter)
    assert again.gradient_norm == whole.gradient_norm
    np.testing.assert_array_equal(again.coef, whole.coef)


def test_a_run_that_was_over_stays_over():
    standings = []
    whole = solve_cccp(make(), 2, 20, 1e-9, on_step=standings.append)
    again = solve_cccp(make(), 1, 20, 1e-9, resume=standings[-1])
    assert again.objective == whole.objective[:1]
    assert again.trail == ()
    np.testing.assert_array_equal(np.append(again.coef, again.intercept), whole.trail[0])


def test_rounds_end_when_they_gain_little(monkeypatch):
    """Less than a thousandth is little; the round itself is kept."""
    problem = make(1e-2)
    reached = solve_cccp(problem, 60, 500, 1e-7).reached
    gains = -np.diff(reached) / reached[:-1]
    assert 3 < len(reached) < 60
    assert (gains[:-1] > 1e-3).all()
    assert gains[-1] <= 1e-3
    monkeypatch.setattr(cccp, "ROUND_GAIN", 0.0)
    assert len(solve_cccp(problem, len(reached) + 1, 500, 1e-7).reached) == len(reached) + 1


def test_a_gain_is_a_share_of_the_round_before(monkeypatch):
    monkeypatch.setattr(cccp, "ROUND_GAIN", 0.0)
    problem = make(1e-2)
    first, second, third, _ = solve_cccp(problem, 4, 500, 1e-7).reached
    fall = second - third
    assert first - second > fall
    for gain, n_rounds in (((fall / first + fall / second) / 2, 4), ((fall / second + fall / third) / 2, 3)):
        monkeypatch.setattr(cccp, "ROUND_GAIN", gain)
        assert len(solve_cccp(problem, 4, 500, 1e-7).reached) == n_rounds


class Towards:
    """A bound of nothing, lowest at this place."""

    def __init__(self, place):
        self.place = place

    def value_and_gradient(self, theta):
        return float((theta - self.place) @ (theta - self.place)) / 2, theta - self.place


class Astray(Problem):
    """A problem whose rounds after the first go to a place of no worth."""

    def bound(self, theta):
        return Towards(np.full_like(theta, 100)) if theta.any() else super().bound(theta)


class Lost(Astray):
    """The same, and at that place there is no value."""

    def value_and_gradient(self, theta, around=None):
        value, gradient = super().value_and_gradient(theta, around)
        return np.nan if (theta > 90).all() else value, gradient


@pytest.mark.parametrize("kind", [Astray, Lost])
def test_a_round_that_goes_up_is_told_and_not_kept(kind):
    solution, first = (solve_cccp(make(kind=k), n, 200, 1e-3) for k, n in ((kind, 5), (Problem, 1)))
    assert len(solution.reached) == 2
    assert not solution.reached[1] <= solution.reached[0]
    assert solution.objective == first.objective == solution.reached[:1]
    assert (solution.n_iter, solution.gradient_norm) == (first.n_iter, first.gradient_norm)
    np.testing.assert_array_equal(solution.coef, first.coef)
    np.testing.assert_array_equal(solution.trail, first.trail)


class Back(Problem):
    """A problem whose third round goes back to where the first one ended, less a little."""

    def bound(self, theta):
        bound = super().bound(theta)
        ends = solve_cccp(make(), 2, 200, 1e-6).trail
        return Towards(0.9 * ends[0] + 0.1 * ends[1]) if np.array_equal(theta, ends[1]) else bound


def test_a_round_is_judged_by_the_one_before():
    solution = solve_cccp(make(kind=Back), 5, 200, 1e-6)
    assert len(solution.reached) == 3
    assert solution.reached[0] > solution.reached[2] > solution.reached[1]
    assert solution.objective == solution.reached[:2]


def test_a_trail_is_followed_where_it_is_lower():
    problem = make()
    alone = solve_cccp(problem, 3, 500, 1e-6)
    along = solve_cccp(problem, 3, 500, 1e-6, trail=alone.trail[:2])
    third = alone.n_iter - solve_cccp(problem, 2, 500, 1e-6).n_iter
    assert along.n_iter == third  # two rounds start where they end
    np.testing.assert_array_equal(along.coef, alone.coef)
    astray = solve_cccp(problem, 3, 500, 1e-6, trail=[end + 100 for end in alone.trail])
    assert astray.n_iter == alone.n_iter
    np.testing.assert_array_equal(astray.coef, alone.coef)


def test_nothing_to_learn():
    """No label is known: zero is the solution, and its gradient is no share of anything."""
    none = np.zeros((6, 3), dtype=bool)
    loss = RankLoss(PTR, none, none, np.ones(3))
    solution = solve_cccp(Problem(np.ones((12, 2)), loss, 1.0, True), 5, 100, 1e-3)
    assert (solution.objective, solution.n_iter, solution.gradient_norm) == ([0.0, 0.0], 0, 0.0)
    assert not solution.coef.any()
    assert not solution.intercept.any()


@pytest.mark.parametrize("kind", [Problem, ProblemBound, Solution, Standing])
def test_what_was_made_is_not_changed(kind):
    assert kind.__dataclass_params__.frozen

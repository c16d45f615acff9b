"""`cccp` on a device against `cccp` itself: every form of rows, both precisions, told and counted alike."""

import numpy as np
import pytest
from scipy import sparse

from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers.cccp import Problem, solve_cccp
from cfmgml.learning.solvers.on_device import solve_cccp_on_device


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    relevant = rng.random((8, 3)) < 0.5
    loss = RankLoss(np.arange(0, 25, 3), relevant, ~relevant, np.array([1.0, 2.0, 0.5]), term_weights="mean")
    return Problem(rng.normal(size=(24, 5)), loss, 0.1, True)


def quiet(done, value):
    pass


@pytest.mark.parametrize(("tol", "close"), [(1e-4, 2e-3), (1e-6, 1e-5)])
@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
def test_is_the_cpus_solution(torch, device, problem, form, tol, close):
    forms = {"dense": np.asarray, "sparse": sparse.csc_array, "gram": lambda rows: rows @ rows.T}
    given, told = forms[form](problem.rows), []
    rows = torch.tensor(given, device=device.removeprefix("torch:")) if form == "gram" else given
    solution, scores = solve_cccp_on_device(
        Problem(rows, problem.loss, 0.1, True), form == "gram", 3, 500, tol, device, lambda *done: told.append(done)
    )
    cpu = solve_cccp(problem, 3, 500, tol)
    np.testing.assert_allclose(solution.objective, cpu.objective, rtol=close)
    np.testing.assert_allclose(scores, problem.rows @ cpu.coef + cpu.intercept, atol=10 * close)
    np.testing.assert_allclose(given @ solution.coef + solution.intercept, scores, atol=10 * close)
    assert told == list(enumerate(solution.objective, 1))
    assert solution.reached == solution.objective
    assert 0 < solution.gradient_norm <= tol
    assert len(solution.trail) == 3
    assert cpu.n_iter / 3 < solution.n_iter < 2 * cpu.n_iter


@pytest.mark.parametrize("is_gram", [False, True])
def test_the_tolerance_chooses_the_precision(torch, device, problem, is_gram):
    """After one step, results of tolerances differ by rounding if rows are multiplied in two precisions, else not."""
    K = torch.tensor(problem.rows @ problem.rows.T, device=device.removeprefix("torch:"))
    given = Problem(K if is_gram else problem.rows, problem.loss, 0.1, True)
    single, double, exact = (
        solve_cccp_on_device(given, is_gram, 1, 1, tol, device, quiet)[1] for tol in (1e-4, 0.99e-4, 1e-9)
    )
    np.testing.assert_array_equal(double, exact)
    assert 1e-12 < np.abs(single - double).max() < 1e-4


def test_a_trail_saves_steps(device, problem):
    alone, _ = solve_cccp_on_device(problem, False, 3, 500, 1e-5, device, quiet)
    along, _ = solve_cccp_on_device(problem, False, 3, 500, 1e-5, device, quiet, alone.trail)
    assert along.n_iter < alone.n_iter / 4
    np.testing.assert_allclose(along.coef, alone.coef, atol=1e-3)

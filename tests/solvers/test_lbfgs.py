"""L-BFGS: it finds minima, in both precisions, and a run taken up from its state goes on as if never stopped."""

from itertools import islice

import numpy as np
import pytest
from scipy import optimize

from cfmgml.solvers.lbfgs import MEMORY, State, descend


def rosenbrock(point):
    return float(optimize.rosen(point)), optimize.rosen_der(point).astype(point.dtype)


def quadratic(n, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)).astype(dtype)
    bend, target = root @ root.T + np.eye(n, dtype=dtype), rng.normal(size=n).astype(dtype)
    return lambda x: (float((x - target) @ bend @ (x - target)) / 2, bend @ (x - target)), target


def last(states):
    return list(states)[-1]


@pytest.mark.parametrize("n", [2, 5, 30])
def test_finds_the_minimum_of_rosenbrocks_valley(n):
    state = last(islice(descend(rosenbrock, State.start(rosenbrock, np.full(n, -1.2))), 2000))
    np.testing.assert_allclose(state.point, optimize.minimize(optimize.rosen, np.ones(n)).x, atol=1e-4)


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-7), (np.float32, 1e-3)])
def test_precision_follows_the_start(dtype, close):
    function, target = quadratic(12, 0, dtype)
    state = last(islice(descend(function, State.start(function, np.zeros(12, dtype))), 300))
    assert state.point.dtype == state.gradient.dtype == state.steps.dtype == dtype
    np.testing.assert_allclose(state.point, target, atol=close)


def test_every_step_goes_down_and_the_memory_is_bounded():
    states = list(islice(descend(rosenbrock, State.start(rosenbrock, np.full(6, -1.2))), 60))
    assert (np.diff([state.value for state in states]) < 0).all()
    assert max(len(state.steps) for state in states) == MEMORY


def test_a_run_taken_up_from_its_state_is_the_same_run():
    whole = list(islice(descend(rosenbrock, State.start(rosenbrock, np.full(6, -1.2))), 40))
    stopped = whole[14]
    kept = State(*(np.array(part) if isinstance(part, np.ndarray) else part for part in vars(stopped).values()))
    again = list(islice(descend(rosenbrock, kept), 25))
    np.testing.assert_array_equal(again[-1].point, whole[39].point)


def test_stops_where_no_step_goes_down():
    function, target = quadratic(4, 1)
    assert list(descend(function, State.start(function, target))) == []


def test_gets_over_a_start_that_is_far_too_long():
    """Values that are not finite are stepped back from."""

    def walled(x):
        with np.errstate(all="ignore"):
            return float(-np.log(1 - x @ x) + 5 * x.sum()), 2 * x / (1 - x @ x) + 5

    state = last(islice(descend(walled, State.start(walled, np.zeros(3))), 100))
    assert np.linalg.norm(walled(state.point)[1]) < 1e-5

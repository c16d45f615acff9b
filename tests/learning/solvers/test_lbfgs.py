"""L-BFGS: it finds minima, in both precisions, and a run taken up from its state goes on as if never stopped."""

from itertools import islice

import numpy as np
import pytest
from scipy import optimize

from cfmgml.learning.solvers.lbfgs import ARRAYS, MAX_TRIALS, MEMORY, State, _minimiser, _straight, descend, search


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
    assert state.point.dtype == state.gradient.dtype == state.steps[-1].dtype == dtype
    np.testing.assert_allclose(state.point, target, atol=close)


def test_every_step_goes_down_and_the_memory_is_bounded():
    states = list(islice(descend(rosenbrock, State.start(rosenbrock, np.full(6, -1.2))), 60))
    assert (np.diff([state.value for state in states]) < 0).all()
    assert max(len(state.steps) for state in states) == MEMORY == 10


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


# -- a step in parts ---------------------------------------------------------------------------


def test_the_direction_is_that_of_the_dense_formula(rng):
    """BFGS's inverse matrix, from a multiple of the identity and one pair after another, the oldest first."""
    function, _ = quadratic(6, 3)
    state = last(islice(descend(function, State.start(function, rng.normal(size=6))), 4))
    assert len(state.steps) == 4
    newest, changed = state.steps[-1], state.changes[-1]
    inverse = np.eye(6) * (newest @ changed) / (changed @ changed)
    for step, change in zip(state.steps, state.changes, strict=True):
        turn = np.eye(6) - np.outer(step, change) / (step @ change)
        inverse = turn @ inverse @ turn.T + np.outer(step, step) / (step @ change)
    np.testing.assert_allclose(state.direction(), -inverse @ state.gradient, rtol=1e-9)


def test_steps_keep_the_weak_wolfe_conditions():
    states = [State.start(rosenbrock, np.full(6, -1.2))]
    states += islice(descend(rosenbrock, states[0]), 60)
    for before, after in zip(states[:-1], states[1:], strict=True):
        step = after.point - before.point
        slope = before.gradient @ step
        assert slope < 0
        assert after.value <= before.value + 1e-4 * slope + 1e-12
        assert after.gradient @ step >= 0.9 * slope - 1e-9
        np.testing.assert_array_equal(after.steps[-1], step)
        np.testing.assert_array_equal(after.changes[-1], after.gradient - before.gradient)


def test_the_memory_keeps_the_newest():
    states = list(islice(descend(rosenbrock, State.start(rosenbrock, np.full(6, -1.2)), memory=3), 8))
    moves = np.diff([state.point for state in states], axis=0)
    np.testing.assert_array_equal(states[-1].steps, moves[-3:])
    assert len(states[-1].changes) == 3


@pytest.mark.parametrize(("bend", "kept"), [(2e-10, 1), (0.5e-10, 0), (-1.0, 0)])
def test_a_step_along_which_nothing_curves_upwards_is_forgotten(bend, kept):
    empty = np.zeros((0, 2))
    before = State(np.zeros(2), 1.0, np.zeros(2), empty, empty)
    across = np.sqrt(9 - (3 * bend) ** 2)  # |step| = 2, |change| = 3, step @ change = 6 bend
    after = State(np.array([2.0, 0.0]), 0.5, np.array([3 * bend, across]), empty, empty)
    level = State(np.array([2.0, 0.0]), 0.5, np.zeros(2), empty, empty)
    assert len(before.remember(level, 10).steps) == 0
    found = before.remember(after, 10)
    assert len(found.steps) == len(found.changes) == kept
    assert (found.value, found.point is after.point, found.gradient is after.gradient) == (0.5, True, True)


def bowl(x):
    return float(x @ x) / 2, x


@pytest.mark.parametrize(("at", "slope"), [((1.0, 1.0), 0.0), ((1.0, 0.9), 0.19), ((4.0, 1.0), 15.0)])
def test_a_spoilt_memory_is_forgotten(at, slope):
    """Pairs from which the step would go up, or level, are dropped, and the descent goes on down the gradient."""
    start = State.start(bowl, np.array(at))
    spoilt = State(start.point, start.value, start.gradient, np.eye(2), np.diag([-1.0, 1.0]))
    assert spoilt.direction() @ spoilt.gradient == pytest.approx(slope)
    first = next(descend(bowl, spoilt))
    np.testing.assert_array_equal(first.point, next(descend(bowl, start)).point)
    assert len(first.steps) == len(first.changes) == 1


def test_with_a_memory_the_whole_step_is_tried_first():
    function, _ = quadratic(6, 3)
    state = last(islice(descend(function, State.start(function, np.zeros(6))), 3))
    tried = []
    next(descend(lambda x: (tried.append(x), function(x))[1], state))
    np.testing.assert_array_equal(tried[0], state.point + state.direction())


def test_a_state_is_not_changed():
    with pytest.raises(AttributeError):
        State.start(bowl, np.zeros(2)).value = 1.0


@pytest.mark.parametrize(("size", "length"), [(10.0, 1.0), (0.5, 0.5)])
def test_the_first_try_is_no_longer_than_one(size, length):
    tried = []
    start = State.start(bowl, np.array([0.0, size]))
    next(descend(lambda x: (tried.append(x), bowl(x))[1], start))
    assert np.linalg.norm(tried[0] - start.point) == pytest.approx(length)


def script(answers, value=0.0, slope=-1.0):
    """Search from 0 along 1, where a function answers with these values and slopes: what is tried, what is taken."""
    tried, empty = [], np.zeros((0, 1))

    def function(x):
        tried.append(round(float(x[0]), 9))
        answer, slope_there = answers[min(len(tried), len(answers)) - 1]
        return answer, np.array([slope_there])

    line = _straight(function, ARRAYS, np.zeros(1), np.ones(1))
    taken = search(line, value, slope, 1.0, 4 * np.finfo(float).eps * abs(value))
    if taken is None:
        return None, tried
    point, gradient = taken[2]()
    return State(point, taken[0], gradient, empty, empty), tried


def test_a_step_that_is_too_short_is_doubled_then_halved_back():
    taken, tried = script([(-1, -1), (-2, -1), (9, 1), (-3, -1), (-3.5, -0.5)])
    assert tried == [1, 2, 4, 2.2, 3.1]  # 2.2: a tenth of the bracket, as the parabola is lower still
    assert (taken.point[0], taken.value, taken.gradient[0]) == (3.1, -3.5, -0.5)


def test_the_best_try_is_taken():
    taken, tried = script([(-1, -1), (9, 1), (-0.9, 0.0)])
    assert tried == [1, 2, 1.1]
    assert (taken.point[0], taken.value) == (1, -1)
    taken, _ = script([(-1, -1), (9, 1), (-1, 0.0)])  # of equals, the flatter
    assert taken.point[0] == 1.1


def test_values_that_are_not_finite_halve_the_step():
    taken, tried = script([(np.inf, 0), (np.nan, 0), (-1, 0)])
    assert tried == [1, 0.5, 0.25]
    assert taken.value == -1


def test_a_search_ends():
    """After as many tries as are allowed: with nothing, unless one of them was lower."""
    taken, tried = script([(5, 0)])
    assert taken is None
    assert len(tried) == MAX_TRIALS == 25
    taken, tried = script([(-1e9, -1)])
    assert len(tried) == MAX_TRIALS
    assert (taken.value, taken.point[0]) == (-1e9, 2.0**24)
    assert script([(1.0, -1)], value=1.0, slope=-1e-30)[0] is None  # never long enough, and no lower


@pytest.mark.parametrize(("rise", "taken"), [(4, True), (5, False)])
def test_a_rise_within_rounding_is_let_pass(rise, taken):
    eps = np.finfo(float).eps
    assert (script([(1.0 + rise * eps, 0.0)], value=1.0, slope=-1e-30)[0] is not None) is taken


def test_enough_descent_and_enough_flatter_are_where_they_are_said_to_be():
    assert script([(-1.01e-4, 0.0)])[1] == [1]
    assert len(script([(-0.99e-4, 0.0)])[1]) > 1
    assert script([(-1, -0.9)])[1] == [1]
    assert script([(-1, -0.91), (-1, 0)])[1] == [1, 2]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.0, 1.0, -1.0, 1.0, 1.0), 0.5),  # 1 - x + x^2
        ((2.0, 5.0, -3.0, 4.0, 8.0), 2 + 2 * 1 / 3),  # 5 - 3 (x - 2) + 9 / 4 (x - 2)^2
        ((0.0, 0.0, -1.0, 2.0, 100.0), 0.2),  # lowest at .02: kept off the short end
        ((0.0, 0.0, -1.0, 2.0, -1.1), 1.8),  # lowest at 2.2: and off the long one
        ((1.0, 0.0, -1.0, 2.0, -1.5), 1.5),  # bends downwards: the middle
        ((1.0, 0.0, -1.0, 2.0, -1.0), 1.5),  # or not at all
        ((1.0, 0.0, -1.0, 2.0, np.inf), 1.5),
        ((1.0, 0.0, -1.0, 2.0, np.nan), 1.5),
    ],
)
def test_where_a_parabola_is_lowest(ends, expected):
    assert _minimiser(*ends) == pytest.approx(expected)

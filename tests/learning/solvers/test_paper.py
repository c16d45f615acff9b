"""Algorithm 1 against literal, loop-by-loop references, and the bound of its theorem."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize, sparse

from cfmgml import CfMGML, NodeSum, WeisfeilerLehman, gram_matrix
from cfmgml.kernels.factors import factorize
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers import paper
from cfmgml.learning.solvers.cccp import Problem
from cfmgml.learning.solvers.paper import random_representatives, solve_paper, solve_printed
from examples import random_bags


@pytest.fixture(scope="module")
def setting():
    bags = random_bags(10, seed=2, n_labels=3)
    K = gram_matrix(NodeSum(), bags.graphs)
    loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(3))
    return bags, K, factorize(K).X, loss


def literal(bags, K, alpha, n_rounds, n_steps, seed, printed):
    """Algorithm 1 line by line; ``printed`` keeps its errors."""
    n, C = bags.Y.shape
    plus = [np.flatnonzero(y) for y in bags.Y]
    minus = [np.flatnonzero(~y) for y in bags.Y]
    rep = random_representatives(bags.bag_ptr, C, np.random.default_rng(seed)).tolist()
    L0 = np.mean(
        [
            (len(p) > 0) / max(len(p), 1) + (len(q) > 0) / max(len(q), 1) + 2 * bool(len(p) and len(q))
            for p, q in zip(plus, minus, strict=True)
        ]
    )
    weight = [[0.0] * C for _ in range(n)]  # s / z with the representatives `at`
    at = [row[:] for row in rep]
    count = [[0.0] * C for _ in range(n)]
    for _ in range(n_rounds):
        if not printed:
            count = [[0.0] * C for _ in range(n)]
        for t in range(1, n_steps + 1):
            F = [[sum(weight[h][c] * K[at[h][c], rep[i][c]] for h in range(n)) for c in range(C)] for i in range(n)]
            for i in range(n):
                a, b = len(plus[i]), len(minus[i])
                if printed:
                    for p in plus[i]:
                        for q in minus[i]:
                            count[i][p] += F[i][p] <= 1
                            count[i][q] += F[i][q] >= -1
                            active = F[i][q] >= F[i][p] - 2
                            count[i][p] += active
                            count[i][q] -= active
                    continue
                for p in plus[i]:
                    count[i][p] += (F[i][p] <= 1) / a**2
                for q in minus[i]:
                    count[i][q] -= (F[i][q] >= -1) / b**2
                for p in plus[i]:
                    for q in minus[i]:
                        active = (F[i][q] >= F[i][p] - 2) / (a * b)
                        count[i][p] += active
                        count[i][q] -= active
            at = [row[:] for row in rep]
            z = [alpha * t * n * (len(plus[i]) ** 2 * len(minus[i]) ** 2 if printed else 1) for i in range(n)]
            weight = [[count[i][c] / z[i] if z[i] else 0.0 for c in range(C)] for i in range(n)]
            if printed:
                norm = sum(weight[i][c] * K[rep[i][c], rep[i][c]] for i in range(n) for c in range(C))
                factor = min(1.0, np.sqrt(2 / alpha) / norm) if norm > 0 else 1.0
                s = [[factor * count[i][c] for c in range(C)] for i in range(n)]
                weight = [[factor * weight[i][c] for c in range(C)] for i in range(n)]
            else:
                norm = np.sqrt(
                    sum(
                        weight[i][c] * weight[h][c] * K[rep[i][c], rep[h][c]]
                        for i in range(n)
                        for h in range(n)
                        for c in range(C)
                    )
                )
                factor = min(1.0, np.sqrt(2 * L0 / alpha) / norm) if norm > 0 else 1.0
                count = [[factor * count[i][c] for c in range(C)] for i in range(n)]
                weight = [[factor * weight[i][c] for c in range(C)] for i in range(n)]
        used = s if printed else weight
        rep = [
            [
                max(
                    range(bags.bag_ptr[i], bags.bag_ptr[i + 1]),
                    key=lambda g, c=c: round(sum(used[h][c] * K[at[h][c], g] for h in range(n)), 9),
                )
                for c in range(C)
            ]
            for i in range(n)
        ]
        if printed:
            at = [row[:] for row in rep]
    scores = np.zeros((bags.n_graphs, C))
    for i in range(n):
        for c in range(C):
            scores[:, c] += weight[i][c] * K[:, at[i][c]]
    return scores, np.array(at)


ROWS = {"dense": (np.asarray, 2**30), "sparse": (sparse.csr_array, 2**30), "too many to compare": (np.asarray, 0)}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("printed", [False, True])
def test_equals_the_literal_algorithm(setting, alpha, printed, rows, monkeypatch):
    bags, K, X, loss = setting
    solve = solve_printed if printed else solve_paper
    make, limit = ROWS[rows]
    monkeypatch.setattr(paper, "MAX_BYTES", limit)
    solution, used = solve(Problem(make(X), loss, alpha, False), 3, 6, np.random.default_rng(4))
    scores, at = literal(bags, K, alpha, 3, 6, 4, printed)
    np.testing.assert_allclose(X @ solution.coef, scores, rtol=1e-10, atol=1e-10 * np.abs(scores).max())
    np.testing.assert_array_equal(used, at)


@pytest.mark.parametrize("solve", [solve_paper, solve_printed])
def test_what_is_told_of_a_run(setting, solve):
    """The plain objective after each round, also where the loss that was given is smoothed; steps; no intercept."""
    _, _, X, loss = setting
    told = []
    rng = np.random.default_rng(4)
    solution, _ = solve(Problem(X, loss, 0.1, False), 3, 6, rng, lambda *done: told.append(done))
    assert told == list(enumerate(solution.objective, 1))
    last = loss.plain.value(X @ solution.coef) + 0.1 / 2 * (solution.coef**2).sum()
    assert solution.objective[-1] == pytest.approx(last)
    assert (len(told), solution.n_iter) == (3, 18)
    assert np.isnan(solution.gradient_norm)
    np.testing.assert_array_equal(solution.intercept, np.zeros(3))


def assert_literal(Y, bag_ptr, X, alpha, n_rounds, n_steps):
    bags = SimpleNamespace(Y=Y, bag_ptr=bag_ptr, n_graphs=len(X))
    problem = Problem(X, RankLoss(bag_ptr, Y, ~Y, np.ones(Y.shape[1])), alpha, False)
    for solve, printed in ((solve_paper, False), (solve_printed, True)):
        solution, used = solve(problem, n_rounds, n_steps, np.random.default_rng(4))
        scores, at = literal(bags, X @ X.T, alpha, n_rounds, n_steps, 4, printed)
        np.testing.assert_allclose(X @ solution.coef, scores, rtol=1e-10, atol=1e-10 * np.abs(scores).max())
        np.testing.assert_array_equal(used, at)


@pytest.mark.parametrize("alpha", [1e-2, 1.0, 10.0, 30.0, 100.0, 1000.0])
def test_equals_the_literal_algorithm_on_few_features(setting, alpha):
    """Products of any size and sign, bags without labels and with all, and weights within the ball and outside."""
    bags, *_ = setting
    Y = bags.Y.copy()
    Y[0], Y[1] = False, True
    assert_literal(Y, bags.bag_ptr, 2 * np.random.default_rng(0).normal(size=(bags.n_graphs, 4)), alpha, 2, 5)


def test_terms_that_are_exactly_0_are_active():
    """Two bags whose only graphs are opposite: after a step their scores are 1 and -1."""
    assert_literal(np.eye(2, dtype=bool), np.array([0, 1, 2]), np.array([[0.5], [-0.5]]), 0.25, 1, 3)


def test_nothing_to_learn():
    none = np.zeros((2, 3), dtype=bool)
    problem = Problem(np.ones((4, 2)), RankLoss(np.array([0, 2, 4]), none, none, np.ones(3)), 0.1, False)
    for solve in (solve_paper, solve_printed):
        solution, _ = solve(problem, 2, 3, np.random.default_rng(0))
        assert not solution.coef.any()
        assert solution.objective == [0.0, 0.0]


@pytest.mark.parametrize(
    ("n_rounds", "limit", "all_at_once"), [(5, 800, False), (6, 800, True), (6, 799, False), (50, 2**30, True)]
)
def test_products_are_made_whichever_way_is_less_work(n_rounds, limit, all_at_once, monkeypatch):
    """Of 3 bags with 2 labels, 18 a round; of 10 graphs, 100 at once, in 800 bytes."""
    monkeypatch.setattr(paper, "MAX_BYTES", limit)
    comparisons = paper._Comparisons(np.ones((10, 2)), n_rounds, "float64")
    comparisons._products(np.array([[0, 1], [4, 5], [8, 9]]))
    assert ("_all" in vars(comparisons)) is all_at_once
    six = paper._Comparisons(np.ones((6, 2)), 2, "float64")
    six._products(np.array([[0, 1], [2, 3], [4, 5]]))
    assert "_all" in vars(six)  # 36 either way


@pytest.mark.parametrize(("limit", "kept"), [(144, True), (143, False)])
def test_products_are_kept_while_there_is_room(limit, kept, monkeypatch):
    monkeypatch.setattr(paper, "MAX_BYTES", limit)
    calls = []
    monkeypatch.setattr(paper, "_each_label", lambda products, amounts: calls.append(products.nbytes) or amounts)
    chosen = np.array([[0, 1], [4, 5], [8, 9]])
    paper._Comparisons(np.ones((10, 2)), 1, "float64").among(chosen)(np.ones((3, 2)))
    assert calls == ([144] if kept else [])
    assert paper._Comparisons.__dataclass_params__.frozen


def test_representatives_are_drawn_evenly_from_each_bag():
    bag_ptr = np.array([0, 1, 4, 6])
    drawn = random_representatives(bag_ptr, 3000, np.random.default_rng(0))
    assert drawn.shape == (3, 3000)
    assert drawn.dtype == np.int64
    for bag, (start, stop) in enumerate(zip(bag_ptr[:-1], bag_ptr[1:], strict=True)):
        graphs, counts = np.unique(drawn[bag], return_counts=True)
        assert graphs.tolist() == list(range(start, stop))
        assert (abs(counts / 3000 - 1 / (stop - start)) < 0.05).all()


def test_precision_of_comparisons(setting):
    """Products are taken in the precision asked for; what is returned is float64 all the same."""
    bags, _, X, _ = setting
    chosen = random_representatives(bags.bag_ptr, 3, np.random.default_rng(0))
    amounts = np.random.default_rng(1).normal(size=chosen.shape)
    exact = paper._Comparisons(X, 3, "float64").among(chosen)(amounts)
    for n_rounds in (0, 100):
        comparisons = paper._Comparisons(X, n_rounds, "float32")
        assert comparisons._products(chosen).dtype == np.float32
        scores = comparisons.among(chosen)(amounts)
        assert scores.dtype == np.float64
        np.testing.assert_allclose(scores, exact, atol=1e-4)
        assert (scores != exact).any()


def test_products_of_representatives_by_either_way(setting):
    bags, K, X, _ = setting
    chosen = random_representatives(bags.bag_ptr, 3, np.random.default_rng(0))
    once, anew = paper._Comparisons(X, 100, "float64"), paper._Comparisons(X, 0, "float64")
    expected = np.stack([K[np.ix_(graphs, graphs)] for graphs in chosen.T])
    for comparisons in (once, anew):
        np.testing.assert_allclose(comparisons._products(chosen), expected, atol=1e-12)


@pytest.mark.parametrize("n_steps", [1000, 3000])
def test_corrected_bound_of_the_theorem(setting, n_steps):
    """With representatives fixed, the best value in T steps is within M (1 + ln T) / (2 lambda T) of the optimum."""
    bags, K, X, loss = setting
    alpha = 0.1
    plain = loss.plain
    chosen = random_representatives(bags.bag_ptr, 3, np.random.default_rng(0))
    L0 = plain.value(np.zeros((bags.n_graphs, 3)))
    plus, minus = bags.Y.sum(1), (~bags.Y).sum(1)
    largest = max(sum(s * (1 / s**2 + 1 / s) ** 2 for s in (p, q) if s) for p, q in zip(plus, minus, strict=True))
    M = 4 * alpha * L0 + 2 * np.diagonal(K).max() * largest
    bound = M * (1 + np.log(n_steps)) / (2 * alpha * n_steps)

    def value(W):
        return plain.bag_value_and_gradient(np.take_along_axis(X @ W, chosen, axis=0))

    W, best, counts = np.zeros((X.shape[1], 3)), np.inf, np.zeros(chosen.shape)
    for step in range(1, n_steps + 1):
        found, slope = value(W)
        best = min(best, found + alpha / 2 * (W**2).sum())
        counts -= slope
        spread = np.zeros((bags.n_graphs, 3))
        np.put_along_axis(spread, chosen, counts / (alpha * step), axis=0)
        W = X.T @ spread
        norm = np.linalg.norm(W)
        if norm > np.sqrt(2 * L0 / alpha):
            counts *= np.sqrt(2 * L0 / alpha) / norm
            W *= np.sqrt(2 * L0 / alpha) / norm
    smooth = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(3), temperature=0, sharpness=0, rounding=1e-4)

    def smooth_value(theta):
        W = theta.reshape(-1, 3)
        found, slope = smooth.bag_value_and_gradient(np.take_along_axis(X @ W, chosen, axis=0))
        spread = np.zeros((bags.n_graphs, 3))
        np.put_along_axis(spread, chosen, slope, axis=0)
        return found + alpha / 2 * (W**2).sum(), (X.T @ spread + alpha * W).ravel()

    optimum = optimize.minimize(
        smooth_value, np.zeros(X.shape[1] * 3), jac=True, method="L-BFGS-B", options={"maxiter": 5000}
    ).fun
    assert bound < L0  # the bound says something
    assert optimum - 1e-3 <= best <= optimum + bound + 1e-3


def test_frozen_representatives_let_the_objective_rise():
    """Why `cccp` is the default: freezing irrelevant labels' graphs is not a bound, and the true objective can go
    up."""
    rises = 0
    for seed in range(6):
        bags = random_bags(20, seed=seed)
        model = CfMGML(NodeSum(), alpha=1e-3, solver="paper", n_rounds=6, random_state=seed).fit(bags)
        rises += bool((np.diff(model.objective_) > 1e-6).any())
    assert rises > 0


def test_sparse_rows_are_served():
    bags = random_bags(10, seed=2)
    for solver in ("paper", "printed"):
        model = CfMGML(WeisfeilerLehman(1), alpha=0.1, solver=solver, n_rounds=2, max_iter=5, random_state=0).fit(bags)
        assert np.isfinite(model.decision_function(bags)).all()

"""`cccp` over a Gram matrix: the minimisers of its factor, by one product a step and no eigenvectors."""

import tracemalloc

import numpy as np
import pytest
from scipy import linalg

from cfmgml import CfMGML, NodeSum, Precomputed, gram_matrix
from cfmgml.kernels.factors import factorize, has_negative_directions
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers import on_gram
from cfmgml.learning.solvers.cccp import Problem, minimise_bound, solve_cccp
from cfmgml.learning.solvers.on_gram import GramProblem, mix, solve_cccp_on_gram
from examples import random_bags


@pytest.fixture(scope="module")
def given():
    """A function from settings to a problem over a Gram matrix, and the same one over its factor."""
    bags = random_bags(25, seed=4)
    K = gram_matrix(NodeSum(), bags.graphs)
    X = factorize(K).X

    def make(alpha, fit_intercept=True, **setting):
        loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.array([0.5, 2.0, 1.0, 3.0]), term_weights="mean", **setting)
        return tuple(Problem(rows, loss, alpha, fit_intercept) for rows in (K, X))

    return make


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
@pytest.mark.parametrize("less", [0, 1])  # an even number of graphs, an odd one
def test_mixed_matrix(given, fit_intercept, alpha, less):
    K = given(alpha)[0].rows[less:, less:]
    C = 0.3 * K + alpha * np.eye(len(K))
    np.testing.assert_allclose(mix(K, alpha, 0.3), K @ np.linalg.inv(C), rtol=1e-5, atol=1e-6)
    wide = np.kron(np.eye(8), K)  # more than one block of rows
    assert len(wide) > on_gram.ROWS_AT_ONCE
    np.testing.assert_allclose(mix(wide, alpha, 0.3), np.kron(np.eye(8), mix(K, alpha, 0.3)), atol=1e-6)


@pytest.mark.parametrize(
    ("work", "dtype", "copies"),
    [(lambda K: mix(K, 1e-3, 0.3), np.float32, 2.0), (has_negative_directions, np.float64, 1.0)],
)
def test_how_many_matrices_an_exact_fit_holds(work, dtype, copies):
    """What comes back and half a matrix in float64, which is one in float32; and a copy, not two."""
    K = np.eye(1001, dtype=dtype)
    tracemalloc.start()
    work(K)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1.1 * copies * K.nbytes


def test_mixed_matrix_in_single_precision_where_the_penalty_is_large(given):
    """1 / bend and alpha / bend C^-1 nearly cancel on the diagonal: in float32 what is left was mostly rounding."""
    K, alpha, bend = given(1.0)[0].rows, 1.0, 1e-5
    exact = mix(K, alpha, bend)
    found = mix(K.astype(np.float32), alpha, bend)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_value_gradient_and_space_are_those_of_the_factor(given, rng, fit_intercept):
    over_gram, over_rows = given(1e-2, fit_intercept)
    problem, space, n = GramProblem(over_gram), GramProblem(over_gram).space(), len(over_gram.rows)
    A, b = rng.normal(size=(n, 4)), rng.normal(size=(1, 4)) * fit_intercept
    theta = np.vstack([A, over_gram.rows @ A, b]).ravel()
    own = over_rows.pack(over_rows.rows.T @ A, b[0])
    value, gradient = problem.value_and_gradient(theta)
    expected, slope = over_rows.value_and_gradient(own)
    assert value == pytest.approx(expected)
    assert space.steepness(gradient) == pytest.approx(np.linalg.norm(slope), rel=1e-6)
    np.testing.assert_allclose(space.leave(space.enter(theta)), theta, atol=1e-9)
    np.testing.assert_allclose(space.lower(space.lift(gradient)), gradient, atol=1e-12)
    lifted, scaled = space.lift(gradient), slope * over_rows.scales()
    assert space.norm(lifted) == pytest.approx(np.linalg.norm(scaled), rel=1e-6)
    along = space.dot(space.enter(theta), lifted), over_rows.space().enter(own) @ scaled
    assert along[0] == pytest.approx(along[1], rel=1e-6)
    coef, intercept = problem.unpack(theta)
    np.testing.assert_array_equal(coef, A)
    np.testing.assert_array_equal(intercept, b[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "setting", [{}, {"loss": "hamming"}, {"irrelevant_graphs": "all", "temperature": 5.0}], ids=str
)
@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_rounds_end_where_those_over_the_factor_end(given, alpha, setting, fit_intercept):
    over_gram, over_rows = given(alpha, fit_intercept, **setting)
    expected = solve_cccp(over_rows, 4, 3000, 1e-8)
    found, scores = solve_cccp_on_gram(over_gram, 4, 3000, 1e-8)
    np.testing.assert_allclose(found.reached, expected.reached, rtol=1e-6)
    np.testing.assert_allclose(scores, over_rows.rows @ expected.coef + expected.intercept, atol=1e-3)
    np.testing.assert_allclose(over_gram.rows @ found.coef + found.intercept, scores, atol=1e-9)
    assert (found.intercept != 0).any() == fit_intercept


def test_in_single_precision_coefficients_and_scores_agree(given):
    for alpha in (1e-2, 1e-6):
        over_gram, over_rows = given(alpha)
        found, scores = solve_cccp_on_gram(over_gram.in_precision(np.float32), 5, 200, 1e-3)
        np.testing.assert_allclose(over_gram.rows @ found.coef + found.intercept, scores, atol=1e-3)
        assert found.n_iter <= 1.2 * solve_cccp(over_rows, 5, 200, 1e-3).n_iter + 6


def test_a_step_is_one_product(given, monkeypatch):
    """And a gradient's norm, which is another one, is looked at now and then, and when it may be enough."""
    problem, products, looks, trials = GramProblem(given(1e-4)[0]), [], [], []
    value_and_gradient = on_gram.GramBound.value_and_gradient
    monkeypatch.setattr(
        on_gram.GramBound, "value_and_gradient", lambda *given: trials.append(1) or value_and_gradient(*given)
    )
    product, steepness = on_gram.sums_of_rows, on_gram.GramSpace.steepness
    monkeypatch.setattr(on_gram, "sums_of_rows", lambda *given: products.append(1) or product(*given))
    monkeypatch.setattr(on_gram.GramSpace, "steepness", lambda *given: looks.append(1) or steepness(*given))
    zero = problem.start()
    _, steps, norm = minimise_bound(problem.bound(zero), zero, problem.space(), 40, 0.0)
    assert (steps, len(looks)) == (40, 1 + 40 // 6 + 1)
    assert len(products) == len(trials) + len(looks)
    assert len(trials) < 1.5 * steps
    _, again, reached = minimise_bound(problem.bound(zero), zero, problem.space(), 1000, 3 * norm)
    assert reached <= 3 * norm
    assert again <= 46


def test_a_path_takes_up_where_another_alpha_ended(given):
    first, _ = solve_cccp_on_gram(given(2e-3)[0], 3, 500, 1e-6)
    alone, scores = solve_cccp_on_gram(given(1e-3)[0], 3, 500, 1e-6)
    along, same = solve_cccp_on_gram(given(1e-3)[0], 3, 500, 1e-6, trail=first.trail)
    assert along.n_iter < alone.n_iter
    np.testing.assert_allclose(same, scores, atol=1e-2)


def test_a_kernel_that_is_none_is_learned_by_the_directions_that_are_left():
    """Negative eigenvalues would make lengths negative: the factor leaves them out."""
    bags = random_bags(12, seed=1)
    K = gram_matrix(NodeSum(), bags.graphs)
    values, vectors = linalg.eigh(K)
    values[:3] = -0.5
    bent = (vectors * values) @ vectors.T
    assert has_negative_directions(bent)
    assert not has_negative_directions(K)
    model = CfMGML(Precomputed(bent), alpha=1e-3).fit(bags)
    coef = model.scorer_.dual_coef / np.sqrt(np.abs(np.diag(bent)))[:, None]
    assert np.abs(vectors[:, :3].T @ model.scorer_.dual_coef).max() < np.abs(coef).max()

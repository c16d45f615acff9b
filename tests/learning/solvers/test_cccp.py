"""The default solver: descent, stationarity, and the same answer over kernels and explicit features."""

import numpy as np
import pytest
from scipy import optimize

from cfmgml import CfMGML, GraphHopper, NodeSum, Precomputed, SumKernel, WeisfeilerLehman, gram_matrix
from cfmgml.kernels.factors import factorize
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers.cccp import ROUND_GAIN, Problem, solve_cccp
from examples import random_bags

SETTINGS = [
    {"loss": loss, "irrelevant_graphs": irrelevant, "temperature": temperature, "label_weights": weights}
    for loss in ("rank", "hamming")
    for irrelevant in ("max", "all")
    for temperature in (0.0, 0.3, 5.0)
    for weights in ((1.0, 1.0, 1.0, 1.0), (0.5, 2.0, 1.0, 3.0))
]


@pytest.fixture(scope="module")
def problem():
    """A function from settings of the loss to a problem over the factor of a Gram matrix."""
    bags = random_bags(25, seed=4)
    rows = factorize(gram_matrix(NodeSum(), bags.graphs)).X

    def make(alpha, label_weights=(1.0, 1.0, 1.0, 1.0), fit_intercept=True, **setting):
        loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.array(label_weights), term_weights="mean", **setting)
        return Problem(rows, loss, alpha, fit_intercept)

    return make


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("alpha", [1e-2, 1e-4])
def test_no_round_raises_the_objective(problem, setting, alpha):
    """Every round, before it is judged: what is kept never rises whatever the rounds do."""
    reached = solve_cccp(problem(alpha, **setting), 6, 200, 1e-3).reached
    assert len(reached) >= 3
    assert (np.diff(reached) <= 1e-9).all()


@pytest.mark.parametrize("setting", SETTINGS[::2], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rounds_are_those_of_another_minimiser(problem, setting, fit_intercept):
    """Each round's bound is minimised, the later ones too: scipy's L-BFGS gets no lower, and the rounds end alike."""
    made = problem(1e-2, fit_intercept=fit_intercept, **setting)
    solution = solve_cccp(made, 4, 2000, 1e-8)
    theta, expected = made.start(), []
    for _ in solution.reached:
        bound = made.bound(theta)
        theta = optimize.minimize(
            bound.value_and_gradient, theta, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9}
        ).x
        expected.append(made.value_and_gradient(theta)[0])
    np.testing.assert_allclose(solution.reached, expected, rtol=1e-5)
    assert solution.objective == solution.reached
    falls = -np.diff(solution.reached) / solution.reached[:-1]
    assert (falls[:-1] > ROUND_GAIN).all()
    assert len(falls) == 3 or falls[-1] <= ROUND_GAIN


def test_objective_is_the_smoothed_one_at_the_solution():
    bags = random_bags(15, seed=1)
    model = CfMGML(NodeSum(), alpha=1e-3).fit(bags)
    loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(4), term_weights="mean", irrelevant_graphs="all")
    scores = model.decision_function_graphs(bags)
    K = gram_matrix(model.kernel_, bags.graphs)
    norm = np.einsum("ic,ij,jc->", model.scorer_.dual_coef, K, model.scorer_.dual_coef)
    assert model.objective_[-1] == pytest.approx(loss.value(scores) + 1e-3 / 2 * norm, rel=1e-6)


def test_gradient_is_driven_to_zero():
    """One convex round to the end: the gradient norm falls a millionfold, and is reported."""
    bags = random_bags(25, seed=4)
    K = gram_matrix(NodeSum(), bags.graphs)
    loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(4), temperature=1e9)  # the mean: no linearisation error
    solution = solve_cccp(Problem(np.linalg.cholesky(K + 1e-9 * np.eye(len(K))), loss, 1e-3, True), 1, 3000, 1e-6)
    assert solution.gradient_norm < 1e-5


@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehman(3), GraphHopper("linear"), SumKernel([NodeSum("linear"), WeisfeilerLehman(1)])]
)
def test_kernel_and_explicit_features_agree(kernel):
    """The same model trained over sparse features, and over the factor of its Gram matrix."""
    bags, new = random_bags(30, seed=6), random_bags(10, seed=7)
    explicit = CfMGML(kernel, alpha=1e-3, n_rounds=3, max_iter=2000, tol=1e-8).fit(bags)
    resolved = kernel.resolve(bags.graphs)
    both = bags.concatenate([bags, new])
    K = np.block(
        [
            [gram_matrix(resolved, bags.graphs), gram_matrix(resolved, bags.graphs, new.graphs)],
            [gram_matrix(resolved, new.graphs, bags.graphs), gram_matrix(resolved, new.graphs)],
        ]
    )
    by_gram = CfMGML(Precomputed(K), alpha=1e-3, n_rounds=3, max_iter=2000, tol=1e-8).fit(both[: bags.n_bags])
    expected = by_gram.decision_function_graphs(both[bags.n_bags :])
    np.testing.assert_allclose(explicit.decision_function_graphs(new), expected, atol=1e-3)
    assert explicit.objective_[-1] == pytest.approx(by_gram.objective_[-1], rel=1e-4)


def test_low_rank_comes_close_and_closer():
    """Fewer landmarks, a coarser model: the error shrinks with the rank and vanishes when all graphs are kept."""
    bags = random_bags(30, seed=6)
    exact = CfMGML(NodeSum(), alpha=1e-2, max_iter=2000, tol=1e-6).fit(bags).decision_function(bags)
    errors = []
    for rank in (10, 60, 1000):
        model = CfMGML(NodeSum(), alpha=1e-2, max_iter=2000, tol=1e-6, rank=rank).fit(bags)
        assert model.scorer_.landmarks.n_graphs <= rank
        errors.append(np.abs(model.decision_function(bags) - exact).max())
    assert errors[1] < errors[0] / 3
    assert errors[2] < 1e-9


def test_a_path_of_alphas_gives_what_single_fits_give():
    bags = random_bags(30, seed=6)
    alphas = [1e-3, 1e-1, 1e-2]
    model = CfMGML(NodeSum(), max_iter=3000, tol=1e-7)
    path = model.fit_path(bags, alphas)
    assert not hasattr(model, "scorer_")
    for alpha, found in zip(alphas, path, strict=True):
        single = CfMGML(NodeSum(), alpha=alpha, max_iter=3000, tol=1e-7).fit(bags)
        assert found.alpha == alpha
        assert found.objective_[-1] == pytest.approx(single.objective_[-1], rel=1e-4)
        np.testing.assert_allclose(found.decision_function(bags), single.decision_function(bags), atol=2e-2)


def test_a_path_takes_fewer_steps_than_single_fits():
    bags = random_bags(40, seed=2)
    alphas = [1e-2, 5e-3, 2e-3, 1e-3]
    path = CfMGML(NodeSum(), tol=1e-5, max_iter=1000).fit_path(bags, alphas)
    single = [CfMGML(NodeSum(), alpha=alpha, tol=1e-5, max_iter=1000).fit(bags) for alpha in alphas]
    assert sum(model.n_iter_ for model in path) < 0.95 * sum(model.n_iter_ for model in single)


def test_a_path_needs_an_alpha():
    with pytest.raises(ValueError, match="at least one alpha"):
        CfMGML().fit_path(random_bags(5), [])


def test_products_in_single_precision_change_little():
    """With the default tolerance rows are multiplied in float32; twice as tight, in float64, the model is the same."""
    bags = random_bags(30, seed=6)
    quick = CfMGML(NodeSum(), alpha=1e-2, tol=1e-4, max_iter=2000).fit(bags).decision_function(bags)
    exact = CfMGML(NodeSum(), alpha=1e-2, tol=0.99e-4, max_iter=2000).fit(bags).decision_function(bags)
    np.testing.assert_allclose(quick, exact, atol=2e-2)

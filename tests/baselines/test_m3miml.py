"""M3MIML beyond the shared contract, and the solvers it shares with MI-SVM."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from cfmgml import BagDataset, GraphBatch, NodeSum, Precomputed, WeisfeilerLehman, gram_matrix
from cfmgml.baselines._bag_svm import _rounding
from cfmgml.baselines._label_svm import (
    LabelProblem,
    _best_vertex,
    first_twins,
    mean_weights,
    solve_exactly,
    solve_frank_wolfe,
)
from cfmgml.baselines.instances import MeanVectors
from cfmgml.baselines.m3miml import M3MIML
from cfmgml.baselines.mi_svm import MISVM
from cfmgml.common import memory
from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.segments import segment_sum
from cfmgml.datasets import load_digit_bags
from examples import random_bags


def label_problems(bags):
    weights = mean_weights(bags.bag_ptr)
    return [LabelProblem(bags.bag_ptr, has, ~has, weights) for has in bags.Y.T]


def dual_objective(K, coef):
    """sum of dual variables - 1/2 |w|^2, from one coefficient a graph."""
    return np.abs(coef).sum() - 0.5 * np.einsum("ic,ij,jc->", coef, K, coef)


@pytest.mark.parametrize("C", [0.05, 10.0])
@pytest.mark.parametrize("kernel", [NodeSum(), WeisfeilerLehman(2)], ids=["nodes", "wl"])
def test_solution_satisfies_its_optimality_conditions(bags, kernel, C):
    """y f(x) is at least 1 where the dual variable is 0, 1 where it is between, at most 1 where it is C."""
    model = M3MIML(kernel, C=C).fit(bags)
    scores = model.decision_function_graphs(bags)
    duals = np.zeros(scores.shape)
    duals[model.support_rows_] = model.dual_coef_
    sizes = np.diff(bags.bag_ptr)[:, None]
    for c, has in enumerate(bags.Y.T):
        bag_duals = segment_sum(duals[:, c], bags.bag_ptr)
        bag_means = segment_sum(scores[:, c : c + 1], bags.bag_ptr) / sizes
        negative = ~np.repeat(has, sizes[:, 0])
        alpha = np.concatenate([bag_duals[has], -duals[negative, c]])
        margin = np.concatenate([bag_means[has, 0], -scores[negative, c]])
        assert alpha.min() >= 0
        assert alpha.max() <= C * (1 + 1e-9)
        np.testing.assert_allclose(duals[:, c].sum(), 0, atol=1e-9 * C)
        low, high = alpha < 1e-9 * C, alpha > C * (1 - 1e-9)
        assert (margin[low] >= 1 - 1e-3).all()
        assert (margin[high] <= 1 + 1e-3).all()
        np.testing.assert_allclose(margin[~low & ~high], 1, atol=1e-3)


def test_graphs_that_bags_share_are_one_point(bags):
    shared = bags[[0, 1, 2, 0, 3, 4, 5, 3, 0, 6, 7, 8]]
    K = gram_matrix(NodeSum(), shared.graphs)
    twins, distinct = first_twins(K, np.finfo(float).eps), bags[:9].n_graphs
    assert len(np.unique(twins)) == distinct < len(twins)
    for problem in label_problems(shared):
        merged = replace(problem, twins=twins)
        coef, intercept = solve_exactly(problem, K, 1.0, tol=1e-7)
        coef_merged, intercept_merged = solve_exactly(merged, K, 1.0, tol=1e-7)
        np.testing.assert_allclose(K @ coef_merged, K @ coef, atol=1e-5)
        np.testing.assert_allclose(intercept_merged, intercept, atol=1e-5)
        if problem.negative[[0, 4]].any():
            assert len(merged.signs) < len(problem.signs)
            assert merged.multiplicities.sum() == len(problem.signs)


def test_graphs_that_are_close_are_not_one_point(bags):
    K = gram_matrix(NodeSum(gamma=1e-5), bags.graphs)
    assert (np.sort(K, axis=1)[:, -2] > 1 - 1e-6).any()
    np.testing.assert_array_equal(first_twins(K, np.finfo(float).eps), np.arange(len(K)))


@pytest.mark.parametrize("estimator", [M3MIML, MISVM])
def test_a_matrix_of_float32_hides_no_twins(bags, estimator):
    shared = bags[[0, 1, 2, 0, 3, 4, 5, 3, 0, 6, 7, 8]]
    shared = replace(shared, graphs=replace(shared.graphs, graph_ids=np.arange(shared.n_graphs)))
    matrix = gram_matrix(NodeSum(), shared.graphs)
    rounded = Precomputed(matrix.astype(np.float32))
    found = first_twins(matrix.astype(np.float32).astype(float), _rounding(rounded, matrix))
    assert len(np.unique(found)) == bags[:9].n_graphs
    scores = [
        estimator(kernel, C=1.0, tol=1e-6).fit(shared).decision_function_graphs(shared)
        for kernel in (rounded, Precomputed(matrix))
    ]
    np.testing.assert_allclose(*scores, atol=1e-3)


def test_primal_and_dual_meet(bags):
    """The gap between the primal objective written out and the dual one bounds how far from optimal a solution is."""
    K, C = gram_matrix(NodeSum(), bags.graphs), 10.0
    for problem in label_problems(bags):
        coef, intercept = solve_exactly(problem, K, C, tol=1e-5)
        f = K @ coef + intercept
        slack = sum(
            max(0, 1 - f[start:stop].mean()) if has else np.maximum(0, 1 + f[start:stop]).sum()
            for has, start, stop in zip(problem.positive, bags.bag_ptr[:-1], bags.bag_ptr[1:], strict=True)
        )
        primal = 0.5 * coef @ K @ coef + C * slack
        dual = dual_objective(K, coef[:, None])
        assert primal == pytest.approx(dual, rel=1e-3)


def test_best_vertex_solves_the_linear_program(rng):
    for _ in range(20):
        n_positive, n_negative = rng.integers(1, 6, size=2)
        has = np.arange(n_positive + n_negative) < n_positive
        problem = LabelProblem(np.arange(len(has) + 1), has, ~has, np.ones(len(has)))
        gain, C = rng.normal(size=len(has)), 3.0
        best = linprog(-gain, A_eq=[np.where(has, 1.0, -1.0)], b_eq=[0], bounds=(0, C))
        vertex = _best_vertex(problem, gain, C)
        assert gain @ vertex == pytest.approx(-best.fun)
        assert vertex[has].sum() == vertex[~has].sum()


def test_frank_wolfe_climbs_towards_the_exact_solution(bags):
    K, C, problems = gram_matrix(NodeSum(), bags.graphs), 1.0, label_problems(bags)
    exact = np.stack([solve_exactly(problem, K, C, 1e-5)[0] for problem in problems], axis=1)
    best = dual_objective(K, exact)
    reached = [dual_objective(K, solve_frank_wolfe(problems, K, C, n)[0]) for n in (1, 5, 50, 2000)]
    assert reached[0] == 0  # the authors' program does not take its last direction
    assert reached == sorted(reached)
    assert reached[1] < 0.97 * best
    assert 0.999 * best < reached[3] <= best * (1 + 1e-6)


def test_early_stopped_solver_is_worse_on_new_bags():
    train, test = (load_digit_bags(subset=subset, n_bags=60, random_state=0) for subset in ("train", "test"))
    early, exact = (M3MIML(solver=solver).fit(train).score(test) for solver in ("frank-wolfe", "exact"))
    assert 0.4 < early < exact


def test_one_class_labels_score_a_constant(bags):
    Y = bags.Y.copy()
    Y[:, 0], Y[:, 1] = True, False
    for solver in ("exact", "frank-wolfe"):
        scores = M3MIML(solver=solver).fit(bags, Y).decision_function_graphs(bags)
        assert (scores[:, 0] == 1).all()
        assert (scores[:, 1] == -1).all()


def test_unknown_entries_leave_the_bag_out_for_that_label(bags):
    Y = bags.Y.astype(float)
    Y[:6, 2] = np.nan
    model = M3MIML(NodeSum(gamma=1.0)).fit(bags, Y)
    without = M3MIML(NodeSum(gamma=1.0)).fit(bags[6:])
    everything = M3MIML(NodeSum(gamma=1.0)).fit(bags)
    got = model.decision_function(bags)
    np.testing.assert_allclose(got[:, 2], without.decision_function(bags)[:, 2], atol=1e-9)
    np.testing.assert_allclose(got[:, :2], everything.decision_function(bags)[:, :2], atol=1e-9)


def test_bag_order_does_not_matter(bags, rng):
    order = rng.permutation(bags.n_bags)
    a, b = (M3MIML(NodeSum(gamma=1.0), tol=1e-6).fit(data).decision_function(bags) for data in (bags, bags[order]))
    np.testing.assert_allclose(a, b, atol=1e-4)


def test_mean_instances_are_graphs_of_one_node(bags):
    means = segment_sum(bags.graphs.node_attributes, bags.graphs.node_ptr) / np.diff(bags.graphs.node_ptr)[:, None]
    n = bags.n_graphs
    dots = GraphBatch(np.arange(n + 1), np.zeros(n + 1, dtype=int), [[], []], node_attributes=means)
    vectors = BagDataset(dots, bags.bag_ptr, bags.Y)
    expected = M3MIML().fit(vectors).decision_function_graphs(vectors)
    np.testing.assert_allclose(M3MIML(instances="mean").fit(bags).decision_function_graphs(bags), expected, atol=1e-9)


def test_label_only_graphs_become_shares_of_labels():
    graphs = GraphBatch([0, 2, 5], [0, 0, 0], [[], []], node_labels=[7, 9, 7, 7, 3])
    shares = MeanVectors.of(graphs)
    np.testing.assert_allclose(shares(graphs), [[0, 0.5, 0.5], [1 / 3, 2 / 3, 0]])
    unseen = GraphBatch([0, 2], [0, 0], [[], []], node_labels=[9, 100])
    np.testing.assert_allclose(shares(unseen), [[0, 0, 0.5]])
    with pytest.raises(ValueError, match="fitted on node_labels"):
        shares(GraphBatch([0, 1], [0, 0], [[], []], node_attributes=[[1.0]]))
    with pytest.raises(ValueError, match="must have 1 attributes"):
        MeanVectors(1)(graphs)
    with pytest.raises(ValueError, match="neither"):
        MeanVectors.of(GraphBatch([0, 1], [0, 0], [[], []]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be above 0"),
        ({"instances": "nodes"}, "instances must be one of"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter must be 1 or more"),
        ({"dtype": "int8"}, "float32 or float64"),
    ],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        M3MIML(**params).fit(bags)


def test_large_inputs_are_announced(monkeypatch):
    with pytest.raises(MemoryError, match=r"2,000,000 graphs, which takes about 89,407.0 GiB.*fewer"):
        check_pairwise_size("M3MIML", 2_000_000, "graphs", 3, "use fewer")
    monkeypatch.setattr(memory, "physical_gib", lambda: 1000.0)
    with pytest.warns(UserWarning, match="25,000 graphs, which takes about 14.0 GiB"):
        check_pairwise_size("M3MIML", 25_000, "graphs", 3, "use fewer")
    monkeypatch.setattr(memory, "physical_gib", lambda: 1e-6)
    with pytest.raises(MemoryError, match="M3MIML compares all pairs of 54 graphs"):
        M3MIML().fit(random_bags(24, seed=5))


@pytest.mark.data
def test_msrc_v2_as_vectors_reaches_the_published_average_precision(data_folder):
    from cfmgml.datasets.miml import load_msrc_v2_miml

    bags = load_msrc_v2_miml(data_folder / "msrc_v2_miml")
    train, test = (bags.info["splits"][side][0] for side in ("train", "test"))
    assert M3MIML().fit(bags[train]).score(bags[test]) > 0.67

"""Training in torch: the same loss, the same path, the same model."""

import numpy as np
import pytest
from scipy import sparse

from cfmgml import CfMGML, GraphHopper, NodeSum, Precomputed, WeisfeilerLehman, gram_matrix
from cfmgml.common.compute import torch_device
from cfmgml.datasets import load_digit_bags
from cfmgml.gpu.rank_loss import Linear, TorchRankLoss
from cfmgml.kernels import gram_on_device as gpu_gram
from cfmgml.kernels.factors import factorize
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers.cccp import Problem, solve_cccp
from cfmgml.learning.solvers.on_device import solve_cccp_on_device
from cfmgml.model_selection import choose_alpha


def make_loss(seed=0, n_labels=7, **params):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 30)
    relevant, known = rng.random((30, n_labels)) < 0.3, rng.random((30, n_labels)) < 0.9
    relevant[0], relevant[1] = True, False  # a bag with all labels, and one with none
    bag_ptr = np.concatenate([[0], np.cumsum(sizes)])
    return RankLoss(bag_ptr, relevant & known, ~relevant & known, rng.random(n_labels) + 0.5, **params)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("irrelevant", ["max", "all"])
@pytest.mark.parametrize(("loss", "weights"), [("rank", "paper"), ("rank", "mean"), ("hamming", "mean")])
def test_loss_is_the_same(torch, rng, loss, weights, irrelevant, smooth):
    sharp = {} if smooth else {"temperature": 0.0, "sharpness": 0.0, "rounding": 0.0}
    exact = make_loss(loss=loss, term_weights=weights, irrelevant_graphs=irrelevant, **sharp)
    found = TorchRankLoss(exact, torch.device("cpu"))
    scores = rng.normal(size=(exact.bag_ptr[-1], 7))
    bound = exact.linearise(scores + rng.normal(size=scores.shape) / 5)
    for around in (None, bound):
        value, gradient = exact.value_and_gradient(scores, around)
        same = None if around is None else Linear(*(torch.tensor(part) for part in around))
        torch_value, torch_gradient = found.value_and_gradient(torch.tensor(scores), same)
        np.testing.assert_allclose(float(torch_value), value, rtol=1e-12)
        np.testing.assert_allclose(torch_gradient.numpy(), gradient, atol=1e-14)


def test_loss_in_parts(torch, rng, monkeypatch):
    exact = make_loss(irrelevant_graphs="all")
    scores = rng.normal(size=(exact.bag_ptr[-1], 7))
    monkeypatch.setattr("cfmgml.gpu.rank_loss.PAIRS", 1)
    value, gradient = TorchRankLoss(exact, torch.device("cpu")).value_and_gradient(torch.tensor(scores))
    np.testing.assert_allclose(float(value), exact.value(scores), rtol=1e-12)
    np.testing.assert_allclose(gradient.numpy(), exact.value_and_gradient(scores)[1], atol=1e-14)


@pytest.fixture(scope="module")
def digits():
    bags = load_digit_bags(subset="train", n_bags=40, random_state=0)
    return bags, gram_matrix(NodeSum(), bags.graphs)


@pytest.mark.parametrize("irrelevant", ["max", "all"])
def test_rows_and_gram_matrix_do_the_same_steps_as_the_cpu(torch, device, digits, irrelevant):
    """At a large alpha, where every path ends in the same place."""
    bags, K = digits
    loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(10), "rank", "mean", irrelevant)
    rows = factorize(K).X
    problem = Problem(rows, loss, 1e-2, True)
    cpu = solve_cccp(problem, 2, 500, 1e-7)
    quiet = lambda done, value: None  # noqa: E731
    place = "cpu" if device == "torch:cpu" else device
    gram = Problem(torch.tensor(K, device=place), loss, 1e-2, True)
    sparse_rows = Problem(sparse.csr_array(rows), loss, 1e-2, True)
    for given, is_gram in ((problem, False), (gram, True), (sparse_rows, False)):
        found, scores = solve_cccp_on_device(given, is_gram, 2, 500, 1e-7, device, quiet)
        np.testing.assert_allclose(found.objective, cpu.objective, rtol=1e-6)
        np.testing.assert_allclose(scores, rows @ cpu.coef + cpu.intercept, atol=2e-3)
        assert found.gradient_norm <= 1e-7
        assert found.n_iter < 1.5 * cpu.n_iter


@pytest.mark.parametrize(("tol", "rounding"), [(1e-3, 1e-6), (1e-5, 1e-9)])  # in float32, and in float64
@pytest.mark.parametrize("irrelevant", ["max", "all"])
def test_no_round_raises_the_objective(torch, device, digits, irrelevant, tol, rounding):
    """Every round before it is judged, and as far down as the CPU's: what is kept never rises by construction."""
    bags, K = digits
    loss = RankLoss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(10), "rank", "mean", irrelevant)
    problem = Problem(factorize(K).X, loss, 1e-3, True)
    found, _ = solve_cccp_on_device(problem, False, 3, 100, tol, device, lambda done, value: None)
    assert len(found.reached) == 3
    assert (np.diff(found.reached) <= rounding).all()
    np.testing.assert_allclose(found.reached, solve_cccp(problem, 3, 100, tol).reached, rtol=2e-2)


@pytest.mark.parametrize("kernel", [NodeSum(), GraphHopper(), WeisfeilerLehman(), NodeSum("linear")])
def test_model(device, kernel, digits):
    bags, _ = digits
    cpu = CfMGML(kernel, alpha=1e-2, tol=1e-4, n_rounds=2).fit(bags)
    card = CfMGML(kernel, alpha=1e-2, tol=1e-4, n_rounds=2, device=device).fit(bags)
    np.testing.assert_allclose(card.objective_, cpu.objective_, rtol=1e-3)
    test = load_digit_bags(subset="test", n_bags=20, random_state=0)
    assert (card.predict_graphs(test) == cpu.predict_graphs(test)).mean() > 0.99
    assert card.representatives_.shape == cpu.representatives_.shape


def test_precomputed_and_low_rank(device, digits):
    bags, K = digits
    whole = CfMGML(Precomputed(K), device=device).fit(bags)
    assert whole.decision_function(bags).shape == (40, 10)
    few = CfMGML(NodeSum(), rank=30, device=device, dtype="float32").fit(bags)
    assert few.scorer_.landmarks.n_graphs <= 30


def test_path_starts_from_the_last_round_ends(device, digits):
    bags, _ = digits
    alphas = [1e-3, 7e-4]
    along = CfMGML(NodeSum(), device=device).fit_path(bags, alphas)
    alone = [CfMGML(NodeSum(), alpha=alpha, device=device).fit(bags) for alpha in alphas]
    assert sum(model.n_iter_ for model in along) < sum(model.n_iter_ for model in alone)
    for a, b in zip(along, alone, strict=True):
        np.testing.assert_allclose(a.objective_[-1], b.objective_[-1], rtol=2e-2)


def test_paper_solver_takes_a_device_too(device, digits):
    bags, _ = digits
    cpu = CfMGML(NodeSum(), solver="paper", n_rounds=2, max_iter=5, random_state=0).fit(bags)
    card = CfMGML(NodeSum(), solver="paper", n_rounds=2, max_iter=5, random_state=0, device=device).fit(bags)
    np.testing.assert_allclose(card.objective_, cpu.objective_)


@pytest.mark.parametrize("solver", ["paper", "printed"])
def test_paper_solver_takes_the_precisions_of_a_device(device, digits, solver):
    """Kernel values come from the device, in its own precision; the solver itself is for the CPU."""
    bags, _ = digits
    how = {"solver": solver, "n_rounds": 2, "max_iter": 5, "alpha": 1e-2, "random_state": 0}
    card = CfMGML(NodeSum(), device=device, dtype="tf32", **how).fit(bags)
    cpu = CfMGML(NodeSum(), **how).fit(bags)
    assert card.decision_function(bags).dtype == np.float64
    np.testing.assert_allclose(card.objective_, cpu.objective_, rtol=0.05)


@pytest.mark.parametrize("dtype", ["float64", "tf32"])
def test_alpha_is_chosen_on_the_device(device, digits, monkeypatch, dtype):
    bags, _ = digits
    used = []
    raw = gpu_gram.raw_gram
    monkeypatch.setattr(gpu_gram, "raw_gram", lambda *args: used.append((type(args[0]), args[4])) or raw(*args))
    card = choose_alpha(CfMGML(NodeSum(), max_iter=5, device=device, dtype=dtype), bags, [1e-2, 1e-4])
    assert used[0] == (NodeSum, torch_device(device))
    cpu = choose_alpha(CfMGML(NodeSum(), max_iter=5), bags, [1e-2, 1e-4])
    np.testing.assert_allclose(list(card.scores.values()), list(cpu.scores.values()), atol=0.02)


def test_a_file_knows_no_card(device, digits, tmp_path):
    bags, _ = digits
    model = CfMGML(NodeSum(), device=device, dtype="tf32", n_rounds=1).fit(bags)
    model.save(tmp_path / "model.cfmgml")
    again = CfMGML.load(tmp_path / "model.cfmgml")
    assert (again.device, again.dtype) == ("cpu", "float32")
    np.testing.assert_allclose(again.decision_function(bags), model.decision_function(bags), atol=0.05)


def test_negative_eigenvalues_are_left_out_as_on_the_cpu(device, digits):
    """A similarity that is no kernel: training and new graphs score as with the part of it that is one."""
    bags, K = digits
    rng = np.random.default_rng(0)
    noise = rng.normal(size=K.shape) * 0.05
    K = K + noise + noise.T
    assert np.linalg.eigvalsh(K)[0] < -0.1
    kernel = Precomputed(K)
    cpu = CfMGML(kernel, alpha=1e-2, tol=1e-6).fit(bags[:30])
    card = CfMGML(kernel, alpha=1e-2, tol=1e-6, device=device).fit(bags[:30])
    np.testing.assert_allclose(card.objective_[-1], cpu.objective_[-1], rtol=1e-6)
    np.testing.assert_allclose(card.decision_function_graphs(bags), cpu.decision_function_graphs(bags), atol=1e-3)

"""``rank="auto"``: what it takes, what it says of itself, and that everything else works with it."""

import numpy as np
import pytest

from cfmgml import CfMGML, GraphHopper, NodeSum, ProductKernel, SumKernel, WeisfeilerLehman, gram_matrix
from cfmgml.baselines import M3MIML, MISVM
from cfmgml.baselines.instances import one_node_graphs
from cfmgml.common.compute import USUAL
from cfmgml.common.segments import take_segments
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels import approximation, node_maps
from cfmgml.kernels.approximation import exact_seconds, keep_aside, settle_rank
from cfmgml.kernels.factors import value_error
from cfmgml.model_selection import choose_alpha
from needs import needs


@pytest.fixture(scope="module")
def bags():
    return load_digit_bags("train", 120, 0)


@pytest.fixture
def nothing_is_cheap(monkeypatch):
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)


def test_few_graphs_are_compared_as_they_are(bags):
    model, exact = CfMGML(NodeSum()).fit(bags), CfMGML(NodeSum(), rank=None).fit(bags)
    assert model.approximation_error_ == exact.approximation_error_ == 0.0
    np.testing.assert_array_equal(model.decision_function(bags), exact.decision_function(bags))


def test_ten_times_the_graphs_are_not(bags):
    """By the cost model alone, so that it takes no time: nothing is computed here."""
    graphs = load_digit_bags("train", 2400, 0).graphs
    assert exact_seconds(NodeSum().resolve(bags.graphs), bags.graphs) < approximation.CHEAP
    assert exact_seconds(NodeSum().resolve(graphs), graphs) > approximation.CHEAP
    assert exact_seconds(WeisfeilerLehman().resolve(graphs), graphs) > approximation.CHEAP


def test_where_the_factor_ends_what_can_be_afforded(rng):
    """A fold of Scene (14,400 vectors) can be, 16,000 cannot: the matrices of an exact fit end there as well."""
    kernel = NodeSum(gamma=1.0)
    seconds = [exact_seconds(kernel, one_node_graphs(rng.normal(size=(n, 15)), np.arange(n))) for n in (14_400, 16_000)]
    assert seconds[0] < approximation.AFFORDABLE < seconds[1]


def test_explicit_maps_and_numbers_are_left_alone(bags, nothing_is_cheap):
    wl = WeisfeilerLehman().resolve(bags.graphs)
    assert settle_rank(wl, bags.graphs, "auto", USUAL).kernel is wl
    nodes = NodeSum().resolve(bags.graphs)
    assert settle_rank(nodes, bags.graphs, None, USUAL).rank is None
    assert settle_rank(nodes, bags.graphs, 20, USUAL).rank == 20
    assert CfMGML(NodeSum(), rank=20).fit(bags).approximation_error_ is None


def test_unknown_ranks_are_refused(bags):
    with pytest.raises(ValueError, match="rank must be 'auto', None or a number of columns, got 'some'"):
        CfMGML(rank="some").fit(bags)


@pytest.mark.parametrize(
    "kernel",
    [NodeSum(), pytest.param(GraphHopper(), marks=pytest.mark.slow), SumKernel([NodeSum(), WeisfeilerLehman(1)])],
    ids=repr,
)
def test_the_error_is_that_of_graphs_kept_aside(bags, kernel, nothing_is_cheap):
    model = CfMGML(kernel).fit(bags)
    assert model.kernel_.is_explicit
    assert 0 < model.approximation_error_ <= approximation.TOLERANCE
    aside, rest = keep_aside(bags.graphs)
    assert not set(aside) & set(rest)
    some = bags.graphs[aside]
    exact, mapped = (gram_matrix(k, some) for k in (kernel.resolve(bags.graphs), model.kernel_))
    pairs = np.triu_indices(len(exact), 1)
    off, true = (mapped - exact)[pairs], exact[pairs]
    expected = np.linalg.norm(off - off.mean()) / np.linalg.norm(true - true.mean())
    assert model.approximation_error_ == pytest.approx(expected, rel=1e-6)


def test_landmarks_come_from_the_others(bags, nothing_is_cheap, monkeypatch):
    seen = []
    real = node_maps.sample_nodes
    kernel = NodeSum(gamma=1.0).resolve(bags.graphs)
    monkeypatch.setattr(node_maps, "sample_nodes", lambda *args: seen.append(args[3]) or real(*args))
    settle_rank(kernel, bags.graphs, "auto", USUAL)
    aside, rest = keep_aside(bags.graphs)
    kept, _ = take_segments(bags.graphs.node_ptr, aside)
    assert seen
    assert not any(set(kept.tolist()) & set(among.tolist()) for among in seen)
    copied = NodeSum(gamma=1.0).resolve(bags.graphs).with_landmarks(bags.graphs[rest], 128)
    np.testing.assert_array_equal(kernel.with_landmarks(bags.graphs, 128, seen[0]).landmarks_, copied.landmarks_)


def test_more_landmarks_until_it_is_right(bags, nothing_is_cheap, monkeypatch):
    kernel, taken = NodeSum().resolve(bags.graphs), {}
    for tolerance in (0.2, 0.005):
        monkeypatch.setattr(approximation, "TOLERANCE", tolerance)
        taken[tolerance] = settle_rank(kernel, bags.graphs, "auto", USUAL)
        assert taken[tolerance].error <= tolerance
    assert taken[0.2].kernel.n_components < taken[0.005].kernel.n_components


def test_where_landmarks_are_not_enough_and_it_can_be_afforded(bags, monkeypatch):
    """Nothing is approximated by more than it should be."""
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "MOST", 128)
    far = NodeSum(gamma=200.0).resolve(bags.graphs)  # hardly two nodes are alike
    assert settle_rank(far, bags.graphs, "auto", USUAL).kernel is far
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)
    taken = settle_rank(far, bags.graphs, "auto", USUAL)
    assert taken.kernel.n_components == 128
    assert taken.error > approximation.TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize(("affordable", "tried"), [(1e9, [128, 256]), (0.0, [128, 256, 2048])])
def test_what_will_not_do_is_not_tried(bags, monkeypatch, affordable, tried):
    """Nodes that are hardly alike: after two looks exact values, or as many landmarks as there may be."""
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", affordable)
    seen, real = [], NodeSum.with_landmarks
    monkeypatch.setattr(NodeSum, "with_landmarks", lambda *args: seen.append(args[2]) or real(*args))
    taken = settle_rank(NodeSum(gamma=200.0).resolve(bags.graphs), bags.graphs, "auto", USUAL)
    assert seen == tried
    assert taken.kernel.is_explicit == (not affordable)


def test_a_kernel_without_a_map_takes_columns(bags, nothing_is_cheap, capsys):
    """A product of kernels has none: some graphs stand for all, none of those kept aside among them."""
    kernel = ProductKernel([NodeSum(), WeisfeilerLehman(1)])
    model = CfMGML(kernel, verbose=True).fit(bags)
    aside, _ = keep_aside(bags.graphs)
    landmarks = model.scorer_.landmarks
    assert landmarks.n_graphs < bags.n_graphs
    assert not set(landmarks.graph_ids.tolist()) & set(bags.graphs.graph_ids[aside].tolist())
    assert f"{landmarks.n_graphs} of them" in capsys.readouterr().err
    some, resolved = bags.graphs[aside], model.kernel_
    across, own = gram_matrix(resolved, some, landmarks), gram_matrix(resolved, landmarks)
    expected = value_error(across @ np.linalg.solve(own, across.T), gram_matrix(resolved, some))
    assert model.approximation_error_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"context": 0.6}, {"refine": 2}, {"probability": True}, {"device": "torch:cpu"}], ids=repr
)
def test_it_works_with_everything(bags, nothing_is_cheap, settings, tmp_path, request):
    if "device" in settings:
        needs("torch")
        request.getfixturevalue("monkeypatch").setattr(approximation, "CHEAP_ON_DEVICE", 0)
    train, test = bags[:80], bags[80:]
    model = CfMGML(NodeSum(), alpha=1e-3, **settings).fit(train)
    exact = CfMGML(NodeSum(), alpha=1e-3, rank=None, **settings).fit(train)
    assert model.kernel_.is_explicit
    assert model.score(test) == pytest.approx(exact.score(test), abs=0.03)
    scores, parts = model.decision_function_graphs(test), model.explain(test)
    if "context" not in settings:
        summed = np.add.reduceat(parts, test.graphs.node_ptr[:-1], axis=0)
        np.testing.assert_allclose(summed, scores - model.intercept_, atol=1e-8)
    model.save(tmp_path / "model.cfmgml")
    again = CfMGML.load(tmp_path / "model.cfmgml")
    assert again.rank == "auto"
    assert again.approximation_error_ == model.approximation_error_
    np.testing.assert_allclose(again.decision_function(test), model.decision_function(test), atol=1e-9)


def test_a_path_and_a_choice_of_alpha(bags, nothing_is_cheap):
    paths = CfMGML(NodeSum()).fit_path(bags, [1e-2, 1e-4])
    assert all(0 < model.approximation_error_ <= approximation.TOLERANCE for model in paths)
    choice = choose_alpha(CfMGML(NodeSum(), max_iter=20), bags, [1.0, 1e-3])
    assert choice.alpha == 1e-3


@pytest.mark.parametrize("machine", [MISVM, M3MIML])
def test_rivals_have_it_too(bags, nothing_is_cheap, machine):
    train, test = bags[:80], bags[80:]
    model, exact = machine().fit(train), machine(rank=None).fit(train)
    assert model.kernel_.is_explicit
    assert not exact.kernel_.is_explicit
    assert model.score(test) == pytest.approx(exact.score(test), abs=0.03)
    with pytest.raises(ValueError, match="rank must be 'auto' or None, got 9"):
        machine(rank=9).fit(train)


def test_it_says_so(bags, nothing_is_cheap, capsys):
    CfMGML(NodeSum(), verbose=True).fit(bags)
    assert "rank='auto' compares" in capsys.readouterr().err
    CfMGML(NodeSum()).fit(bags)
    assert capsys.readouterr().err == ""


def test_the_work_grows_with_the_graphs(nothing_is_cheap, monkeypatch):
    """Pairs of nodes that are compared: twice the graphs, twice the pairs, less what is looked at in any case."""
    pairs = []
    real = node_maps.subtract_squares

    def counted(exponents, left, right):
        pairs.append(exponents.size)
        return real(exponents, left, right)

    monkeypatch.setattr(node_maps, "subtract_squares", counted)
    totals = []
    for n_bags in (100, 200, 400):
        pairs.clear()
        CfMGML(NodeSum(gamma=1.0), max_iter=2).fit(load_digit_bags("train", n_bags, 0))
        totals.append(sum(pairs))
    assert totals[2] - totals[1] < 2.3 * (totals[1] - totals[0])

"""GINAttention beyond the shared contract."""

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from cfmgml import BagDataset, GraphBatch
from cfmgml.baselines import Dummy
from cfmgml.baselines.gin_attention import GINAttention
from cfmgml.checks.made import shuffle_nodes
from cfmgml.common.extras import missing_extra
from cfmgml.common.segments import segment_sum as numpy_segment_sum
from cfmgml.common.segments import take_segments
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import bag_report, graph_report
from examples import random_bags
from needs import needs, needs_card


@pytest.fixture(scope="module")
def torch():
    """The library; without it the test is skipped, and in CI it fails."""
    return needs("torch")


@pytest.fixture(scope="module")
def gin(torch):
    return importlib.import_module("cfmgml.baselines._gin_network")


@pytest.fixture(scope="module")
def model(torch, bags):
    return small().fit(bags)


def small(**params):
    defaults = {"n_hidden": 16, "n_layers": 2, "n_epochs": 15, "learning_rate": 0.01, "random_state": 0}
    return GINAttention(**{**defaults, **params})


def with_graphs(bags, graphs):
    return BagDataset(graphs, bags.bag_ptr, bags.Y, label_names=bags.label_names)


def labels_only(bags, labels=None):
    g = bags.graphs
    labels = g.node_labels if labels is None else labels
    return with_graphs(bags, GraphBatch(g.node_ptr, g.edge_ptr, g.edges, node_labels=labels))


# -- the network -----------------------------------------------------------------------------------


def test_layer_equals_a_hand_worked_example(gin, torch):
    """A path of nodes 1, 2, 4 with eps = .5: before the MLP, 1.5 + 2, 3 + 1 + 4 and 6 + 2."""
    path = GraphBatch([0, 3], [0, 2], [[0, 1], [1, 2]], node_labels=[0, 0, 0])
    layer = gin.GINLayer(2)
    layer.mlp = torch.nn.Identity()
    with torch.no_grad():
        layer.eps.fill_(0.5)
        found = layer(torch.tensor([[1.0, -1.0], [2.0, -2.0], [4.0, -4.0]]), gin.Wiring.of(_one_bag(path), "cpu"))
    assert found.tolist() == [[3.5, -3.5], [8.0, -8.0], [8.0, -8.0]]


def _one_bag(graphs):
    return BagDataset(graphs, [0, graphs.n_graphs])


def test_edges_are_those_of_the_simple_undirected_graph(gin):
    """An edge given twice, or from both ends, counts once for each end; a loop does not count."""
    messy = GraphBatch([0, 3], [0, 4], [[0, 1, 0, 2], [1, 0, 1, 2]], node_labels=[0, 0, 0])
    wiring = gin.Wiring.of(_one_bag(messy), "cpu")
    assert sorted(zip(wiring.source.tolist(), wiring.target.tolist(), strict=True)) == [(0, 1), (1, 0)]


def test_softmax_of_segments(gin, torch):
    values = torch.tensor([[0.0, 1000.0], [np.log(3.0), 1000.0], [5.0, -1000.0]])
    found = gin.segment_softmax(values, torch.tensor([0, 0, 1]), 2)
    np.testing.assert_allclose(found, [[0.25, 0.5], [0.75, 0.5], [1.0, 1.0]], rtol=1e-6)


def test_gradients_reach_every_weight(gin, torch, bags):
    attributes = bags.graphs.node_attributes.astype(np.float32)
    batch = gin.as_batch(attributes, bags, bags.Y.astype(float), "cpu")
    with gin.seeded(0, "cpu"):
        network = gin.GINAttentionNetwork(2, 0, 8, 2, bags.n_labels, 0.1)
    gin.bag_loss(network(batch.nodes, batch.wiring), batch, 0.0).backward()
    without = [name for name, weight in network.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert without == []


def test_gradient_equals_finite_differences(gin, torch):
    bags = random_bags(3, seed=1)
    targets = torch.tensor([[1.0, 0.0, float("nan"), 0.0]] * 3, dtype=torch.float64)
    batch = gin.Batch(torch.tensor(bags.graphs.node_attributes), gin.Wiring.of(bags, "cpu"), targets)
    with gin.seeded(0, "cpu"):
        network = gin.GINAttentionNetwork(2, 0, 4, 1, 4, 0.0).double()
    weights = dict(network.named_parameters())

    def loss(*values):
        called = torch.func.functional_call(network, dict(zip(weights, values, strict=True)), batch[:2])
        return gin.bag_loss(called, batch, 0.7)

    assert torch.autograd.gradcheck(loss, tuple(weights.values()), atol=1e-6)


def test_loss_equals_its_definition(gin, torch, bags, rng):
    """Bags: mean over the known entries. Graphs: mean over the labels that their bag is known not to have."""
    targets = np.where(rng.random(bags.Y.shape) < 0.3, np.nan, bags.Y)
    of_bags, of_graphs = rng.normal(size=targets.shape), rng.normal(size=(bags.n_graphs, bags.n_labels))
    batch = gin.Batch(torch.zeros(1), gin.Wiring.of(bags, "cpu"), torch.tensor(targets))
    found = gin.bag_loss(gin.Scores(torch.tensor(of_bags), torch.tensor(of_graphs), None), batch, 2.0)
    entries = -np.log(np.where(targets == 1, 1 / (1 + np.exp(-of_bags)), 1 / (1 + np.exp(of_bags))))
    absent = (targets == 0)[bags.bag_ids]
    expected = entries[~np.isnan(targets)].mean() + 2 * np.log1p(np.exp(of_graphs[absent])).mean()
    assert float(found) == pytest.approx(expected)


def test_held_out_error_equals_its_definition(gin, torch, bags, model):
    targets = np.where(np.arange(bags.n_labels) == 1, np.nan, bags.Y)
    network = gin.restore_network(model.shape_, model.state_, "cpu")
    nodes = torch.tensor(model.inputs_(bags.graphs, "float64"))
    found = gin.squared_error(network, [gin.Batch(nodes, gin.Wiring.of(bags, "cpu"), torch.tensor(targets))])
    chances = 1 / (1 + np.exp(-model.decision_function(bags)))
    assert found == pytest.approx(((chances - bags.Y) ** 2)[:, [0, 2, 3]].mean())


# -- scores ----------------------------------------------------------------------------------------


def test_attention_sums_to_one_and_gives_the_bags_scores(model, bags):
    attention, graphs = model.attention(bags), model.decision_function_graphs(bags)
    assert (attention > 0).all()
    np.testing.assert_allclose(numpy_segment_sum(attention, bags.bag_ptr), 1)
    pooled = numpy_segment_sum(attention * graphs, bags.bag_ptr)
    np.testing.assert_allclose(pooled, model.decision_function(bags), atol=1e-10)


def test_order_of_nodes_does_not_matter(model, bags, rng):
    shuffled = with_graphs(bags, shuffle_nodes(bags.graphs, rng))
    for method in ("decision_function", "decision_function_graphs"):
        np.testing.assert_allclose(getattr(model, method)(shuffled), getattr(model, method)(bags), atol=1e-9)


def test_order_of_graphs_in_a_bag_does_not_matter(model, bags):
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(bags.bag_ptr[:-1], bags.bag_ptr[1:], strict=True)])
    turned = with_graphs(bags, bags.graphs[order])
    np.testing.assert_allclose(model.decision_function(turned), model.decision_function(bags), atol=1e-9)
    expected = model.decision_function_graphs(bags)[order]
    np.testing.assert_allclose(model.decision_function_graphs(turned), expected, atol=1e-9)


def test_a_graphs_score_does_not_depend_on_its_bag(model, bags):
    alone = BagDataset(bags.graphs, np.arange(bags.n_graphs + 1))
    expected = model.decision_function_graphs(bags)
    np.testing.assert_allclose(model.decision_function_graphs(alone), expected, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(alone), expected, atol=1e-9)


def test_more_bags_than_go_at_once(model, bags):
    many = bags[np.arange(150) % bags.n_bags]
    rows, _ = take_segments(bags.bag_ptr, np.arange(150) % bags.n_bags)
    expected = model.decision_function_graphs(bags)[rows]
    np.testing.assert_allclose(model.decision_function_graphs(many), expected, atol=1e-9)


def test_edges_count(model, bags):
    """Two graphs with the same nodes, one without edges, score differently: the network looks at the structure."""
    g = bags.graphs
    bare = GraphBatch(g.node_ptr, np.zeros_like(g.edge_ptr), np.zeros((2, 0), int), node_attributes=g.node_attributes)
    apart = np.abs(model.decision_function_graphs(with_graphs(bags, bare)) - model.decision_function_graphs(bags))
    has_edges = np.diff(g.edge_ptr) > 0
    assert (apart[has_edges].max(axis=1) > 1e-3).all()
    assert apart[~has_edges].max() < 1e-9


# -- learning --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_learns_digits_at_both_levels(torch):
    """Told which digits are in a bag, it says which is which."""
    train, test = load_digit_bags("train", n_bags=150), load_digit_bags("test", n_bags=60, random_state=1)
    model, dummy = GINAttention(n_epochs=70, random_state=0).fit(train), Dummy().fit(train)
    precision, floor = (bag_report(test.Y, m.decision_function(test))["average_precision"] for m in (model, dummy))
    assert precision > floor + 0.2
    right, floor = (graph_report(test.graph_Y, m.decision_function_graphs(test))["accuracy"] for m in (model, dummy))
    assert right > floor + 0.3


def test_node_labels_where_there_are_no_attributes(torch, bags):
    data = labels_only(bags)
    model = small(n_epochs=60).fit(data)
    assert model.score(data) > 0.8
    assert model.state_["first.weight"].shape == (len(np.unique(data.graphs.node_labels)) + 1, 16)


def test_unseen_node_labels_share_a_neutral_row(torch, bags):
    model = small(n_epochs=2).fit(labels_only(bags))
    assert not model.state_["first.weight"][0].any()
    new = [np.full(bags.graphs.n_nodes, value) for value in (-5, 10**12)]
    a, b = (model.decision_function(labels_only(bags, labels)) for labels in new)
    np.testing.assert_array_equal(a, b)


def test_unknown_entries_drop_out(torch, bags):
    """What stands in the masked entries of Y does not matter, and a label known nowhere is never learned."""
    mask = np.zeros(bags.Y.shape, dtype=bool)
    mask[::3, 0], mask[:, 2] = True, True
    a, b = (np.ma.masked_array(np.where(mask, other, bags.Y), mask) for other in (False, True))
    first = small(weight_decay=0.0).fit(bags, a)
    np.testing.assert_array_equal(small(weight_decay=0.0).fit(bags, b).decision_function(bags),
                                  first.decision_function(bags))  # fmt: skip
    again = small(weight_decay=0.0, n_epochs=1).fit(bags, a)
    moved = first.state_["head.bias"] != again.state_["head.bias"]
    assert moved.tolist() == [True, True, False, True]


def test_nothing_known_still_fits(torch, bags):
    model = small(n_epochs=2).fit(bags, np.full(bags.Y.shape, np.nan))
    assert np.isfinite(model.decision_function(bags)).all()
    assert model.loss_.tolist() == [0.0, 0.0]


def test_early_stopping_keeps_the_best_epoch(torch, bags):
    model = small(n_epochs=200, patience=3, learning_rate=0.05).fit(bags)
    best = int(model.held_out_error_.argmin())
    assert model.n_iter_ == len(model.held_out_error_) == len(model.loss_) == best + 4 < 200
    until_then = small(n_epochs=best + 1, patience=3, learning_rate=0.05).fit(bags)
    np.testing.assert_array_equal(until_then.decision_function(bags), model.decision_function(bags))


@pytest.mark.parametrize(
    ("n_bags", "params", "held_out"),
    [(9, {}, 0), (24, {"validation_fraction": 0}, 0), (10, {}, 2), (24, {}, 4), (12, {"validation_fraction": 0.01}, 1)],
)
def test_how_many_bags_are_held_out(n_bags, params, held_out):
    learn, watch = GINAttention(**params)._hold_out(np.arange(n_bags), np.zeros((n_bags, 2)))
    assert len(watch) == held_out
    assert sorted([*learn, *watch]) == list(range(n_bags))


def test_without_held_out_bags_the_last_epoch_stays(torch, bags):
    model = small(n_epochs=4).fit(bags[:9])
    assert len(model.held_out_error_) == 0
    assert model.n_iter_ == 4


# -- seeds -----------------------------------------------------------------------------------------


def test_global_random_state_is_untouched(torch, bags):
    torch.manual_seed(3)
    expected = torch.rand(3).tolist()
    torch.manual_seed(3)
    model = small(n_epochs=2).fit(bags)
    model.decision_function(bags)
    assert torch.rand(3).tolist() == expected


def test_another_seed_another_model(model, bags):
    other = small(random_state=1).fit(bags)
    assert not np.array_equal(other.decision_function(bags), model.decision_function(bags))


def test_bag_order_does_not_matter(model, bags, rng):
    shuffled = small().fit(bags[rng.permutation(bags.n_bags)])
    np.testing.assert_array_equal(shuffled.decision_function(bags), model.decision_function(bags))


def test_pickle(model, bags):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(bags), model.decision_function(bags))


def test_parameters_changed_after_fit_do_not_break_prediction(torch, bags):
    model = small(n_epochs=2).fit(bags)
    before = model.decision_function(bags)
    np.testing.assert_array_equal(model.set_params(n_hidden=7, n_layers=5).decision_function(bags), before)


def test_gpu_gives_the_same_scores(torch, bags):
    needs_card()
    model = small(device="cuda").fit(bags)
    on_gpu, attention = model.decision_function(bags), model.attention(bags)
    model.set_params(device="cpu")
    np.testing.assert_allclose(model.decision_function(bags), on_gpu, atol=1e-9)
    np.testing.assert_allclose(model.attention(bags), attention, atol=1e-9)
    state = torch.cuda.get_rng_state()
    small(device="cuda", n_epochs=1).fit(bags)
    assert torch.equal(torch.cuda.get_rng_state(), state)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_hidden": 0}, "n_hidden must be 1 or more"),
        ({"n_layers": 0}, "n_layers must be 1 or more"),
        ({"dropout": 1.0}, "dropout must be 0 or more and below 1"),
        ({"validation_fraction": -0.1}, "validation_fraction must be 0 or more"),
        ({"weight_decay": -1}, "weight_decay must be 0 or more"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
    ],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        GINAttention(**params).fit(bags)


def test_bad_devices(torch, bags):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
        GINAttention(device="tpu").fit(bags)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA device"):
            GINAttention(device="cuda").fit(bags)


def test_divergence_says_what_to_do(torch, bags):
    with pytest.raises(ValueError, match="take a learning_rate below"):
        small(learning_rate=1e30).fit(bags)


def test_other_kinds_of_nodes_are_refused(model, torch, bags):
    with pytest.raises(ValueError, match="must have 2 attributes a node, got 0"):
        model.decision_function(labels_only(bags))
    g = bags.graphs
    attributes = with_graphs(bags, GraphBatch(g.node_ptr, g.edge_ptr, g.edges, node_attributes=g.node_attributes))
    with pytest.raises(ValueError, match="fitted on node_labels"):
        small(n_epochs=1).fit(labels_only(bags)).decision_function(attributes)
    with pytest.raises(ValueError, match="neither node_attributes nor node_labels"):
        small().fit(with_graphs(bags, GraphBatch(g.node_ptr, g.edge_ptr, g.edges)))


def test_constant_attributes(torch, bags):
    g = bags.graphs
    flat = GraphBatch(g.node_ptr, g.edge_ptr, g.edges, node_attributes=np.ones((g.n_nodes, 2)))
    assert np.isfinite(small(n_epochs=1).fit(with_graphs(bags, flat)).decision_function(with_graphs(bags, flat))).all()


@pytest.mark.slow
def test_missing_torch_names_the_extra():
    """In a process of its own where torch cannot be imported: the estimator can, and fitting says what to install."""
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from cfmgml.baselines.gin_attention import GINAttention
from cfmgml.datasets import load_digit_bags
print(GINAttention(n_hidden=8).get_params()["n_hidden"])
try:
    GINAttention().fit(load_digit_bags(n_bags=3))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["8", missing_extra("GINAttention needs PyTorch", "gpu")]

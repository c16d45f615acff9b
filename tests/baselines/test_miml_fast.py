"""MIMLfast beyond the shared contract."""

import numpy as np
import pytest

from cfmgml import BagDataset, GraphBatch
from cfmgml.baselines._miml_fast_sgd import Weights, first_weights, relevant_pairs, sgd_epoch
from cfmgml.baselines.miml_fast import MIMLfast
from cfmgml.common.segments import segment_max


def one_step(draws, max_norm=100.0, label=0, V=None, W=None):
    """One bag of two instances, (1, 0) and (0, 2); labels 0 relevant, 1 irrelevant, 2 the dummy; one sub-concept."""
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    V = np.array([[1.0, 2.0], [3.0, 4.0]]) if V is None else V
    W = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[-1.0, 0.0]]]) if W is None else W
    sums = np.zeros_like(V), np.zeros_like(W)
    bags = X, np.array([0, 2]), np.array([[False, True]])
    pairs = np.array([[0, label]])
    n_steps, n_averaged = sgd_epoch(bags, pairs, np.array([draws]), (V, W), sums, 0, (0.1, 0.5, max_norm), 1)
    return V, W, n_steps, n_averaged, sums


def test_gradient_step_equals_a_hand_worked_example():
    """Shared space: instance 0 is at (1, 2), instance 1 at (6, 8). Label 0 scores 6 (instance 1), label 1 scores 8
    (instance 1), the dummy -1 (instance 0). Draw 0.1 picks label 1, the first of two irrelevant ones: it violates the
    margin at the first try, so the weight is 1 + 1/2 and the step 0.15. Then w_0 += .15 (6, 8), w_1 -= .15 (6, 8) and V
    gains .15 x (w_0 - w_1)^T with x = (0, 2) and the old w, that is .3 (1, -1) in its second row.
    """
    V, W, n_steps, n_averaged, sums = one_step([0.1, 0.9, 0.9])
    np.testing.assert_allclose(W[:, 0], [[1.9, 1.2], [-0.9, -0.2], [-1.0, 0.0]])
    np.testing.assert_allclose(V, [[1.0, 2.0], [3.3, 3.7]])
    assert (n_steps, n_averaged) == (1, 1)
    np.testing.assert_array_equal(sums[0], V)
    np.testing.assert_array_equal(sums[1], W)


def test_later_tries_weigh_less():
    """Draw 0.9 picks the dummy, whose -1 is no violation of 6 - 1; label 1 follows at try 2: weight 1, step 0.1."""
    _, W, *_ = one_step([0.9, 0.1, 0.1])
    np.testing.assert_allclose(W[:, 0], [[1.6, 0.8], [-0.6, 0.2], [-1.0, 0.0]])


def test_no_violation_no_step():
    V, _, n_steps, n_averaged, _ = one_step([0.9, 0.9, 0.9])
    np.testing.assert_array_equal(V, [[1.0, 2.0], [3.0, 4.0]])
    assert (n_steps, n_averaged) == (0, 0)


def test_dummy_is_held_against_irrelevant_labels_only():
    """As the relevant label the dummy meets label 1 alone, whatever is drawn: weight 1. Its best instance is 0."""
    V, W, *_ = one_step([0.99, 0.99, 0.99], label=2)
    np.testing.assert_allclose(W[:, 0], [[1.0, 0.0], [-0.6, 0.2], [-0.9, 0.2]])
    np.testing.assert_allclose(V, [[1 + 0.1 * -1, 2.0], [3.0, 4 - 0.2 * 1]])


def test_norms_are_clipped():
    V, W, *_ = one_step([0.1, 0.9, 0.9], max_norm=2.0)
    np.testing.assert_allclose(np.linalg.norm(W[0, 0]), 2.0)
    np.testing.assert_allclose(W[0, 0] / 2, np.array([1.9, 1.2]) / np.hypot(1.9, 1.2))
    np.testing.assert_allclose(np.linalg.norm(V[1]), 2.0)  # the row that moved; the other waits for its own step


def test_best_of_several_subconcepts_moves():
    W = np.array([[[0.5, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 0.2]], [[-1.0, 0.0], [-1.0, 0.0]]])
    _, W, *_ = one_step([0.1, 0.9, 0.9], W=W)
    np.testing.assert_allclose(W[0], [[0.5, 0.0], [1.9, 1.2]])
    np.testing.assert_allclose(W[1], [[-0.9, -0.2], [0.0, 0.2]])


def test_pairs_hold_every_label_and_the_dummy():
    assert relevant_pairs(np.array([[True, False], [False, False]])).tolist() == [[0, 0], [0, 2], [1, 2]]


def test_first_weights_have_the_norm_asked_for(rng):
    weights = first_weights(4, 3, 2, 7, 2.5, rng)
    assert weights.V.shape == (4, 7)
    assert weights.W.shape == (4, 2, 7)
    np.testing.assert_allclose(np.linalg.norm(weights.W, axis=-1), 2.5)


def test_a_label_scores_as_its_best_subconcept(rng):
    weights = first_weights(4, 3, 2, 7, 2.5, rng)
    x = rng.normal(size=(5, 4))
    expected = [[max(w @ (weights.V.T @ row) for w in concepts) for concepts in weights.W] for row in x]
    np.testing.assert_allclose(weights.scores(x), expected)


def test_scores_are_relative_to_the_dummy(bags):
    model = MIMLfast(random_state=0).fit(bags)
    vectors = np.clip((model.vectors_(bags.graphs) - model.mean_) / model.scale_, -2, 2)
    raw = Weights(model.V_, model.W_).scores(vectors)
    np.testing.assert_allclose(model.decision_function_graphs(bags), raw[:, :-1] - raw[:, -1:] - 1)
    of_bags = segment_max(raw, bags.bag_ptr)
    np.testing.assert_allclose(model.decision_function(bags), of_bags[:, :-1] - of_bags[:, -1:] - 1)


def test_the_best_label_is_always_predicted(bags):
    model = MIMLfast(n_epochs=1, random_state=0).fit(bags)
    for scores, chosen in (
        (model.decision_function(bags), model.predict(bags)),
        (model.decision_function_graphs(bags), model.predict_graphs(bags)),
    ):
        assert chosen[np.arange(len(chosen)), scores.argmax(1)].all()
        assert (chosen | (scores <= 0)).all()
        assert (chosen.sum(1) >= 1).all()


def test_bag_order_does_not_matter(bags, rng):
    shuffled = bags[rng.permutation(bags.n_bags)]
    a, b = (MIMLfast(n_epochs=3, random_state=0).fit(data).decision_function(bags) for data in (bags, shuffled))
    np.testing.assert_array_equal(a, b)


def test_another_seed_another_model(bags):
    a, b = (MIMLfast(n_epochs=1, random_state=seed).fit(bags).V_ for seed in (0, 1))
    assert not np.array_equal(a, b)


def scaled(bags, factor, shift):
    g = bags.graphs
    graphs = GraphBatch(g.node_ptr, g.edge_ptr, g.edges, node_attributes=g.node_attributes * factor + shift)
    return BagDataset(graphs, bags.bag_ptr, bags.Y, label_names=bags.label_names)


def test_scale_of_the_input_does_not_matter(bags):
    """To the last bit for a power of two. One bag: the order of several is drawn from their contents."""
    one = bags[[int(np.diff(bags.bag_ptr).argmax())]]
    assert one.n_graphs > 2
    assert 0 < one.Y.sum() < one.n_labels
    plain, larger, moved = one, scaled(one, 1024.0, 0.0), scaled(one, 1024.0, 4.0)
    models = [MIMLfast(n_epochs=20, average_every=1, random_state=0).fit(data) for data in (plain, larger, moved)]
    assert models[0].n_iter_ > 5
    expected = models[0].decision_function_graphs(plain)
    np.testing.assert_array_equal(models[1].decision_function_graphs(larger), expected)
    np.testing.assert_allclose(models[2].decision_function_graphs(moved), expected, atol=1e-9)


def test_mean_and_scale_are_those_of_the_graphs(bags):
    """Over all bags, so that the whole collection is scaled alike."""
    plain, moved = (MIMLfast(n_epochs=1, random_state=0).fit(data) for data in (bags, scaled(bags, 1024.0, 4.0)))
    of_graphs = np.array([rows.mean(0) for rows in np.split(bags.graphs.node_attributes, bags.graphs.node_ptr[1:-1])])
    np.testing.assert_allclose(plain.mean_, of_graphs.mean(0), atol=1e-12)
    np.testing.assert_allclose(plain.scale_, of_graphs.std(0), atol=1e-12)
    np.testing.assert_allclose(moved.mean_, 1024 * plain.mean_ + 4, atol=1e-9)
    np.testing.assert_allclose(moved.scale_, 1024 * plain.scale_, atol=1e-9)


def test_constant_columns_and_label_only_graphs(bags):
    flat = GraphBatch(
        bags.graphs.node_ptr, bags.graphs.edge_ptr, bags.graphs.edges, node_attributes=np.ones((bags.graphs.n_nodes, 2))
    )
    constant = BagDataset(flat, bags.bag_ptr, bags.Y)
    assert np.isfinite(MIMLfast(n_epochs=1).fit(constant).decision_function(constant)).all()
    named = GraphBatch(
        bags.graphs.node_ptr, bags.graphs.edge_ptr, bags.graphs.edges, node_labels=bags.graphs.node_labels
    )
    labelled = BagDataset(named, bags.bag_ptr, bags.Y)
    assert MIMLfast(random_state=0).fit(labelled).score(labelled) > 0.8


def test_unknown_entries_are_neither_relevant_nor_irrelevant(bags):
    """With a label unknown for every bag, its weights never move from where they started."""
    Y = bags.Y.astype(float)
    Y[:, 1] = np.nan
    model = MIMLfast(n_epochs=3, average_every=10**6, random_state=0).fit(bags, Y)
    np.testing.assert_allclose(np.linalg.norm(model.W_[1], axis=-1), model.max_norm)
    again = MIMLfast(n_epochs=1, average_every=10**6, random_state=0).fit(bags, Y)
    np.testing.assert_array_equal(model.W_[1], again.W_[1])
    assert not np.array_equal(model.W_[0], again.W_[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components must be 1 or more"),
        ({"n_subconcepts": 0}, "n_subconcepts must be 1 or more"),
        ({"step_size": 0}, "step_size must be above 0"),
        ({"decay": -1}, "decay must be 0 or more"),
        ({"clip": 0}, "clip must be above 0"),
    ],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        MIMLfast(**params).fit(bags)


@pytest.mark.data
def test_msrc_v2_as_vectors_reaches_the_published_average_precision(data_folder):
    from cfmgml.datasets.miml import load_msrc_v2_miml

    bags = load_msrc_v2_miml(data_folder / "msrc_v2_miml")
    train, test = (bags.info["splits"][side][0] for side in ("train", "test"))
    assert MIMLfast(random_state=0).fit(bags[train]).score(bags[test]) > 0.67

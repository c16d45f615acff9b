"""Graphs seen together with their bag."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum, WeisfeilerLehman, gram_matrix
from cfmgml.common.compute import Compute
from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.segments import segment_ids, segment_sum
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels.context import Context, bag_lengths, bag_means, join_node_parts, join_parts
from cfmgml.kernels.context_rows import ContextRows
from cfmgml.kernels.factors import factorize
from cfmgml.learning.scoring import ExplicitScorer
from cfmgml.learning.solvers.cccp import Problem, column_squares, scores_of_rows, solve_cccp, sums_of_rows
from cfmgml.learning.training import Training
from cfmgml.model.files import load_model, save_model
from cfmgml.stores import BagStore
from needs import needs


@pytest.fixture(scope="module")
def bags():
    return load_digit_bags(subset="train", n_bags=40, random_state=0)


@pytest.fixture(scope="module")
def new():
    return load_digit_bags(subset="test", n_bags=10, random_state=1)


def written_out(K, bag_ptr, share, scale="mean"):
    """The kernel as its definition says, entry by entry."""
    bag, out = segment_ids(bag_ptr), np.empty_like(K)

    def mean(g, h):
        return K[np.ix_(bag == bag[g], bag == bag[h])].mean()

    for g, h in np.ndindex(*K.shape):
        lengths = 1.0 if scale == "mean" else np.sqrt(mean(g, g) * mean(h, h))
        out[g, h] = (1 - share) * K[g, h] + share * mean(g, h) / lengths
    return out


def test_the_kernel_written_out_by_hand(rng):
    X, bag_ptr, context = rng.normal(size=(7, 4)), np.array([0, 2, 3, 7]), Context(np.array([0, 2, 3, 7]), 0.3)
    K = X @ X.T
    np.testing.assert_allclose(context.of_gram(K), written_out(K, bag_ptr, 0.3))
    for rows in (X, sparse.csr_array(X)):
        both = context.of_rows(rows)
        both = both if rows is X else both.tocsr().toarray()
        np.testing.assert_allclose(both @ both.T, context.of_gram(K))


def test_bags_of_length_one_written_out_by_hand(rng):
    X, bag_ptr = rng.normal(size=(7, 4)), np.array([0, 2, 3, 7])
    K = X @ X.T
    lengths = np.linalg.norm(bag_means(X, bag_ptr), axis=1)
    context = Context(bag_ptr, 0.3, "unit", lengths)
    np.testing.assert_allclose(context.of_gram(K), written_out(K, bag_ptr, 0.3, "unit"))
    for rows in (X, sparse.csr_array(X)):
        both = context.of_rows(rows)
        both = both if rows is X else both.tocsr().toarray()
        np.testing.assert_allclose(both @ both.T, context.of_gram(K))
    duals = rng.normal(size=(7, 2))
    weights = context.of_rows(X).T @ duals
    np.testing.assert_allclose(X.T @ context.split_duals(duals), context.split_weights(weights))


@pytest.mark.parametrize("kernel", [NodeSum(gamma=1.0), NodeSum("linear"), WeisfeilerLehman(2)], ids=str)
def test_lengths_of_bags(bags, kernel, monkeypatch):
    monkeypatch.setattr("cfmgml.kernels.context.GRAPHS_AT_ONCE", 16)  # so that there are several runs
    K, bag = gram_matrix(kernel, bags.graphs), segment_ids(bags.bag_ptr)
    expected = [np.sqrt(K[np.ix_(bag == k, bag == k)].mean()) for k in range(bags.n_bags)]
    found = bag_lengths(kernel.resolve(bags.graphs), bags.graphs, bags.bag_ptr, Compute())
    np.testing.assert_allclose(found, expected)


def test_a_bag_in_which_nothing_is_seen_adds_nothing():
    np.testing.assert_array_equal(
        join_parts(np.ones((3, 2)), np.array([0, 2, 3]), np.array([0.0, 0.5])), [[1], [1], [3]]
    )


def test_precision_and_sparsity_stay_written_out_by_hand(rng):
    X, context = rng.normal(size=(7, 4)).astype(np.float32), Context(np.array([0, 2, 3, 7]), 0.3)
    K = X @ X.T
    before = K.copy()
    out = context.of_gram(K)
    assert out.dtype == bag_means(X, context.bag_ptr).dtype == np.float32
    np.testing.assert_array_equal(K, before)
    both = context.of_rows(sparse.csr_array(X))
    assert both.tocsr().format == "csr"
    assert both.shape == both.tocsr().shape == (7, 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bags_held_once_are_as_rows_written_out(rng, dtype):
    """All that solvers do with sparse rows."""
    sizes = np.array([0, 2, 3, 7])
    own, bags = (sparse.random_array((n, 4), density=0.6, rng=rng, format="csr") for n in (7, 3))
    rows = ContextRows(own, bags, sizes).astype(dtype)
    dense, weights, amounts = rows.tocsr().toarray(), rng.normal(size=(8, 3)), rng.normal(size=(7, 3))
    weights, amounts = weights.astype(dtype), amounts.astype(dtype)
    assert rows.dtype == dense.dtype == (rows @ weights).dtype == dtype
    np.testing.assert_allclose(rows @ weights, dense @ weights, rtol=1e-5)
    np.testing.assert_allclose(scores_of_rows(rows, weights), dense @ weights, rtol=1e-5)
    np.testing.assert_allclose(sums_of_rows(rows, amounts), dense.T @ amounts, rtol=1e-5)
    np.testing.assert_allclose(column_squares(rows), (dense**2).sum(0), rtol=1e-5)
    np.testing.assert_allclose(rows.multiply(rows).sum(axis=1), (dense**2).sum(1), rtol=1e-5)
    np.testing.assert_array_equal(rows.T.tocsr().toarray(), dense.T)


def test_another_number_of_graphs_is_not_written_out_by_hand():
    context = Context(np.array([0, 2, 3, 7]), 0.3)
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter"):
        context.of_gram(np.ones((8, 7)))
    with pytest.raises(AttributeError):
        context.share = 0.5


def test_parts_of_a_score_written_out_by_hand(rng):
    """A graph's own part, and the mean over its bag; a node's own part, and its share of that mean."""
    bag_ptr, node_ptr = np.array([0, 2, 3, 6]), np.array([0, 2, 3, 7, 8, 10, 11])
    parts, node_parts = rng.normal(size=(6, 4)), rng.normal(size=(11, 4))
    bag, graph = segment_ids(bag_ptr), segment_ids(node_ptr)
    joined, of_nodes = join_parts(parts, bag_ptr), join_node_parts(node_parts, node_ptr, bag_ptr)
    for g in range(6):
        np.testing.assert_allclose(joined[g], parts[g, :2] + parts[bag == bag[g], 2:].mean(0))
    for k in range(11):
        in_bag = (bag == bag[graph[k]]).sum()
        np.testing.assert_allclose(of_nodes[k], node_parts[k, :2] + node_parts[k, 2:] / in_bag)


def test_weights_of_both_ways_mean_the_same_scores(rng):
    X, context = rng.normal(size=(7, 4)), Context(np.array([0, 2, 3, 7]), 0.3)
    duals = rng.normal(size=(7, 2))
    weights = context.of_rows(X).T @ duals
    np.testing.assert_allclose(X.T @ context.split_duals(duals), context.split_weights(weights))


def test_no_share_changes_nothing(rng):
    X, context = rng.normal(size=(5, 3)), Context(np.array([0, 2, 5]), 0.0)
    assert context.of_gram(X) is X
    assert context.of_rows(X) is X
    assert context.split_weights(X) is X
    assert context.split_duals(X) is X


def test_the_gram_matrix_on_torchs_cpu(rng):
    torch = needs("torch")
    K, context = rng.normal(size=(7, 7)), Context(np.array([0, 2, 3, 7]), 0.3)
    K = K @ K.T
    np.testing.assert_allclose(context.of_gram(torch.tensor(K)).numpy(), context.of_gram(K))
    context = replace(context, bag_lengths=np.array([2.0, 0.5, 0.0]))
    np.testing.assert_allclose(context.of_gram(torch.tensor(K)).numpy(), context.of_gram(K))


@pytest.mark.parametrize(
    ("kernel", "how"),
    [
        (WeisfeilerLehman(2), {}),
        (WeisfeilerLehman(2), {"device": "torch:cpu"}),
        (NodeSum("linear"), {}),
        (NodeSum(gamma=1.0), {"rank": -1}),
        (NodeSum(gamma=1.0), {"device": "torch:cpu"}),
    ],
    ids=["sparse", "sparse on a device", "dense", "rank", "device"],
)
@pytest.mark.parametrize("scale", ["mean", "unit"])
def test_every_way_to_train_gives_the_same_scores(bags, new, kernel, how, scale):
    if "device" in how:
        needs("torch")
    if "rank" in how:
        how = {"rank": bags.n_graphs + how["rank"]}
    settings = {"alpha": 1e-2, "context": 0.5, "context_scale": scale, "tol": 1e-5, "max_iter": 500}
    found = CfMGML(kernel, **settings, **how).fit(bags).decision_function_graphs(new)
    expected = CfMGML(kernel.block, **settings).fit(bags).decision_function_graphs(new)
    np.testing.assert_allclose(found, expected, atol=5e-3)


@pytest.mark.parametrize("scale", ["mean", "unit"])
def test_scores_follow_from_the_kernel_written_out(bags, new, scale):
    ptr = np.concatenate([bags.bag_ptr, bags.bag_ptr[-1] + new.bag_ptr[1:]])
    graphs = type(bags.graphs).concatenate([bags.graphs, new.graphs])
    K, n = written_out(gram_matrix(NodeSum(gamma=1.0), graphs), ptr, 0.4, scale), bags.n_graphs
    how = {"tol": 1e-7, "max_iter": 2000, "context": 0.4, "context_scale": scale}
    model = CfMGML(NodeSum(gamma=1.0), alpha=1e-3, **how).fit(bags)
    factor = factorize(K[:n, :n])
    loss = Training.of(model).rank_loss(bags.bag_ptr, bags.Y, ~bags.Y, np.ones(bags.Y.shape[1]))
    solution = solve_cccp(Problem(factor.X, loss, 1e-3, True), 5, 2000, 1e-7)
    expected = K[n:, :n] @ factor.projection @ solution.coef + solution.intercept
    np.testing.assert_allclose(model.decision_function_graphs(new), expected, atol=1e-4)


def test_a_graphs_score_depends_on_its_bag_with_context_only(bags, new):
    alone = BagDataset(new.graphs, np.arange(new.n_graphs + 1))
    for context, same in ((0.0, True), (0.5, False)):
        model = CfMGML(NodeSum(), alpha=1e-3, context=context).fit(bags)
        assert np.allclose(model.decision_function_graphs(new), model.decision_function_graphs(alone)) is same


@pytest.mark.parametrize("scale", ["mean", "unit"])
@pytest.mark.parametrize("kernel", [NodeSum(), WeisfeilerLehman(2)], ids=["dual", "explicit"])
def test_explanations_add_up_with_the_other_graphs(bags, new, kernel, scale):
    model = CfMGML(kernel, alpha=1e-3, context=0.5, context_scale=scale).fit(bags)
    of_graph = segment_sum(model.explain(new), new.graphs.node_ptr)
    parts = model.scorer_.scores(new.graphs)
    _, around = np.split(parts, 2, axis=1)
    bag = segment_ids(new.bag_ptr)
    lengths = 1.0 if scale == "mean" else model.scorer_.bag_lengths(new.graphs, new.bag_ptr)
    share = (1 / (np.diff(new.bag_ptr) * lengths))[bag][:, None]
    others = (segment_sum(around, new.bag_ptr)[bag] - around) * share
    np.testing.assert_allclose(of_graph + others + model.intercept_, model.decision_function_graphs(new), atol=1e-8)


@pytest.mark.parametrize("scale", ["mean", "unit"])
@pytest.mark.parametrize("kernel", [NodeSum(), WeisfeilerLehman(2)], ids=["dual", "explicit"])
def test_files_keep_both_parts(bags, new, kernel, scale, tmp_path):
    model = CfMGML(kernel, alpha=1e-3, context=0.5, context_scale=scale).fit(bags)
    save_model(model, tmp_path / "m.cfmgml")
    again = load_model(CfMGML, tmp_path / "m.cfmgml")
    np.testing.assert_array_equal(again.decision_function_graphs(new), model.decision_function_graphs(new))
    weights = "coef" if isinstance(model.scorer_, ExplicitScorer) else "dual_coef"
    half = replace(model.scorer_, **{weights: getattr(model.scorer_, weights)[:, 1:]})
    model.learned_ = replace(model.learned_, scorer=half)
    save_model(model, tmp_path / "bad.cfmgml")
    with pytest.raises(ValueError, match="coef must be finite numbers of shape"):
        load_model(CfMGML, tmp_path / "bad.cfmgml")


def test_files_from_before_scales_have_the_mean(bags, new, tmp_path):
    model = CfMGML(WeisfeilerLehman(2), alpha=1e-3, context=0.5).fit(bags)
    model.save(tmp_path / "m.cfmgml")
    meta, arrays = load_arrays(tmp_path / "m.cfmgml", "CfMGML")
    del meta["context_scale"], meta["params"]["context_scale"]
    save_arrays(tmp_path / "old.cfmgml", "CfMGML", meta, arrays)
    found = CfMGML.load(tmp_path / "old.cfmgml").decision_function_graphs(new)
    np.testing.assert_array_equal(found, model.decision_function_graphs(new))
    save_arrays(tmp_path / "bad.cfmgml", "CfMGML", {**meta, "context_scale": "loud"}, arrays)
    with pytest.raises(ValueError, match="context_scale must be one of"):
        CfMGML.load(tmp_path / "bad.cfmgml")


def test_a_fitted_model_keeps_what_it_was_fitted_with(bags, new, tmp_path):
    model = CfMGML(NodeSum(), alpha=1e-3, context=0.5, context_scale="unit").fit(bags)
    expected = model.decision_function_graphs(new)
    model.set_params(context=0.0, context_scale="mean")  # for the next fit
    np.testing.assert_array_equal(model.decision_function_graphs(new), expected)
    model.save(tmp_path / "m.cfmgml")
    np.testing.assert_array_equal(CfMGML.load(tmp_path / "m.cfmgml").decision_function_graphs(new), expected)


def test_features_wider_than_there_are_graphs(rng):
    graphs = GraphBatch(np.arange(9), np.zeros(9, dtype=int), [[], []], None, rng.normal(size=(8, 30)))
    few = BagDataset(graphs, [0, 2, 5, 8], [[1, 0], [0, 1], [1, 1]])
    settings = {"alpha": 1e-2, "context": 0.5, "tol": 1e-6, "max_iter": 500}
    kernel = NodeSum("linear")
    scores = [CfMGML(way, **settings).fit(few).decision_function_graphs(few) for way in (kernel, kernel.block)]
    np.testing.assert_allclose(*scores, atol=1e-3)


@pytest.mark.parametrize("kernel", [NodeSum(), WeisfeilerLehman(1)], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "how",
    [{"solver": "paper"}, {"solver": "printed"}, {"dtype": "float32"}, {"probability": True}, {"refine": 2}],
    ids=str,
)
def test_other_settings_go_with_context(bags, new, kernel, how):
    model = CfMGML(kernel, alpha=1e-2, context=0.5, random_state=0, **how).fit(bags)
    assert model.decision_function(new).shape == (new.n_bags, 10)
    assert np.isfinite(model.predict_proba(new) if model.probability else model.decision_function(new)).all()


@pytest.mark.parametrize("context", [-0.1, 1.0, np.nan])
def test_bad_shares(bags, context):
    with pytest.raises(ValueError, match="context must be"):
        CfMGML(context=context).fit(bags)


def test_bad_scales(bags):
    with pytest.raises(ValueError, match="context_scale must be one of"):
        CfMGML(context=0.5, context_scale="loud").fit(bags)


def test_stores_and_streams_say_that_they_cannot(bags, tmp_path):
    bags.to_store(tmp_path / "store")
    model = CfMGML(WeisfeilerLehman(1), context=0.5)
    with pytest.raises(ValueError, match="for bags in memory"):
        model.fit(BagStore(tmp_path / "store"))
    with pytest.raises(ValueError, match="for bags in memory"):
        model.partial_fit(bags)
    assert not hasattr(model, "label_counts_")

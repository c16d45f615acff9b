"""CfMGML beyond the shared contract."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from cfmgml import BagDataset, CfMGML, GraphBatch, GraphHopper, NodeSum, ProductKernel, SumKernel, WeisfeilerLehman
from cfmgml.common.segments import segment_max, segment_sum
from cfmgml.kernels import SAVED_KERNELS
from cfmgml.learning.annotation import annotate
from cfmgml.learning.training import Training
from examples import KERNELS, random_bags, random_graphs


@pytest.fixture(scope="module")
def new():
    return random_bags(8, seed=77)


# -- scores ----------------------------------------------------------------------------------


def label_weights(class_weight, counts, names):
    return Training.of(CfMGML(class_weight=class_weight)).label_weights(counts, names)


def test_a_bag_scores_as_its_best_graph(bags, new):
    model = CfMGML(alpha=1e-3).fit(bags)
    graphs = model.decision_function_graphs(new)
    np.testing.assert_array_equal(model.decision_function(new), segment_max(graphs, new.bag_ptr))
    union = np.logical_or.reduceat(model.predict_graphs(new), new.bag_ptr[:-1])
    np.testing.assert_array_equal(model.predict(new), union)


def test_bag_order_does_not_matter(bags, new):
    order = np.random.default_rng(0).permutation(bags.n_bags)
    kernel = NodeSum(gamma=0.7)
    first = CfMGML(kernel, alpha=1e-2, max_iter=2000, tol=1e-8).fit(bags).decision_function(new)
    second = CfMGML(kernel, alpha=1e-2, max_iter=2000, tol=1e-8).fit(bags[order]).decision_function(new)
    np.testing.assert_allclose(second, first, atol=1e-3)


def test_attributes_after_fit(bags):
    model = CfMGML(alpha=1e-3).fit(bags)
    rows = model.representatives_
    assert rows.shape == bags.Y.shape
    assert (rows >= bags.bag_ptr[:-1, None]).all()
    assert (rows < bags.bag_ptr[1:, None]).all()
    scores = model.decision_function_graphs(bags)
    np.testing.assert_allclose(np.take_along_axis(scores, rows, axis=0), model.decision_function(bags))
    assert model.n_iter_ > 0
    assert model.gradient_norm_ < 1
    assert model.classes_.tolist() == ["a", "b", "c", "d"]


def test_default_kernel(bags):
    """What graphs have is compared: attributes, labels, or both where edges join them."""
    assert [type(part) for part in CfMGML().fit(bags).kernel_.kernels_] == [NodeSum, WeisfeilerLehman]
    alone = replace(bags.graphs, node_labels=None)
    assert isinstance(CfMGML().fit(replace(bags, graphs=alone)).kernel_, NodeSum)
    dots = replace(bags.graphs, edges=np.zeros((2, 0), int), edge_ptr=0 * bags.graphs.edge_ptr, edge_labels=None)
    assert isinstance(CfMGML().fit(replace(bags, graphs=dots)).kernel_, NodeSum)
    labelled = GraphBatch(bags.graphs.node_ptr, bags.graphs.edge_ptr, bags.graphs.edges, bags.graphs.node_labels)
    assert isinstance(CfMGML().fit(BagDataset(labelled, bags.bag_ptr, bags.Y)).kernel_, WeisfeilerLehman)
    bare = GraphBatch(bags.graphs.node_ptr, bags.graphs.edge_ptr, bags.graphs.edges)
    with pytest.raises(ValueError, match="neither node_attributes nor node_labels"):
        CfMGML().fit(BagDataset(bare, bags.bag_ptr, bags.Y))


def test_a_function_as_kernel(bags, new):
    def both_sizes(a, b):
        return np.exp(-(np.subtract.outer(np.diff(a.node_ptr), np.diff(b.node_ptr)) ** 2) / 4.0)

    assert CfMGML(both_sizes, alpha=1e-2).fit(bags).decision_function(new).shape == (8, 4)


def test_grid_search_reaches_into_the_kernel(bags):
    search = GridSearchCV(CfMGML(GraphHopper()), {"kernel__gamma": [0.1, 1.0], "alpha": [1e-2, 1e-3]}, cv=2)
    search.fit(bags, bags.Y)
    assert set(search.best_params_) == {"kernel__gamma", "alpha"}
    assert GridSearchCV(CfMGML(), {"alpha": [1e-2]}, cv=2).fit(bags).best_score_ > 0  # Y is in the bags


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes_agree(bags, new, dtype):
    reference = CfMGML(NodeSum(), alpha=1e-2, max_iter=2000).fit(bags).decision_function(new)
    found = CfMGML(NodeSum(), alpha=1e-2, max_iter=2000, dtype=dtype).fit(bags).decision_function(new)
    np.testing.assert_allclose(found, reference, atol=1e-2)


# -- explanations and annotation -------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in KERNELS if n not in ("product", "precomputed", "function")])
def test_explanations_add_up(bags, new, name):
    model = CfMGML(KERNELS[name](), alpha=1e-3).fit(bags)
    parts = model.explain(new)
    assert parts.shape == (new.graphs.n_nodes, 4)
    expected = model.decision_function_graphs(new) - model.intercept_
    np.testing.assert_allclose(segment_sum(parts, new.graphs.node_ptr), expected, atol=1e-8)


def test_what_cannot_be_split_says_so(bags):
    model = CfMGML(ProductKernel([NodeSum(), WeisfeilerLehman()]), alpha=1e-3).fit(bags)
    with pytest.raises(TypeError, match="not a sum over nodes"):
        model.explain(bags)


def brute_force_annotation(scores):
    """The best of all ways to give each graph one label so that every label is given."""
    import itertools

    n_graphs, n_labels = scores.shape
    ways = itertools.product(range(n_labels), repeat=n_graphs)
    covering = (way for way in ways if len(set(way)) == n_labels)
    return max(covering, key=lambda way: sum(scores[g, c] for g, c in enumerate(way)))


def test_annotation_is_the_best_that_covers(rng):
    for _ in range(50):
        n_labels = int(rng.integers(1, 4))
        n_graphs = int(rng.integers(n_labels, 6))
        scores = rng.normal(size=(n_graphs, n_labels))
        found = annotate(scores, np.array([0, n_graphs]), np.ones((1, n_labels), dtype=bool))
        assert found.sum() == n_graphs
        assert found.argmax(1).tolist() == list(brute_force_annotation(scores))


def test_annotation_with_more_labels_than_graphs(rng):
    scores = rng.normal(size=(2, 5))
    found = annotate(scores, np.array([0, 2]), np.ones((1, 5), dtype=bool))
    assert found.any(axis=0).all()
    assert found.any(axis=1).all()
    assert found.sum() == 5


def test_annotation_keeps_to_the_bags_labels(bags):
    model = CfMGML(alpha=1e-3).fit(bags)
    found = model.annotate(bags)
    np.testing.assert_array_equal(np.logical_or.reduceat(found, bags.bag_ptr[:-1]), bags.Y)
    plain = (model.predict_graphs(bags) & bags.graph_Y).sum()
    assert (found & bags.graph_Y).sum() >= plain
    none = model.annotate(bags, np.zeros_like(bags.Y))
    assert not none.any()


# -- weights, unknown labels, probabilities --------------------------------------------------


def test_class_weights():
    relevant = np.array([[1, 0], [1, 0], [1, 1]], dtype=bool)
    np.testing.assert_allclose(label_weights("balanced", relevant.sum(0), ["a", "b"]), [2 / 3, 2])
    np.testing.assert_allclose(label_weights({"b": 3}, relevant.sum(0), ["a", "b"]), [1, 3])
    np.testing.assert_allclose(label_weights([1, 2], relevant.sum(0), ["a", "b"]), [1, 2])
    for wrong, message in [
        ("even", "balanced"),
        ({"x": 1}, r"not there: \['x'\]"),
        ([1], "each of 2 labels"),
        ([1, -1], "0 or more"),
    ]:
        with pytest.raises(ValueError, match=message):
            label_weights(wrong, relevant.sum(0), ["a", "b"])


def test_weight_moves_the_balance(bags):
    light = CfMGML(alpha=1e-2, class_weight={"a": 0.01}).fit(bags).decision_function(bags)[:, 0]
    heavy = CfMGML(alpha=1e-2, class_weight={"a": 10}).fit(bags).decision_function(bags)[:, 0]
    assert light.mean() < heavy.mean()


def test_unknown_entries_drop_out(bags):
    """An entry that is not known has no say: whatever stands there, the model is the same."""
    hidden = np.random.default_rng(0).random(bags.Y.shape) < 0.3
    models = []
    for filler in (0, 1):
        Y = np.ma.masked_array(np.where(hidden, filler, bags.Y), mask=hidden)
        models.append(CfMGML(alpha=1e-3).fit(bags, Y).decision_function(bags))
    np.testing.assert_array_equal(*models)
    assert CfMGML(alpha=1e-3).fit(bags, np.where(hidden, np.nan, bags.Y)).decision_function(bags).shape == bags.Y.shape
    model = CfMGML(alpha=1e-3).fit(bags)
    whole = ~hidden.any(axis=1)
    assert model.score(bags, np.where(hidden, np.nan, bags.Y)) == model.score(bags[whole])
    with pytest.raises(ValueError, match="labels are all known, and there is none"):
        model.score(bags, np.full(bags.Y.shape, np.nan))


def test_probabilities(bags, new):
    model = CfMGML(NodeSum(), alpha=1e-3, probability=True, random_state=0).fit(bags)
    graphs, whole = model.predict_proba_graphs(new), model.predict_proba(new)
    assert ((graphs >= 0) & (graphs <= 1)).all()
    none = np.exp(segment_sum(np.log1p(-graphs), new.bag_ptr))
    np.testing.assert_allclose(whole, 1 - none, atol=1e-9)
    assert whole[new.Y].mean() > whole[~new.Y].mean() + 0.3
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        CfMGML().fit(bags).predict_proba(new)
    assert "fit it with CfMGML(probability=True)" in str(caught.value.__cause__)
    with pytest.raises(ValueError, match="at least two bags"):
        CfMGML(probability=True).fit(bags[:1])


def test_probabilities_are_calibrated():
    """Over many held-out bags, labels given probability p occur about p of the time."""
    train, test = random_bags(120, seed=1), random_bags(200, seed=2)
    noisy = train.Y ^ (np.random.default_rng(0).random(train.Y.shape) < 0.15)
    model = CfMGML(alpha=1e-2, probability=True, random_state=0).fit(train, noisy)
    truth = test.Y ^ (np.random.default_rng(1).random(test.Y.shape) < 0.15)
    given = model.predict_proba(test)
    for low, high in [(0.0, 0.3), (0.3, 0.7), (0.7, 1.0)]:
        inside = (given >= low) & (given <= high)
        if inside.sum() > 40:
            assert truth[inside].mean() == pytest.approx(given[inside].mean(), abs=0.12)


def test_calibration_gradient(bags):
    from scipy.optimize import approx_fprime

    from cfmgml.learning.calibration import _negative_log_likelihood

    margins = np.random.default_rng(0).normal(size=(bags.n_graphs, 4))
    known = np.random.default_rng(1).random(bags.Y.shape) < 0.8

    def value(x):
        return _negative_log_likelihood(x.reshape(-1, 4), bags.bag_ptr, bags.Y, known)[0]

    expected = approx_fprime(margins.ravel(), value, 1e-6)
    found = _negative_log_likelihood(margins, bags.bag_ptr, bags.Y, known)[1]
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-5)


# -- parameters and files --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "sgd"}, "solver must be one of"),
        ({"alpha": 0}, "alpha must be above 0"),
        ({"device": "gpu"}, "device must be 'cpu'"),
        ({"n_rounds": 0}, "n_rounds must be 1 or more"),
        ({"rank": 0}, "rank must be 1 or more"),
        ({"loss": "log"}, "loss must be one of"),
        ({"irrelevant": "none"}, "irrelevant must be one of"),
        ({"dtype": "int8"}, "float32 or float64"),
    ],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        CfMGML(**params).fit(bags)


@pytest.mark.parametrize("name", [n for n in KERNELS if n != "function"])
def test_file_round_trip(bags, new, name, tmp_path):
    path = tmp_path / "model.cfmgml"
    model = CfMGML(
        KERNELS[name](), alpha=1e-3, class_weight=[1, 1, 2, 1], probability=name == "wl", random_state=0
    ).fit(bags)
    model.save(path)
    again = CfMGML.load(path)
    np.testing.assert_array_equal(again.decision_function_graphs(new), model.decision_function_graphs(new))
    assert again.label_names_.tolist() == model.label_names_.tolist()
    assert again.alpha == model.alpha
    assert again.fingerprint_ == bags.fingerprint()
    if name == "wl":
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    if again.kernel_.is_additive:
        np.testing.assert_allclose(again.explain(new), model.explain(new))


def test_paper_round_trip(bags, tmp_path):
    model = CfMGML(alpha=1e-2, solver="paper", n_rounds=2, random_state=3).fit(bags)
    model.save(tmp_path / "m")
    assert np.isnan(CfMGML.load(tmp_path / "m").gradient_norm_)


def test_what_cannot_be_saved(bags, tmp_path):
    model = CfMGML(lambda a, b: np.ones((a.n_graphs, b.n_graphs)), alpha=1e-1).fit(bags)
    with pytest.raises(TypeError, match="cannot be saved: a file holds arrays and numbers, not code"):
        model.save(tmp_path / "m")
    with pytest.raises(NotFittedError):
        CfMGML().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    assert set(SAVED_KERNELS) >= {"GraphHopper", "WeisfeilerLehman"}


def test_damaged_models_are_refused(bags, tmp_path):
    from cfmgml.common.files import save_arrays

    save_arrays(tmp_path / "m", "CfMGML", {"kernel": {"class": "os.system", "params": {}}}, {})
    with pytest.raises(ValueError, match="kernel cannot be read"):
        CfMGML.load(tmp_path / "m")
    save_arrays(tmp_path / "m", "CfMGML", {}, {})
    with pytest.raises(ValueError, match="does not hold a whole CfMGML model"):
        CfMGML.load(tmp_path / "m")
    bags.save(tmp_path / "b")
    with pytest.raises(ValueError, match=r"holds bags \(a BagDataset\), not a model"):
        CfMGML.load(tmp_path / "b")


def test_verbose_writes_to_stderr_only(bags, capsys):
    CfMGML(alpha=1e-2, verbose=True).fit(bags)
    assert capsys.readouterr().out == ""


def test_other_attributes_are_refused(bags):
    model = CfMGML(NodeSum(), alpha=1e-2).fit(bags)
    graphs = random_graphs(2)
    wide = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=np.zeros((graphs.n_nodes, 7)))
    with pytest.raises(ValueError, match="resolved on graphs with 2 attributes, these have 7"):
        model.predict(BagDataset(wide, [0, 2]))


def test_sum_of_kernels_learns(bags, new):
    model = CfMGML(SumKernel([GraphHopper(), NodeSum()]), alpha=1e-3).fit(bags)
    assert model.score(new) > 0.7


def test_labels_are_matched_by_name(bags):
    """Bags with the labels in another order are measured all the same; bags with other labels are refused."""
    model = CfMGML(alpha=1e-3).fit(bags)
    order = [2, 0, 3, 1]
    turned = BagDataset(bags.graphs, bags.bag_ptr, bags.Y[:, order], label_names=bags.label_names[order])
    assert model.score(turned) == model.score(bags)
    np.testing.assert_array_equal(model.annotate(turned), model.annotate(bags))
    other = BagDataset(bags.graphs, bags.bag_ptr, bags.Y, label_names=list("wxyz"))
    with pytest.raises(ValueError, match="these bags have the labels .* the model learned"):
        model.score(other)
    with pytest.raises(ValueError, match="one column for each of 4 labels, got 2"):
        model.annotate(bags, bags.Y[:, :2])


def test_a_failed_fit_leaves_the_model_as_it_was(bags):
    with pytest.raises(ValueError, match="alpha must be above 0"):
        CfMGML(alpha=-1).fit(bags)
    model = CfMGML(alpha=-1)
    with pytest.raises(ValueError, match="alpha"):
        model.fit(bags)
    with pytest.raises(NotFittedError):
        model.predict(bags)


def test_numpy_numbers_as_parameters_are_saved(bags, tmp_path):
    options = {"alpha": np.float32(1e-3), "rank": np.int64(20), "max_iter": np.int64(50), "random_state": np.int64(3)}
    model = CfMGML(NodeSum(), **options).fit(bags)
    model.save(tmp_path / "m")
    again = CfMGML.load(tmp_path / "m")
    assert (again.rank, again.max_iter, again.random_state) == (20, 50, 3)


def test_bags_travel_to_other_processes(bags):
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(bags)).fingerprint() == bags.fingerprint()
    assert copy.deepcopy(bags).info == bags.info


@pytest.mark.parametrize("params", [{"alpha": "1"}, {"max_iter": 2.5}, {"rank": 2.5}])
def test_parameters_of_the_wrong_type(bags, params):
    with pytest.raises(TypeError, match="must be a (whole )?number"):
        CfMGML(**params).fit(bags)


@pytest.mark.parametrize("params", [{"alpha": np.inf}, {"temperature": np.nan}, {"tol": np.nan}])
def test_parameters_that_are_not_finite(bags, params):
    with pytest.raises(ValueError, match="must be finite"):
        CfMGML(**params).fit(bags)


def test_probabilities_are_offered_only_where_asked_for(bags):
    assert not hasattr(CfMGML(), "predict_proba")
    assert hasattr(CfMGML(probability=True), "predict_proba")
    assert label_weights({9: 2.0}, np.ones(2), ["8", "9"]).tolist() == [1, 2]

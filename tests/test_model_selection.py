"""Kernels by name, and alpha by inner cross-validation."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from cfmgml import CfMGML, GraphHopper, NodeSum, SumKernel, WeisfeilerLehman
from cfmgml.checks import check_bag_estimator
from cfmgml.data.builder import known_builder
from cfmgml.datasets import bags_from_images, bags_from_texts, load_digit_bags
from cfmgml.learning.ways import ways
from cfmgml.metrics import bag_report
from cfmgml.model_selection import (
    CfMGMLCV,
    candidate_kernels,
    choose_alpha,
    choose_kernel_and_alpha,
    choose_way,
    kernel_named,
)
from cfmgml.model_selection.alphas import can_choose, sample_of
from examples import random_bags
from made_up import rings_and_chains


def test_alpha_is_what_a_grid_search_would_choose():
    """The Gram matrix is computed once, so gamma must be given to compare."""
    bags = load_digit_bags(n_bags=45, random_state=2)
    alphas = [1e-2, 1e-4]
    model = CfMGML(NodeSum(gamma=1.0), max_iter=40)
    choice = choose_alpha(model, bags, alphas, random_state=3)
    search = GridSearchCV(model, {"alpha": alphas}, cv=KFold(3, shuffle=True, random_state=3), refit=False)
    search.fit(bags, bags.Y)
    assert choice.alpha == search.best_params_["alpha"]
    np.testing.assert_allclose(list(choice.scores.values()), search.cv_results_["mean_test_score"], atol=0.02)
    assert str(choice).startswith(f"alpha {choice.alpha:g} (average precision of held-out bags by alpha: 0.01: ")


def test_the_gram_matrix_is_computed_once(monkeypatch):
    calls = []
    original = NodeSum.tile
    monkeypatch.setattr(NodeSum, "tile", lambda self, *sides: calls.append(1) or original(self, *sides))
    bags = random_bags(12)
    choose_alpha(CfMGML(NodeSum(), max_iter=5), bags, [1e-1, 1e-2, 1e-3])
    once = len(calls)
    choose_alpha(CfMGML(NodeSum(), max_iter=5), bags, [1e-1])
    assert len(calls) == 2 * once > 0


def test_selections_of_bags_are_numbered_anew():
    """Their graph_ids are not rows of the Gram matrix."""
    bags = random_bags(30)[np.arange(29, 9, -1)]
    assert choose_alpha(CfMGML(NodeSum(), max_iter=5), bags, [1e-2]).alpha == 1e-2


def test_explicit_kernels_and_unknown_labels():
    bags = random_bags(16)
    known = np.ones(bags.Y.shape, dtype=bool)
    known[:4, 0] = False
    done = []
    model = CfMGML(WeisfeilerLehman(1), max_iter=5)
    choose_alpha(model, replace(bags, Y_known=known), [1e-2], on_fold=lambda: done.append(1))
    assert len(done) == 3
    with pytest.raises(ValueError, match="needs bags whose labels are all known"):
        choose_alpha(model, replace(bags, Y_known=np.eye(16, 4, dtype=bool)), [1e-2])


def test_thresholds_come_with_alpha_from_the_same_fits(monkeypatch):
    bags = load_digit_bags(n_bags=60, random_state=0)
    soft = CfMGML(NodeSum(), loss="hamming", term_weights="sum", class_weight="balanced")
    fits = []
    original = CfMGML.fit_path
    monkeypatch.setattr(CfMGML, "fit_path", lambda self, *given: fits.append(1) or original(self, *given))
    choice = choose_alpha(soft, bags, [0.03])
    assert len(fits) == 3
    assert choice.macro_f1["counts"] > choice.macro_f1["zero"] + 0.1
    model = clone(soft).set_params(alpha=0.03, thresholds=choice.thresholds).fit(bags)
    assert model.thresholds_.tolist() == list(choice.thresholds.values())
    assert list(choice.thresholds) == bags.label_names.tolist()
    new = load_digit_bags(subset="test", n_bags=60, random_state=0)
    scores = model.decision_function(new)
    f1 = [bag_report(new.Y, scores, predicted)["macro_f1"] for predicted in (scores > 0, model.predict(new))]
    assert f1[1] > f1[0] + 0.1


def test_no_thresholds_where_they_do_not_help():
    choice = choose_alpha(CfMGML(NodeSum()), load_digit_bags(n_bags=60, random_state=0), [1e-4])
    assert choice.macro_f1["counts"] <= choice.macro_f1["zero"]
    assert choice.thresholds is None


def test_too_little_to_choose_from():
    with pytest.raises(ValueError, match="needs at least two bags, got 1"):
        choose_alpha(CfMGML(), random_bags(1))
    with pytest.raises(ValueError, match="at least one value"):
        choose_alpha(CfMGML(), random_bags(4), [])


def test_kernels_by_name():
    bags = load_digit_bags(n_bags=2)
    texts = bags_from_texts(["Graph kernels compare graphs."])
    assert [type(part) for part in kernel_named("auto", bags).parts] == [NodeSum, WeisfeilerLehman]
    assert kernel_named("hopper", bags, gamma=2.0).gamma == 2.0
    assert kernel_named("nodes", bags_from_images([np.zeros((30, 40, 3), dtype=np.uint8)])).gamma == 0.7
    assert isinstance(kernel_named("both", bags), SumKernel)
    assert kernel_named("wl", bags).get_params() == {
        "n_iter": 5, "tfidf": False, "edge_labels": False, "min_graphs": 1,
    }  # fmt: skip
    assert kernel_named("auto", texts).get_params() == {
        "n_iter": 0, "tfidf": True, "edge_labels": False, "min_graphs": 2,
    }  # fmt: skip
    assert kernel_named("wl", bags, edge_labels="directed").edge_labels == "directed"
    assert kernel_named("wl", texts, n_iter=3).n_iter == 3
    assert isinstance(kernel_named("hopper", texts), GraphHopper)
    assert kernel_named("hopper", texts).node_kernel == "delta"
    with pytest.raises(ValueError, match="kernel must be one of auto, nodes, hopper, wl, minmax, both, got 'best'"):
        kernel_named("best", bags)


# -- kernels by inner folds ------------------------------------------------------------------


def with_attributes(n_bags, seed=0):
    """Rings and chains, told apart by their edges alone: attributes are noise."""
    bags, _ = rings_and_chains(n_bags, seed)
    noise = np.random.default_rng(seed).normal(size=(bags.graphs.n_nodes, 2))
    return replace(bags, graphs=replace(bags.graphs, node_attributes=noise))


def test_which_kernels_are_tried():
    """Those that the graphs have enough for: nodes, labels and neighbourhoods, and their sum."""
    bags = random_bags(4)
    cases = [
        (["node_labels"], ["nodes"]),
        (["node_attributes", "edge_labels"], ["wl"]),
        (["node_attributes"], ["wl", "wl with edge labels"]),
        (["edge_labels"], ["nodes", "wl", "nodes + wl"]),
        ([], ["nodes", "wl with edge labels", "nodes + wl with edge labels"]),
    ]
    for missing, expected in cases:
        graphs = replace(bags.graphs, **dict.fromkeys(missing))
        found = candidate_kernels(replace(bags, graphs=graphs), gamma=2.0, n_iter=2)
        assert list(found) == expected
        assert all(getattr(kernel, "gamma", 2.0) == 2.0 for kernel in found.values())
    assert found["wl with edge labels"].get_params() == {
        "n_iter": 2, "tfidf": False, "edge_labels": True, "min_graphs": 1,
    }  # fmt: skip
    assert list(candidate_kernels(bags, edge_labels=False)) == ["nodes", "wl", "nodes + wl"]
    ways = replace(bags.graphs, edge_labels=np.arange(bags.graphs.n_edges))
    found = candidate_kernels(replace(bags, graphs=ways))
    assert found["wl with edge labels"].edge_labels == "directed"


def test_the_kernel_that_sees_what_labels_are_about_is_chosen():
    bags = with_attributes(40)
    kernels = candidate_kernels(bags, n_iter=2)
    done = []
    choice = choose_kernel_and_alpha(CfMGML(max_iter=40), bags, kernels, [1e-2, 1e-3], on_fold=lambda: done.append(1))
    best = {name: max(tried.scores.values()) for name, tried in choice.tried.items()}
    assert choice.name == "wl"
    assert best["wl"] > best["nodes"] + 0.1
    assert choice.alpha == choice.tried["wl"].alpha
    assert len(done) == 9
    lines = str(choice).split("\n")
    assert [line.split("  ")[0] for line in lines] == ["kernel", "nodes", "wl", "nodes + wl"]
    assert [line.endswith("taken") for line in lines] == [False, False, True, False]


def test_shared_values_are_those_of_each_kernel():
    """Values of a sum come from its parts'; the scores are as if each kernel were tried by itself."""
    bags, alphas = with_attributes(24, seed=3), [1e-2, 1e-3]
    kernels = candidate_kernels(bags, gamma=1.0, n_iter=1)
    choice = choose_kernel_and_alpha(CfMGML(max_iter=30), bags, kernels, alphas)
    for name in ("nodes", "nodes + wl"):
        alone = choose_alpha(CfMGML(kernels[name], max_iter=30), bags, alphas)
        assert choice.tried[name].scores == pytest.approx(alone.scores, abs=1e-9)


def test_kernels_with_features_are_tried_by_them(monkeypatch):
    bags = random_bags(12)
    bags = replace(bags, graphs=replace(bags.graphs, node_attributes=None))
    monkeypatch.setattr(WeisfeilerLehman, "tile", None)
    choice = choose_kernel_and_alpha(CfMGML(max_iter=5), bags, candidate_kernels(bags, n_iter=1), [1e-2])
    assert list(choice.tried) == ["wl", "wl with edge labels"]


def test_texts_let_the_whole_speak_as_loudly_as_a_part():
    texts, numbers = bags_from_texts(["Warm hands."]).builder, random_bags(2).builder
    scales = [known_builder(builder).context_scale for builder in (texts, numbers)]
    assert scales == ["unit", "mean"]
    settings = {name: way.settings for name, way in ways(scale="unit").items()}
    assert [name for name in settings if "context_scale" in settings[name]] == ["once, balanced, context 0.6"]
    assert settings["once, balanced, context 0.6"]["context_scale"] == "unit"


def test_the_way_that_is_best_on_held_out_bags_is_chosen():
    """Each is measured as if it were tried by itself, over kernel values that are computed once."""
    bags, tried = random_bags(16), ways(context=0.0)
    choice = choose_way(CfMGML(NodeSum(), max_iter=20), bags, tried)
    for name, way in tried.items():
        alone = choose_alpha(CfMGML(NodeSum(), max_iter=20, **way.settings), bags, way.alphas)
        assert choice.tried[name].scores == pytest.approx(alone.scores, abs=1e-9)
    best = max(max(one.scores.values()) for one in choice.tried.values())
    assert choice.tried[choice.name].scores[choice.alpha] == best
    assert str(choice).split("  ")[0] == "way to learn"
    assert "average precision of held-out bags" in str(choice).splitlines()[0]


def test_what_can_be_chosen_on():
    bags = random_bags(9)
    assert can_choose(bags)
    assert not can_choose(bags[:1])
    assert not can_choose(replace(bags, Y_known=np.eye(9, 4, dtype=bool)))
    assert sample_of(bags, 1000) is bags
    few = sample_of(bags, bags.n_graphs // 2)
    assert 1 <= few.n_bags < 9
    assert few.graphs.graph_ids.tolist() == sample_of(bags, bags.n_graphs // 2).graphs.graph_ids.tolist()


def test_the_model_that_chooses_is_what_it_chose():
    bags = load_digit_bags(n_bags=40, random_state=1)
    model = CfMGMLCV(NodeSum(gamma=1.0), context=0.3, n_measured=1).fit(bags[:30])
    chosen = model.choice_
    assert set(chosen.tried) == set(ways(context=0.3))
    settings = ways(context=0.3)[chosen.name].settings
    by_hand = CfMGML(NodeSum(gamma=1.0), alpha=chosen.alpha, random_state=0, **settings).fit(bags[:30])
    np.testing.assert_array_equal(model.decision_function(bags[30:]), by_hand.decision_function(bags[30:]))
    np.testing.assert_array_equal(model.predict_graphs(bags[30:]), by_hand.predict_graphs(bags[30:]))


def test_on_how_many_folds_is_measured():
    bags, done = random_bags(16), []
    choose_alpha(CfMGML(max_iter=5), bags, [1e-2], n_folds=4, n_measured=2, on_fold=lambda: done.append(1))
    assert len(done) == 2


@pytest.mark.slow
def test_the_model_that_chooses_keeps_the_contract():
    check_bag_estimator(CfMGMLCV(context=0.0, refine=0, n_folds=2), atol=1e-8)

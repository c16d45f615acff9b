"""Kernels by name, and alpha by inner cross-validation."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from cfmgml import CfMGML, GraphHopper, NodeSum, SumKernel, WeisfeilerLehman
from cfmgml.datasets import bags_from_images, bags_from_texts, load_digit_bags
from cfmgml.model_selection import choose_alpha, kernel_named
from examples import random_bags


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


def test_too_little_to_choose_from():
    with pytest.raises(ValueError, match="needs at least two bags, got 1"):
        choose_alpha(CfMGML(), random_bags(1))
    with pytest.raises(ValueError, match="at least one value"):
        choose_alpha(CfMGML(), random_bags(4), [])


def test_kernels_by_name():
    bags = load_digit_bags(n_bags=2)
    texts = bags_from_texts(["Graph kernels compare graphs."])
    assert isinstance(kernel_named("auto", bags), NodeSum)
    assert kernel_named("hopper", bags, gamma=2.0).gamma == 2.0
    assert kernel_named("nodes", bags_from_images([np.zeros((30, 40, 3), dtype=np.uint8)])).gamma == 0.7
    assert isinstance(kernel_named("both", bags), SumKernel)
    assert kernel_named("wl", bags).get_params() == {"n_iter": 5, "tfidf": False}
    assert kernel_named("auto", texts).get_params() == {"n_iter": 1, "tfidf": True}
    assert kernel_named("wl", texts, n_iter=3).n_iter == 3
    assert isinstance(kernel_named("hopper", texts), GraphHopper)
    assert kernel_named("hopper", texts).node_kernel == "delta"
    with pytest.raises(ValueError, match="kernel must be one of auto, nodes, hopper, wl, both, got 'best'"):
        kernel_named("best", bags)

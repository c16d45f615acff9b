"""Several alphas: one model, the mean of those for each."""

import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum, WeisfeilerLehman
from cfmgml.datasets import bags_from_texts, load_digit_bags
from cfmgml.model_selection import choose_alpha
from cfmgml.model_selection.alphas import fit_as_chosen
from cfmgml.stores import BagStore

ALPHAS = (1e-2, 1e-3, 1e-4)
TEXTS = ["Genes mutate. Cells grow.", "Queries run. Tables join.", "Genes grow and mutate.", "Tables run queries."] * 3
HOW = {
    "plain": {},
    "counts": {"thresholds": "counts"},
    "probability": {"probability": True},
    "refined": {"refine": 2, "context": 0.6},
    "paper": {"solver": "paper", "max_iter": 5},
}


def digits():
    return load_digit_bags(n_bags=15, random_state=0), NodeSum()


def texts():
    labels = [[1, 0], [0, 1], [1, 0], [0, 1]] * 3
    return bags_from_texts(TEXTS, labels), WeisfeilerLehman(1)


@pytest.mark.parametrize("given", [digits, texts])
@pytest.mark.parametrize("how", HOW)
def test_it_scores_as_the_mean_of_a_path(given, how):
    bags, kernel = given()
    model = CfMGML(kernel, random_state=0, **{"max_iter": 30, **HOW[how]})
    path = model.fit_path(bags, ALPHAS)
    mean = model.set_params(alpha=ALPHAS).fit(bags)
    means = np.mean([one.decision_function_graphs(bags) for one in path], axis=0)
    assert np.abs(mean.decision_function_graphs(bags) - means).max() < 1e-9
    assert not np.allclose(means, path[0].decision_function_graphs(bags))
    contributions = np.add.reduceat(mean.explain(bags), bags.graphs.node_ptr[:-1], axis=0)
    if "context" not in HOW[how]:
        assert np.allclose(contributions + mean.intercept_, means)
    assert mean.objective_.tolist() == path[-1].objective_.tolist()
    assert mean.n_iter_ == sum(one.n_iter_ for one in path)


@pytest.mark.slow
def test_probabilities_and_thresholds_are_those_of_the_means_held_out_scores():
    bags, kernel = digits()
    means = CfMGML(kernel, ALPHAS, probability=True, thresholds="counts", random_state=0).fit(bags)
    alone = CfMGML(kernel, ALPHAS[-1], probability=True, thresholds="counts", random_state=0).fit(bags)
    assert 0 <= means.predict_proba(bags).min() <= means.predict_proba(bags).max() <= 1
    assert not np.allclose(means.calibration_.slope, alone.calibration_.slope)
    assert (means.thresholds_ <= 0).all()


def test_a_path_may_have_both_and_learns_with_each_alpha_once():
    bags, kernel = digits()
    one, several, other = CfMGML(kernel).fit_path(bags, [1e-4, (1e-2, 1e-4), 1e-2])
    assert (one.alpha, several.alpha, other.alpha) == (1e-4, (1e-2, 1e-4), 1e-2)
    means = (one.decision_function_graphs(bags) + other.decision_function_graphs(bags)) / 2
    assert np.allclose(several.decision_function_graphs(bags), means)
    assert several.n_iter_ == one.n_iter_ + other.n_iter_


def test_it_is_saved_whole(tmp_path):
    bags, kernel = digits()
    model = CfMGML(kernel, ALPHAS).fit(bags)
    model.save(tmp_path / "mean.cfmgml")
    loaded = CfMGML.load(tmp_path / "mean.cfmgml")
    assert loaded.alpha == ALPHAS
    assert (loaded.decision_function(bags) == model.decision_function(bags)).all()


@pytest.mark.parametrize(("alpha", "told"), [((1e-2, -1.0), "must be above 0"), ((), "got none"), ([1e-2], "[0.")])
def test_what_is_no_alpha_is_refused(alpha, told):
    bags, kernel = digits()
    with pytest.raises((ValueError, TypeError), match=told.replace("[", r"\[")):
        CfMGML(kernel, alpha).fit(bags)


def test_stores_and_streams_refuse_several(tmp_path):
    bags, kernel = texts()
    bags.to_store(tmp_path / "store", graphs_per_partition=10)
    for learn in (CfMGML(kernel, ALPHAS).fit, CfMGML(kernel, ALPHAS).partial_fit):
        with pytest.raises(ValueError, match=r"alpha=\(0.01, 0.001, 0.0001\) is for bags in memory"):
            learn(BagStore(tmp_path / "store"))


def test_the_mean_is_chosen_where_it_ranks_best():
    bags, kernel = digits()
    choice = choose_alpha(CfMGML(kernel), bags, [1e-1, 1e-3, (1e-1, 1e-3)])
    assert list(choice.scores) == [1e-1, 1e-3, (1e-1, 1e-3)]
    assert "mean of 0.1, 0.001: 0." in str(choice)
    taken = type(choice)((1e-1, 1e-3), choice.scores)
    model = fit_as_chosen(CfMGML(kernel), bags, taken)
    path = CfMGML(kernel).fit_path(bags, [1e-1, 1e-3])
    means = np.mean([one.decision_function_graphs(bags) for one in path], axis=0)
    assert np.allclose(model.decision_function_graphs(bags), means)

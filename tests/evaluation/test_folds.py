"""Folds: every bag is tested once, nobody is trained on what is tested, and shared graphs stay on one side."""

from dataclasses import replace

import numpy as np
import pytest

from cfmgml.datasets import load_digit_bags, seen_graphs
from cfmgml.evaluation.folds import FoldPlan, make_folds, n_left_out, share_matrix


@pytest.fixture(scope="module")
def bags():
    return load_digit_bags(n_bags=60, random_state=1)


@pytest.fixture(scope="module")
def lightly_shared(bags):
    """Bags in pairs that share a graph."""
    names = np.array([f"g{k}" for k in range(bags.n_graphs)])
    first = bags.bag_ptr[:-1]
    names[first[1::2]] = names[first[::2]]
    return replace(bags, graph_names=names)


@pytest.mark.parametrize("scheme", ["bags", "disjoint"])
def test_every_bag_is_tested_once(lightly_shared, scheme):
    folds = make_folds(lightly_shared, FoldPlan(scheme, 5, 3))
    outer = [fold for fold in folds if fold.inner is None]
    assert len(outer) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in outer])), np.arange(60))
    for fold in outer:
        inner = [own for own in folds if own.outer == fold.outer and own.inner is not None]
        assert [own.inner for own in inner] == [0, 1, 2]
        np.testing.assert_array_equal(np.sort(np.concatenate([own.test for own in inner])), fold.train)
        for own in [fold, *inner]:
            assert not np.intersect1d(own.train, own.test).size
            assert np.isin(own.train, fold.train).all()


def test_disjoint_folds_share_no_graph(lightly_shared):
    folds = make_folds(lightly_shared, FoldPlan("disjoint", 5, 3))
    assert not any(seen_graphs(lightly_shared[fold.train], lightly_shared[fold.test]).any() for fold in folds)
    over_bags = make_folds(lightly_shared, FoldPlan("bags", 5, 3))
    assert any(seen_graphs(lightly_shared[fold.train], lightly_shared[fold.test]).any() for fold in over_bags)
    outer = [fold for fold in folds if fold.inner is None]
    assert sum(n_left_out(fold, 60) for fold in outer) <= 5  # pairs are kept together but at the borders
    assert all(n_left_out(fold, 60) == 0 for fold in over_bags if fold.inner is None)


def test_seeds(bags):
    def tests(seed):
        return [fold.test.tolist() for fold in make_folds(bags, FoldPlan(seed=seed))]

    assert tests(0) == tests(0)
    assert tests(0) != tests(1)


def test_share_matrix(lightly_shared):
    shares = share_matrix(lightly_shared).toarray()
    expected = np.kron(np.eye(30), np.ones((2, 2)))
    np.testing.assert_array_equal(shares, expected)


def test_what_cannot_be_split(bags):
    with pytest.raises(ValueError, match="n_folds must be 2 to 60"):
        make_folds(bags, FoldPlan(n_folds=61))
    with pytest.raises(ValueError, match="scheme must be one of"):
        make_folds(bags, FoldPlan("groups"))
    with pytest.raises(ValueError, match="graph_names"):
        make_folds(replace(bags, graph_names=None), FoldPlan("disjoint"))
    same = replace(bags, graph_names=np.array(["same"] * bags.n_graphs))
    with pytest.raises(ValueError, match="no folds that share none"):
        make_folds(same, FoldPlan("disjoint"))

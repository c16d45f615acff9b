"""Merging the columns that one row has alone changes nothing but the number of columns."""

import numpy as np
import pytest
from scipy import sparse

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.common.compute import USUAL
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels.context import Context
from cfmgml.learning.scoring import training_rows
from cfmgml.learning.unshared_columns import merge_unshared_columns


@pytest.fixture
def rows(rng):
    dense = rng.normal(size=(12, 60)) * (rng.random((12, 60)) < 0.08)
    dense[3] = 0.0
    return sparse.csr_array(dense)


def test_products_of_rows_stay(rows):
    merged, columns = merge_unshared_columns(rows)
    assert merged.indices.dtype == rows.indices.dtype
    assert merged.shape[1] == len(columns.shared) + len(np.unique(columns.merged)) < rows.shape[1]
    np.testing.assert_allclose((merged @ merged.T).toarray(), (rows @ rows.T).toarray(), atol=1e-12)


def test_weights_mean_the_same_before_and_after(rows, rng):
    merged, columns = merge_unshared_columns(rows)
    weights = rng.normal(size=(merged.shape[1], 2))
    spread = columns.spread(weights)
    np.testing.assert_allclose(rows @ spread, merged @ weights)
    np.testing.assert_allclose(np.linalg.norm(spread), np.linalg.norm(weights))


def test_rows_without_unshared_columns_get_no_column():
    rows = sparse.csr_array(np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]))
    merged, columns = merge_unshared_columns(rows)
    assert merged.toarray().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert columns.spread(np.ones((2, 1)))[:, 0].tolist() == [1.0, 1.0, 0.0]


def test_zeros_that_are_written_down(rng):
    rows = sparse.csr_array((np.array([0.0, 1.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 3))
    merged, columns = merge_unshared_columns(rows)
    assert merged.toarray().tolist() == [[1.0], [2.0]]
    assert np.isfinite(columns.spread(np.ones((1, 1)))).all()


@pytest.mark.parametrize("solver", [pytest.param("cccp", marks=pytest.mark.slow), "paper"])
def test_a_model_of_merged_columns_scores_as_one_of_the_gram_matrix(solver):
    bags = load_digit_bags(subset="train", n_bags=40, random_state=0)
    new = load_digit_bags(subset="test", n_bags=10, random_state=1)
    wl = WeisfeilerLehman(2)
    how = {"alpha": 1e-3, "tol": 1e-7, "max_iter": 2000, "solver": solver, "random_state": 0}
    if solver == "paper":
        how["max_iter"] = 20
    explicit = CfMGML(wl, **how).fit(bags)
    by_gram = CfMGML(wl.block, **how).fit(bags)
    assert explicit.scorer_.coef.shape[0] == explicit.kernel_.features(bags.graphs).shape[1]
    tight = 1e-8 if solver == "paper" else 1e-3
    found, expected = explicit.decision_function_graphs(new), by_gram.decision_function_graphs(new)
    np.testing.assert_allclose(found, expected, atol=tight)


def test_solvers_see_fewer_columns():
    bags = load_digit_bags(subset="train", n_bags=60, random_state=0)
    kernel = WeisfeilerLehman(3).resolve(bags.graphs)
    train = training_rows(kernel, bags.graphs, Context(bags.bag_ptr, 0.0), USUAL)
    having = np.bincount(train.features.indices)
    assert train.rows.shape[1] <= (having > 1).sum() + bags.n_graphs < 0.2 * len(having)
    with_context = training_rows(kernel, bags.graphs, Context(bags.bag_ptr, 0.5), USUAL)
    assert with_context.rows.shape[1] == 2 * train.rows.shape[1]

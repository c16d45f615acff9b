"""Hashed Weisfeiler-Lehman features: the same everywhere, and close to the exact ones."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from cfmgml import GraphBatch, WeisfeilerLehman, gram_matrix
from cfmgml.kernels import HashedWL
from examples import random_graphs

SCRIPT = """
from cfmgml import GraphBatch
from cfmgml.kernels import HashedWL
graphs = GraphBatch([0, 3, 4], [0, 2, 2], [[0, 1], [1, 2]], node_labels=[5, 6, 5, 9])
rows = HashedWL(3, n_bits=20).features(graphs).tocoo()
print(sorted(zip(rows.row.tolist(), rows.col.tolist(), rows.data.tolist())))
"""


@pytest.mark.slow
def test_columns_are_the_same_in_every_process(capsys):
    exec(SCRIPT, {})
    here = capsys.readouterr().out
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "1"}
    )
    assert here == there.stdout != ""


def test_columns_do_not_depend_on_the_data_it_was_resolved_on():
    graphs = random_graphs(10, seed=1)
    one, two = (HashedWL(2, n_bits=12).resolve(random_graphs(5, seed=s)).features(graphs) for s in (2, 3))
    assert (one != two).nnz == 0


def test_with_enough_columns_it_is_the_exact_kernel():
    graphs = random_graphs(30, seed=1)
    np.testing.assert_allclose(
        gram_matrix(HashedWL(3, n_bits=24), graphs), gram_matrix(WeisfeilerLehman(3), graphs), atol=1e-12
    )


def test_errors_fall_with_the_number_of_columns():
    graphs = random_graphs(60, seed=1)
    exact = gram_matrix(WeisfeilerLehman(3), graphs)
    errors = [np.abs(gram_matrix(HashedWL(3, n_bits=bits), graphs) - exact).mean() for bits in (4, 8, 12)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_signs_make_products_unbiased():
    """Without signs colours that meet only ever add; with them errors cancel over many hash functions.

    Other labels for the same nodes are another hash function and the same exact kernel.
    """
    graphs = random_graphs(12, seed=2)
    exact = gram_matrix(WeisfeilerLehman(2), graphs, normalize=False)
    errors = []
    for shift in range(200):
        named = replace(graphs, node_labels=graphs.node_labels + 10 * shift)
        errors.append(gram_matrix(HashedWL(2, n_bits=5), named, normalize=False) - exact)
    means = np.stack(errors)[:, *np.triu_indices(12, 1)].mean(1)
    assert abs(means.mean()) < 3 * means.std() / np.sqrt(200)


def test_rare_columns_weigh_more():
    common = GraphBatch([0, 1, 2, 3], [0, 0, 0, 0], [[], []], node_labels=[1, 1, 2])
    kernel = HashedWL(0, tfidf=True).resolve(common)
    weight = np.abs(kernel.features(common)).sum(1)
    assert weight[0] == weight[1] < weight[2]
    unseen = GraphBatch([0, 1], [0, 0], [[], []], node_labels=[77])
    assert np.abs(kernel.features(unseen)).sum() > weight[2]


@pytest.mark.parametrize("bits", [0, 31, 2.5])
def test_bits_must_make_sense(bits, graphs):
    with pytest.raises((ValueError, TypeError), match="n_bits must be"):
        HashedWL(n_bits=bits).features(graphs)

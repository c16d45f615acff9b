"""Parameters: defaults that depend on data, and errors that explain themselves."""

import numpy as np
import pytest

from cfmgml import (
    GraphBatch,
    GraphHopper,
    NodeSum,
    Precomputed,
    ProductKernel,
    SumKernel,
    WeisfeilerLehman,
    gram_matrix,
)
from cfmgml.kernels import FunctionKernel, as_kernel
from cfmgml.kernels.factors import factorize, factorize_by_pivots
from examples import random_graphs

DOTS = GraphBatch([0, 1, 2], [0, 0, 0], [[], []], node_attributes=[[0.0], [3.0]])


def test_default_gamma_follows_the_scale_of_the_data(graphs):
    scaled = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=graphs.node_attributes * 10)
    small, large = NodeSum().resolve(graphs).gamma_, NodeSum().resolve(scaled).gamma_
    assert large == pytest.approx(small / 100)
    shared = gram_matrix(NodeSum(), graphs)
    off = shared[np.triu_indices(len(shared), 1)]
    assert 0.02 < off.mean() < 0.98


def test_default_gamma_of_equal_nodes():
    same = GraphBatch([0, 1, 2], [0, 0, 0], [[], []], node_attributes=[[1.0], [1.0]])
    assert NodeSum().resolve(same).gamma_ == 1.0
    one = same[0]
    assert NodeSum().resolve(one).gamma_ == 1.0


def test_float32_survives_attributes_far_from_zero():
    far = GraphBatch([0, 1, 2], [0, 0, 0], [[], []], node_attributes=[[1e4, 0.0], [1e4 + 0.1, 0.0]])
    kernel = NodeSum(gamma=1.0).resolve(GraphBatch([0, 1], [0, 0], [[], []], node_attributes=[[0.0, 0.0]]))
    found = gram_matrix(kernel, far, dtype="float32")
    assert found[0, 1] == pytest.approx(np.exp(-0.01), rel=1e-5)


@pytest.mark.parametrize("approximation", ["fourier", "nystrom"])
def test_approximation_error_is_stated_and_shrinks(approximation):
    graphs = random_graphs(60, seed=2)
    errors = []
    for n in (8, 120):
        kernel = GraphHopper(gamma=0.5, approximation=approximation, n_components=n).resolve(graphs)
        errors.append(kernel.approximation_error_)
    exact = gram_matrix(GraphHopper(gamma=0.5), graphs)
    off = np.linalg.norm(gram_matrix(kernel, graphs) - exact) / np.linalg.norm(exact)
    assert errors[1] < errors[0] / 2
    assert off < 0.2 if approximation == "fourier" else off < 0.01


def test_tfidf_weighs_rare_colours_more():
    graphs = GraphBatch([0, 2, 4], [0, 0, 0], [[], []], node_labels=[1, 2, 1, 3])
    idf = np.log(3 / 2) + 1
    expected = np.array([[1 + idf**2, 1], [1, 1 + idf**2]])
    np.testing.assert_allclose(WeisfeilerLehman(0, tfidf=True).block(graphs, graphs), expected)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (WeisfeilerLehman(), "node_labels, and these graphs have none"),
        (GraphHopper("delta"), "compares node_labels"),
        (GraphHopper("cosine"), "node_kernel must be one of"),
        (NodeSum(gamma=0), "gamma must be above 0"),
        (NodeSum(approximation="magic"), "approximation must be None or one of"),
        (SumKernel([]), "at least one kernel"),
        (SumKernel([NodeSum()], weights=[1, 2]), "one positive number for each of 1 kernels"),
        (SumKernel([NodeSum()], weights=[-1]), "one positive number"),
        (ProductKernel([NodeSum(), WeisfeilerLehman()]), "node_labels"),
        (Precomputed(np.eye(1)), "graph_ids must be rows of K"),
        (Precomputed(np.ones((2, 3))), "square"),
    ],
)
def test_errors_say_what_is_wrong(kernel, message):
    with pytest.raises(ValueError, match=message):
        gram_matrix(kernel, DOTS)


def test_attributes_are_needed_or_labels_suggested():
    labelled = GraphBatch([0, 1], [0, 0], [[], []], node_labels=[1])
    with pytest.raises(ValueError, match="node_kernel='delta' compares labels"):
        gram_matrix(NodeSum(), labelled)
    with pytest.raises(ValueError, match="n_iter must be 0 or more"):
        gram_matrix(WeisfeilerLehman(-1), labelled)


def test_resolved_kernel_refuses_other_attributes():
    kernel = NodeSum().resolve(DOTS)
    wide = GraphBatch([0, 1], [0, 0], [[], []], node_attributes=[[0.0, 1.0]])
    with pytest.raises(ValueError, match="resolved on graphs with 1 attributes, these have 2"):
        kernel.block(wide, DOTS)


def test_as_kernel():
    assert isinstance(as_kernel(lambda a, b: 0), FunctionKernel)
    with pytest.raises(TypeError, match=r"did you mean NodeSum\(\)"):
        as_kernel(NodeSum)
    with pytest.raises(TypeError, match="Kernel or a function"):
        as_kernel("rbf")
    with pytest.raises(ValueError, match="must give values of shape"):
        FunctionKernel(lambda a, b: np.zeros(3)).block(DOTS, DOTS)


@pytest.mark.parametrize(
    ("option", "message"), [({"dtype": "int32"}, "float32 or float64"), ({"device": "tpu"}, "device")]
)
def test_gram_matrix_refuses(option, message):
    with pytest.raises(ValueError, match=message):
        gram_matrix(NodeSum(), DOTS, **option)


def test_negative_norm_is_refused():
    with pytest.raises(ValueError, match="must not be negative; graph 1"):
        gram_matrix(Precomputed(np.diag([1.0, -1.0])), DOTS)


def test_zero_norm_gives_zeros_not_nan():
    K = gram_matrix(NodeSum("linear"), DOTS)
    np.testing.assert_array_equal(K, [[0, 0], [0, 1]])
    parts = gram_matrix(SumKernel([NodeSum("linear"), NodeSum()]), DOTS)
    assert np.isfinite(parts).all()


def test_factors(graphs):
    K = gram_matrix(GraphHopper(), graphs)
    factor = factorize(K)
    np.testing.assert_allclose(factor.X @ factor.X.T, K, atol=1e-9)
    np.testing.assert_allclose(K @ factor.projection, factor.X, atol=1e-6)
    assert factorize(np.zeros((3, 3))).X.shape == (3, 1)


def test_pivoted_factor(graphs):
    kernel = GraphHopper(gamma=0.5).resolve(graphs)
    K = gram_matrix(kernel, graphs)
    full = factorize_by_pivots(kernel, graphs, rank=len(graphs))
    np.testing.assert_allclose(full.X @ full.X.T, K, atol=1e-6)
    some = factorize_by_pivots(kernel, graphs, rank=4)
    assert some.X.shape == (len(graphs), 4)
    assert len(some.landmarks) == 4
    np.testing.assert_allclose(K[:, some.landmarks] @ some.projection, some.X, atol=1e-9)
    assert np.abs(some.X @ some.X.T - K).max() < np.abs(K).max()


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_approximation_does_not_mind_where_nodes_lie(offset):
    """Attributes far from zero lose no digits to the map: what is compared is differences."""
    plain = random_graphs(20, seed=2)
    moved = np.round(plain.node_attributes * 64) / 64 + offset  # exact in float64, with the offset and without
    graphs = GraphBatch(plain.node_ptr, plain.edge_ptr, plain.edges, node_attributes=moved)
    kernel = NodeSum(gamma=0.5, approximation="nystrom", n_components=200).resolve(graphs)
    np.testing.assert_allclose(gram_matrix(kernel, graphs), gram_matrix(NodeSum(gamma=0.5), graphs), atol=1e-6)
    assert kernel.approximation_error_ < 1e-6


def test_what_is_not_finite_is_refused():
    big = GraphBatch([0, 1, 2], [0, 0, 0], [[], []], node_attributes=[[1e200], [3.0]])
    with pytest.raises(ValueError, match="K\\(g, g\\) must be finite; graph 0 has inf"), np.errstate(over="ignore"):
        gram_matrix(NodeSum("linear"), big)
    for kernel, message in [
        (Precomputed(np.array([[1.0, np.nan], [np.nan, 1.0]])), "K must be finite"),
        (Precomputed(np.array([[1.0, 0.5], [0.1, 1.0]])), "K must be symmetric"),
        (NodeSum(gamma=np.inf), "gamma must be finite"),
        (SumKernel([NodeSum()], weights=[np.inf]), "one positive number"),
    ]:
        with pytest.raises(ValueError, match=message):
            gram_matrix(kernel, DOTS)
    with pytest.raises(TypeError, match="takes a list of kernels"):
        gram_matrix(SumKernel(NodeSum()), DOTS)
    with pytest.raises(ValueError, match="needs at least one graph"):
        gram_matrix(NodeSum(), DOTS[[]])


def test_precomputed_is_not_copied():
    K = np.eye(2)
    assert Precomputed(K).resolve(DOTS).K is K

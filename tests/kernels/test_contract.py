"""What every kernel must keep, whatever it is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from cfmgml import GraphBatch, WeisfeilerLehman, gram_matrix
from cfmgml.common.segments import segment_sum
from cfmgml.kernels import SAVED_KERNELS, HashedWL, MinMaxWL
from cfmgml.kernels.files import kernel_from_state, kernel_state
from examples import KERNELS, graph_batches, random_graphs, shuffle_nodes

IDENTITY_BY_NUMBER = {"precomputed"}  # looks graphs up by number, so it knows nothing of their nodes


@pytest.fixture(params=KERNELS)
def name(request):
    return request.param


@pytest.fixture
def kernel(name, graphs):
    return KERNELS[name]().resolve(graphs)


def test_registry_is_not_empty():
    assert len(KERNELS) > 10


def test_symmetric_and_positive_semidefinite(kernel, graphs):
    K = gram_matrix(kernel, graphs)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9
    np.testing.assert_allclose(np.diagonal(K), 1)


def test_commutes_with_selection(kernel, graphs):
    # Landmarks miss part of a graph, which it has in common with itself but not with its copy.
    has_residue = getattr(kernel, "approximation", None) == "nystrom"
    index = np.array([3, 0, 7] if has_residue else [3, 0, 3, 7])
    expected = gram_matrix(kernel, graphs, normalize=False)[np.ix_(index, index)]
    np.testing.assert_allclose(gram_matrix(kernel, graphs[index], normalize=False), expected, atol=1e-9)


def test_rectangle_is_part_of_the_square(kernel, graphs):
    K = gram_matrix(kernel, graphs)
    np.testing.assert_allclose(gram_matrix(kernel, graphs[:5], graphs[5:]), K[:5, 5:], atol=1e-9)


def test_unchanged_under_node_order(kernel, graphs, rng):
    np.testing.assert_allclose(gram_matrix(kernel, shuffle_nodes(graphs, rng)), gram_matrix(kernel, graphs), atol=1e-9)


def test_float32_agrees(kernel, graphs):
    found = gram_matrix(kernel, graphs, dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, gram_matrix(kernel, graphs), atol=1e-5)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_tile_size_does_not_matter(kernel, graphs, n_jobs):
    expected = gram_matrix(kernel, graphs)
    kernel.tile_size = 7
    np.testing.assert_allclose(gram_matrix(kernel, graphs, n_jobs=n_jobs), expected, atol=1e-12)


def test_diagonal(kernel, graphs):
    np.testing.assert_allclose(kernel.diagonal(graphs), np.diagonal(gram_matrix(kernel, graphs, normalize=False)))


def test_features_are_the_kernel(kernel, graphs):
    if not kernel.is_explicit:
        with pytest.raises(TypeError, match="no explicit feature map"):
            kernel.features(graphs)
        return
    rows = kernel.features(graphs)
    rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
    np.testing.assert_allclose(rows @ rows.T, kernel.block(graphs, graphs), atol=1e-9)
    weights = np.random.default_rng(0).normal(size=(rows.shape[1], 3))
    parts = kernel.node_scores(graphs, weights)
    np.testing.assert_allclose(segment_sum(parts, graphs.node_ptr), rows @ weights, atol=1e-9)


def test_features_of_unseen_graphs(kernel, graphs):
    """Columns are the training graphs'; what new graphs have beside them counts in the diagonal only."""
    if not kernel.is_explicit:
        return
    other = random_graphs(6, seed=99, largest=12)
    found = kernel.features(other) @ kernel.features(graphs).T
    found = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(found, kernel.block(other, graphs), atol=1e-9)
    whole = kernel.exact() if getattr(kernel, "approximation", None) == "nystrom" else kernel
    np.testing.assert_allclose(kernel.diagonal(other), np.diagonal(whole.block(other, other)), atol=1e-9)


def test_edge_labels_count_where_it_says_so(kernel, graphs):
    bare = replace(graphs, edge_labels=None)
    if kernel.ignores_edge_labels:
        np.testing.assert_array_equal(gram_matrix(kernel, bare), gram_matrix(kernel, graphs))
    elif type(kernel) in (WeisfeilerLehman, HashedWL, MinMaxWL):
        with pytest.raises(ValueError, match="have no edge_labels"):
            gram_matrix(kernel, bare)


def test_nodes_add_up(kernel, graphs):
    if not kernel.is_additive:
        with pytest.raises(TypeError, match="not a sum over nodes"):
            kernel.node_block(graphs, graphs)
        return
    parts = kernel.node_block(graphs[:7], graphs)
    np.testing.assert_allclose(segment_sum(parts, graphs[:7].node_ptr), kernel.block(graphs[:7], graphs), atol=1e-9)


def test_unresolved_kernel_compares_two_batches(name, graphs):
    kernel = KERNELS[name]()
    resolved = kernel.resolve(graphs[:6])
    np.testing.assert_allclose(kernel.block(graphs[:6], graphs[6:]), resolved.block(graphs[:6], graphs[6:]), atol=1e-9)


def test_clone_forgets_what_depends_on_data(kernel):
    assert kernel.is_resolved
    assert not clone(kernel).is_resolved
    assert clone(kernel).get_params().keys() == kernel.get_params().keys()


def test_state_round_trip(kernel, graphs):
    if type(kernel).__name__ not in SAVED_KERNELS:
        with pytest.raises(TypeError, match="cannot be saved"):
            kernel_state(kernel)
        return
    again = kernel_from_state(*kernel_state(kernel))
    np.testing.assert_array_equal(again.block(graphs[:3], graphs), kernel.block(graphs[:3], graphs))


def test_verbose_shows_progress_on_stderr(kernel, graphs, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal: elsewhere there is no bar to move
    gram_matrix(kernel, graphs[:3])
    assert capsys.readouterr() == ("", "")
    gram_matrix(kernel, graphs[:3], verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Gram matrix" in err
    assert "1/1" in err


def test_refuses_what_is_not_a_batch(kernel):
    with pytest.raises(TypeError, match="GraphBatch"):
        kernel.resolve([1, 2, 3])


@given(graphs=graph_batches(), choice=st.sampled_from(sorted(set(KERNELS) - {"precomputed", "function"})))
def test_any_graph_has_a_finite_unit_or_zero_norm(graphs, choice):
    K = gram_matrix(KERNELS[choice](), graphs)
    assert np.isfinite(K).all()
    assert set(np.unique(np.diagonal(K))) <= {0.0, 1.0}
    assert np.abs(K).max() <= 1 + 1e-9


@given(graphs=graph_batches(), choice=st.sampled_from(["wl", "hopper-rbf", "hopper-delta", "nodes-rbf"]))
def test_direction_parallel_edges_and_loops_do_not_matter(graphs, choice):
    ptr, neighbours = graphs.adjacency
    source = np.repeat(np.arange(graphs.n_nodes), np.diff(ptr))
    counts = np.diff(ptr[graphs.node_ptr])
    simple = GraphBatch(
        graphs.node_ptr,
        np.concatenate([[0], np.cumsum(counts)]),
        np.stack([source, neighbours]),
        graphs.node_labels,
        graphs.node_attributes,
    )
    kernel = KERNELS[choice]()
    np.testing.assert_allclose(kernel.block(graphs, graphs), kernel.block(simple, simple), rtol=1e-12)

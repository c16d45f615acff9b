"""What every kernel must keep, whatever it is: the public rules, and what only ours can be asked."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml import GraphBatch, WeisfeilerLehman, gram_matrix
from cfmgml.checks import KERNEL_RULES, check_kernel
from cfmgml.kernels import SAVED_KERNELS, HashedWL, MinMaxWL
from cfmgml.kernels.files import kernel_state
from examples import KERNELS, graph_batches, random_graphs


@pytest.fixture(params=KERNELS)
def name(request):
    return request.param


@pytest.fixture
def kernel(name, graphs):
    return KERNELS[name]().resolve(graphs)


def test_registry_is_not_empty():
    assert len(KERNELS) > 10


@pytest.mark.parametrize("rule", KERNEL_RULES)
def test_rules(name, graphs, rule):
    check_kernel(KERNELS[name](), graphs, rules=[rule])


def test_graphs_of_our_registry_have_a_norm(kernel, graphs):
    np.testing.assert_allclose(np.diagonal(gram_matrix(kernel, graphs)), 1)


def test_the_residue_is_what_the_exact_kernel_has(graphs):
    kernel = KERNELS["hopper-nystrom"]().resolve(graphs)
    assert kernel.has_residue
    other = random_graphs(6, seed=99, largest=12)
    np.testing.assert_allclose(kernel.diagonal(other), np.diagonal(kernel.exact().block(other, other)), atol=1e-9)


def test_edge_labels_are_asked_for(kernel, graphs):
    if type(kernel) in (WeisfeilerLehman, HashedWL, MinMaxWL) and not kernel.ignores_edge_labels:
        with pytest.raises(ValueError, match="have no edge_labels"):
            gram_matrix(kernel, replace(graphs, edge_labels=None))


def test_files_may_name_our_kernels(kernel):
    if type(kernel).__name__ in SAVED_KERNELS:
        kernel_state(kernel)
    else:
        with pytest.raises(TypeError, match="cannot be saved"):
            kernel_state(kernel)


def test_verbose_shows_progress_on_stderr(kernel, graphs, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal: elsewhere there is no bar to move
    gram_matrix(kernel, graphs[:3])
    assert capsys.readouterr() == ("", "")
    gram_matrix(kernel, graphs[:3], verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Gram matrix" in err
    assert "1/1" in err


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

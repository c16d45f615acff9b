"""Gram matrices in torch are those of the CPU, on every device there is."""

import numpy as np
import pytest

from cfmgml import GraphBatch, GraphHopper, NodeSum, gram_matrix
from cfmgml.common.compute import torch_device
from cfmgml.gpu.layout import BLOCK, make_layout
from examples import KERNELS, random_graphs

TOLERANCE = {"float64": 1e-11, "float32": 5e-6, "tf32": 3e-3}


@pytest.fixture(params=KERNELS)
def kernel(request, graphs):
    return KERNELS[request.param]().resolve(graphs)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_equal_to_the_cpu(kernel, graphs, device, dtype):
    exact = gram_matrix(kernel, graphs)
    found = gram_matrix(kernel, graphs, device=device, dtype=dtype)
    assert found.dtype == (np.float64 if dtype == "float64" else np.float32)
    np.testing.assert_allclose(found, exact, atol=TOLERANCE[dtype])
    part = gram_matrix(kernel, graphs[:5], graphs[5:], device=device, dtype=dtype)
    np.testing.assert_allclose(part, exact[:5, 5:], atol=TOLERANCE[dtype])


def test_raw_values(kernel, graphs, device):
    exact = gram_matrix(kernel, graphs, normalize=False)
    found = gram_matrix(kernel, graphs, normalize=False, device=device)
    np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-10)


def long_and_short_graphs():
    """A path longer than a block, a cycle of exactly a block, a star, dots: every way to fill a block."""
    rng = np.random.default_rng(0)
    sizes = [BLOCK + 22, 1, BLOCK, 30, 1, 2, 3]
    node_ptr = np.concatenate([[0], np.cumsum(sizes)])
    edges = [np.stack([np.arange(n - 1), np.arange(1, n)]) + start for n, start in zip(sizes, node_ptr, strict=False)]
    edges[3] = np.stack([np.zeros(29, dtype=int), np.arange(1, 30)]) + node_ptr[3]
    edge_ptr = np.concatenate([[0], np.cumsum([e.shape[1] for e in edges])])
    return GraphBatch(node_ptr, edge_ptr, np.hstack(edges), node_attributes=rng.normal(size=(node_ptr[-1], 3)))


@pytest.mark.parametrize("make", [NodeSum, GraphHopper])
def test_graphs_of_any_size(make, device):
    graphs = long_and_short_graphs()
    kernel = make(gamma=0.3).resolve(graphs)
    for other in (None, graphs[::2]):
        for normalize in (True, False):
            exact = gram_matrix(kernel, graphs, other, normalize)
            found = gram_matrix(kernel, graphs, other, normalize, device=device)
            np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_small_tiles_give_the_same(graphs, device, monkeypatch):
    kernel = GraphHopper().resolve(graphs)
    exact = gram_matrix(kernel, graphs, device=device)
    for name in ("CPU_TILE", "CARD_TILE"):
        monkeypatch.setattr(f"cfmgml.gpu.node_pairs.{name}", 1)
    np.testing.assert_allclose(gram_matrix(kernel, graphs, device=device), exact, atol=1e-12)


def test_attributes_far_apart_are_computed_in_float64(device):
    graphs = random_graphs(8, seed=1)
    far = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=graphs.node_attributes * 1e3)
    kernel = NodeSum(gamma=1e-4).resolve(far)
    found = gram_matrix(kernel, far, device=device, dtype="tf32")
    np.testing.assert_allclose(found, gram_matrix(kernel, far), atol=1e-6)


def test_columns_that_do_not_vary_are_left_out(graphs, device):
    wide = np.hstack([graphs.node_attributes, np.full((graphs.n_nodes, 3), 7.0)])
    kernel = NodeSum(gamma=1.0)
    same = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=wide)
    found = gram_matrix(kernel, same, device=device)
    np.testing.assert_allclose(found, gram_matrix(kernel, graphs), atol=1e-12)


# -- layout ------------------------------------------------------------------------------


def test_layout_holds_every_node_once():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 300, 200)
    node_ptr = np.concatenate([[0], np.cumsum(sizes)])
    found = make_layout(node_ptr, rng.choice([1, 5, 40], 200))
    assert sorted(found.nodes[found.nodes >= 0]) == list(range(node_ptr[-1]))
    place = np.flatnonzero(found.nodes >= 0)
    graph = found.graphs[place // BLOCK, found.slots[place]]
    np.testing.assert_array_equal(graph, np.searchsorted(node_ptr, found.nodes[place], side="right") - 1)


def test_blocks_are_nearly_full():
    sizes = np.random.default_rng(0).integers(10, 41, 3000)
    found = make_layout(np.concatenate([[0], np.cumsum(sizes)]), np.ones(3000, dtype=int))
    assert found.is_whole
    assert found.n_blocks * BLOCK < 1.02 * sizes.sum()


def test_one_long_path_widens_no_other_block():
    found = make_layout(np.arange(0, 2000, 10), np.where(np.arange(199) == 7, 600, 4))
    assert (found.widths == 16).sum() == found.n_blocks - 1


# -- errors ------------------------------------------------------------------------------


def test_unknown_device(graphs):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'.*got 'gpu'"):
        gram_matrix(NodeSum(), graphs, device="gpu")


def test_tf32_is_for_a_card(graphs):
    with pytest.raises(ValueError, match="dtype='tf32' is for a card"):
        gram_matrix(NodeSum(), graphs, dtype="tf32")


def test_no_card(torch, graphs):
    n_cards = torch.cuda.device_count()
    with pytest.raises(ValueError, match=f"needs an NVIDIA card, and torch sees {n_cards}; use device='cpu'"):
        gram_matrix(NodeSum(), graphs, device=f"cuda:{n_cards}")


def test_no_torch(monkeypatch, graphs):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(
        ImportError, match=r"'torch:cpu' needs torch, device='cpu' does not: .*pip install 'cfmgml\[gpu\]'"
    ):
        gram_matrix(NodeSum(), graphs, device="torch:cpu")


def test_names_of_devices(torch):
    assert torch_device("torch:cpu") == torch.device("cpu")
    for wrong in ("cuda:", "cuda:x", "cpu:0", "torch", ""):
        with pytest.raises(ValueError, match="device must be"):
            torch_device(wrong)

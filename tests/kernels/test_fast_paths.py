"""What makes tiles fast must not change them: common and rare columns, sums by node, runs of rows, numbering."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cfmgml import GraphBatch, GraphHopper, NodeSum, WeisfeilerLehman, gram_matrix
from cfmgml.kernels import mixed_rows, node_tiles
from cfmgml.kernels.base import dense
from cfmgml.kernels.colour_counts import count_columns, number_codes, order_of_codes
from cfmgml.kernels.gram import gram_error
from cfmgml.kernels.node_blocks import sum_nodes
from cfmgml.kernels.node_maps import group_centres
from cfmgml.kernels.path_counts import NodeWeights
from cfmgml.kernels.weisfeiler_lehman import ODD
from examples import random_graphs

CODES = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60)


@given(codes=CODES)
def test_numbers_of_codes(codes):
    codes = np.array(codes, dtype=np.uint64)
    numbers, values = number_codes(codes)
    np.testing.assert_array_equal(values[numbers], codes)
    assert len(values) == len(set(codes.tolist()))
    np.testing.assert_array_equal(order_of_codes(values), np.argsort(values))


@pytest.mark.parametrize("spread", [True, False])
def test_order_of_many_codes(rng, spread):
    """Evenly spread as hashes are, and all in one bucket."""
    codes = np.unique(rng.integers(0, 2**64 if spread else 2**20, 5000, dtype=np.uint64))
    rng.shuffle(codes)
    np.testing.assert_array_equal(order_of_codes(codes), np.argsort(codes))


def test_colours_are_hashes_of_what_is_around():
    """The refinement as it is defined, node by node, on Python's own integers."""
    graphs = random_graphs(5)
    ptr, neighbours = graphs.adjacency

    def scattered(code):
        code = (code ^ (code >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        code = (code ^ (code >> 27)) * 0x94D049BB133111EB % 2**64
        return code ^ (code >> 31)

    expected = [scattered((int(label) + int(ODD)) % 2**64) for label in graphs.node_labels]
    for found in WeisfeilerLehman(2).colours(graphs):
        assert found.tolist() == expected
        around = [sum(scattered(expected[k]) for k in neighbours[a:b]) for a, b in itertools.pairwise(ptr)]
        expected = [scattered((code * int(ODD) + more) % 2**64) for code, more in zip(expected, around, strict=True)]


def test_codes_that_fall_on_one_place():
    codes = (np.arange(50, dtype=np.uint64) << np.uint64(32)).repeat(2)  # all low bits are 0
    numbers, values = number_codes(codes)
    assert len(values) == 50
    np.testing.assert_array_equal(values[numbers], codes)


def test_counts(rng):
    columns, node_ptr = rng.integers(0, 9, (3, 20)), np.array([0, 4, 4, 11, 20])
    found = count_columns(columns, node_ptr, 9).toarray()
    expected = [np.bincount(columns[:, a:b].ravel(), minlength=9) for a, b in np.stack([node_ptr[:-1], node_ptr[1:]]).T]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("common", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("whole", [True, False])
def test_common_and_rare_columns(rng, monkeypatch, common, whole):
    monkeypatch.setattr(mixed_rows, "COMMON", common)
    dense = rng.integers(0, 4, (30, 40)) * (rng.random((30, 40)) < rng.random(40))
    dense = dense.astype(float) if whole else dense * 0.37
    left, right = sparse.csr_array(dense[:20]), sparse.csr_array(dense[20:])
    a, b = mixed_rows.mixed_operands([left, right], np.float64)
    np.testing.assert_allclose(mixed_rows.mixed_tile(a, b), dense[:20] @ dense[20:].T, rtol=1e-12)
    np.testing.assert_allclose(a.norms, (dense[:20] ** 2).sum(1))
    assert a.common.dtype == (np.float32 if whole else np.float64)


def test_counts_too_large_for_float32():
    rows = sparse.csr_array(np.array([[5000.0, 1.0], [5001.0, 1.0]]))
    a, _ = mixed_rows.mixed_operands([rows], np.float64)
    assert a.common.dtype == np.float64
    assert mixed_rows.mixed_tile(a, a)[0, 1] == 5000 * 5001 + 1


def ragged(rng, sizes, widths):
    values = rng.normal(size=int((np.array(sizes) * widths).sum()))
    return NodeWeights(np.concatenate([[0], np.cumsum(sizes)]), np.array(widths), values)


def test_sums_of_nodes(rng):
    weights = ragged(rng, [3, 1, 4], [2, 5, 1])
    vectors = rng.normal(size=(8, 6))
    dense = sum_nodes(vectors, weights)
    expected = np.zeros((3, 5, 6))
    table = weights.dense(5)
    for graph, (start, stop) in enumerate(zip(weights.node_ptr[:-1], weights.node_ptr[1:], strict=True)):
        expected[graph] = table[start:stop].T @ vectors[start:stop]
    for width in (1, 3, 5, 7):
        wide = np.zeros((3, width, 6))
        wide[:, : min(width, 5)] = expected[:, :width]
        np.testing.assert_allclose(dense.dense(width), wide.reshape(3, -1))
        found = sum_nodes(sparse.csr_array(vectors), weights).joined(width)
        np.testing.assert_allclose(found.toarray(), wide.reshape(3, -1), atol=1e-14)
    np.testing.assert_allclose(dense.norms(), (expected**2).sum((1, 2)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("run", [1, 2, 64])
def test_sums_over_pairs(rng, monkeypatch, dtype, run):
    """Graphs across lines of columns, in runs of rows of any length."""
    monkeypatch.setattr(node_tiles, "RUN", run)
    graphs = random_graphs(90, seed=4, largest=9)
    kernel = GraphHopper(gamma=0.5).resolve(graphs)
    exact = GraphHopper(gamma=0.5).resolve(graphs)
    exact.tile_size = 5
    found = gram_matrix(kernel, graphs, normalize=False, dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(found, gram_matrix(exact, graphs, normalize=False), rtol=tolerance)


def test_columns_that_do_not_vary_are_left_out(graphs):
    wide = np.hstack([np.full((graphs.n_nodes, 4), 3.0), graphs.node_attributes])
    same = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=wide)
    kernel = NodeSum(gamma=1.0).resolve(same)
    left, right = kernel.operands(same[:5], same[5:])
    assert left.points.shape[1] == right.points.shape[1] == 2
    np.testing.assert_allclose(gram_matrix(kernel, same), gram_matrix(NodeSum(gamma=1.0), graphs), atol=1e-12)
    moved = wide.copy()
    moved[-1, 0] = 4.0  # varies on one side only
    other = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=moved)
    left, right = kernel.operands(same[:5], other[5:])
    assert left.points.shape[1] == 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("attributes", ["float32", "float64"])
def test_columns_that_are_mostly_zero(graphs, rng, dtype, attributes):
    histogram = np.zeros((graphs.n_nodes, 80))
    histogram[np.arange(graphs.n_nodes)[:, None], rng.integers(0, 80, (graphs.n_nodes, 5))] = 0.3
    histogram[: 80 // 4, :] += np.kron(np.eye(20), np.full(4, 0.2))  # every column varies
    both = np.hstack([histogram, graphs.node_attributes]).astype(attributes)
    wide = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=both)
    kernel = GraphHopper(gamma=0.4).resolve(wide)
    assert kernel.thin_.tolist() == [True] * 80 + [False] * 2
    plain = GraphHopper(gamma=0.4).resolve(wide)
    plain.thin_ = np.zeros(82, dtype=bool)
    tolerance = 1e-12 if dtype == "float64" else 2e-6
    for other in (None, wide[3:7]):
        found, exact = (gram_matrix(k, wide, other, dtype=d) for k, d in ((kernel, dtype), (plain, "float64")))
        np.testing.assert_allclose(found, exact, rtol=tolerance)
    np.testing.assert_allclose(kernel.node_block(wide[:4], wide), plain.node_block(wide[:4], wide), rtol=1e-12)


def test_unresolved_kernels_do_no_work_twice(graphs, monkeypatch):
    def refuse(self, graphs):
        raise AssertionError("resolved for nothing")

    for kernel in (WeisfeilerLehman(2), NodeSum("linear"), GraphHopper("linear"), NodeSum("delta")):
        expected = gram_matrix(kernel.resolve(graphs), graphs)
        with monkeypatch.context() as patched:
            patched.setattr(type(kernel), "resolve", refuse)
            np.testing.assert_allclose(gram_matrix(kernel, graphs), expected, atol=1e-12)


def test_attributes_of_two_sides_must_fit(graphs):
    narrow = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=graphs.node_attributes[:, :1])
    with pytest.raises(ValueError, match=r"equally many attributes, got \[2, 1\]"):
        gram_matrix(NodeSum("linear"), graphs, narrow)


def test_landmarks_are_centres(rng):
    groups = np.repeat(np.arange(4), 25)
    nodes = np.eye(4)[groups] * 10 + rng.normal(size=(100, 4)) / 10
    order = rng.permutation(100)
    first = np.concatenate([[np.flatnonzero(groups[order] == g)[0] for g in range(4)], np.arange(100)])
    found = group_centres(nodes[order][first], 4)
    np.testing.assert_allclose(found[np.argsort(-found.argmax(1))].argmax(1), [3, 2, 1, 0])
    assert np.abs(found - np.round(found, -1)).max() < 0.1
    np.testing.assert_array_equal(group_centres(nodes[:3], 9), nodes[:3])


def test_error_of_the_gram_matrix_is_told_and_small():
    graphs = random_graphs(60, seed=2)
    errors = [
        gram_error(GraphHopper(gamma=0.5, approximation="nystrom", n_components=n), graphs, 30) for n in (5, 20, 80)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01
    rough = gram_error(NodeSum(gamma=0.5, approximation="fourier", n_components=1000), graphs)
    assert 0 < rough < 0.1


@pytest.mark.parametrize("kernel", [NodeSum, GraphHopper])
def test_landmarks_skip_what_is_mostly_nothing(rng, kernel):
    """Bins of histograms, a few of which each node has: the same map as when every column is multiplied."""
    graphs = random_graphs(30)
    values = rng.normal(size=(graphs.n_nodes, 200)) * (rng.random((graphs.n_nodes, 200)) < 0.05)
    values[:, :10] = rng.normal(size=(graphs.n_nodes, 10))
    graphs = replace(graphs, node_attributes=values)
    mapped = kernel(approximation="nystrom", n_components=20).resolve(graphs)
    assert 150 < mapped.thin_.sum() <= 190
    every = kernel(approximation="nystrom", n_components=20).resolve(graphs)
    every.thin_ = np.zeros(200, dtype=bool)
    for some in (graphs, replace(graphs, node_attributes=values.astype(np.float32))):
        np.testing.assert_allclose(dense(mapped.features(some)), dense(every.features(some)), atol=1e-9)


# -- one pass over a tile in float32 -------------------------------------------------------


def test_exponentials_are_right_from_one_to_nothing():
    """Points whose exponents float32 holds exactly: what is off is the exponential. The largest error is stated."""
    values = np.arange(-960, 961) / 128.0
    each = np.arange(len(values) + 1)
    graphs = GraphBatch(each, np.zeros_like(each), np.empty((2, 0), dtype=int), node_attributes=values[:, None])
    (side,) = NodeSum(gamma=0.5).resolve(graphs)._node_operands([graphs], np.float32)
    assert side.dtype == np.float32
    found = node_tiles.node_tile(side, side)
    exponents = -((values[:, None] - values) ** 2) / 2
    assert exponents.min() < -110
    seen = exponents > node_tiles.LOWEST
    np.testing.assert_allclose(found[seen], np.exp(exponents[seen]), rtol=5e-7)
    np.testing.assert_array_equal(found[~seen], 0.0)


@pytest.mark.parametrize("kernel", [NodeSum, GraphHopper])
@pytest.mark.parametrize("n_attributes", [1, 3, 4, 17, 32, 33, 300])
def test_one_pass_is_equal_to_many(rng, kernel, n_attributes, monkeypatch):
    """Graphs of one node, of none left over, of more than are added in float32; lines that end within a graph."""
    monkeypatch.setattr(NodeSum, "tile_size", 300)
    sizes = np.array([1, 1, 2, 1, 3, 4, 5, 150, 1, 64, 63, 65, *rng.integers(1, 30, 30)])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    first = np.concatenate([np.arange(a, b - 1) for a, b in itertools.pairwise(ptr)])
    values = rng.normal(size=(ptr[-1], n_attributes))
    values[:, 100:] *= rng.random(values[:, 100:].shape) < 0.1  # thin columns
    graphs = GraphBatch(ptr, np.append(0, np.cumsum(sizes - 1)), np.stack([first, first + 1]), node_attributes=values)
    resolved = kernel().resolve(graphs)
    resolved.gamma_ = min(resolved.gamma_, 20 / (values**2).sum(1).max())  # float32 stays float32
    assert resolved._node_operands([graphs], np.float32)[0].dtype == np.float32
    exact = gram_matrix(resolved, graphs, normalize=False)
    found = gram_matrix(resolved, graphs, normalize=False, dtype="float32")
    np.testing.assert_allclose(found, exact, rtol=3e-6)
    np.testing.assert_allclose(gram_matrix(resolved, graphs[5:9], graphs, False, "float32"), exact[5:9], rtol=3e-6)

"""Kernel values against brute force and against GraKeL."""

import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import references
from hypothesis import given

from cfmgml import GrakelKernel, GraphBatch, GraphHopper, NodeSum, WeisfeilerLehman, gram_matrix
from cfmgml.kernels import HashedWL, MinMaxWL
from cfmgml.kernels.grakel import to_grakel
from cfmgml.kernels.path_counts import path_counts
from examples import graph_batches, random_graphs, random_networkx

NODE_KERNELS = {"rbf": references.rbf(0.7), "linear": references.linear, "delta": references.delta}


@pytest.fixture
def odd_ones():
    """Graphs on which GraKeL's GraphHopper crashes, and others at the edge."""
    made = [
        nx.empty_graph(1),
        nx.empty_graph(3),
        nx.path_graph(2),
        nx.disjoint_union(nx.path_graph(3), nx.empty_graph(1)),
        nx.star_graph(4),
        nx.cycle_graph(6),
    ]
    rng = np.random.default_rng(1)
    for graph in made:
        for node in graph:
            graph.nodes[node].update(label=int(rng.integers(2)), attributes=rng.normal(size=2))
    return GraphBatch.from_networkx(made, "label", "attributes")


@pytest.mark.parametrize("n_iter", [0, 1, 4])
def test_weisfeiler_lehman_equals_brute_force(graphs, odd_ones, n_iter):
    for batch in (graphs, odd_ones):
        found = gram_matrix(WeisfeilerLehman(n_iter), batch, normalize=False)
        np.testing.assert_array_equal(found, references.weisfeiler_lehman(batch, n_iter))


@pytest.mark.parametrize("edge_labels", [False, True, "directed"])
@given(graphs=graph_batches())
def test_weisfeiler_lehman_with_edge_labels_equals_brute_force(graphs, edge_labels):
    expected = references.weisfeiler_lehman(graphs, 3, edge_labels)
    np.testing.assert_array_equal(WeisfeilerLehman(3, edge_labels=edge_labels).block(graphs, graphs), expected)


def test_larger_graphs_with_edge_labels_equal_brute_force():
    graphs = random_graphs(40, seed=8, largest=30)
    for edge_labels in (True, "directed"):
        found = gram_matrix(WeisfeilerLehman(4, edge_labels=edge_labels), graphs, normalize=False)
        np.testing.assert_array_equal(found, references.weisfeiler_lehman(graphs, 4, edge_labels))


def test_edges_of_one_label_count_nothing(graphs):
    """Then colours are those without edge labels, by other names."""
    same = replace(graphs, edge_labels=np.full(graphs.n_edges, 5))
    expected = gram_matrix(WeisfeilerLehman(3), graphs)
    np.testing.assert_array_equal(gram_matrix(WeisfeilerLehman(3, edge_labels=True), same), expected)
    assert (gram_matrix(WeisfeilerLehman(3, edge_labels=True), graphs) != expected).any()


def one_graph(edges, edge_labels, node_labels=(1, 1)):
    return GraphBatch([0, len(node_labels)], [0, len(edges)], np.array(edges).T, node_labels, edge_labels=edge_labels)


def test_how_an_edge_is_stored():
    """Once or in both directions is the same edge; parallel edges count once for each of their labels."""
    kernel = WeisfeilerLehman(2, edge_labels=True)
    once, twice = one_graph([(0, 1)], [7]), one_graph([(1, 0), (0, 1), (0, 1), (0, 0)], [7, 7, 7, 3])
    assert kernel.block(once, twice) == kernel.block(once, once)
    two = one_graph([(0, 1), (0, 1)], [7, 8])
    assert kernel.block(once, two) == 4  # the nodes' own labels only
    both_ways = one_graph([(0, 1), (0, 1), (1, 0), (1, 0)], [7, 8, 8, 7])
    assert kernel.block(two, both_ways) == kernel.block(two, two)


def test_directions_that_differ_are_refused_or_told_apart():
    forth, back = one_graph([(0, 1), (1, 0)], [7, 8], (1, 2)), one_graph([(0, 1), (1, 0)], [8, 7], (1, 2))
    both = GraphBatch.concatenate([forth, back])
    with pytest.raises(
        ValueError, match="in graph 0 the edges between nodes 0 and 1 have other labels in one direction"
    ):
        WeisfeilerLehman(1, edge_labels=True).block(both, both)
    K = WeisfeilerLehman(1, edge_labels="directed").block(both, both)
    assert K[0, 1] < K[0, 0]
    assert WeisfeilerLehman(1).block(both, both)[0, 1] == K[0, 0]


def test_edge_labels_must_be_there(graphs):
    bare = replace(graphs, edge_labels=None)
    for kernel in (WeisfeilerLehman(edge_labels=True), HashedWL(edge_labels="directed")):
        with pytest.raises(ValueError, match=r"\(edge_labels=.*\): these graphs have no edge_labels"):
            gram_matrix(kernel, bare)
    with pytest.raises(ValueError, match="edge_labels must be False, True or 'directed', got 'bonds'"):
        gram_matrix(WeisfeilerLehman(edge_labels="bonds"), graphs)


@pytest.mark.parametrize("edge_labels", [False, True, "directed"])
@given(graphs=graph_batches())
def test_min_max_equals_brute_force(graphs, edge_labels):
    kernel, expected = MinMaxWL(2, edge_labels=edge_labels), references.min_max(graphs, 2, edge_labels)
    np.testing.assert_allclose(kernel.block(graphs, graphs), expected, rtol=1e-15)
    np.testing.assert_allclose(gram_matrix(kernel, graphs), expected, rtol=1e-15)


def test_min_max_of_larger_graphs():
    graphs = random_graphs(40, seed=8, largest=30)
    np.testing.assert_allclose(gram_matrix(MinMaxWL(3), graphs), references.min_max(graphs, 3), rtol=1e-15)


def test_nodes_of_one_colour_share_what_it_adds():
    """Of 1, 1, 2 and 1, 3, a 1 is in common, of four; where both have two, each node has its own."""
    graphs = GraphBatch([0, 3, 5], [0, 0, 0], [[], []], node_labels=[1, 1, 2, 1, 3])
    parts = MinMaxWL(0).node_block(graphs, graphs)
    np.testing.assert_allclose(parts, [[1 / 3, 1 / 8], [1 / 3, 1 / 8], [1 / 3, 0], [1 / 4, 1 / 2], [0, 1 / 2]])


@pytest.mark.parametrize("node_kernel", NODE_KERNELS)
def test_graph_hopper_equals_brute_force(odd_ones, node_kernel):
    for batch in (random_graphs(8, seed=11, largest=6), odd_ones):
        found = gram_matrix(GraphHopper(node_kernel, gamma=0.7), batch, normalize=False)
        np.testing.assert_allclose(
            found, references.graph_hopper(batch, NODE_KERNELS[node_kernel]), rtol=1e-11, atol=1e-9
        )


@pytest.mark.parametrize("node_kernel", NODE_KERNELS)
def test_node_sum_equals_brute_force(graphs, node_kernel):
    found = gram_matrix(NodeSum(node_kernel, gamma=0.7), graphs, normalize=False)
    np.testing.assert_allclose(found, references.node_sum(graphs, NODE_KERNELS[node_kernel]), rtol=1e-11, atol=1e-9)


@given(graphs=graph_batches(max_graphs=3, max_nodes=5))
def test_graph_hopper_equals_brute_force_on_anything(graphs):
    found = GraphHopper("delta").block(graphs, graphs)
    np.testing.assert_allclose(found, references.graph_hopper(graphs, references.delta), rtol=1e-12)


def test_path_counts_by_hand():
    """On a path of 4 nodes an inner node is second on 3 paths of length 1 and 2 ... counted out."""
    path = GraphBatch.from_networkx([nx.path_graph(4)])
    table = path_counts(path).dense(6) ** 2 / [1, 2, 2, 1, 2, 2]  # columns (0,0) (0,1) (0,2) (1,2) (0,3) (1,3)
    expected = [[1, 1, 1, 0, 1, 0], [1, 4, 1, 4, 0, 1], [1, 4, 1, 4, 0, 1], [1, 1, 1, 0, 1, 0]]
    np.testing.assert_allclose(table, expected, atol=1e-12)


def test_one_long_path_is_paid_for_once():
    """A graph of diameter 60 among small ones must not widen the others' rows."""
    graphs = GraphBatch.from_networkx([nx.path_graph(3)] * 50 + [nx.path_graph(61)])
    weights = path_counts(graphs)
    assert weights.widths[:-1].max() == 4
    assert weights.values.size < 50 * 3 * 4 + 61 * 1000


# -- against GraKeL --------------------------------------------------------------------------

needs_grakel = pytest.mark.skipif(sys.version_info >= (3, 13), reason="GraKeL has no wheel for Python 3.13")


def grakel_graphs(n, disconnected):
    """Random graphs that GraKeL can take: no isolated nodes."""
    rng = np.random.default_rng(7)
    made = []
    while len(made) < n:
        graph = random_networkx(rng, int(rng.integers(2, 14)), rng.uniform(0.15, 0.5))
        if disconnected:
            graph = nx.disjoint_union(graph, random_networkx(rng, 4, 0.8))
        if min(dict(graph.degree).values()) > 0 and (disconnected or nx.is_connected(graph)):
            made.append(graph)
    return GraphBatch.from_networkx(made, "label", "attributes")


@needs_grakel
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("disconnected", [False, True])
@pytest.mark.parametrize("n_iter", [1, 5])
def test_weisfeiler_lehman_equals_grakel(n_iter, disconnected):
    import grakel

    graphs = grakel_graphs(40, disconnected)
    expected = grakel.WeisfeilerLehman(n_iter=n_iter, normalize=False).fit_transform(to_grakel(graphs))
    np.testing.assert_array_equal(gram_matrix(WeisfeilerLehman(n_iter), graphs, normalize=False), expected)


@needs_grakel
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("disconnected", [False, True])
@pytest.mark.parametrize(("node_kernel", "theirs"), [("rbf", ("gaussian", 0.3)), ("linear", "linear")])
def test_graph_hopper_equals_grakel(node_kernel, theirs, disconnected):
    import grakel

    full = grakel_graphs(30, disconnected)
    graphs = GraphBatch(full.node_ptr, full.edge_ptr, full.edges, node_attributes=np.abs(full.node_attributes))
    expected = grakel.GraphHopper(kernel_type=theirs, normalize=False).fit_transform(to_grakel(graphs))
    kernel = GraphHopper(node_kernel, gamma=0.3)
    np.testing.assert_allclose(gram_matrix(kernel, graphs, normalize=False), expected, rtol=1e-12)
    np.testing.assert_allclose(gram_matrix(kernel, graphs, normalize=False, dtype="float32"), expected, rtol=1e-5)


@needs_grakel
@pytest.mark.filterwarnings("ignore")
def test_grakel_kernel_gives_grakels_values():
    import grakel

    graphs = grakel_graphs(10, False)
    kernel = GrakelKernel(grakel.ShortestPath(normalize=False))
    expected = grakel.ShortestPath(normalize=True).fit_transform(to_grakel(graphs))
    np.testing.assert_allclose(gram_matrix(kernel, graphs), expected)
    with pytest.raises(ValueError, match="normalize=False"):
        gram_matrix(GrakelKernel(grakel.ShortestPath(normalize=True)), graphs)
    with pytest.raises(TypeError, match="not a sum over nodes"):
        kernel.node_block(graphs, graphs)


def test_path_counts_that_cannot_fit_are_refused_before_they_are_made(monkeypatch):
    from cfmgml.kernels import path_counts as module

    graphs = GraphBatch.from_networkx([nx.path_graph(3), nx.path_graph(60)])
    monkeypatch.setattr(module, "physical_gib", lambda: 1e-4)
    with pytest.raises(MemoryError, match="graph 1, with 60 nodes and diameter 59"):
        path_counts(graphs)

"""Graphs that are the same by content: told from others whatever their names, order and company."""

import time
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml import GraphBatch
from cfmgml.data.overlap import overlap_summary
from cfmgml.datasets import bags_from_texts, load_digit_bags
from cfmgml.reading.contents import graph_digests, same_graphs


def random_batch(seed, n_graphs=6, attributes=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, n_graphs)
    graphs = [nx.gnp_random_graph(int(size), 0.4, seed=int(rng.integers(1000))) for size in sizes]
    for graph in graphs:
        for node in graph:
            graph.nodes[node].update(label=int(rng.integers(3)), x=rng.normal(size=attributes).round(2))
    return graphs


def digests_of(graphs):
    return graph_digests(GraphBatch.from_networkx(graphs, "label", "x"))


@given(st.integers(0, 1000))
def test_order_and_company_do_not_count(seed):
    graphs, rng = random_batch(seed), np.random.default_rng(seed)
    turned = []
    for graph in graphs:
        order = rng.permutation(len(graph)).tolist()
        moved = nx.Graph()
        moved.add_nodes_from((place, graph.nodes[place]) for place in order)
        moved.add_edges_from((b, a) for a, b in graph.edges)
        turned.append(moved)
    np.testing.assert_array_equal(digests_of(graphs), digests_of(turned))
    np.testing.assert_array_equal(digests_of(graphs)[::-1], digests_of(graphs[::-1]))


def test_edge_labels_count_however_edges_are_stored():
    def digest(edges, edge_labels):
        ptr = [0, len(edges)]
        batch = GraphBatch([0, 3], ptr, np.array(edges).T, node_labels=[1, 2, 3], edge_labels=edge_labels)
        return int(graph_digests(batch)[0])

    once = digest([(0, 1), (1, 2)], [5, 6])
    assert once == digest([(1, 0), (0, 1), (2, 1), (1, 2)], [5, 5, 6, 6])
    others = [digest([(0, 1), (1, 2)], [6, 5]), digest([(0, 1), (1, 0), (1, 2)], [5, 7, 6])]
    others.append(digest([(0, 1), (1, 0), (1, 2)], [7, 5, 6]))  # what differs in two directions has directions
    assert len({once, *others}) == 4


@given(st.integers(0, 1000))
def test_what_differs_has_another_digest(seed):
    graph = random_batch(seed, 1)[0]
    others = [graph]
    for change in ({"label": 7}, {"x": graph.nodes[0]["x"] + 1e-9}):
        other = graph.copy()
        other.nodes[0].update(change)
        others.append(other)
    larger = graph.copy()
    larger.add_node(99, **graph.nodes[0])
    joined = larger.copy()
    joined.add_edge(0, 99)
    assert len(set(digests_of([*others, larger, joined]).tolist())) == 5


def test_attributes_of_two_nodes_are_not_swapped():
    graphs = [nx.path_graph(2), nx.path_graph(2)]
    for graph, rows in zip(graphs, ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 4.0], [3.0, 2.0]]), strict=True):
        for node in graph:
            graph.nodes[node].update(label=0, x=np.array(rows[node]))
    assert len(set(digests_of(graphs).tolist())) == 2


def test_zeros_are_the_same():
    graphs = GraphBatch([0, 1, 2], [0, 0, 0], [[], []], node_attributes=np.array([[0.0], [-0.0]]))
    assert len(set(graph_digests(graphs).tolist())) == 1


def test_digits_are_found_by_their_pixels_as_by_their_names():
    bags = load_digit_bags(n_bags=60)
    _, by_name = np.unique(bags.graph_names, return_inverse=True)
    same = same_graphs(replace(bags, graph_names=None))
    assert len(np.unique(np.stack([same, by_name]), axis=1).T) == len(np.unique(same)) == len(np.unique(by_name))


def test_the_leak_of_a_collection_with_repeats():
    bags = bags_from_texts(["Cats purr. Dogs bark."] * 3 + ["Cats purr loudly. And so.", "And so."])
    overlap = overlap_summary(same_graphs(bags), bags.bag_ptr)
    assert (overlap["n_graphs"], overlap["n_distinct_graphs"], overlap["n_shared_graphs"]) == (9, 5, 2)


def test_a_graph_twice_in_one_bag_is_not_shared():
    bags = bags_from_texts(["Cats purr. Cats purr."])
    overlap = overlap_summary(same_graphs(bags), bags.bag_ptr)
    assert (overlap["n_distinct_graphs"], overlap["n_shared_graphs"]) == (1, 0)


@pytest.mark.parametrize("n_attributes", [0, 10])
def test_time_is_in_proportion(n_attributes):
    def seconds(n_graphs):
        n = 10 * n_graphs
        edges = np.arange(n - 1)[np.arange(1, n) % 10 > 0]
        batch = GraphBatch(
            np.arange(0, n + 1, 10), np.arange(0, 9 * n_graphs + 1, 9), np.stack([edges, edges + 1]),
            node_labels=np.arange(n) % 7, node_attributes=np.ones((n, n_attributes)) if n_attributes else None,
        )  # fmt: skip
        start = time.process_time()
        assert len(set(graph_digests(batch).tolist())) <= 70
        return time.process_time() - start

    seconds(10)  # compiles
    assert seconds(20_000) < 5.0


def test_structure_counts_where_nodes_carry_nothing():
    """A path and a triangle, and a path again."""
    graphs = GraphBatch([0, 3, 6, 9], [0, 2, 5, 7], [[0, 1, 3, 4, 5, 6, 7], [1, 2, 4, 5, 3, 7, 8]])
    path, triangle, again = graph_digests(graphs).tolist()
    assert path == again
    assert path != triangle
    assert 0 not in (path, triangle)  # what content_digests says of a text without keywords

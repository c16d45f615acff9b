"""GraphBatch: construction, checks, selection, other libraries, files."""

import types
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml import GraphBatch
from cfmgml.data.checks import label_codes
from examples import graph_batches, random_graphs


def same(a, b):
    assert a.arrays().keys() == b.arrays().keys()
    for name, array in a.arrays().items():
        np.testing.assert_array_equal(array, b.arrays()[name], err_msg=name)


GOOD = {"node_ptr": [0, 2, 3], "edge_ptr": [0, 1, 1], "edges": [[0], [1]]}

BAD = {
    "edge out of range": (
        {"edges": [[0], [3]]},
        ValueError,
        r"edge 0, \(0, 3\), leaves its graph 0, whose nodes are 0 to 1",
    ),
    "negative node": ({"edges": [[-1], [1]]}, ValueError, "leaves its graph 0"),
    "edge across graphs": ({"edges": [[0], [2]]}, ValueError, "leaves its graph 0"),
    "edges transposed": ({"edges": [[0, 1], [1, 0], [0, 1]], "edge_ptr": [0, 3, 3]}, ValueError, "pass edges.T"),
    "edges of one row": ({"edges": [0, 1]}, ValueError, r"edges must have shape \(2, n_edges\)"),
    "edges not integers": ({"edges": [[0.5], [1.0]]}, TypeError, "edges must be integers"),
    "offset not from 0": ({"node_ptr": [1, 2, 3]}, ValueError, "node_ptr must start with 0, got 1"),
    "offsets decrease": ({"node_ptr": [0, 3, 2]}, ValueError, r"must not decrease, but node_ptr\[1\] = 3 > 2"),
    "offsets of two lengths": ({"edge_ptr": [0, 1]}, ValueError, "must have one length, n_graphs \\+ 1, got 3 and 2"),
    "too few edges": ({"edge_ptr": [0, 1, 2]}, ValueError, "edge_ptr ends at 2, but there are 1 edges"),
    "no offsets": ({"node_ptr": []}, ValueError, "starts with 0"),
    "a graph without nodes": ({"node_ptr": [0, 2, 2]}, ValueError, "every graph must have a node; graph 1 has none"),
    "labels of wrong length": (
        {"node_labels": [1, 2]},
        ValueError,
        r"node_labels must have shape \(3,\), one a node, got \(2,\)",
    ),
    "labels not integers": ({"node_labels": [0.5, 1, 2]}, TypeError, "node_labels must be integers"),
    "one-dimensional attributes": ({"node_attributes": [1.0, 2, 3]}, ValueError, r"pass values\[:, None\]"),
    "NaN attribute": (
        {"node_attributes": [[0.0], [1], [np.nan]]},
        ValueError,
        r"node 2 \(graph 1\) has nan in column 0",
    ),
    "infinite attribute": ({"node_attributes": [[0.0], [np.inf], [0]]}, ValueError, r"node 1 \(graph 0\) has inf"),
    "weights of wrong length": ({"edge_weights": [1.0, 2.0]}, ValueError, "one an edge"),
    "infinite weight": ({"edge_weights": [np.inf]}, ValueError, "edge_weights must be finite; edge 0"),
    "edge labels of wrong length": (
        {"edge_labels": [1, 2]},
        ValueError,
        r"edge_labels must have shape \(1,\), one an edge, got \(2,\)",
    ),
    "edge labels not integers": ({"edge_labels": [0.5]}, TypeError, "edge_labels must be integers"),
    "names of wrong length": ({"node_names": ["a"]}, ValueError, "node_names must have shape"),
    "ids of wrong length": ({"graph_ids": [1]}, ValueError, r"graph_ids must have shape \(2,\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_input_is_refused(case):
    change, error, message = BAD[case]
    with pytest.raises(error, match=message):
        GraphBatch(**{**GOOD, **change})


def test_arrays_are_frozen():
    batch = GraphBatch(**GOOD, node_labels=np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="read-only"):
        batch.node_labels[0] = 5
    with pytest.raises(AttributeError):
        batch.edges = None


def test_freezing_leaves_the_callers_array_alone():
    labels = np.array([1, 2, 3])
    GraphBatch(**GOOD, node_labels=labels)
    labels[0] = 9


def test_repr_counts(graphs):
    assert (
        repr(graphs) == f"GraphBatch(12 graphs, {graphs.n_nodes} nodes, {graphs.n_edges} edges; "
        "2 attributes, labels, edge labels)"
    )


@given(batch=graph_batches(), data=st.data())
def test_selection_takes_whole_graphs(batch, data):
    index = data.draw(st.lists(st.integers(-batch.n_graphs, batch.n_graphs - 1), max_size=6))
    chosen = batch[index]
    assert chosen.n_graphs == len(index)
    for place, k in enumerate(index):
        one, expected = chosen.arrays(place), batch.arrays(k % batch.n_graphs)
        for name in expected:
            np.testing.assert_array_equal(one[name], expected[name])


@given(batch=graph_batches(), data=st.data())
def test_selections_compose(batch, data):
    numbers = st.lists(st.integers(0, batch.n_graphs - 1), min_size=1, max_size=6)
    first = data.draw(numbers)
    second = data.draw(st.lists(st.integers(0, len(first) - 1), max_size=6))
    same(batch[first][second], batch[np.array(first)[second]])


@given(batch=graph_batches())
def test_concatenation_undoes_splitting(batch):
    same(GraphBatch.concatenate(list(batch), keep_ids=True), batch)
    assert GraphBatch.concatenate([batch, batch]).graph_ids.tolist() == list(range(2 * batch.n_graphs))


@pytest.mark.parametrize("index", [slice(2, 9, 3), np.arange(12) % 3 == 2, [2, 5, 8], (slice(2, 9, 3), ...)])
def test_ways_to_select(graphs, index):
    expected = [2, 5, 8, 11] if isinstance(index, np.ndarray) else [2, 5, 8]
    assert graphs[index].graph_ids.tolist() == expected


@pytest.mark.parametrize(
    ("index", "message"),
    [(12, "index 12 is out of range for 12 graphs"), ([True], "mask"), (1.5, "selected by"), ((1, 2), "one index")],
)
def test_bad_index(graphs, index, message):
    with pytest.raises(IndexError, match=message):
        graphs[index]


def test_concatenate_refuses_what_does_not_fit(graphs):
    bare = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=graphs.node_attributes)
    with pytest.raises(ValueError, match="batch 1 has no node_labels and batch 0 has"):
        GraphBatch.concatenate([graphs, bare])
    wide = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=np.zeros((graphs.n_nodes, 5)))
    with pytest.raises(ValueError, match="same number of attributes"):
        GraphBatch.concatenate([bare, wide])
    with pytest.raises(ValueError, match="at least one"):
        GraphBatch.concatenate([])


@given(batch=graph_batches())
def test_adjacency_is_simple_and_undirected(batch):
    ptr, neighbours = batch.adjacency
    pairs = {(int(v), int(u)) for v in range(batch.n_nodes) for u in neighbours[ptr[v] : ptr[v + 1]]}
    given_ = {(int(a), int(b)) for a, b in batch.edges.T if a != b}
    assert pairs == given_ | {(b, a) for a, b in given_}
    assert len(neighbours) == len(pairs)


# -- other libraries -------------------------------------------------------------------------


def test_networkx_round_trip(graphs):
    same(GraphBatch.from_networkx(graphs.to_networkx(), "label", "attributes", edge_label="label"), graphs)


def test_networkx_names_weights_and_direction():
    graph = nx.DiGraph()
    graph.add_edge("cow", "sky", weight=0.5)
    batch = GraphBatch.from_networkx([graph], weight="weight")
    assert batch.node_names.tolist() == ["cow", "sky"]
    assert batch.edges.tolist() == [[0], [1]]
    assert batch.edge_weights.tolist() == [0.5]
    back = batch.to_networkx(directed=True)[0]
    assert back.edges[0, 1]["weight"] == 0.5
    assert back.nodes[1]["name"] == "sky"
    assert GraphBatch.from_networkx([]).n_graphs == 0


def test_string_labels_become_stable_numbers():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "C", 1: "N"}, "atom")
    assert GraphBatch.from_networkx([graph], label="atom").node_labels.tolist() == label_codes(["C", "N"]).tolist()


def test_networkx_errors():
    graph = nx.path_graph(2)
    graph.nodes[0]["label"] = 1
    with pytest.raises(ValueError, match="node 1 of graph 0 has no 'label'; it has no data"):
        GraphBatch.from_networkx([graph], label="label")
    with pytest.raises(ValueError, match=r"edge \(0, 1\) of graph 0 has no 'w'"):
        GraphBatch.from_networkx([graph], weight="w")
    with pytest.raises(ValueError, match=r"edge \(0, 1\) of graph 0 has no 'bond'; it has no data"):
        GraphBatch.from_networkx([graph], edge_label="bond")
    with pytest.raises(TypeError, match="graph 0 is of type int"):
        GraphBatch.from_networkx([3])
    nx.set_node_attributes(graph, {0: [1.0], 1: [1.0, 2.0]}, "x")
    with pytest.raises(ValueError, match="same number of 'x'"):
        GraphBatch.from_networkx([graph], attributes="x")


def test_pyg_objects():
    data = types.SimpleNamespace(num_nodes=2, edge_index=np.array([[0], [1]]), x=np.ones((2, 3)), z=np.array([6, 7]))
    batch = GraphBatch.from_pyg([data, data], label="z")
    assert repr(batch) == "GraphBatch(2 graphs, 4 nodes, 2 edges; 3 attributes, labels)"
    assert batch.edges.tolist() == [[0, 2], [1, 3]]
    with pytest.raises(ValueError, match="graph 0 has no 'pos'"):
        GraphBatch.from_pyg([data], attributes="pos")


def test_pyg_edge_labels():
    """Whole numbers, whatever type they have; several columns are one label, and measures are none."""

    def labels(edge_attr):
        edges = np.array([[0, 1, 1], [1, 0, 2]])
        data = types.SimpleNamespace(num_nodes=3, edge_index=edges, edge_attr=np.array(edge_attr))
        return GraphBatch.from_pyg([data, data], attributes=None, edge_label="edge_attr").edge_labels.tolist()

    assert labels([1, 1, 2]) == labels([[1.0], [1.0], [2.0]]) == [1, 1, 2, 1, 1, 2]
    one_hot = labels([[0, 1], [0, 1], [1, 0]])
    assert one_hot[0] == one_hot[1] == one_hot[3] != one_hot[2]
    for bad in ([0.5, 1, 1], [np.nan, 1, 1]):
        with pytest.raises(ValueError, match="'edge_attr' must be whole numbers to be labels"):
            labels(bad)


def test_edge_labels_of_networkx():
    """Strings become stable numbers; an undirected edge has its label both ways, parallel ones have each their own."""
    graph = nx.MultiGraph([(0, 1, {"bond": "single"}), (0, 1, {"bond": "double"})])
    batch = GraphBatch.from_networkx([graph], edge_label="bond")
    assert batch.edge_labels.tolist() == label_codes(["single", "single", "double", "double"]).tolist()
    graph = nx.DiGraph([(0, 1, {"bond": 3}), (1, 0, {"bond": 4})])
    batch = GraphBatch.from_networkx([graph], edge_label="bond")
    assert [batch.to_networkx(directed=True)[0].edges[edge]["label"] for edge in ((0, 1), (1, 0))] == [3, 4]


@given(batch=graph_batches())
def test_arcs_are_the_neighbours_with_labels(batch):
    for name in ("labelled_arcs", "directed_arcs", "arcs_as_stored"):
        arcs = getattr(batch, name)
        node = np.repeat(np.arange(batch.n_nodes), np.diff(arcs.ptr))
        found = list(zip(node, arcs.neighbours, arcs.labels, arcs.inward, strict=True))
        edges = [(a, b, k) for a, b, k in zip(*batch.edges, batch.edge_labels, strict=True) if a != b]
        inward = {(b, a, k, name == "directed_arcs") for a, b, k in edges}
        assert set(found) == {(a, b, k, False) for a, b, k in edges} | inward
        assert len(found) == len(set(found))
        assert (np.diff(arcs.neighbours)[np.diff(node) == 0] >= 0).all()


# -- files -----------------------------------------------------------------------------------


@given(batch=graph_batches())
def test_file_round_trip(batch, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "graphs.cfmgml"
    batch.save(path)
    same(GraphBatch.load(path), batch)


def test_what_has_no_edge_labels_is_what_it_was(tmp_path, graphs):
    """No array, so no other file and no other fingerprint; files from before have none and load."""
    bare = replace(graphs, edge_labels=None)
    assert "edge_labels" not in bare.arrays()
    assert "edge_labels" in graphs.arrays()
    bare.save(tmp_path / "g")
    assert GraphBatch.load(tmp_path / "g").edge_labels is None


def test_names_survive_a_file(tmp_path):
    names = ["", "Kuh", "牛", "a\x00b"]
    batch = GraphBatch([0, 4], [0, 0], [[], []], node_names=names)
    batch.save(tmp_path / "g")
    assert GraphBatch.load(tmp_path / "g").node_names.tolist() == batch.node_names.tolist()


def test_selection_has_no_loop_over_graphs():
    """Selecting from 20,000 graphs costs array operations only: as many Python calls as selecting from 20."""
    import cProfile
    import pstats

    def calls(n):
        graphs = GraphBatch(np.arange(n + 1), np.zeros(n + 1, dtype=int), [[], []], node_labels=np.arange(n))
        profile = cProfile.Profile()
        profile.runcall(graphs.__getitem__, np.arange(n)[::-1])
        return pstats.Stats(profile).total_calls

    assert calls(20_000) == calls(20)


def test_random_graphs_differ():
    assert random_graphs(5, seed=1).n_nodes != random_graphs(5, seed=2).n_nodes

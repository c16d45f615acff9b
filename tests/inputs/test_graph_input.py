"""Graphs from files: TUDataset, GraphML, PyG."""

import networkx as nx
import numpy as np
import pytest

from cfmgml import CfMGML, GraphBatch
from cfmgml.data.checks import label_codes
from file_input import graph_bags
from made_up import make_molecules, make_tudataset
from needs import needs


def test_tudataset(tmp_path):
    make_tudataset(tmp_path / "TOY")
    bags = graph_bags([tmp_path / "TOY"])
    assert bags.bag_names.tolist() == ["1", "2", "3", "4"]
    assert np.diff(bags.graphs.node_ptr).tolist() == [3, 2, 3, 2]
    assert np.diff(bags.graphs.edge_ptr).tolist() == [6, 2, 6, 2]
    assert bags.graphs.node_labels.tolist() == [0, 1] * 5
    assert bags.graphs.node_attributes[:2].tolist() == [[0, 0.5], [1, 0.5]]
    assert bags.label_sets() == [["1"], ["2"], ["1"], ["2"]]
    assert bags.graph_Y.tolist() == bags.Y.tolist()


def test_tudataset_as_pyg_keeps_it_and_in_bags(tmp_path):
    make_tudataset(tmp_path / "TOY" / "raw")
    (tmp_path / "bags.csv").write_text("graph,bag\n4,late\n1,early\n2,early\n")
    bags = graph_bags([tmp_path / "TOY"], bags=tmp_path / "bags.csv")
    assert bags.bag_names.tolist() == ["late", "early"]
    assert bags.graph_names.tolist() == ["4", "1", "2"]
    assert np.diff(bags.graphs.node_ptr).tolist() == [2, 3, 2]
    assert bags.label_sets() == [["2"], ["1", "2"]]
    assert bags.graphs.graph_ids.tolist() == [0, 1, 2]


def test_graphml_by_folder(tmp_path):
    make_molecules(tmp_path / "m", tmp_path / "m.csv", 4)
    bags = graph_bags([tmp_path / "m"], labels=tmp_path / "m.csv")
    assert bags.bag_names.tolist() == ["m0", "m1", "m2", "m3"]
    assert bags.graphs.n_attributes == 1
    assert len(np.unique(bags.graphs.node_labels)) == 2
    assert bags.info["parameters"] == {"node_label": "label", "node_attributes": ["charge"]}
    assert bags.label_names.tolist() == ["chain", "ring"]
    for k in range(4):  # a ring has as many edges as nodes, a chain one fewer
        graphs = bags[k].graphs
        edges = np.diff(graphs.edge_ptr) // 2
        kinds = sorted("ring" if e == n else "chain" for e, n in zip(edges, np.diff(graphs.node_ptr), strict=True))
        assert kinds == bags[k].label_sets()[0]


def test_graphml_files_side_by_side_with_weights(tmp_path):
    for name in ("a", "b"):
        graph = nx.path_graph(3)
        nx.set_edge_attributes(graph, 0.5, "weight")
        nx.write_graphml(graph, tmp_path / f"{name}.graphml")
    bags = graph_bags([tmp_path])
    assert bags.bag_names.tolist() == ["a", "b"]
    assert bags.graphs.edge_weights.tolist() == [0.5] * 8
    assert bags.graphs.node_labels is None
    assert bags.Y is None


def test_graphs_without_labels_are_labelled_by_degrees_where_asked(tmp_path):
    for name, graph in {"path": nx.path_graph(3), "ring": nx.cycle_graph(3)}.items():
        nx.write_graphml(graph, tmp_path / f"{name}.graphml")
    (tmp_path / "labels.csv").write_text("name,labels\npath,open\nring,closed\n")
    plain = graph_bags([tmp_path], labels=tmp_path / "labels.csv")
    with pytest.raises(ValueError, match=r"neither node_attributes nor node_labels.*build graphs --degrees"):
        CfMGML().fit(plain)
    assert "degrees" not in plain.info["parameters"]
    bags = graph_bags([tmp_path], labels=tmp_path / "labels.csv", degrees=True)
    assert bags.graphs.node_labels.tolist() == [1, 2, 1, 2, 2, 2]
    model = CfMGML().fit(bags)
    again = model.builder_.rebuild([GraphBatch.from_networkx([nx.cycle_graph(3)])])  # new input the same way
    np.testing.assert_allclose(model.decision_function(again), model.decision_function(bags[1:]))
    make_molecules(tmp_path / "labelled", tmp_path / "labelled.csv", 2)
    with pytest.raises(ValueError, match="degrees=True is for graphs without node labels"):
        graph_bags([tmp_path / "labelled"], degrees=True)


def test_edge_labels_of_files(tmp_path):
    """TUDataset's file of them in its order of edges, GraphML's data called label or as told, PyG's integers."""
    make_tudataset(tmp_path / "TOY")
    lines = (tmp_path / "TOY" / "TOY_A.txt").read_text().split("\n")
    order = np.random.default_rng(0).permutation(np.arange(len(lines) - 1))
    (tmp_path / "TOY" / "TOY_A.txt").write_text("\n".join(lines[k] for k in order) + "\n")
    ends = [sorted(map(int, lines[k].split(","))) for k in order]
    (tmp_path / "TOY" / "TOY_edge_labels.txt").write_text("".join(f"{one * 100 + other}\n" for one, other in ends))
    graphs = graph_bags([tmp_path / "TOY"]).graphs
    assert graphs.edge_labels.tolist() == [100 * one + other for one, other in np.sort(graphs.edges.T + 1)]
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, {(0, 1): "single", (1, 2): "double"}, "label")
    nx.set_edge_attributes(graph, {(0, 1): 1, (1, 2): 2}, "order")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    bags = graph_bags([tmp_path / "a.graphml"])
    assert bags.graphs.edge_labels.tolist() == label_codes(["single", "single", "double", "double"]).tolist()
    assert bags.info["parameters"]["edge_label"] == "label"
    bags = graph_bags([tmp_path / "a.graphml"], edge_label="order")
    assert bags.graphs.edge_labels.tolist() == [1, 1, 2, 2]


def test_edge_labels_of_pyg_files(tmp_path):
    torch = needs("torch")
    entry = {"edge_index": torch.tensor([[0, 1], [1, 2]]), "num_nodes": 3, "edge_attr": torch.tensor([[4], [5]])}
    torch.save([entry, entry], tmp_path / "g.pt")
    assert graph_bags([tmp_path / "g.pt"]).graphs.edge_labels.tolist() == [4, 5, 4, 5]
    torch.save([{**entry, "edge_attr": torch.tensor([0.5, 0.7])}], tmp_path / "g.pt")
    assert graph_bags([tmp_path / "g.pt"]).graphs.edge_labels is None
    with pytest.raises(ValueError, match="'edge_attr' must be whole numbers"):
        graph_bags([tmp_path / "g.pt"], edge_label="edge_attr")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("TOY_edge_labels.txt", "1\n", "must have 16 lines, got 1"),
        ("TOY_A.txt", "1, 4\n", "line 1 joins nodes of two graphs"),
        ("TOY_A.txt", "1, 99\n", "must name nodes 1 to 10, got 1 to 99"),
        ("TOY_A.txt", "a, b\n", "must hold numbers with commas between them"),
        ("TOY_graph_indicator.txt", "2\n1\n", "must number graphs from 1, in order"),
        ("TOY_node_labels.txt", "1\n", "must have 10 lines, got 1"),
    ],
)
def test_damaged_tudatasets(tmp_path, file, content, message):
    make_tudataset(tmp_path / "TOY")
    (tmp_path / "TOY" / file).write_text(content)
    with pytest.raises(ValueError) as error:
        graph_bags([tmp_path / "TOY"])
    assert message in str(error.value)


def test_damaged_graphml(tmp_path):
    (tmp_path / "a.graphml").write_text("<graphml>")
    with pytest.raises(ValueError, match="cannot be read as GraphML"):
        graph_bags([tmp_path])
    nx.write_graphml(nx.Graph(), tmp_path / "a.graphml")
    with pytest.raises(ValueError, match="has no nodes"):
        graph_bags([tmp_path])
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, "dark", "shade")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    with pytest.raises(ValueError, match="has 'dark' for 'shade'; attributes are numbers"):
        graph_bags([tmp_path], node_attributes=["shade"])


def test_tables_of_bags_must_fit(tmp_path):
    make_tudataset(tmp_path / "TOY")
    table = tmp_path / "bags.csv"
    for text, message in [
        ("graph\n1\n", "must have the columns graph and bag"),
        ("graph,bag\n9,a\n", "names graph '9', and there is none; there are '1', '2', '3', ..."),
        ("graph,bag\n1,a\n1,b\n", "puts graph '1' into a bag twice"),
    ]:
        table.write_text(text)
        with pytest.raises(ValueError) as error:
            graph_bags([tmp_path / "TOY"], bags=table)
        assert message in str(error.value)
    table.write_text("graph,bag,labels\n1,a,x;y\n2,b,\n")
    bags = graph_bags([tmp_path / "TOY"], bags=table)
    assert bags.label_sets() == [["x", "y"], []]
    (tmp_path / "l.csv").write_text("bag,labels\na,x\n")
    with pytest.raises(ValueError, match="has no row for bag b"):
        graph_bags([tmp_path / "TOY"], bags=table, labels=tmp_path / "l.csv")


def test_pyg_graphs_with_several_labels(tmp_path):
    torch = needs("torch")
    rows = [{"edge_index": torch.tensor([[0], [1]]), "num_nodes": 3, "y": torch.tensor([[1, 0, 1]])}]
    torch.save(rows, tmp_path / "g.pt")
    bags = graph_bags([tmp_path / "g.pt"])
    assert bags.graphs.n_nodes == 3
    assert bags.label_sets() == [["0", "2"]]
    torch.save([torch.zeros(3)], tmp_path / "g.pt")
    with pytest.raises(ValueError, match="entry 0 must be a graph with edge_index, got Tensor"):
        graph_bags([tmp_path / "g.pt"])

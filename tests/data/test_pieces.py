"""Bags from lists of graphs of other libraries, and back to PyG."""

import warnings

import networkx as nx
import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, GraphBatch, WeisfeilerLehman
from cfmgml.data.checks import label_codes
from examples import random_bags
from needs import needs


def ring(n=4, **data):
    graph = nx.cycle_graph(n)
    nx.set_node_attributes(graph, "C", "label")
    nx.set_edge_attributes(graph, 1, "label")
    graph.graph.update(data)
    return graph


def test_lists_of_networkx_graphs():
    """What every node or edge has under its usual name is read; other names are for saying so."""
    bags = BagDataset.from_graphs([[ring(), ring(5)], (ring(3),)], [{"b", "a"}, None], bag_names=["x", "y"])
    assert bags.bag_ptr.tolist() == [0, 2, 3]
    assert bags.label_names.tolist() == ["a", "b"]
    assert bags.Y.tolist() == [[True, True], [False, False]]
    assert bags.Y_known.tolist() == [[True, True], [False, False]]
    assert bags.bag_names.tolist() == ["x", "y"]
    assert set(bags.graphs.node_labels.tolist()) == set(label_codes(["C"]).tolist())
    assert set(bags.graphs.edge_labels.tolist()) == {1}
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 1.0, 1: 2.0}, "charge")
    bags = BagDataset.from_graphs([[graph]], attributes="charge")
    assert bags.graphs.node_attributes.tolist() == [[1.0], [2.0]]
    assert bags.graphs.node_labels is None
    assert bags.Y is None


def test_pieces_of_batches():
    """Selecting and putting together again gives the same bags; a piece may hold several graphs."""
    bags = random_bags(6)
    again = BagDataset.from_graphs([list(bag.graphs) for bag in bags], bags.label_sets(), bags.label_names)
    whole = BagDataset.from_graphs([bag.graphs for bag in bags], bags.label_sets(), bags.label_names)
    for made in (again, whole):
        np.testing.assert_array_equal(made.bag_ptr, bags.bag_ptr)
        np.testing.assert_array_equal(made.Y, bags.Y)
        np.testing.assert_array_equal(made.graphs.edge_labels, bags.graphs.edge_labels)
    assert CfMGML(WeisfeilerLehman(1), alpha=1e-2).fit(again).predict(bags).shape == bags.Y.shape


def test_kinds_may_be_mixed():
    batch = GraphBatch([0, 1, 3], [0, 0, 1], [[1], [2]], node_labels=["C", "C", "C"], edge_labels=[1])
    bags = BagDataset.from_graphs([[batch, ring()], [ring(3), batch]])
    assert bags.bag_ptr.tolist() == [0, 3, 6]
    assert np.diff(bags.graphs.node_ptr).tolist() == [1, 2, 4, 3, 1, 2]


BAD = {
    "no graph": (([[ring()], []],), ValueError, "every bag must have a graph; bag 1 has none"),
    "no bag": (([],), ValueError, "every bag must have a graph; there is no bag"),
    "a graph for a bag": (([[ring()], ring()],), TypeError, "bag 1 must be a list of graphs, got Graph; put it in"),
    "a string for a bag": ((["C1"],), TypeError, "bag 0 must be a list of graphs, got str"),
    "what is no graph": (([[ring()], [ring(), 3]],), TypeError, "bag 1, graph 1 is of type int; a graph is one of"),
    "too few sets": (([[ring()]], []), ValueError, "a set for each of 1 bags, got 0"),
    "a string for a set": (([[ring()]], ["cow"]), TypeError, "labels of bag 0 must be a list .* string 'cow'"),
    "a label too many": (([[ring()]], [["a"]], ["b"]), ValueError, "bag 0 has the label 'a', which is not among"),
    "no label at all": (([[ring()]], [[]]), ValueError, "no bag has a label; give label_names"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_is_named(case):
    arguments, error, message = BAD[case]
    with pytest.raises(error, match=message):
        BagDataset.from_graphs(*arguments)


def test_the_graph_that_lacks_something_is_named():
    bare = nx.path_graph(2)
    with pytest.raises(ValueError, match="bag 1, graph 2: node 0 of graph 0 has no 'label'"):
        BagDataset.from_graphs([[ring()], [ring(), ring(), bare]], label="label")
    with pytest.raises(ValueError, match="bag 0, graph 1: .*must have a node"):
        BagDataset.from_graphs([[ring(), nx.Graph()]])


def test_molecules():
    chemistry = needs("rdkit.Chem") if needs("rdkit") else None
    molecules = [chemistry.MolFromSmiles(text) for text in ("CC=O", "c1ccccc1")]
    bags = BagDataset.from_graphs([molecules], [["a"]])
    assert bags.graphs.node_names.tolist() == ["C", "C", "O", *"CCCCCC"]
    assert bags.graphs.edge_labels[:2].tolist() == label_codes(["SINGLE", "DOUBLE"]).tolist()
    assert len(set(bags.graphs.edge_labels[2:].tolist())) == 1


# -- PyTorch Geometric -----------------------------------------------------------------------


@pytest.fixture
def pyg():
    needs("torch")
    with warnings.catch_warnings(action="ignore"):  # its own, of what torch will do away with
        needs("torch_geometric")
    return needs("torch_geometric")


def test_batches_and_gradients(pyg):
    """A Batch is its graphs; tensors may require gradients."""
    import torch

    x = torch.ones((3, 2), requires_grad=True)
    data = pyg.data.Data(x=x * 2, edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=torch.tensor([4, 5]))
    batch = pyg.data.Batch.from_data_list([data, data])
    graphs = GraphBatch.from_pyg(batch, edge_label="edge_attr")
    assert graphs.n_graphs == 2
    assert graphs.node_attributes.tolist() == [[2.0, 2.0]] * 6
    assert graphs.edge_labels.tolist() == [4, 5, 4, 5]
    bags = BagDataset.from_graphs([batch, [data]], [["a"], []])
    assert bags.bag_ptr.tolist() == [0, 2, 3]
    assert bags.graphs.n_attributes == 2


def test_to_pyg_and_back(pyg, bags):
    made = bags.to_pyg()
    assert len(made) == bags.n_graphs
    assert [int(data.bag) for data in made] == bags.bag_ids.tolist()
    again = GraphBatch.from_pyg(made, label="node_label", edge_label="edge_attr")
    for name in ("node_ptr", "edge_ptr", "edges", "node_labels", "edge_labels"):
        np.testing.assert_array_equal(getattr(again, name), getattr(bags.graphs, name), err_msg=name)
    np.testing.assert_allclose(again.node_attributes, bags.graphs.node_attributes, rtol=1e-6)
    loaded = list(pyg.loader.DataLoader(made, batch_size=20))
    assert sum(part.num_graphs for part in loaded) == bags.n_graphs
    np.testing.assert_array_equal(np.concatenate([part.bag.numpy() for part in loaded]), bags.bag_ids)
    np.testing.assert_array_equal(np.concatenate([part.y.numpy() for part in loaded]), bags.Y[bags.bag_ids])


def test_batches_of_bags_for_torch(bags):
    """Its own DataLoader takes bags as they are, with what joins some of them."""
    loader = needs("torch").utils.data.DataLoader(bags, batch_size=4, collate_fn=BagDataset.concatenate)
    parts = list(loader)
    assert [part.n_bags for part in parts[:-1]] == [4] * (len(parts) - 1)
    np.testing.assert_array_equal(np.concatenate([part.Y for part in parts]), bags.Y)
    np.testing.assert_array_equal(np.concatenate([part.graphs.node_labels for part in parts]), bags.graphs.node_labels)

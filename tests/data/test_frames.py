"""Bags as frames of other libraries, by the schema of stores."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.learning.predictions import prediction_rows
from examples import graph_batches, random_bags
from needs import needs

pa = needs("pyarrow")


@pytest.fixture
def full():
    """Everything a data set can have; some labels are not known, and all of one bag."""
    bags = random_bags(9, seed=4)
    Y = np.where(np.random.default_rng(0).random(bags.Y.shape) < 0.2, np.nan, bags.Y)
    Y[3] = np.nan
    graphs = replace(
        bags.graphs,
        edge_weights=np.arange(bags.graphs.n_edges) / 7,
        node_names=[f"wört {k}" for k in range(bags.graphs.n_nodes)],
    )
    names = {"bag_names": [f"bag {k}" for k in range(9)], "graph_names": [f"g{k}" for k in range(bags.n_graphs)]}
    return replace(bags, graphs=graphs, Y=Y, info={"source": "made up"}, **names)


def same(a, b):
    assert a.arrays().keys() == b.arrays().keys()
    for name, array in a.arrays().items():
        np.testing.assert_array_equal(b.arrays()[name], array, err_msg=name)
        assert b.arrays()[name].dtype.kind == array.dtype.kind


def test_arrow_keeps_everything(full):
    again = BagDataset.from_frame(full.to_frame())
    same(full, again)
    assert again.info["source"] == "made up"
    sliced = BagDataset.from_frame(full.to_frame().slice(2, 4))
    same(full[2:6], sliced)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_others(full, library):
    needs(library)
    frame = full.to_frame(library)
    assert len(frame) == 9
    same(full, BagDataset.from_frame(frame, label_names=full.label_names))
    same(full[2:6], BagDataset.from_frame(frame[2:6], label_names=full.label_names))
    named = replace(full, graph_Y=None).to_frame(library)
    names = [["x"]] * 8 + [None]
    if library == "pandas":
        mine = named.drop(columns="Y").assign(labels=names)
    else:
        mine = named.drop("Y").with_columns(labels=needs("polars").Series(names))
    bags = BagDataset.from_frame(mine)
    assert bags.label_sets() == [["x"]] * 8 + [[]]
    assert bags.Y_known.tolist() == [[True]] * 8 + [[False]]


@pytest.mark.slow
def test_a_dataset_of_hugging_face(full, tmp_path):
    """In memory, from its own files, and with rows selected, which its table does not know of."""
    made = needs("datasets").Dataset(full.to_frame())
    same(full, BagDataset.from_frame(made, label_names=full.label_names))
    made.save_to_disk(tmp_path / "saved")
    read = needs("datasets").load_from_disk(tmp_path / "saved")
    same(full, BagDataset.from_frame(read, label_names=full.label_names))
    chosen = np.array([5, 2, 7])
    same(full[chosen], BagDataset.from_frame(read.select(chosen), label_names=full.label_names))


@given(graphs=graph_batches())
def test_any_graphs_come_back(graphs):
    bags = BagDataset(graphs, [0, graphs.n_graphs])
    same(bags, BagDataset.from_frame(bags.to_frame()))


def test_types_that_others_make():
    """Large lists, plain lists of labels, other integers, no numbers of graphs or counts of nodes."""
    rows = [
        {
            "name": "a",
            "Y": [True, None],
            "graphs": [{"nodes": [{"label": 1}, {"label": 2}], "edges": [{"source": 0, "target": 1}]}],
        },
        {"name": "b", "Y": None, "graphs": [{"nodes": [{"label": 3}], "edges": []}] * 2},
    ]
    table = pa.Table.from_pylist(rows)
    kind = table.schema.field("graphs").type
    table = table.set_column(2, "graphs", table["graphs"].cast(pa.large_list(kind.value_type)))
    bags = BagDataset.from_frame(table, ["p", "q"])
    assert bags.bag_ptr.tolist() == [0, 1, 3]
    assert bags.graphs.node_labels.tolist() == [1, 2, 3, 3]
    assert bags.graphs.edges.tolist() == [[0], [1]]
    assert bags.Y_known.tolist() == [[True, False], [False, False]]
    assert bags.graphs.graph_ids.tolist() == [0, 1, 2]


GRAPH = {"nodes": [{"label": 1}], "edges": []}
BAD = {
    "no graphs": ([{"name": "a"}], ValueError, "must have a column graphs, .*; it has name"),
    "no edges": ([{"graphs": [{"nodes": [{"label": 1}]}]}], ValueError, "must have edges"),
    "no nodes": ([{"graphs": [{"edges": []}]}], ValueError, "must have n_nodes or nodes; it has edges"),
    "lists of two lengths": (
        [{"Y": [True], "graphs": [GRAPH]}, {"Y": [], "graphs": [GRAPH]}],
        ValueError,
        "one length",
    ),
    "words": (
        [{"graphs": [{"nodes": [{"label": "C"}], "edges": []}]}],
        ValueError,
        "graphs.nodes.label must hold int64s",
    ),
    "a row without": ([{"graphs": [GRAPH]}, {"graphs": None}], ValueError, "column graphs .* row 1 has none"),
}


@pytest.mark.parametrize("case", BAD)
def test_frames_that_are_none(case):
    rows, error, message = BAD[case]
    with pytest.raises(error, match=message):
        BagDataset.from_frame(pa.Table.from_pylist(rows))


def test_what_is_no_frame(full):
    with pytest.raises(TypeError, match="must be a table of pyarrow, pandas.* got dict"):
        BagDataset.from_frame({"graphs": []})
    with pytest.raises(ValueError, match="library must be one of arrow, pandas, polars, got 'excel'"):
        full.to_frame("excel")


def test_predictions_as_frames(bags):
    model = CfMGML(NodeSum(), alpha=1e-2, max_iter=20).fit(bags)
    for level in ("bag", "graph", "node"):
        table = model.predict_frame(bags, level)
        assert table.to_pylist() == json.loads(json.dumps(prediction_rows(model, bags, level)))
    frame = model.predict_frame(bags, library="pandas") if needs("pandas") else None
    assert list(frame.columns[:3]) == ["bag", "labels", "best"]
    assert frame["score:a"].dtype == np.float64

"""One set of columns at every level, in every format, of bags in memory, of a store and of a folder of files."""

import io
from dataclasses import replace

import numpy as np
import pyarrow
import pyarrow.dataset
import pytest

from cfmgml import CfMGML, NodeSum
from cfmgml.common.tables import FORMATS, Table, format_of, read_table, write_table
from cfmgml.learning.predictions import LEVELS, prediction_kinds, prediction_rows, prediction_table
from cfmgml.scale.prediction import StorePredictions
from cfmgml.stores import BagStore
from examples import random_bags

SUFFIXES = [suffix for form in FORMATS for suffix in form.suffixes]


def named(bags):
    return replace(
        bags,
        bag_names=[f"b,{k}" for k in range(bags.n_bags)],
        graph_names=[f'g"{k}' for k in range(bags.n_graphs)],
        graphs=replace(bags.graphs, node_names=[f"n\n{k}" for k in range(bags.graphs.n_nodes)]),
        label_names=["sky", "ä", "gräs,s"],
    )


@pytest.fixture(scope="module", params=["numbers", "names"])
def made(request, tmp_path_factory):
    """Bags, the same as a store, and a model with probabilities."""
    bags = random_bags(14, seed=2, n_labels=3)
    bags = named(bags) if request.param == "names" else bags
    folder = tmp_path_factory.mktemp("store")
    bags.to_store(folder / "bags", graphs_per_partition=9)
    model = CfMGML(NodeSum("linear"), alpha=1e-2, n_rounds=1, max_iter=5, probability=True, random_state=0).fit(bags)
    return model, bags, BagStore(folder / "bags")


def typed(rows, kinds):
    """Rows of CSV with the types that the other formats keep."""
    read = {str: str, float: float, list: lambda words: [word for word in words.split(";") if word]}
    return [{name: read[kinds[name]](value) for name, value in row.items()} for row in rows]


def assert_same(rows, expected, kinds):
    assert [list(row) for row in rows] == [list(kinds)] * len(expected)
    for row, other in zip(rows, expected, strict=True):
        for name, kind in kinds.items():
            if kind is float:  # BLAS sums in another order for other numbers of rows
                assert row[name] == pytest.approx(other[name], abs=1e-9)
            else:
                assert row[name] == other[name]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_and_a_store_have_the_same_table_in_every_format(made, tmp_path, monkeypatch, suffix, level):
    model, bags, store = made
    monkeypatch.setattr("cfmgml.scale.prediction.GRAPHS_AT_ONCE", 4)
    expected, kinds = prediction_rows(model, bags, level), prediction_kinds(model, level)
    write_table(prediction_table(model, bags, level), tmp_path / f"bags{suffix}")
    n_rows = StorePredictions(model, store, level).write(tmp_path / f"store{suffix}")
    assert n_rows == len(expected)
    for name in ("bags", "store"):
        rows = read_table(tmp_path / f"{name}{suffix}")
        assert_same(typed(rows, kinds) if suffix in (".csv", ".tsv") else rows, expected, kinds)


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_of_files_has_the_same_table(made, tmp_path, monkeypatch, level):
    model, bags, store = made
    monkeypatch.setattr("cfmgml.scale.prediction.GRAPHS_AT_ONCE", 4)
    table = pyarrow.dataset.dataset(StorePredictions(model, store, level).write_folder(tmp_path)).to_table()
    assert_same(table.to_pylist(), prediction_rows(model, bags, level), prediction_kinds(model, level))


def test_columns_and_their_order(made):
    model, _, _ = made
    names = model.label_names_.tolist()
    numbers = [f"{what}:{name}" for what in ("score", "probability") for name in names]
    assert list(prediction_kinds(model, "bag")) == ["bag", "labels", "best", *numbers]
    assert list(prediction_kinds(model, "graph")) == ["bag", "graph", "labels", "best", *numbers]
    assert list(prediction_kinds(model, "node")) == ["bag", "graph", "node", *(f"adds:{name}" for name in names)]


@pytest.mark.parametrize("level", LEVELS)
def test_values_are_the_models(made, level):
    model, bags, _ = made
    table = prediction_table(model, bags, level).columns
    values = {
        "bag": {"score": model.decision_function, "probability": model.predict_proba},
        "graph": {"score": model.decision_function_graphs, "probability": model.predict_proba_graphs},
        "node": {"adds": model.explain},
    }
    for what, function in values[level].items():
        columns = [table[f"{what}:{name}"] for name in model.label_names_]
        np.testing.assert_array_equal(np.column_stack(columns), function(bags))
    if level != "node":
        scores = values[level]["score"](bags)
        assert table["labels"] == [model.label_names_[row > 0].tolist() for row in scores]
        assert table["best"] == model.label_names_[scores.argmax(axis=1)].tolist()


def test_types_in_parquet_do_not_depend_on_what_is_predicted():
    """Where no label is, and where there is no row at all."""
    form, kinds = format_of("t.parquet"), {"bag": str, "labels": list, "score:x": float}
    for columns in ({"bag": ["a"], "labels": [[]], "score:x": np.zeros(1)}, {"bag": [], "labels": [], "score:x": []}):
        stream = io.BytesIO()
        form.write(stream, Table(kinds, columns))
        types = [str(field.type) for field in pyarrow.parquet.read_schema(stream)]
        assert [name.replace("item", "element") for name in types] == ["string", "list<element: string>", "double"]


def test_no_rows_at_all(tmp_path):
    kinds = {"bag": str, "score:x": float}
    for suffix, text in ((".csv", "bag,score:x\n"), (".json", "[\n\n]\n"), (".jsonl", "")):
        write_table(Table(kinds, {"bag": [], "score:x": []}), tmp_path / f"t{suffix}")
        assert (tmp_path / f"t{suffix}").read_text() == text

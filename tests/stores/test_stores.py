"""Stores: what goes in comes out, other tools can read it, and bad partitions are named."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings

from cfmgml import BagDataset, GraphBatch
from cfmgml.data.parquet.folder import KEY, partition_files
from cfmgml.stores import BagStore, is_store
from examples import graph_batches, random_bags


def equal(a, b):
    first, second = a.arrays(), b.arrays()
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array, err_msg=name)
        assert second[name].dtype.kind == array.dtype.kind


@pytest.fixture
def full():
    """Bags with everything a data set can have, some labels unknown."""
    bags = random_bags(23, seed=4)
    Y = np.where(np.random.default_rng(0).random(bags.Y.shape) < 0.2, np.nan, bags.Y)
    graphs = replace(
        bags.graphs,
        edge_weights=np.arange(bags.graphs.n_edges) / 7,
        node_names=[f"wört {k}" for k in range(bags.graphs.n_nodes)],
    )
    names = {"bag_names": [f"bag {k}" for k in range(23)], "graph_names": [f"g{k}" for k in range(bags.n_graphs)]}
    info = {"builder": "texts", "parameters": {"window": 2}, "vocabulary": {"a": 1}, "note": "x"}
    return replace(bags, graphs=graphs, Y=Y, info=info, **names)


@pytest.fixture
def store(full, tmp_path):
    full.to_store(tmp_path / "store", graphs_per_partition=15)
    return BagStore(tmp_path / "store")


def test_what_goes_in_comes_out(full, store):
    assert store.n_partitions > 2
    equal(store.load(), full)
    assert dict(store.load().info) == dict(full.info)
    assert (store.n_bags, store.n_graphs, store.n_nodes) == (full.n_bags, full.n_graphs, full.graphs.n_nodes)
    equal(BagDataset.concatenate(list(store), keep_ids=True), full)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=graph_batches())
def test_any_graphs_come_out(graphs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any") / "store"
    bags = BagDataset(graphs, [0, graphs.n_graphs])
    bags.to_store(folder)
    equal(BagStore(folder).load(), bags)


def test_graphs_without_node_data(tmp_path):
    bags = BagDataset(GraphBatch([0, 2, 3], [0, 1, 1], [[0], [1]]), [0, 1, 2], Y=[[1], [0]])
    bags.to_store(tmp_path / "store")
    equal(BagStore(tmp_path / "store").load(), bags)


def test_float32_attributes_stay(tmp_path, bags):
    small = replace(bags.graphs, node_attributes=bags.graphs.node_attributes.astype(np.float32))
    replace(bags, graphs=small).to_store(tmp_path / "store")
    assert BagStore(tmp_path / "store").read(0).graphs.node_attributes.dtype == np.float32


def test_other_tools_can_read_it(full, store):
    table = pyarrow.dataset.dataset(store.path, format="parquet").to_table()
    rows = table.to_pylist()
    assert [row["name"] for row in rows] == full.bag_names.tolist()
    first = rows[0]["graphs"][0]
    assert len(first["nodes"]) == first["n_nodes"] == np.diff(full.graphs.node_ptr)[0]
    assert [node["name"] for node in first["nodes"]] == full.graphs[0].node_names.tolist()
    assert all(0 <= edge["source"] < first["n_nodes"] for edge in first["edges"])
    np.testing.assert_array_equal([[v is None for v in row["Y"]] for row in rows], ~full.Y_known)


def test_append(full, store):
    full[:5].to_store(store.path, append=True)
    longer = BagStore(store.path)
    assert longer.n_bags == full.n_bags + 5
    assert longer.fingerprint() != store.fingerprint()
    np.testing.assert_array_equal(longer.load().graphs.graph_ids, np.arange(longer.n_graphs))
    equal(replace(longer.read(longer.n_partitions - 1), graphs=full[:5].graphs), full[:5])


def test_ids_are_kept_if_asked_for(full, tmp_path):
    full[10:].to_store(tmp_path / "store", keep_ids=True)
    np.testing.assert_array_equal(BagStore(tmp_path / "store").load().graphs.graph_ids, full[10:].graphs.graph_ids)


def test_a_folder_with_something_in_it_is_left_alone(full, store):
    with pytest.raises(FileExistsError, match="append=True"):
        full.to_store(store.path)


def test_a_half_written_partition_is_never_read(full, store, monkeypatch):
    """A writer that dies in the middle leaves nothing that a reader takes for a partition."""

    def broken(self, data):
        raise OSError("disk full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr("os.fsync", lambda handle: broken(None, None))
        full[:5].to_store(store.path, append=True)
    (store.path / ".part-000009-aaaaaaaaaaaa.parquet.x1.part").write_bytes(b"PAR1 half")
    assert BagStore(store.path).n_bags == full.n_bags
    assert pyarrow.dataset.dataset(store.path, format="parquet").count_rows() == full.n_bags


def test_sample_draws_whole_bags(store):
    sample = store.sample(20, random_state=1)
    assert 10 <= sample.n_graphs <= 40
    whole = store.load()
    names = whole.bag_names.tolist()
    for bag in sample:
        equal(bag, whole[names.index(bag.bag_names[0])])
    equal(store.sample(10**6), whole)


def test_a_store_travels_to_other_processes(store):
    equal(pickle.loads(pickle.dumps(store)).read(1), store.read(1))


# -- bad partitions --------------------------------------------------------------------------


def rewrite_footer(path, **changes):
    table = pyarrow.parquet.read_table(path)
    meta = json.loads(table.schema.metadata[KEY])
    pyarrow.parquet.write_table(table.replace_schema_metadata({KEY: json.dumps({**meta, **changes})}), path)


def truncated(path, full):
    path.write_bytes(path.read_bytes()[:-100])


def empty(path, full):
    path.write_bytes(b"")


def other_schema(path, full):
    plain = replace(full, graphs=replace(full.graphs, edge_weights=None))
    plain[:5].to_store(path.parent / "other")
    path.write_bytes(partition_files(path.parent / "other")[0].read_bytes())


def other_labels(path, full):
    rewrite_footer(path, label_names=["a", "b", "c", "z"])


def other_parameters(path, full):
    rewrite_footer(path, recipe={"builder": "texts", "parameters": {"window": 3}, "vocabulary": "123"})


def foreign(path, full):
    pyarrow.parquet.write_table(pyarrow.table({"x": [1]}), path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (truncated, "truncated or not a Parquet file"),
        (empty, "truncated or not a Parquet file"),
        (other_schema, "graphs.edges.weight is missing, not double"),
        (other_labels, r"its labels are \['a', 'b', 'c', 'z'\]"),
        (other_parameters, "built in another way than the store's: window is 3, not 2"),
        (foreign, "not written by cfmgml"),
    ],
)
def test_bad_partitions_are_named(full, store, spoil, message):
    path = partition_files(store.path)[1]
    spoil(path, full)
    with pytest.raises(ValueError, match=message) as error:
        BagStore(store.path)
    assert path.name in str(error.value)
    assert f"1 of {store.n_partitions} partitions" in str(error.value)


def test_several_bad_partitions_are_all_named(full, store):
    for path in partition_files(store.path)[:2]:
        truncated(path, full)
    with pytest.raises(ValueError, match="2 of") as error:
        BagStore(store.path)
    assert all(path.name in str(error.value) for path in partition_files(store.path)[:2])


def test_a_flipped_bit_is_noticed(store):
    path = partition_files(store.path)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)
    again = BagStore(store.path)  # the footer is whole
    with pytest.raises(ValueError, match=f"{path.name}.*damaged"):
        again.check()
    with pytest.raises(ValueError, match=f"{path.name}.*damaged"):
        list(again)


def test_bags_that_do_not_fit_are_not_appended(full, store):
    for other, message in [
        (replace(full, label_names=list("wxyz")), "its labels are"),
        (replace(full, builder=replace(full.builder, window=5)), "window is 5, not 2"),
        (replace(full, builder=replace(full.builder, vocabulary={"b": 2})), "vocabulary is"),
        (replace(full, bag_names=None), "name is missing, not string"),
    ]:
        with pytest.raises(ValueError, match=f"do not fit the store.*{message}"):
            other.to_store(store.path, append=True)
    assert BagStore(store.path).n_partitions == store.n_partitions


def test_not_a_store(tmp_path, full):
    with pytest.raises(FileNotFoundError, match="is not there"):
        BagStore(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"no _store\.json"):
        BagStore(tmp_path)
    (tmp_path / "_store.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        BagStore(tmp_path)
    (tmp_path / "_store.json").write_text('{"format": "cfmgml-store", "version": 9}')
    with pytest.raises(ValueError, match="install a newer one"):
        BagStore(tmp_path)


def test_info_must_be_json(full, tmp_path):
    with pytest.raises(ValueError, match="info must hold only what JSON can"):
        replace(full, info={"x": np.nan}).to_store(tmp_path / "store")


def test_what_is_known_without_reading_graphs(full, store, monkeypatch):
    monkeypatch.setattr(BagStore, "read", None)
    counts, known = store.label_counts()
    np.testing.assert_array_equal(counts, (full.Y & full.Y_known).sum(axis=0))
    np.testing.assert_array_equal(known, full.Y_known.sum(axis=0))
    assert store.n_attributes == full.graphs.n_attributes > 0
    assert store.n_edges == full.graphs.n_edges
    assert store.n_bytes == sum(path.stat().st_size for path in partition_files(store.path))


def test_stores_without_labels_or_attributes(tmp_path):
    bags = BagDataset(GraphBatch([0, 2, 3], [0, 1, 1], [[0], [1]]), [0, 1, 2])
    bags.to_store(tmp_path / "store")
    store = BagStore(tmp_path / "store")
    assert store.n_attributes == 0
    with pytest.raises(ValueError, match="have no labels to count"):
        store.label_counts()


def test_is_store(store, tmp_path):
    assert is_store(store.path)
    assert not is_store(tmp_path)
    assert not is_store(tmp_path / "nowhere")

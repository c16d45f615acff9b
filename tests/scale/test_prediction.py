"""Prediction over a store writes what the model says, and goes on where it was interrupted."""

import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pyarrow.dataset
import pyarrow.parquet
import pytest

from cfmgml import CfMGML, NodeSum
from cfmgml.common.files import atomic_write
from cfmgml.data.parquet.folder import KEY
from cfmgml.learning.calibration import Calibration
from cfmgml.scale import predict_store, prediction
from cfmgml.stores import BagStore


@pytest.fixture(scope="module")
def model(store):
    from cfmgml.kernels import HashedWL

    return CfMGML(HashedWL(1, n_bits=8), alpha=1e-3, n_rounds=2, max_iter=20).fit(store)


def read(folder):
    return pyarrow.dataset.dataset(folder, format="parquet").to_table().to_pydict()


def numbers(table, what="score"):
    return np.column_stack([values for name, values in table.items() if name.startswith(f"{what}:")])


def labels(scores, names):
    return [names[row].tolist() for row in scores > 0]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["inline", "joblib"])
def test_all_levels(model, many, store, tmp_path, engine):
    predict_store(model, store, tmp_path, ("bag", "graph", "node"), engine=engine)
    bags, graphs, nodes = (read(tmp_path / level) for level in ("bags", "graphs", "nodes"))
    scores = model.decision_function(many)
    np.testing.assert_allclose(numbers(bags), scores)
    assert bags["labels"] == labels(scores, many.label_names)
    assert bags["best"] == many.label_names[scores.argmax(axis=1)].tolist()
    assert bags["bag"] == [str(k) for k in range(many.n_bags)]
    np.testing.assert_allclose(numbers(graphs), model.decision_function_graphs(many))
    assert graphs["bag"] == many.bag_ids.astype(str).tolist()
    within = [str(k) for size in np.diff(many.bag_ptr) for k in range(size)]
    assert graphs["graph"] == within
    np.testing.assert_allclose(numbers(nodes, "adds"), model.explain(many), atol=1e-12)
    sizes = np.diff(many.graphs.node_ptr)
    assert nodes["graph"] == np.repeat(within, sizes).tolist()
    assert nodes["node"] == [str(k) for size in sizes for k in range(size)]


def test_on_a_cluster(model, many, store, tmp_path, client):
    predict_store(model, store, tmp_path, "graph", engine=client)
    np.testing.assert_allclose(numbers(read(tmp_path / "graphs")), model.decision_function_graphs(many))
    assert not (tmp_path / "bags").exists()


def test_names_and_metadata(model, many, tmp_path):
    named = replace(
        many,
        bag_names=[f"b{k}" for k in range(many.n_bags)],
        graph_names=[f"g{k}" for k in range(many.n_graphs)],
        graphs=replace(many.graphs, node_names=[f"n{k}" for k in range(many.graphs.n_nodes)]),
    )
    named.to_store(tmp_path / "store", graphs_per_partition=100)
    predict_store(model, BagStore(tmp_path / "store"), tmp_path / "out", ("bag", "graph", "node"))
    assert read(tmp_path / "out" / "bags")["bag"] == named.bag_names.tolist()
    assert read(tmp_path / "out" / "graphs")["graph"] == named.graph_names.tolist()
    assert read(tmp_path / "out" / "nodes")["node"] == named.graphs.node_names.tolist()
    schema = pyarrow.parquet.read_schema(next((tmp_path / "out" / "bags").iterdir()))
    assert json.loads(schema.metadata[KEY])["label_names"] == many.label_names.tolist()


def test_goes_on_where_it_was_interrupted(model, store, tmp_path, monkeypatch):
    predict_store(model, store, tmp_path)
    files = sorted((tmp_path / "graphs").iterdir())
    files[1].unlink()
    files[2].write_bytes(files[2].read_bytes()[:50])
    written = []
    monkeypatch.setattr(prediction, "atomic_write", lambda path: written.append(path) or atomic_write(path))
    predict_store(model, store, tmp_path)
    assert written == files[1:3]
    other = CfMGML(NodeSum("linear"), alpha=1e-2, n_rounds=1, max_iter=2).fit(store)
    del written[:]
    predict_store(other, store, tmp_path, "bag")
    assert len(written) == store.n_partitions, "scores of another model are not kept"


def test_kernels_that_need_training_graphs_predict_too(many, store, tmp_path):
    model = CfMGML(NodeSum(), alpha=1e-2, n_rounds=1, max_iter=5).fit(many[:40])
    predict_store(model, store, tmp_path, "graph")
    np.testing.assert_allclose(numbers(read(tmp_path / "graphs")), model.decision_function_graphs(many))


def test_unknown_levels(model, store, tmp_path):
    for level in ("edge", (), ("bag", "x")):
        with pytest.raises(ValueError, match="level must be one or several of"):
            predict_store(model, store, tmp_path, level)


def test_scores_of_another_kernel_are_not_kept(model, store, tmp_path):
    """Same weights, another kernel: the scores differ, so the files of the first model must not stand for them."""
    from cfmgml.kernels import HashedWL

    kernel = HashedWL(2, n_bits=8).resolve(store.load().graphs)
    other = deepcopy(model)
    other.learned_ = replace(model.learned_, scorer=replace(model.scorer_, kernel=kernel))
    predict_store(model, store, tmp_path, "graph")
    first = numbers(read(tmp_path / "graphs"))
    predict_store(other, store, tmp_path, "graph")
    np.testing.assert_allclose(numbers(read(tmp_path / "graphs")), other.decision_function_graphs(store.load()))
    assert np.abs(first - numbers(read(tmp_path / "graphs"))).max() > 1e-3


@pytest.mark.slow
def test_two_runs_on_one_cluster_write_to_their_own_folders(model, store, tmp_path, client):
    """Both at once, and by two clients, as two users have them."""
    from distributed import Client

    with Client(client.scheduler.address) as second:
        runs = [
            (client, model, "first"),
            (second, rescaled(model, 2.0), "second"),
            (client, rescaled(model, 3.0), "third"),
        ]
        with ThreadPoolExecutor(3) as pool:
            done = [pool.submit(predict_store, m, store, tmp_path / name, engine=at) for at, m, name in runs]
            for run in done:
                run.result()
    for _, one, name in runs:
        for level, scores in (("bags", one.decision_function), ("graphs", one.decision_function_graphs)):
            np.testing.assert_allclose(numbers(read(tmp_path / name / level)), scores(store.load()))


def rescaled(model, factor):
    other = deepcopy(model)
    scorer = replace(model.scorer_, coef=model.scorer_.coef * factor)
    other.learned_ = replace(model.learned_, scorer=scorer)
    return other


def test_files_of_a_model_with_other_thresholds_are_not_taken_for_its_own(model, store, many, tmp_path):
    """Same scores, other labels."""
    own = deepcopy(model)
    for value in (0.0, -9.0):
        own.learned_ = replace(model.learned_, thresholds=np.full(len(many.label_names), value))
        predict_store(own, store, tmp_path, "bag")
        found = [len(labels) for labels in read(tmp_path / "bags")["labels"]]
        assert found == own.predict(many).sum(1).tolist()


def test_files_of_a_model_that_was_calibrated_are_not_taken_for_its_own(model, store, many, tmp_path):
    """Same scores, other probabilities."""
    calibrated = deepcopy(model)
    ones = np.ones(len(many.label_names))
    for factor in (1.0, 2.0):
        calibrated.learned_ = replace(model.learned_, calibration=Calibration(factor * ones, 0 * ones))
        predict_store(calibrated, store, tmp_path, "graph")
        expected = 1 / (1 + np.exp(-factor * model.decision_function_graphs(many)))
        np.testing.assert_allclose(numbers(read(tmp_path / "graphs"), "probability"), expected)

"""Training over a store gives what training in memory gives, whoever does the work."""

import numpy as np
import pytest

from cfmgml import GraphHopper, NodeSum, SumKernel, WeisfeilerLehman
from cfmgml.data.parquet.folder import partition_files
from cfmgml.kernels import HashedWL
from cfmgml.metrics import bag_report
from cfmgml.scale import fit_store, partitions
from cfmgml.scale.problem import cut_blocks
from cfmgml.stores import BagStore
from examples import random_bags

KERNELS = {
    "hashed": lambda: HashedWL(2, n_bits=8),
    "hashed-tfidf": lambda: HashedWL(1, tfidf=True, n_bits=8),
    "nodes-nystrom": lambda: NodeSum(gamma=0.7, approximation="nystrom", n_components=20),
    "hopper-fourier": lambda: GraphHopper(gamma=0.7, approximation="fourier", n_components=20),
    "sum": lambda: SumKernel([HashedWL(1, n_bits=6), NodeSum("linear")]),
}


@pytest.fixture(scope="module")
def reference(store):
    from cfmgml import CfMGML

    return fit_store(CfMGML(HashedWL(2, n_bits=8), alpha=1e-3, n_rounds=2, max_iter=12), store)


# -- engines and caches ----------------------------------------------------------------------


@pytest.mark.slow
def test_local_processes_give_the_same_weights(make_model, store, reference, assert_same_weights):
    assert_same_weights(fit_store(make_model(n_jobs=2), store, engine="joblib"), reference)


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_weights(make_model, store, reference, client, assert_same_weights):
    assert len(client.nthreads()) == 2
    found = fit_store(make_model(), store, engine=client)
    assert_same_weights(found, reference)
    assert not any(client.run(lambda: list(partitions._MEMORY)).values()), "workers must forget a run at its end"


@pytest.mark.parametrize("memory", [0, 30_000], ids=["disk", "some"])
def test_where_features_are_cached_does_not_matter(
    make_model, store, reference, memory, tmp_path, monkeypatch, assert_same_weights
):
    built = []
    make = partitions.prepare
    monkeypatch.setattr(partitions, "prepare", lambda job, bags: built.append(1) or make(job, bags))
    found = fit_store(make_model(), store, memory=memory, cache=tmp_path / "cache")
    assert_same_weights(found, reference, 0)
    assert len(built) == store.n_partitions, "features are made once"
    on_disk = len(list((tmp_path / "cache").glob("*.rows")))
    assert on_disk == store.n_partitions if memory == 0 else 0 < on_disk < store.n_partitions
    assert not partitions._MEMORY, "nothing is kept in memory after a run"


def test_damaged_cache_files_are_made_again(make_model, store, reference, tmp_path, assert_same_weights):
    fit_store(make_model(), store, memory=0, cache=tmp_path / "cache")
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(file.read_bytes()[:-20])
    assert_same_weights(fit_store(make_model(), store, memory=0, cache=tmp_path / "cache"), reference, 0)


def test_a_temporary_cache_is_removed(make_model, store, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fit_store(make_model(max_iter=2), store, memory=0)
    assert not list(tmp_path.iterdir())


def test_blocks_hardly_matter(make_model, store, reference, assert_same_weights):
    assert_same_weights(fit_store(make_model(), store, n_blocks=2), reference, 1e-6)


def test_blocks_cover_everything_in_order():
    for n_partitions, n_blocks in [(1, None), (7, 3), (100, None), (5000, None)]:
        blocks = cut_blocks(n_partitions, n_blocks)
        assert [k for block in blocks for k in block] == list(range(n_partitions))


def test_the_same_twice_without_a_seed(make_model, store, assert_same_weights):
    """What the kernel takes from a sample must be there again after a restart."""
    runs = [fit_store(make_model(HashedWL(1, tfidf=True, n_bits=8)), store, sample_graphs=60) for _ in range(2)]
    assert_same_weights(*runs, relative=0)


# -- the same as in memory -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("hopper-fourier", "sum"))) for name in KERNELS]
)
@pytest.mark.parametrize("cheap_start", [False, True])
def test_agrees_with_training_in_memory(make_model, many, store, name, cheap_start):
    params = {"tol": 1e-5, "max_iter": 300, "n_rounds": 5}
    inside = make_model(KERNELS[name](), **params).fit(many)
    over = fit_store(make_model(KERNELS[name](), **params), store, cheap_start=cheap_start)
    np.testing.assert_allclose(over.objective_, inside.objective_, rtol=1e-4)
    np.testing.assert_allclose(over.decision_function_graphs(many), inside.decision_function_graphs(many), atol=1e-2)
    precision = [bag_report(many.Y, m.decision_function(many))["average_precision"] for m in (over, inside)]
    assert abs(precision[0] - precision[1]) <= 0.005


@pytest.mark.parametrize(
    "params",
    [{"class_weight": "balanced"}, {"loss": "hamming"}, {"irrelevant": "max", "term_weights": "paper"},
     {"fit_intercept": False}, {"class_weight": {"b": 3.0}}, {"temperature": 0.0}],
    ids=lambda params: next(iter(params)),
)  # fmt: skip
def test_parameters_mean_the_same(make_model, many, store, params):
    params = {**params, "tol": 1e-6, "max_iter": 300, "n_rounds": 2}
    inside, over = make_model(**params).fit(many), fit_store(make_model(**params), store, cheap_start=False)
    np.testing.assert_allclose(over.decision_function_graphs(many), inside.decision_function_graphs(many), atol=1e-2)


def test_unknown_labels_drop_out(make_model, tmp_path):
    bags = random_bags(60, seed=2)
    Y = np.where(np.random.default_rng(1).random(bags.Y.shape) < 0.3, np.nan, bags.Y)
    from dataclasses import replace

    partly = replace(bags, Y=Y)
    partly.to_store(tmp_path / "store", graphs_per_partition=40)
    params = {"tol": 1e-6, "max_iter": 300}
    inside, over = make_model(**params).fit(partly), make_model(**params).fit(BagStore(tmp_path / "store"))
    np.testing.assert_allclose(over.decision_function(bags), inside.decision_function(bags), atol=1e-2)


def test_fit_takes_a_store(make_model, many, store, reference, assert_same_weights):
    model = make_model().fit(store)
    assert_same_weights(model, reference, 0)
    assert model.label_names_.tolist() == many.label_names.tolist()
    assert model.fingerprint_ == store.fingerprint()
    assert len(model.objective_) == 2
    assert model.objective_[1] < model.objective_[0]


def test_a_model_from_a_store_can_be_saved(make_model, many, store, tmp_path):
    model = make_model().fit(store)
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(many), model.decision_function(many))
    np.testing.assert_allclose(
        np.add.reduceat(again.explain(many), many.graphs.node_ptr[:-1]),
        again.decision_function_graphs(many) - again.intercept_,
        atol=1e-9,
    )


def test_default_kernel_is_explicit(make_model, store):
    from cfmgml import CfMGML

    model = CfMGML(alpha=1e-3, n_rounds=1, max_iter=2).fit(store)
    assert model.kernel_.is_explicit


@pytest.mark.slow
@pytest.mark.data
def test_agrees_on_real_sentences(data_folder, make_model, tmp_path):
    from cfmgml.datasets import load_hallmarks

    bags = load_hallmarks(data_folder, cache_dir=False)[:200]
    bags.to_store(tmp_path / "store", graphs_per_partition=400)
    params = {"alpha": 1e-3, "tol": 1e-5, "n_rounds": 5, "max_iter": 300}
    kernel = HashedWL(1, tfidf=True, n_bits=12)
    inside, over = (
        make_model(kernel, **params).fit(bags),
        make_model(kernel, **params).fit(BagStore(tmp_path / "store")),
    )
    np.testing.assert_allclose(over.decision_function_graphs(bags), inside.decision_function_graphs(bags), atol=1e-2)
    precision = [bag_report(bags.Y, m.decision_function(bags))["average_precision"] for m in (over, inside)]
    assert abs(precision[0] - precision[1]) <= 0.005


# -- what cannot be done ---------------------------------------------------------------------


def test_a_damaged_partition_is_named_before_training(make_model, many, tmp_path, capsys):
    many.to_store(tmp_path / "store", graphs_per_partition=50)
    store = BagStore(tmp_path / "store")
    path = partition_files(store.path)[3]
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"{path.name}.*damaged"):
        fit_store(make_model(verbose=True), BagStore(store.path), sample_graphs=1)
    assert "round" not in capsys.readouterr().err


def test_what_a_store_cannot_do(make_model, many, store, tmp_path):
    for params, message in [
        ({"solver": "paper"}, "only solver='cccp'"),
        ({"probability": True}, "probability=True"),
        ({"alpha": -1}, "alpha must be above 0"),
        ({"kernel": NodeSum()}, "has no explicit feature map.*HashedWL"),
    ]:
        with pytest.raises(ValueError, match=message):
            make_model(**params).fit(store)
    with pytest.raises(ValueError, match="a store has its own labels"):
        make_model().fit(store, many.Y)
    with pytest.raises(ValueError, match="engine must be"):
        fit_store(make_model(), store, engine="threads")
    from dataclasses import replace

    replace(many, Y=None, graph_Y=None).to_store(tmp_path / "plain")
    with pytest.raises(ValueError, match="no labels to learn from"):
        make_model().fit(BagStore(tmp_path / "plain"))


def test_a_dictionary_of_a_sample_works_too(make_model, many, store):
    """Colours outside the sample's vocabulary drop out; with all graphs in the sample nothing does."""
    params = {"tol": 1e-5, "max_iter": 300}
    inside, over = (make_model(WeisfeilerLehman(1), **params).fit(data) for data in (many, store))
    np.testing.assert_allclose(over.decision_function(many), inside.decision_function(many), atol=1e-2)


# -- progress --------------------------------------------------------------------------------


def test_progress_tells_objective_and_time_left(make_model, store, capsys, monkeypatch):
    monkeypatch.setattr("cfmgml.scale.reports.SECONDS", 0.0)
    model = make_model(verbose=True).fit(store)
    told = capsys.readouterr().err.splitlines()
    assert any("left in this round" in line for line in told)
    ends = [float(line.rsplit(" ", 1)[1]) for line in told if "done: objective" in line]
    np.testing.assert_allclose(ends, model.objective_, rtol=1e-5)
    make_model().fit(store)
    assert not capsys.readouterr().err

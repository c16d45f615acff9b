"""The protocol run for real on a few bags of digits: what is measured, resumed, moved to other backends, and fails."""

import shutil
from dataclasses import replace

import joblib
import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum, Precomputed, gram_matrix
from cfmgml.baselines import HLK
from cfmgml.datasets import load_digit_bags
from cfmgml.evaluation.data_sets import draw_bags, joined, own_data
from cfmgml.evaluation.experiment import Experiment, Reports
from cfmgml.evaluation.methods import METHODS, find_methods
from cfmgml.evaluation.protocol import plan_units, why_not
from cfmgml.evaluation.report import table_files
from cfmgml.evaluation.representations import LoadedData
from cfmgml.evaluation.rows import KEY, write_compact
from cfmgml.evaluation.running import run_unit
from cfmgml.metrics import bag_report, graph_report
from small_experiment import FEW, PROTOCOL, digits, run

COSTS = ("cpu_seconds", "wall_seconds", "peak_mib", "added_mib", "sitting", "at", "workers")


def without_costs(rows):
    return [{name: value for name, value in row.items() if name not in COSTS} for row in rows]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    return run(tmp_path_factory.mktemp("out"))


def test_rows_carry_what_they_should(experiment):
    for row in experiment.store.rows():
        assert set(KEY) <= set(row)
        assert row["cpu_seconds"] >= 0
        assert row["peak_mib"] > 0
        assert "numpy" in row["versions"]
        assert len(row["fingerprint"]) == 16


def test_a_row_is_what_the_estimator_gives(experiment):
    """A measurement done again by hand, with the estimator and the measures alone."""
    rows = [row for row in experiment.store.rows() if row["method"] == "cfmgml" and row["inner"] is None]
    row = next(row for row in rows if row["fold"] == 1 and row["params"]["alpha"] == 1e-4)
    loaded = LoadedData(digits())
    unit = next(u for u in plan_units(loaded, find_methods(["cfmgml"]), PROTOCOL) if u.fold.outer == 1)
    train, test = loaded.bags[unit.fold.train], loaded.bags[unit.fold.test]
    kernel = Precomputed(gram_matrix(NodeSum(), loaded.bags.graphs, dtype="float32"))
    models = CfMGML(kernel, dtype="float32").fit_path(train, [1e-3, 1e-4, 1e-5])
    bags = bag_report(test.Y, models[1].decision_function(test))
    graphs = graph_report(test.graph_Y, models[1].decision_function_graphs(test))
    assert row["bag.average_precision"] == pytest.approx(bags["average_precision"], abs=1e-6)
    assert row["graph.accuracy"] == pytest.approx(graphs["accuracy"], abs=1e-6)
    assert sum(row["labels.graphs"]) == test.n_graphs
    assert sum(row["confusion"][2::3]) == test.n_graphs


def test_a_second_run_has_nothing_to_do(experiment):
    before = experiment.store.path.read_bytes()
    done = []
    run(experiment.out, reports=Reports(done=done.append))
    assert done == []
    assert experiment.store.path.read_bytes() == before


def test_kept_rows_are_gone_on_from(experiment, tmp_path):
    """A folder with the compact rows alone, as it is kept, has nothing left to do and can be added to."""
    kept = Experiment(tmp_path)
    write_compact(experiment.rows(), kept.compact)
    done = []
    run(tmp_path, reports=Reports(done=done.append))
    assert not done
    assert kept.store.rows() == experiment.rows()


@pytest.mark.slow
def test_forgetting_and_measuring_anew(experiment, tmp_path):
    again = Experiment(tmp_path)
    (tmp_path / "rows.jsonl").write_bytes(experiment.store.path.read_bytes())
    assert again.forget([digits()], find_methods(["cfmgml"])) == 18
    done = []
    run(tmp_path, reports=Reports(done=done.append))
    assert {outcome.unit.method for outcome in done} == {"cfmgml"}
    assert without_costs(again.store.rows()) == without_costs(experiment.store.rows())


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_moves_the_work(experiment, tmp_path, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        moved = run(tmp_path)
    assert without_costs(moved.store.rows()) == without_costs(experiment.store.rows())


@pytest.mark.slow
def test_workers_that_were_started_in_another_folder_find_their_files(experiment, tmp_path, monkeypatch):
    """joblib keeps its workers, and they stay in the folder where they were started."""
    with joblib.parallel_config(backend="loky", n_jobs=2):
        joblib.Parallel()(joblib.delayed(abs)(k) for k in range(4))
        monkeypatch.chdir(tmp_path)
        moved = run("out")
    assert without_costs(moved.store.rows()) == without_costs(experiment.store.rows())


def test_one_unit_that_fails_does_not_end_the_others(tmp_path, monkeypatch):
    class Refusing(HLK):
        def fit_path(self, X, alphas, Y=None):
            raise MemoryError("no room")

    monkeypatch.setitem(METHODS, "hlk", replace(METHODS["hlk"], estimator=Refusing))
    experiment = Experiment(tmp_path)
    failures = experiment.run([digits()], find_methods(["hlk", "dummy"]), PROTOCOL)
    assert len(failures) == 6
    assert "digits, hlk, fold 0: MemoryError: no room" in failures
    assert {row["method"] for row in experiment.store.rows()} == {"dummy"}
    assert experiment.results().cell("digits", "hlk", "bag", "one_error").why == "not run"


def test_work_that_variants_have_in_common_is_done_once(experiment, tmp_path):
    shutil.copy(experiment.store.path, tmp_path / "rows.jsonl")
    done = []
    again = run(tmp_path, data=replace(digits(), key="twin"), reports=Reports(done=done.append))
    rows = [row for row in again.store.rows() if row["data"] == "twin"]
    assert len(rows) == len(experiment.store.rows())
    assert done
    assert not any(outcome.rows for outcome in done)
    assert not (tmp_path / "work").exists()
    for row, first in zip(rows, experiment.store.rows(), strict=True):
        assert row == {**first, "data": "twin", "taken_from": "digits"}
    again.forget([replace(digits(), key="twin")], None)  # the same measurements are not to come back from elsewhere
    assert again.store.rows() == []


def test_settings_beside_alpha_have_a_path_each(tmp_path):
    """Grouped or not, a row is what its own parameters give."""
    loaded = LoadedData(digits())
    unit = plan_units(loaded, find_methods(["context"]), PROTOCOL)[0]
    unit = replace(
        unit,
        settings=tuple({"context": c, "alpha": a} for c in (0.0, 0.6) for a in (1e-3, 1e-4)),
        files=loaded.write("kernel", tmp_path, 1),
    )
    outcome = run_unit(unit)
    assert [row["params"] for row in outcome.rows] == list(unit.settings)
    train, test = loaded.bags[unit.fold.train], loaded.bags[unit.fold.test]
    kernel = Precomputed(gram_matrix(NodeSum(), loaded.bags.graphs, dtype="float32"))
    models = CfMGML(kernel, dtype="float32", context=0.6).fit_path(train, [1e-3, 1e-4])
    expected = [bag_report(test.Y, model.decision_function(test))["average_precision"] for model in models]
    assert [row["bag.average_precision"] for row in outcome.rows[2:]] == pytest.approx(expected, abs=1e-6)
    assert outcome.rows[0]["paper_objective"] is not None
    assert outcome.rows[2]["paper_objective"] is None  # the paper has no context


@pytest.mark.slow
def test_other_data_is_measured_anew(experiment, tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(experiment.store.path.read_bytes())
    other = replace(digits(), kernel=NodeSum(gamma=0.1))
    run(tmp_path, ("dummy", "m3miml"), data=other)
    rows = Experiment(tmp_path).store.rows()
    assert len({row["fingerprint"] for row in rows if row["method"] == "m3miml"}) == 2
    assert len({row["fingerprint"] for row in rows if row["method"] == "dummy"}) == 1  # it sees vectors
    assert Experiment(tmp_path).results().rows("digits", "m3miml") != experiment.results().rows("digits", "m3miml")


@pytest.mark.slow
def test_tables_do_not_depend_on_which_methods_came_first(experiment, tmp_path):
    for method in reversed(FEW):
        run(tmp_path, (method,))
    assert table_files(Experiment(tmp_path).results()) == table_files(experiment.results())


# -- forms and plans -----------------------------------------------------------------------------


def test_what_cannot_be_run_says_why():
    bags = load_digit_bags(n_bags=8)
    bags = replace(bags, graph_Y=None, graphs=replace(bags.graphs, node_labels=None))
    loaded = LoadedData(own_data(bags, "plain", NodeSum()))
    assert why_not(loaded, METHODS["sgsl-svm"]) == "no graph labels"
    assert why_not(loaded, METHODS["mgmlent"]) == "no node labels"
    assert why_not(loaded, METHODS["cfmgml"]) is None
    with pytest.raises(ValueError, match="no labels"):
        own_data(replace(bags, Y=None), "bare", NodeSum())


def test_forms_have_the_same_bags(tmp_path):
    loaded = LoadedData(digits(), n_bags=10, seed=2)
    assert loaded.subset == 10
    for form in ("kernel", "single", "vectors", "graphs"):
        bags, kernel = loaded.write(form, tmp_path, None).open()
        np.testing.assert_array_equal(bags.Y, loaded.bags.Y)
        assert (kernel is None) == (form == "graphs")
    assert loaded.write("single", tmp_path, None).open()[0].n_graphs == 10
    assert loaded.vectors.graphs.n_nodes == loaded.bags.n_graphs


def test_the_matrix_on_disk_is_the_kernels(tmp_path):
    loaded = LoadedData(digits(), n_bags=10)
    bags, kernel = loaded.write("kernel", tmp_path, 2).open()
    assert isinstance(kernel.K, np.memmap)
    np.testing.assert_allclose(kernel.K, gram_matrix(NodeSum(), loaded.bags.graphs), atol=1e-5)
    assert bags.graphs.node_attributes is None  # the matrix knows all


def test_joined_bags_are_sums_of_their_graphs():
    bags = load_digit_bags(n_bags=5)
    one = joined(bags)
    assert one.n_graphs == one.n_bags == 5
    assert one.graphs.n_nodes == bags.graphs.n_nodes
    kernel = NodeSum(gamma=1.0)
    whole, parts = kernel.block(one.graphs, one.graphs), kernel.block(bags.graphs, bags.graphs)
    sums = np.add.reduceat(np.add.reduceat(parts, bags.bag_ptr[:-1], axis=0), bags.bag_ptr[:-1], axis=1)
    np.testing.assert_allclose(whole, sums)


def test_drawing_bags():
    bags = load_digit_bags(n_bags=20)
    assert draw_bags(bags, None, 0).all()
    assert draw_bags(bags, 5, 0).sum() == 5
    assert (draw_bags(bags, 5, 0) == draw_bags(bags, 5, 0)).all()


def test_names():
    with pytest.raises(ValueError, match="no method 'svm'; known: cfmgml"):
        find_methods(["svm"])

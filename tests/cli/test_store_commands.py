"""``cfmgml train``, ``predict`` and ``inspect`` on stores: as for files of bags, in bounded memory."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pyarrow.dataset
import pytest

from cfmgml import BagDataset, CfMGML
from cfmgml.common import tables
from cfmgml.data.parquet.folder import partition_files
from cfmgml.inputs import read_table
from cfmgml.kernels import HashedWL
from cfmgml.scale import fit_store, prediction
from cfmgml.stores import BagStore
from made_up import make_texts

ALPHA = 1  # few steps
TRAIN = f"train many -o {{out}} --alpha {ALPHA} --n-jobs 1"
WAIT = 120


@pytest.fixture(scope="module")
def texts(world, run_in, tmp_path_factory):
    """A folder with papers.bags, the same bags as the store many (several partitions), and a model of it."""
    folder = tmp_path_factory.mktemp("texts")
    assert run_in(world, f"build text papers.jsonl -o {folder / 'papers.bags'}") == 0
    BagDataset.load(folder / "papers.bags").to_store(folder / "many", graphs_per_partition=8)
    assert BagStore(folder / "many").n_partitions > 2
    assert run_in(folder, TRAIN.format(out="many.cfmgml")) == 0
    return folder


@pytest.fixture(scope="module")
def photos(world, run_in, photo_model, tmp_path_factory):
    """A store of pictures, whose nodes have attributes."""
    folder = tmp_path_factory.mktemp("photos")
    BagDataset.load(world / "base.bags").to_store(folder / "photos", graphs_per_partition=3)
    return folder


def weights(path):
    model = CfMGML.load(path)
    return np.vstack([model.scorer_.coef, model.intercept_])


# -- train -----------------------------------------------------------------------------------


def test_trains_as_in_python_and_keeps_the_recipe(texts, run_in, tmp_path, capsys):
    assert run_in(texts, TRAIN.format(out=tmp_path / "m.cfmgml")) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Learning from BagStore(" in captured.err
    assert "with HashedWL(n_iter=0, tfidf=True)" in captured.err  # says which kernel it took
    store = BagStore(texts / "many")
    expected = fit_store(CfMGML(HashedWL(0, tfidf=True), alpha=ALPHA, random_state=0), store)
    np.testing.assert_array_equal(
        weights(tmp_path / "m.cfmgml"), np.vstack([expected.scorer_.coef, expected.intercept_])
    )
    assert dict(CfMGML.load(tmp_path / "m.cfmgml").info_) == dict(store.info)
    (tmp_path / "letter.txt").write_text("The orchestra played a melody. Then the referee ended the match.")
    assert run_in(tmp_path, "predict m.cfmgml letter.txt --level graph --format jsonl") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.split("\n") if line]
    assert rows[0]["score:music"] > rows[1]["score:music"]
    assert rows[0]["score:sport"] < rows[1]["score:sport"]


@pytest.mark.parametrize(
    ("kernel", "taken"),
    [
        ("auto", "NodeSum(approximation='nystrom', gamma="),
        ("hopper", "GraphHopper(approximation='nystrom', gamma="),
        ("both", "SumKernel(kernels=[GraphHopper(approximation='nystrom', gamma="),
    ],
)
def test_attributes_take_an_approximate_kernel(photos, run_in, tmp_path, capsys, kernel, taken):
    command = f"train photos -o {tmp_path / 'm.cfmgml'} --alpha 1e-3 --n-jobs 1 --kernel {kernel} --balanced"
    assert run_in(photos, command) == 0
    assert taken in capsys.readouterr().err
    model = CfMGML.load(tmp_path / "m.cfmgml")
    assert model.decision_function(BagStore(photos / "photos").load()).shape == (4, 3)


def test_alpha_auto_looks_at_a_sample(texts, run_in, tmp_path, capsys, monkeypatch):
    from cfmgml.learning import ways
    from cfmgml.scale import maps

    monkeypatch.setattr(maps, "SAMPLE_GRAPHS", 16)
    monkeypatch.setattr(ways, "ONCE", (100.0, 10.0))
    assert run_in(texts, f"train many -o {tmp_path / 'm.cfmgml'} --n-jobs 1") == 0
    err = capsys.readouterr().err
    sample = BagStore(texts / "many").sample(16, 0)
    assert sample.n_bags < 20
    assert f"Choosing alpha on {sample.n_bags} bags, {sample.n_graphs} graphs" in err
    assert f"Chose alpha {CfMGML.load(tmp_path / 'm.cfmgml').alpha:g} (average precision" in err


@pytest.mark.slow
def test_processes_and_clusters_give_the_same(texts, run_in, tmp_path, capsys):
    from distributed import LocalCluster

    assert run_in(texts, f"train many -o {tmp_path / 'two.cfmgml'} --alpha {ALPHA} --n-jobs 2 --log") == 0
    err = capsys.readouterr().err
    assert "round 1 of at most 5, step 0: objective" in err
    np.testing.assert_allclose(weights(tmp_path / "two.cfmgml"), weights(texts / "many.cfmgml"), rtol=0, atol=1e-9)
    assert run_in(texts, f"predict many.cfmgml many -o {tmp_path / 'here.csv'} --n-jobs 1") == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with LocalCluster(**options, local_directory=str(tmp_path)) as cluster:  # its workers are in another folder
            address = cluster.scheduler_address
            assert run_in(texts, f"train many -o {tmp_path / 'c.cfmgml'} --alpha {ALPHA} --dask {address}") == 0
            assert run_in(texts, f"predict many.cfmgml many -o {tmp_path / 'there.csv'} --dask {address}") == 0
    np.testing.assert_allclose(weights(tmp_path / "c.cfmgml"), weights(texts / "many.cfmgml"), rtol=0, atol=1e-9)
    assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()


@pytest.mark.slow
def test_goes_on_from_its_checkpoint(texts, run_in, tmp_path, capsys):
    command = TRAIN.format(out=tmp_path / "m.cfmgml") + f" --checkpoint {tmp_path / 'c'} --cache {tmp_path / 'f'} --log"
    assert run_in(texts, command) == 0
    assert "going on" not in capsys.readouterr().err
    assert run_in(texts, command) == 0
    assert "going on from round" in capsys.readouterr().err
    np.testing.assert_array_equal(weights(tmp_path / "m.cfmgml"), weights(texts / "many.cfmgml"))
    assert run_in(texts, f"{command} --balanced") == 1
    assert "is the checkpoint of another run" in capsys.readouterr().err


def test_a_store_grows_by_what_is_built_like_it(texts, run_in, tmp_path, capsys):
    make_texts(tmp_path / "first.jsonl", 12)
    make_texts(tmp_path / "more.jsonl", 9, seed=5)
    assert run_in(tmp_path, "build text first.jsonl --no-pairs --store grown") == 0
    assert run_in(tmp_path, "build text more.jsonl --store grown --append") == 1
    assert "these bags do not fit the store grown: its bags were built in another way" in capsys.readouterr().err
    assert run_in(tmp_path, "build text more.jsonl --like grown --store grown --append") == 0
    assert BagStore(tmp_path / "grown").n_bags == 21


def test_bad_partitions_are_named_before_training_starts(texts, run_in, tmp_path, capsys):
    BagDataset.load(texts / "papers.bags").to_store(tmp_path / "bad", graphs_per_partition=8)
    first, *_, last = partition_files(tmp_path / "bad")
    first.write_bytes(first.read_bytes()[:100])
    last.write_bytes(b"nothing")
    for command in ("train bad -o x.cfmgml --log", f"predict {texts / 'many.cfmgml'} bad -o x.csv", "inspect bad"):
        assert run_in(tmp_path, command) == 1
        captured = capsys.readouterr()
        assert captured.err.startswith("cfmgml: 2 of ")
        assert first.name in captured.err
        assert last.name in captured.err
        assert captured.err.count("\n") == 1
        assert captured.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


# -- predict ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["bag", "graph", "node"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_the_same_table_as_of_a_file_of_bags(texts, run_in, tmp_path, monkeypatch, level, suffix):
    monkeypatch.setattr(prediction, "GRAPHS_AT_ONCE", 3)
    found, expected = tmp_path / f"store.{suffix}", tmp_path / f"bags.{suffix}"
    assert run_in(texts, f"predict many.cfmgml many --level {level} -o {found} --n-jobs 1") == 0
    assert run_in(texts, f"predict many.cfmgml papers.bags --level {level} -o {expected}") == 0
    rows, others = read_table(found), read_table(expected)
    assert [list(row) for row in rows] == [list(row) for row in others]
    for row, other in zip(rows, others, strict=True):
        for name, value in row.items():
            if name.startswith(("score:", "adds:")):  # BLAS sums in another order for other numbers of rows
                assert float(value) == pytest.approx(float(other[name]), abs=1e-9)
            else:
                assert value == other[name]


def parse_markdown(lines, path, lenient):
    rows = [line.strip("| \n").split(" | ") for line in lines]
    return (dict(zip(rows[0], row, strict=True)) for row in rows[1:])


def markdown_text(rows):
    return "".join(f"| {' | '.join(str(value) for value in row.values())} |\n" for row in rows)


@pytest.mark.parametrize("source", ["many", "papers.bags"])
def test_a_format_of_somebodys_own(texts, run_in, tmp_path, monkeypatch, capsys, source):
    """A made-up one: all that it takes is an entry of `FORMATS`."""
    markdown = tables.TextFormat((".md",), "text/markdown", parse_markdown, markdown_text, has_head=True)
    monkeypatch.setattr(tables, "FORMATS", [*tables.FORMATS, markdown])
    command = f"predict many.cfmgml {source} --n-jobs 1"
    assert run_in(texts, f"{command} -o {tmp_path / 't.md'}") == 0
    assert run_in(texts, f"{command} --format md") == 0
    assert capsys.readouterr().out == (tmp_path / "t.md").read_text()
    assert run_in(texts, f"{command} --format jsonl") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert read_table(tmp_path / "t.md") == [{name: str(value) for name, value in row.items()} for row in rows]


@pytest.mark.slow
def test_stdout_and_processes(texts, run_in, tmp_path, capsys):
    assert run_in(texts, f"predict many.cfmgml many -o {tmp_path / 'bags.json'} --n-jobs 2") == 0
    assert capsys.readouterr().err == f"Wrote {tmp_path / 'bags.json'}: 20 rows, one a bag.\n"
    assert run_in(texts, "predict many.cfmgml many --format json --n-jobs 1") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out == (tmp_path / "bags.json").read_text()


def test_a_folder_of_parquet_files(texts, run_in, tmp_path, capsys):
    store = BagStore(texts / "many")
    command = f"predict many.cfmgml many --level graph -o {tmp_path / 'scores'} --n-jobs 1"
    assert run_in(texts, command) == 0
    assert f"Wrote {tmp_path / 'scores' / 'graphs'}: {store.n_partitions} files" in capsys.readouterr().err
    table = pyarrow.dataset.dataset(tmp_path / "scores" / "graphs").to_table()
    scores = CfMGML.load(texts / "many.cfmgml").decision_function_graphs(store.load())
    columns = [name for name in table.column_names if name.startswith("score:")]
    np.testing.assert_allclose(np.column_stack([table[name] for name in columns]), scores, atol=1e-9)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "scores" / "graphs").iterdir()}
    next(iter(before)).unlink()
    assert run_in(texts, command) == 0
    assert sum(path.stat().st_mtime_ns != then for path, then in before.items()) == 1  # the others were there


def test_bags_without_names_are_numbered_through(run_in, tmp_path):
    from examples import random_bags

    bags = random_bags(12, seed=3)
    bags.to_store(tmp_path / "plain", graphs_per_partition=8)
    assert run_in(tmp_path, "train plain -o m.cfmgml --alpha 10 --kernel wl --n-jobs 1") == 0
    assert run_in(tmp_path, "predict m.cfmgml plain --level graph -o g.parquet --n-jobs 1") == 0
    rows = read_table(tmp_path / "g.parquet")
    assert [row["bag"] for row in rows] == [str(number) for number in bags.bag_ids]
    first = bags.bag_ptr[bags.bag_ids]
    assert [row["graph"] for row in rows] == [str(number) for number in np.arange(bags.n_graphs) - first]


def test_a_store_built_another_way_is_refused(world, texts, run_in, tmp_path, capsys):
    assert run_in(world, f"build text papers.jsonl --case --store {tmp_path / 'other'}") == 0
    capsys.readouterr()
    for out in ("", f" -o {tmp_path / 'x.csv'}", f" -o {tmp_path / 'x'}"):
        assert run_in(texts, f"predict many.cfmgml {tmp_path / 'other'}{out}") == 1
        captured = capsys.readouterr()
        assert "built from texts with case=True, the model's training data with case=False" in captured.err
        assert "cfmgml build text INPUT --like MODEL" in captured.err
        assert captured.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


# -- inspect ---------------------------------------------------------------------------------


def test_inspect_reads_no_graph(texts, run_in, capsys, monkeypatch):
    def read(*arguments):
        raise AssertionError("a partition was read")

    monkeypatch.setattr(BagStore, "read", read)
    assert run_in(texts, "inspect many --json") == 0
    found = json.loads(capsys.readouterr().out)
    bags = BagDataset.load(texts / "papers.bags")
    sizes = {"bags": 20, "graphs": bags.n_graphs, "nodes": bags.graphs.n_nodes, "edges": bags.graphs.n_edges}
    assert found["sizes"] == {**sizes, "nodes have labels": True, "node attributes": 0, "edges have labels": False}
    assert found["labels"]["bags"] == dict(zip(bags.label_names.tolist(), bags.Y.sum(0).tolist(), strict=True))
    assert found["labels"]["known"] == "100%"
    files = partition_files(texts / "many")
    assert found["folder"]["bytes"] == sum(path.stat().st_size for path in files)
    assert found["folder"]["partitions"] == len(files)
    assert found["built"]["parameters"]["window"] == 1
    assert run_in(texts, "inspect many") == 0
    text = capsys.readouterr().out
    assert "holds: store" in text
    assert "nodes have labels: yes" in text


@pytest.mark.slow
def test_inspect_a_store_of_pictures_and_its_model(photos, run_in, tmp_path, capsys):
    assert run_in(photos, "inspect photos --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sizes"]["node attributes"] == BagStore(photos / "photos").read(0).graphs.n_attributes > 0
    assert run_in(photos, f"train photos -o {tmp_path / 'm.cfmgml'} --alpha 1e-3 --n-jobs 1") == 0
    capsys.readouterr()
    assert run_in(tmp_path, "inspect m.cfmgml --json") == 0
    told = json.loads(capsys.readouterr().out)["training"]
    assert told["fingerprint of the training data"] == found["fingerprint"]
    assert "training bags" not in told


# -- wrong use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("train many -o x.cfmgml --probability", 2, "--probability is for files of bags, not for a store"),
        ("train many -o x.cfmgml --rank 9", 2, "--rank is for files of bags, not for a store"),
        ("train many -o x.cfmgml --context .5", 2, "--context is for files of bags, not for a store"),
        ("train papers.bags -o x.cfmgml --checkpoint c", 2, "--checkpoint is for stores, not for a file of bags"),
        ("train papers.bags -o x.cfmgml --log", 2, "--log is for stores"),
        ("train many -o x.cfmgml --dask localhost", 2, "--dask must be the address of a scheduler such as tcp://HOST"),
        ("train many -o x.cfmgml --checkpoint nowhere/c", 1, "there is no folder nowhere"),
        ("train many -o x.cfmgml --checkpoint many", 1, "--checkpoint must name a file, and many is a folder"),
        ("train many -o many", 1, "-o must name a file, and many is a folder"),
        ("train . -o x.cfmgml", 1, "is not a store: it has no _store.json; cfmgml build --store or"),
        ("predict many.cfmgml many --draw x", 2, "--draw is for pictures"),
        ("predict many.cfmgml many --on-error skip", 2, "--on-error is for pictures"),
        ("predict many.cfmgml papers.bags --dask tcp://a:1", 2, "--dask is for stores"),
        ("predict many.cfmgml many --format xls", 2, "--format must be one of csv, tsv, json, jsonl, got 'xls'"),
        ("predict many.cfmgml many -o x.xls", 1, "x.xls must end in one of .csv"),
        ("inspect .", 1, "is not a store"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(texts, run_in, capsys, command, status, message):
    capsys.readouterr()
    assert run_in(texts, command) == status
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert not [path for path in texts.iterdir() if path.name.startswith("x")]


# -- as processes ----------------------------------------------------------------------------


def start(folder, command, temporary):
    command = [sys.executable, "-m", "cfmgml.cli", *command.split()]
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True
    )


def wait_until(happened, process):
    until = time.monotonic() + WAIT
    while not happened() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_run_leaves_the_old_model_and_the_next_one_tidies_up(texts, run_in, tmp_path, monkeypatch, number):
    target, temporary = tmp_path / "m.cfmgml", tmp_path / "temporary"
    temporary.mkdir()
    target.write_bytes(b"old")
    command = f"{TRAIN.format(out=target)} --checkpoint {tmp_path / 'c'} --log"
    process = start(texts, command, temporary)
    wait_until((tmp_path / "c").exists, process)
    process.send_signal(number)
    _, err = process.communicate(timeout=WAIT)
    if process.returncode == 0:  # over before the signal came, or Python lost it in a destructor
        np.testing.assert_array_equal(weights(target), weights(texts / "many.cfmgml"))
        return
    assert "Traceback" not in err
    assert target.read_bytes() == b"old"
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert len(os.listdir(temporary)) == (number == signal.SIGKILL)  # features of a run that could not clean up
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert run_in(texts, command) == 0
    np.testing.assert_array_equal(weights(target), weights(texts / "many.cfmgml"))
    assert os.listdir(temporary) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_prediction_leaves_the_old_table(texts, run_in, tmp_path, number):
    target = tmp_path / "t.csv"
    command = f"predict many.cfmgml many --level node -o {target} --n-jobs 1"
    assert run_in(texts, command) == 0
    new = target.read_bytes()
    target.write_bytes(b"old")
    process = start(texts, command, tmp_path)
    wait_until(lambda: any(name.endswith(".part") for name in os.listdir(tmp_path)), process)
    process.send_signal(number)
    process.communicate(timeout=WAIT)
    assert target.read_bytes() in (b"old", new)
    if number == signal.SIGINT:
        assert os.listdir(tmp_path) == ["t.csv"]

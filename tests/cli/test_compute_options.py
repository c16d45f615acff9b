"""``--device``, ``--dtype`` and ``--n-jobs`` are the same on four commands: obeyed, or refused in one line."""

import json
import re

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.inputs import read_table
from cfmgml.learning.scoring import DualScorer
from examples import random_bags
from needs import needs

COMMANDS = {
    "train": "train plain.bags -o x.cfmgml --alpha 1",
    "predict": "predict dual.cfmgml plain.bags -o x.csv",
    "evaluate": "evaluate plain.bags --folds 2 --inner 2 --methods cfmgml --n-jobs 1",
    "serve": "serve dual.cfmgml --port 0",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Bags with attributes, as a file and as a store, and models: with training graphs, and with an explicit map."""
    folder = tmp_path_factory.mktemp("compute")
    bags = random_bags(16, seed=1)
    bags.save(folder / "plain.bags")
    bags.to_store(folder / "many", graphs_per_partition=12)
    CfMGML(NodeSum(), alpha=1e-3).fit(bags).save(folder / "dual.cfmgml")
    CfMGML(NodeSum("linear"), alpha=1e-3).fit(bags).save(folder / "linear.cfmgml")
    return folder


@pytest.fixture
def without_card(monkeypatch):
    torch = needs("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def scores(path, names):
    return np.array([[float(row[f"score:{name}"]) for name in names] for row in read_table(path)])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_them(run_in, folder, capsys, command):
    assert run_in(folder, f"{command} --help") == 0
    text = re.sub(r"\s+", " ", capsys.readouterr().out)
    for option in ("--device cpu|cuda|cuda:N", "--dtype float64|float32|tf32", "--n-jobs"):
        assert option in text


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--device cuda", "device='cuda' needs an NVIDIA card, and torch sees 0"),
        ("--device cuda:7", "device='cuda:7' needs an NVIDIA card"),
        ("--device tpu", "device must be 'cpu', 'cuda', 'cuda:0' (or another card's number)"),
        ("--dtype int64", "dtype must be float32 or float64, got int64"),
        ("--dtype long-double", "--dtype must be float64, float32 or tf32, got 'long-double'"),
        ("--dtype tf32", "dtype='tf32' is for a card"),
    ],
)
def test_what_is_not_here_is_refused(run_in, folder, capsys, without_card, command, options, message):
    assert run_in(folder, f"{COMMANDS[command]} {options}") in (1, 2)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert not [path for path in folder.iterdir() if path.name.startswith("x")]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train many -o x.cfmgml --device torch:cpu", "--device is for files of bags, not for a store"),
        ("train many -o x.cfmgml --dtype float32", "--dtype is for files of bags, not for a store"),
        ("train plain.bags -o x.cfmgml --kernel wl --dtype float32", "--dtype is for kernels without an explicit map"),
        ("predict linear.cfmgml plain.bags --device torch:cpu", "has an explicit map: its scores are computed with"),
        ("predict linear.cfmgml plain.bags --dtype float32", "has an explicit map: its scores are computed with"),
        (
            "predict dual.cfmgml plain.bags --level node --device torch:cpu",
            "--device is for scores",
        ),
        (
            "predict dual.cfmgml plain.bags --level node --dtype float32",
            "--dtype is for scores",
        ),
        ("predict dual.cfmgml many --device torch:cpu --n-jobs 2", "--n-jobs is for device cpu; on torch:cpu one"),
        ("predict dual.cfmgml many --device torch:cpu --dask tcp://a:1", "--dask is for device cpu; on torch:cpu one"),
        ("evaluate plain.bags --kernel wl --device torch:cpu", "--device is for kernels without an explicit map"),
        ("evaluate plain.bags --kernel wl --dtype float64", "--dtype is for kernels without an explicit map"),
        ("serve linear.cfmgml --port 0 --device torch:cpu", "has an explicit map: its scores are computed with"),
    ],
)
def test_what_would_change_nothing_is_refused(run_in, folder, capsys, command, message):
    needs("torch")
    assert run_in(folder, command) in (1, 2)
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert not [path for path in folder.iterdir() if path.name.startswith("x")]


@pytest.mark.parametrize("source", ["plain.bags", "many"])
@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        ("--device cpu --dtype float64 --n-jobs 1", 0, 1e-12),
        ("--dtype float32 --n-jobs 1", 1e-9, 1e-4),
        ("--device torch:cpu", 0, 1e-9),
    ],
)
def test_predict_obeys(run_in, folder, tmp_path, monkeypatch, source, options, low, high):
    needs("torch")
    devices = []
    made = DualScorer.columns.func

    def columns(scorer):
        devices.append((scorer.compute.device, scorer.compute.dtype))
        return made(scorer)

    monkeypatch.setattr(DualScorer.columns, "func", columns)
    assert run_in(folder, f"predict dual.cfmgml {source} {options} -o {tmp_path / 'new.csv'}") == 0
    device, dtype = "torch:cpu" if "torch" in options else "cpu", "float32" if "float32" in options else "float64"
    assert devices[-1] == (device, dtype)  # the first is a trial when a file is read
    model = CfMGML.load(folder / "dual.cfmgml")
    expected = model.decision_function(BagDataset.load(folder / "plain.bags"))
    difference = np.abs(scores(tmp_path / "new.csv", model.label_names_) - expected).max()
    assert low <= difference <= high


@pytest.mark.slow
def test_train_obeys(run_in, folder, tmp_path):
    needs("torch")
    command = "train plain.bags --alpha 1e-3 --n-jobs 1 -o"
    assert run_in(folder, f"{command} {tmp_path / 'cpu.cfmgml'}") == 0
    assert run_in(folder, f"{command} {tmp_path / 'torch.cfmgml'} --device torch:cpu") == 0
    assert run_in(folder, f"{command} {tmp_path / 'single.cfmgml'} --dtype float32") == 0
    bags = BagDataset.load(folder / "plain.bags")
    models = {name: CfMGML.load(tmp_path / f"{name}.cfmgml") for name in ("cpu", "torch", "single")}
    assert [model.dtype for model in models.values()] == ["float64", "float64", "float32"]
    for model in models.values():
        expected = models["cpu"].decision_function(bags)
        np.testing.assert_allclose(model.decision_function(bags), expected, atol=0.05 * np.abs(expected).max())
    assert not np.array_equal(models["torch"].scorer_.dual_coef, models["cpu"].scorer_.dual_coef)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "dtype"), [("", "float32"), ("--dtype float64", "float64"), ("--device torch:cpu", "float32")]
)
def test_evaluate_obeys(run_in, folder, tmp_path, capsys, options, dtype):
    needs("torch")
    assert run_in(folder, f"{COMMANDS['evaluate']} --out {tmp_path} {options}") == 0
    (matrix,) = (tmp_path / "work").glob("*.npy")
    assert str(np.load(matrix).dtype) == dtype
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows
    assert all(row["bag.average_precision"] > 0.5 for row in rows)


def test_serve_obeys(run_in, folder, monkeypatch):
    """What it hands to the server, and what the server hands to its workers."""
    from cfmgml.web import server
    from cfmgml.web.exhibits import Exhibit

    needs("torch")
    handed = []
    monkeypatch.setattr(server, "run_server", lambda *given: handed.append(given))
    assert run_in(folder, f"serve {folder / 'dual.cfmgml'} --device torch:cpu --dtype float32 --n-jobs 3") == 0
    exhibits, _, _, limits, _ = handed[0]
    assert limits.n_workers == 3
    model = Exhibit(**exhibits["model"].write(folder / "unused")).load()
    assert (model.device, model.dtype) == ("torch:cpu", "float32")
    assert (model.scorer_.compute.device, model.scorer_.compute.dtype) == ("torch:cpu", "float32")

"""`cfmgml evaluate` and `cfmgml reproduce`: what they print, write and refuse."""

import re
import shlex
from dataclasses import replace

import pytest

from cfmgml import BagDataset
from cfmgml.cli import main
from cfmgml.datasets import load_digit_bags
from small_experiment import run

FEWER = " --folds 2 --inner 2 --n-jobs 1"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    bags = load_digit_bags(n_bags=9, random_state=0)
    bags.save(tmp_path / "shared.bags")  # some digits are in two bags
    replace(bags, graph_names=None).save(tmp_path / "photos.bags")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def examples(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    return re.findall(r"^\s+cfmgml (.*)$", text[text.index("Examples:") :], re.MULTILINE)


@pytest.mark.slow
def test_examples_of_evaluate_run(folder, capsys):
    """Word for word but for fewer folds and one worker."""
    lines = examples("evaluate", capsys)
    assert len(lines) == 2
    for line in lines:
        assert main(shlex.split(line + FEWER)) == 0
    printed = capsys.readouterr()
    _, first, second = printed.out.split("### photos: ")
    assert first.startswith("2 folds, parameters chosen in 2 folds inside each")
    for title in ("CfMGML", "HLK", "M3MIML", "MI-SVM", "MIMLfast", "SGSL SVM (sees graph labels)", "Dummy"):
        assert title in first
    assert "HLK" not in second
    assert {path.name for path in (folder / "results").iterdir()} >= {"rows.jsonl", "report.html", "tables"}
    assert "Wrote results/report.html" in printed.err


def test_shared_graphs_get_a_second_table(folder, capsys):
    assert main(["evaluate", "shared.bags", "--methods", "dummy", *FEWER.split()]) == 0
    assert "folds that share no graph" in capsys.readouterr().out
    replace(BagDataset.load("photos.bags"), graph_Y=None).save("plain.bags")
    assert main(["evaluate", "plain.bags", "--methods", "dummy", *FEWER.split()]) == 0
    printed = capsys.readouterr().out
    assert "share no graph" not in printed
    assert "graph accuracy" not in printed
    assert "average precision" in printed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("evaluate photos.bags --methods svm", "there is no method 'svm'; known: cfmgml"),
        ("evaluate nothing.bags", "there is no file nothing.bags"),
        ("evaluate bare.bags --methods dummy", "no labels"),
        ("evaluate photos.bags --methods dummy --folds 10", "n_folds must be 2 to 9"),
        ("reproduce --data mnist", "there is no data set 'mnist'; known: msrc_v2-rich"),
        ("reproduce --only report", "there are no results in out/reproduce"),
        ("reproduce --data scene --data-folder nowhere", "no data set scene_miml at nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(folder, capsys, line, words):
    replace(BagDataset.load("photos.bags"), Y=None, graph_Y=None, label_names=None).save("bare.bags")
    assert main(shlex.split(line)) == 1
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_report_of_what_is_there(folder, capsys):
    run("out/reproduce", ("cfmgml", "dummy"))
    assert main(["reproduce", "--only", "report"]) == 0
    assert "Wrote out/reproduce/report.html" in capsys.readouterr().err
    assert (folder / "out" / "reproduce" / "rows.jsonl.gz").stat().st_size
    assert "CfMGML" in (folder / "out" / "reproduce" / "tables" / "bags.md").read_text()


@pytest.mark.slow
@pytest.mark.data
def test_reproduce_on_real_data(data_folder, folder, capsys):
    command = ["reproduce", "--quick", "--data", "dblp_cv,msrc_v2-labels", "--methods", "cfmgml,dummy"]
    command += ["--data-folder", str(data_folder), "--no-samples", "--n-jobs", "1"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "| DBLP (CV)† |" in printed
    report = (folder / "out" / "reproduce-quick" / "report.html").read_text()
    assert "A quick run." in report
    assert "60 bags of each data set" in report
    assert main([*command, "--fresh", "--only", "bags"]) == 0
    assert "Dropped 40 measurements" in capsys.readouterr().err

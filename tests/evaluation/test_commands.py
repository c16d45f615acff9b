"""`cfmgml evaluate` and `cfmgml reproduce`: what they print, write and refuse."""

import json
import re
import shlex
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from cfmgml import BagDataset
from cfmgml.cli import main
from cfmgml.datasets import load_digit_bags, seen_graphs
from cfmgml.evaluation.folds import FoldPlan, make_folds
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
    lines = [line for line in examples("evaluate", capsys) if "--pixel-truth" not in line]  # test_pixels.py
    assert len(lines) == 3
    for line in lines:
        assert main(shlex.split(line + FEWER)) == 0
    printed = capsys.readouterr()
    _, first, second, third, apart = printed.out.split("### photos: ")
    assert third.startswith("2 folds, parameters chosen in 2 folds inside each")
    assert apart.startswith("2 folds that share no graph")
    assert first.startswith("2 folds, parameters chosen in 2 folds inside each")
    for title in ("CfMGML", "HLK", "M3MIML", "MI-SVM", "MIMLfast", "SGSL SVM (sees graph labels)", "Dummy"):
        assert title in first
    assert "HLK" not in second
    assert {path.name for path in (folder / "results").iterdir()} >= {"rows.jsonl", "report.html", "tables"}
    assert "Wrote results/report.html" in printed.err


def test_shared_graphs_are_told_of_and_kept_apart_if_asked(folder, capsys):
    """By what is in them: the bags with names and those without are treated alike."""
    for name in ("shared.bags", "photos.bags"):
        assert main(["evaluate", name, "--methods", "dummy", *FEWER.split()]) == 0
        printed = capsys.readouterr()
        told = "35 graphs are 34 different ones: 6% of the graphs that a fold tests are also among those it trains on"
        assert told in printed.err
        assert told in printed.out
        assert "Recommended: --apart" in printed.err
        assert "folds that share no graph, param" not in printed.out
        assert main(["evaluate", name, "--methods", "dummy", "--apart", *FEWER.split()]) == 0
        printed = capsys.readouterr()
        assert "Recommended" not in printed.err
        assert "2 folds that share no graph, parameters" in printed.out
        assert "these folds share none." in printed.out


def test_bags_that_share_nothing_get_one_table(folder, capsys):
    bags = replace(BagDataset.load("photos.bags"), graph_Y=None)
    moved = bags.graphs.node_attributes + np.arange(bags.graphs.n_nodes)[:, None]  # no two graphs are the same
    replace(bags, graphs=replace(bags.graphs, node_attributes=moved)).save("plain.bags")
    assert main(["evaluate", "plain.bags", "--methods", "dummy", *FEWER.split()]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    printed = printed.out
    assert "share no graph" not in printed
    assert "graph accuracy" not in printed
    assert "average precision" in printed


def test_the_facts_of_a_run_tell_of_the_overlap(folder):
    assert main(["evaluate", "photos.bags", "--methods", "dummy", "--out", "out", *FEWER.split()]) == 0
    overlap = json.loads((folder / "out" / "data" / "photos.json").read_text())["overlap"]
    named = BagDataset.load("shared.bags")  # the same digits, with their names
    assert (overlap["n_graphs"], overlap["n_distinct_graphs"]) == (named.n_graphs, len(set(named.graph_names)))
    folds = [fold for fold in make_folds(named, FoldPlan(n_folds=2, n_inner=2)) if fold.inner is None]
    seen = [seen_graphs(named[fold.train], named[fold.test]).mean() for fold in folds]
    assert overlap["seen_in_training"] == pytest.approx(np.mean(seen), abs=1e-3)
    assert max(seen) > 0


def test_inner_folds_that_are_asked_for_are_used(folder, monkeypatch, capsys):
    """Many graphs, for which one of three is the default, and says so."""
    monkeypatch.setattr("cfmgml.evaluation.protocol.MANY_GRAPHS", 5)
    command = ["evaluate", "photos.bags", "--methods", "m3miml", "--folds", "2", "--n-jobs", "1", "--out"]
    assert main([*command, "default"]) == 0
    printed = capsys.readouterr()
    assert "parameters are chosen in 1 of 3 inner folds; --inner 3 uses all" in printed.err
    assert "parameters chosen in 1 of 3 folds inside each" in printed.out
    for n_inner in (2, 3):
        assert main([*command, f"asked{n_inner}", "--inner", str(n_inner)]) == 0
        printed = capsys.readouterr()
        assert "inner folds" not in printed.err
        assert f"parameters chosen in {n_inner} folds inside each" in printed.out
        rows = map(json.loads, (folder / f"asked{n_inner}" / "rows.jsonl").read_text().splitlines())
        assert {row["inner"] for row in rows} == {None, *range(n_inner)}


def test_the_command_in_a_report_can_be_given_again(folder):
    (folder / "shared.bags").rename(folder / "it's shared.bags")
    assert main(["evaluate", "it's shared.bags", "--methods", "dummy", *FEWER.split(), "--out", "out"]) == 0
    made_by = (folder / "out" / "report.html").read_text().partition("Made by <code>")[2].partition("</code>")[0]
    assert shlex.split(unescape(made_by))[:3] == ["cfmgml", "evaluate", "it's shared.bags"]


@pytest.mark.slow
def test_every_option_is_obeyed_and_told(folder, capsys):
    """Kernel, seed, folds and methods are those asked for, and the report says what was asked."""
    options = "--methods cfmgml,dummy --kernel hopper --seed 7 --folds 2 --inner 2 --dtype float64 --apart --n-jobs 1"
    assert main(["evaluate", "shared.bags", *options.split(), "--out", "out"]) == 0
    rows = [json.loads(line) for line in (folder / "out" / "rows.jsonl").read_text().splitlines()]
    assert {row["seed"] for row in rows} == {7}
    assert {row["n_folds"] for row in rows} == {2}
    assert {row["scheme"] for row in rows} == {"bags", "disjoint"}
    assert {row["method"] for row in rows} == {"cfmgml", "dummy"}
    assert {row["workers"] for row in rows} == {1}
    assert json.loads((folder / "out" / "data" / "shared.json").read_text())["kernel"].startswith("GraphHopper")
    told = options.removesuffix(" --n-jobs 1").split(" --")
    report = (folder / "out" / "report.html").read_text()
    command = report.partition("Made by <code>")[2].partition("</code>")[0]
    assert command.startswith("cfmgml evaluate shared.bags --")
    assert all(option.removeprefix("--") in command for option in told)
    assert main(["evaluate", "shared.bags", "--methods", "dummy", "--kernel", "wl", "--dtype", "float64"]) != 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("evaluate photos.bags --methods svm", "there is no method 'svm'; known: cfmgml"),
        ("evaluate nothing.bags", "there is no file nothing.bags"),
        ("evaluate bare.bags --methods dummy", "no labels"),
        ("evaluate photos.bags --methods dummy --folds 10", "n_folds must be 2 to 9"),
        ("evaluate photos.bags --methods dummy --folds 3 --inner 6", "n_inner must be below 6, the bags that a fold"),
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

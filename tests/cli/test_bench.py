"""`cfmgml bench`: runs the clone's suite, and says what it needs where there is none."""

import csv
from pathlib import Path

import pytest

from cfmgml.cli import main

ROOT = Path(__file__).resolve().parents[2]


def test_runs_the_suite(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    arguments = ["bench", "wl_features", "--quick", "--passes", "1", "--out", "made", "--folder", str(ROOT)]
    assert main(arguments) == 0
    assert "Tables and plots are in made." in capfd.readouterr().out
    with (tmp_path / "made" / "rows.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["size"] for row in rows] == ["500", "1000", "2000"]
    assert all(float(row["cpu_s"]) > 0 and float(row["peak_gb"]) > 0 for row in rows)
    page = (tmp_path / "made" / "wl_features.md").read_text()
    assert "time grows as size^" in page
    assert (tmp_path / "made" / "wl_features.png").stat().st_size > 5000


def test_unknown_question(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "nonsense", "--folder", str(ROOT)]) == 2
    assert "no such question: ['nonsense']; there are" in capfd.readouterr().err


def test_needs_a_clone(tmp_path, capsys):
    assert main(["bench", "--folder", str(tmp_path)]) == 1
    assert "clone the repository and run 'make bench' there" in capsys.readouterr().err


@pytest.mark.parametrize("question", sorted(f.stem for f in (ROOT / "benchmarks" / "questions").glob("[a-z]*.py")))
def test_questions_are_well_formed(question, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    asked = __import__(f"questions.{question}", fromlist=["QUESTION"]).QUESTION
    assert asked.sizes
    assert asked.quick
    assert asked.reference in (None, *asked.contenders)
    for goal in asked.goals:
        assert {goal.ours, goal.peer} <= set(asked.contenders)
        assert goal.size in asked.sizes
        assert goal.size <= asked.contenders[goal.peer].largest

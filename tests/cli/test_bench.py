"""`cfmgml bench`: runs the clone's suite, and says what it needs where there is none."""

import csv
from pathlib import Path

import pytest

from cfmgml.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_examples_run(tmp_path, run_in, examples_of, capfd, number):
    """With one question, small sizes and one pass, which are the last words and so count."""
    line = examples_of(["bench"])[number]
    asked = "" if "wl_features" in line else "wl_features"
    assert run_in(tmp_path, f"{line} {asked} --quick --passes 1 --folder {ROOT}") == 0
    assert "Tables and plots are in out/bench." in capfd.readouterr().out
    made = tmp_path / "out" / "bench"
    with (made / "rows.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["size"] for row in rows] == ["500", "1000", "2000"]
    assert all(float(row["cpu_s"]) > 0 and float(row["peak_gb"]) > 0 for row in rows)
    assert "time grows as size^" in (made / "wl_features.md").read_text()
    assert (made / "wl_features.png").stat().st_size > 5000


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

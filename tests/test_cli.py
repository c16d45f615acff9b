"""The command line, as people call it."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import cfmgml
from cfmgml.cli import app, main

SMALL = ["--n-train", "20", "--n-test", "8"]


@pytest.fixture(scope="module")
def small_demo(tmp_path_factory):
    """The command in a process of its own, in a folder of its own, without a terminal."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "cfmgml.cli", "demo", *SMALL, "--seed", "1"]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"}
    return folder, subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.mark.slow
def test_demo_prints_the_table_to_stdout_and_the_rest_to_stderr(small_demo):
    _, done = small_demo
    assert done.returncode == 0, done.stderr
    for text in ("CfMGML", "HLK", "Dummy", "SVM", "average precision ↑", "Hamming loss ↓", "accuracy", "seconds"):
        assert text in done.stdout
    assert "Wrote" not in done.stdout
    assert "Wrote out" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.slow
def test_demo_writes_the_page_into_a_folder_that_it_makes(small_demo):
    folder, _ = small_demo
    text = (folder / "out" / "demo.html").read_text(encoding="utf-8")
    assert "From 20 bags" in text
    assert "cfmgml demo --n-train 20 --n-test 8 --seed 1" in text


def test_quick_is_smaller_and_sizes_given_win(tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["demo", "--quick", "--n-train", "20", "--n-test", "5", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert "20 bags to train and 5 to test" in captured.err
    assert "5 test bags" in captured.out
    assert out.exists()


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"cfmgml {cfmgml.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(arguments, capsys):
    assert main(arguments) == 0
    assert "demo" in capsys.readouterr().out


def test_help_of_demo_has_examples_and_defaults():
    text = CliRunner().invoke(app, ["demo", "--help"]).output
    for expected in ("Examples:\n    cfmgml demo\n", "--n-train", "600", "out/demo.html", "--quick", "--seed"):
        assert expected in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dance"], "dance"),
        (["demo", "--n-train", "0"], "n-train"),
        (["demo", "--n-test", "many"], "n-test"),
        (["demo", "--seed", "-1"], "seed"),
        (["demo", "--colour"], "--colour"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("cfmgml: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_folder_as_page_fails_before_any_work(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert (
        captured.err == f"cfmgml: --out must be a file, and {tmp_path} is a folder: try --out {tmp_path}/demo.html.\n"
    )


def test_a_page_under_a_file_fails_before_any_work(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file" / "demo.html")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_defect_is_not_hidden(monkeypatch, tmp_path):
    def broken(*args, **kwargs):
        raise KeyError("a defect")

    monkeypatch.setattr("cfmgml.demo.digits.run_demo", broken)
    with pytest.raises(KeyError, match="a defect"):
        main(["demo", *SMALL, "--out", str(tmp_path / "page.html")])


def test_an_interrupt_is_one_line(monkeypatch, tmp_path, capsys):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("cfmgml.demo.digits.run_demo", interrupted)
    assert main(["demo", *SMALL, "--out", str(tmp_path / "page.html")]) == 130
    assert capsys.readouterr().err.endswith("cfmgml: stopped.\n")

"""The examples in every --help are run, word for word."""

import pytest

from cfmgml.cli import main

# In this order: later examples use what earlier ones wrote.
PAGES = [["build", "images"], ["build", "text"], ["build", "graphs"], ["train"], ["predict"], ["inspect"]]


def examples(page, capsys):
    assert main([*page, "--help"]) == 0
    text = capsys.readouterr().out
    lines = text[text.index("Examples:") :].split("\n")[1:]
    found = [line.strip() for line in lines[: lines.index("")]]
    assert found
    assert all(line.startswith("cfmgml ") for line in found)
    return [line.removeprefix("cfmgml ") for line in found]


def test_all_examples_run(world, run_in, capsys):
    for page in PAGES:
        for line in examples(page, capsys):
            assert run_in(world, line) == 0, (line, capsys.readouterr().err)
            assert "Traceback" not in capsys.readouterr().err
    for made in ("photos.bags", "masked.bags", "papers.cfmgml", "regions.csv", "words.json", "drawn/p00.png"):
        assert (world / made).stat().st_size > 0, made


def test_examples_of_the_demo_run(tmp_path, run_in, capsys):
    """With fewer bags than they ask for; ``--serve`` is tested with the page."""
    for line in examples(["demo"], capsys):
        if "--serve" not in line:
            assert run_in(tmp_path, f"{line} --n-train 20 --n-test 6") == 0
    assert (tmp_path / "demo.html").exists()
    assert (tmp_path / "out" / "demo.html").exists()


@pytest.mark.parametrize("page", [[], ["build"], *PAGES, ["demo"], ["serve"]])
def test_help_fits_a_terminal(page, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*page, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 88  # examples are not wrapped

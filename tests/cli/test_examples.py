"""The examples in every --help are run, word for word; where one would take long, an option is added that bounds it."""

import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request

import pytest

from cfmgml.cli import COMMANDS, main
from made_up import make_collection

# In this order: later examples use what earlier ones wrote.
PAGES = [["build", "images"], ["build", "text"], ["build", "graphs"], ["train"], ["predict"], ["inspect"]]
OTHERS = ["demo", "serve", "reproduce"]  # each has a test of its own here
ELSEWHERE = ["bench", "evaluate"]  # test_bench.py, evaluation/test_commands.py
WAIT = 120


def test_no_command_is_forgotten():
    assert {page[0] for page in PAGES} | {*OTHERS, *ELSEWHERE} == set(COMMANDS)


def test_commands_are_listed_in_the_order_of_their_use(capsys):
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "] == list(COMMANDS)


@pytest.mark.slow
def test_all_examples_run(world, run_in, examples_of, capsys):
    for page in PAGES:
        for line in examples_of(page):
            assert run_in(world, line) == 0, (line, capsys.readouterr().err)
            assert "Traceback" not in capsys.readouterr().err
    for made in ("photos.bags", "masked.bags", "papers.cfmgml", "regions.csv", "words.json", "drawn/p00.png"):
        assert (world / made).stat().st_size > 0, made


@pytest.mark.slow
def test_examples_of_the_demo_run(tmp_path, run_in, examples_of):
    """With fewer bags than they ask for; ``--serve`` is tested with the page."""
    for line in examples_of(["demo"]):
        if "--serve" not in line:
            assert run_in(tmp_path, f"{line} --n-train 20 --n-test 6") == 0
    assert (tmp_path / "demo.html").exists()
    assert (tmp_path / "out" / "demo.html").exists()


@pytest.mark.slow
def test_examples_of_reproduce_run(tmp_path, run_in, examples_of, capsys, monkeypatch):
    """On a made-up collection in MSRC v2's place; the second quickly, into the folder that the third reads."""
    make_collection(tmp_path / "data" / "msrc_v2", 12)
    monkeypatch.setenv("CFMGML_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "cache"))
    quick, some, report = examples_of(["reproduce"])
    assert run_in(tmp_path, f"{quick} --data msrc_v2-labels --methods cfmgml,dummy --n-jobs 1") == 0
    assert "Wrote out/reproduce-quick/report.html" in capsys.readouterr().err
    assert run_in(tmp_path, f"{some} --quick --out out/reproduce --n-jobs 1") == 0
    out = tmp_path / "out" / "reproduce"
    tables = {path.name: path.read_bytes() for path in (out / "tables").iterdir()}
    shown = capsys.readouterr().out
    for title in ("MSRC v2, rich nodes", "MSRC v2, the paper's nodes", "MSRC v2, node labels"):
        assert title in shown
    shutil.rmtree(out / "tables")
    (out / "report.html").unlink()
    assert run_in(tmp_path, report) == 0
    assert capsys.readouterr().out == shown
    assert {path.name: path.read_bytes() for path in (out / "tables").iterdir()} == tables
    assert "HLK" in (out / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_examples_of_serve_run(photo_model, tmp_path, examples_of, number):
    """On a port that is free; as soon as the address is on stderr, it answers there."""
    shutil.copy(photo_model, tmp_path / "photos.cfmgml")
    shutil.copytree(photo_model.parent / "new", tmp_path / "new")
    line = examples_of(["serve"])[number]
    line = re.sub(r"--port \d+", f"--port {free_port()}", line) if "--port" in line else f"{line} --port 0"
    words = [sys.executable, "-m", "cfmgml.cli", *shlex.split(line)]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = re.fullmatch(r"cfmgml: Serving on (http://\S+) \(Ctrl-C stops it\)\.\n", process.stderr.readline())[1]
        assert ("--port 0" in line) or address.endswith(line.split()[-1])
        assert b"<title>" in fetch(address)
        assert b'"ok"' in fetch(f"{address}/healthz")
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=WAIT)
    assert out == ""


def fetch(address):
    with urllib.request.urlopen(address, timeout=WAIT) as answer:
        return answer.read()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as wire:
        return wire.getsockname()[1]


@pytest.mark.parametrize("page", [[], ["build"], *PAGES, *([name] for name in OTHERS + ELSEWHERE)])
def test_help_fits_a_terminal(page, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*page, "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 88  # examples are not wrapped

"""The guides are followed word for word: files are saved, commands and code are run, in a folder of one's own.

A block's first line says what it is: ``sh`` is run line by line, ``python`` is run as one program with the guide's
earlier ones, ``python NAME`` is saved under that name. ``sh server`` is started and ``python client`` is run while it
listens, on a port of its own.
"""

import contextlib
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cfmgml.cli import main
from needs import needs

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
BLOCK = re.compile(r"^```(\w+)(?: ([\w.]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT = 120


def blocks(guide):
    return [(kind, name, body) for kind, name, body in BLOCK.findall((GUIDES / f"{guide}.md").read_text())]


def run_line(line):
    """One command, as a shell would run it."""
    words = shlex.split(line)
    if words[0] == "cfmgml":
        assert main(words[1:]) == 0, line
    elif words[:2] == ["pip", "install"]:
        extras = (ROOT / "pyproject.toml").read_text()
        for extra in re.findall(r"[a-z]+", "".join(re.findall(r"\[(.*)\]", words[2]))):
            assert f"\n{extra} = [" in extras, line
    elif words[0] == "python":
        runpy.run_path(words[1], run_name="__main__")
    else:
        assert words[0] == "echo"
        subprocess.run(line, shell=True, check=True)


def follow(guide):
    """Do what a guide says, in the working folder; returns what its code defined."""
    known = {}
    for kind, name, body in blocks(guide):
        if kind == "sh" and not name:
            for line in body.splitlines():
                run_line(line)
        elif kind == "python" and name.endswith(".py"):
            Path(name).write_text(body)
        elif kind == "python" and not name:
            exec(compile(body, f"{guide}.md", "exec"), known)
    return known


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """The folder in which the guide on pictures was followed."""
    folder = tmp_path_factory.mktemp("images")
    with contextlib.chdir(folder):
        follow("images")
    return folder


def test_images(pictures):
    lines = (pictures / "regions.csv").read_text().splitlines()
    assert lines[0] == "bag,graph,labels,best,score:grass,score:sand,score:sky,score:water"
    assert {line.split(",")[0] for line in lines[1:]} == {"new00", "new01", "new02", "new03"}
    best = {line.split(",")[3] for line in lines[1:]}
    assert len(best) >= 3  # regions of one picture differ
    assert (pictures / "drawn" / "new00.png").stat().st_size > 1000
    shown = [body for kind, _, body in blocks("images") if kind == "text"]
    assert [(pictures / "labels.csv").read_text().startswith(body) for body in shown] == [True]


def test_the_regions_of_the_images_guide_are_right(pictures):
    """The labels that each new picture is said to have are those it was drawn with."""
    truth = truth_of_new_pictures((pictures / "make_photos.py").read_text())
    found = {}
    for line in (pictures / "regions.csv").read_text().splitlines()[1:]:
        bag, _, _, best, *_ = line.split(",")
        found.setdefault(bag, set()).add(best)
    right = sum(found[name] == kinds for name, kinds in truth.items())
    assert right >= 3


def truth_of_new_pictures(script):
    """What the guide's script drew on its new pictures, which it does not tell the user."""
    known = {}
    head = script[: script.index('for folder, number in (("photos"')]
    exec(compile(head, "make_photos.py", "exec"), known)
    kinds = [set(known["photo"]()[1]) for _ in range(34)]
    return {f"new{k:02}": kinds[30 + k] for k in range(4)}


def test_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = follow("texts")
    assert known["model"].label_names_[known["scores"].argmax(axis=1)].tolist() == ["music", "cooking"]
    out = capsys.readouterr().out
    note = [line.split(",") for line in out.splitlines() if line.startswith("note,")]
    assert [row[3] for row in note] == ["music", "sport"]
    assert "violin" in (tmp_path / "words.json").read_text() or "melody" in (tmp_path / "words.json").read_text()


def test_graphs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = follow("graphs")
    assert (known["model"].predict_graphs(known["bags"])[:, 1] == known["is_ring"]).all()
    out = capsys.readouterr().out
    graphs = [line.split(",") for line in out.splitlines() if line.startswith("mixture") and line.count(",") == 6]
    assert {row[0] for row in graphs} == {f"mixture{k}" for k in range(24, 28)}
    assert [row[3] for row in graphs] == [row[1].rpartition("/")[2] for row in graphs]  # files are called what they are
    assert "bag,graph,labels,best,score:chain,score:ring,score:star" in out
    assert "from: graphs" in out


def test_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = follow("scikit-learn")
    assert known["search"].best_score_ > 0.5


def test_serving(pictures, monkeypatch, capsys):
    needs("fastapi")
    monkeypatch.chdir(pictures)
    follow("serving")
    commands = [body.strip() for kind, name, body in blocks("serving") if (kind, name) == ("sh", "server")]
    clients = [body for kind, name, body in blocks("serving") if (kind, name) == ("python", "client")]
    assert commands
    assert clients
    capsys.readouterr()
    with served(commands[0]) as address:
        for body in clients:
            assert "http://127.0.0.1:8000" in body
            exec(compile(body.replace("http://127.0.0.1:8000", address), "serving.md", "exec"), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert sorted(row[0] for row in rows) == ["grass", "sand", "sky", "water"]
    assert [row[2] for row in rows] == [str(float(row[1]) > 0) for row in rows]


@contextlib.contextmanager
def served(command):
    """The server of a guide, on any free port."""
    import time
    import urllib.error
    import urllib.request

    words = [sys.executable, "-m", "cfmgml.cli", *shlex.split(command)[1:], "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = process.stderr.readline().decode().split()[3]
        until = time.monotonic() + WAIT
        while True:
            try:
                urllib.request.urlopen(f"{address}/healthz", timeout=WAIT).close()
                break
            except urllib.error.URLError:
                assert time.monotonic() < until
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=WAIT)


def test_every_guide_is_followed():
    assert {path.stem for path in GUIDES.glob("*.md")} == {"images", "texts", "graphs", "scikit-learn", "serving"}


@pytest.mark.parametrize("guide", [path.stem for path in GUIDES.glob("*.md")])
def test_links_lead_somewhere(guide):
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", (GUIDES / f"{guide}.md").read_text()):
        assert target.startswith("http") or (GUIDES / target).is_file(), target

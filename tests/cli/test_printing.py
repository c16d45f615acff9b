"""Labels, names and paths that would take over a terminal: nothing that is printed lets them."""

import ast
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style
from rich.text import Text

from cfmgml import BagDataset
from cfmgml.cli import main
from cfmgml.common.printable import Screen, printable, screened_console
from made_up import make_photos

HOSTILE = "cow\x1b]0;owned\x07\x1b[2J\u202egniht\x9b31m\nforged: 1\r\x7f\u2066"
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
anything = st.text(st.characters(), max_size=40) | st.just(HOSTILE)  # surrogates too


def unseen(text, kept=""):
    return [c for c in text if unicodedata.category(c) in UNSEEN and c not in kept + "\u200c\u200d"]


@given(anything)
def test_printable_text_is_seen_and_stays_so(text):
    assert not unseen(printable(text))
    assert printable(printable(text)) == printable(text)
    printable(text).encode()  # which half a surrogate pair cannot be


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs", "M"]), max_size=40))
def test_what_is_seen_is_left_alone(text):
    assert printable(text + "می\u200cخواهم 👩\u200d🔬") == text + "می\u200cخواهم 👩\u200d🔬"


@given(st.dictionaries(anything, st.lists(anything)), st.sampled_from([None, 1]))
def test_json_stays_the_json_it_was(values, indent):
    shown = printable(json.dumps(values, ensure_ascii=False, indent=indent), kept="\n")
    assert not unseen(shown, "\n")
    assert json.loads(shown) == json.loads(json.dumps(values))


@given(st.lists(anything))
def test_a_screen_lets_nothing_through(pieces):
    written = io.StringIO(newline="")
    screen = Screen(written)
    for piece in pieces:
        assert screen.write(piece) == len(piece)
    assert not unseen(written.getvalue(), "\n\t")


@given(anything)
def test_a_console_lets_nothing_through(text):
    written = io.StringIO(newline="")
    console = screened_console(written)
    console.print(text, markup=False)
    console.print(Text("here", Style(link=text)))
    assert not unseen(written.getvalue(), "\n\t")


def test_commands_print_through_one_module():
    """Whoever prints does it through `_console`, or through a console that is screened."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "src" / "cfmgml" / "cli"
    used = {
        (file.name, ast.unparse(node.func))
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
    }
    prints = {"print", "typer.echo", "typer.secho", "Console", "sys.stdout.write", "sys.stderr.write"}
    assert {file for file, name in used if name in prints} == {"_console.py"}


# -- through the commands ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_world(tmp_path_factory):
    """Bags whose labels, names and files are hostile, a model of them, and a picture of that name."""
    folder = tmp_path_factory.mktemp("hostile")
    make_photos(folder / "photos", 6, table=folder / "labels.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["build", "images", "photos", "--labels", "labels.csv", "--n-jobs", "1", "-o", "plain.bags"]) == 0
        _make_hostile(BagDataset.load("plain.bags"))
    (folder / "bad").mkdir()
    (folder / "bad" / f"{HOSTILE}.png").write_bytes(b"no picture")
    (folder / "bad" / "good.png").write_bytes((folder / "photos" / "p00.png").read_bytes())
    return folder


def _make_hostile(bags):
    hostile = {name: np.array([f"{n}{HOSTILE}" for n in getattr(bags, name)]) for name in ("label_names", "bag_names")}
    replace(bags, **hostile, info={**bags.info, "description": HOSTILE, "source": HOSTILE}).save(f"{HOSTILE}.bags")
    assert main(["train", f"{HOSTILE}.bags", "-o", f"{HOSTILE}.cfmgml", "--alpha", "1e-3"]) == 0


COMMANDS = [
    ["inspect", f"{HOSTILE}.bags"],
    ["inspect", f"{HOSTILE}.cfmgml"],
    ["inspect", f"{HOSTILE}.bags", "--json"],
    ["inspect", f"no{HOSTILE}"],
    ["inspect", HOSTILE, HOSTILE],
    [HOSTILE],
    ["train", f"{HOSTILE}.bags", "-o", f"{HOSTILE}.cfmgml", "--alpha", HOSTILE],
    ["train", f"{HOSTILE}.bags", "-o", f"{HOSTILE}.cfmgml", "--alpha", "1e-3"],
    ["build", "images", "bad", "-o", f"{HOSTILE}.bags"],
    ["build", "images", "bad", "--on-error", "skip", "-o", f"new{HOSTILE}.bags"],
    ["build", "images", "photos", "--labels", f"{HOSTILE}.csv", "-o", "x.bags"],
    ["predict", f"{HOSTILE}.cfmgml", "photos", "--format", "jsonl"],
    ["predict", f"{HOSTILE}.cfmgml", "photos", "--max-regions", HOSTILE],
    ["predict", f"{HOSTILE}.cfmgml", "photos", "-o", f"{HOSTILE}.csv"],
    ["evaluate", f"{HOSTILE}.bags", "--folds", "2", "--inner", "2", "--methods", "dummy", "--n-jobs", "1", "--log"],
    ["evaluate", f"{HOSTILE}.bags", "--methods", HOSTILE],
    ["bench", "--folder", HOSTILE],
    ["serve", f"no{HOSTILE}.cfmgml"],
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: ascii(" ".join(command))[:60])
def test_no_command_prints_what_is_hostile(command, hostile_world, monkeypatch, capsys):
    monkeypatch.chdir(hostile_world)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    capsys.readouterr()
    main(command)
    captured = capsys.readouterr()
    assert captured.out + captured.err
    assert not unseen(captured.out + captured.err, "\n\t")
    assert "\nforged" not in captured.out + captured.err


def test_what_is_escaped_can_be_read(hostile_world, monkeypatch, capsys):
    monkeypatch.chdir(hostile_world)
    assert main(["inspect", f"{HOSTILE}.bags"]) == 0
    assert "cow\\u001b]0;owned\\u0007\\u001b[2J\\u202egniht" in capsys.readouterr().out
    assert main(["inspect", f"{HOSTILE}.bags", "--json"]) == 0
    assert f"grass{HOSTILE}" in json.loads(capsys.readouterr().out)["labels"]["bags"]


def test_a_table_in_a_pipe_is_exact(hostile_world, monkeypatch, capsys):
    monkeypatch.chdir(hostile_world)
    assert main(["predict", f"{HOSTILE}.cfmgml", "photos"]) == 0
    assert f"score:grass{HOSTILE}" in capsys.readouterr().out


def test_the_traceback_of_a_defect_is_screened(monkeypatch, capsys):
    def broken(*args, **kwargs):
        raise KeyError(HOSTILE) from RuntimeError(HOSTILE)

    monkeypatch.setattr("cfmgml.inputs.describe_file", broken)
    with pytest.raises(KeyError) as caught:
        main(["inspect", "x.bags"])
    sys.excepthook(caught.type, caught.value, caught.tb)
    err = capsys.readouterr().err
    assert "RuntimeError: cow\\u001b" in err
    assert not unseen(err, "\n\t")


@pytest.mark.slow
def test_a_terminal_sees_the_bar_and_nothing_hostile(hostile_world):
    """On a real terminal, with the bar's own movements on it."""
    terminal, other_end = pty.openpty()
    options = ["--folds", "2", "--inner", "2", "--methods", "dummy,misvm", "--n-jobs", "1"]
    command = [sys.executable, "-m", "cfmgml.cli", "evaluate", f"{HOSTILE}.bags", *options]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(command, cwd=hostile_world, env=environment, stdout=other_end, stderr=other_end) as process:
        os.close(other_end)
        seen = b""
        while chunk := _read(terminal):
            seen += chunk
    os.close(terminal)
    assert process.returncode == 0
    assert b"\x1b[" in seen  # the bar moves
    for piece in (b"\x1b]0", b"\x07", b"\x1b[2J", "\u202e".encode(), "\x9b".encode(), b"\nforged", b"\x7f"):
        assert piece not in seen


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux tells the end
        return b""

"""Pages of the documentation as what they ask a reader to do: blocks of commands and code, in their order.

A block's first line says what it is: ``sh`` is run line by line, ``python`` is run as one program with the page's
earlier ones, ``python NAME.py`` is saved under that name. ``sh server`` is started, and ``sh client`` and ``python
client`` are run while it listens, by the page's own test. ``text`` is only shown; what stands in braces is Sphinx's.
Commands that take hours or real data are no blocks but stand in sentences: `check_command` looks whether they could be
run.
"""

import contextlib
import functools
import importlib
import io
import re
import runpy
import shlex
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from cfmgml.cli import main

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"^```(?P<language>\w*|\{[\w-]+\})(?: (?P<name>[\w./]+))?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
WAIT = 120
MADE = ("gallery", "generated")  # folders of docs/ that `make docs` writes
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not set(path.relative_to(ROOT).parts) & set(MADE)
)


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    language: str
    name: str  # of the file it is saved as, or its part: server, client
    body: str
    line: int


def blocks(page):
    """Of a page, named from the repository's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(m["language"], m["name"] or "", m["body"], text.count("\n", 0, m.start("body")))
        for m in BLOCK.finditer(text)
    ]


def commands(body):
    """The lines of a block; a backslash at the end of one joins it with the next."""
    return [line for line in body.replace("\\\n", " ").splitlines() if line.strip()]


def follow(page, known=None, change=()):
    """Do what a page says, in the working folder; returns what its code defined.

    ``known`` is what its code may take as given, ``change`` pairs of what stands in it and what is meant here.
    """
    module = sys.modules["followed_page"] = types.ModuleType("followed_page")  # where pickle finds what it defines
    module.__dict__.update({} if known is None else known)
    known = module.__dict__
    for block in blocks(page):
        body = block.body
        for old, new in change:
            body = body.replace(old, new)
        match block:
            case Block("sh", ""):
                for line in commands(body):
                    run(line)
            case Block("python", ""):
                # Blank lines in front, so that a traceback names the page's line.
                exec(compile("\n" * block.line + body, str(ROOT / page), "exec"), known)
            case Block("python", name) if name.endswith(".py"):
                Path(name).write_text(body, encoding="utf-8")
    return known


def run(line):
    """One command, as a shell would run it."""
    words = shlex.split(line, comments=True)
    match words:
        case ["cfmgml", "serve", *_] | ["cfmgml", "demo", "--serve"]:
            with served(line) as address, urllib.request.urlopen(address, timeout=WAIT) as answer:
                assert b"<title>" in answer.read()
        case ["cfmgml", *rest]:
            assert main(rest) == 0, line
        case ["pip", "install", what]:  # what it asks for must exist; it is installed already
            known = (ROOT / "pyproject.toml").read_text()
            for extra in re.findall(r"[a-z]+", "".join(re.findall(r"\[(.*)\]", what))):
                assert f"\n{extra} = [" in known, line
        case ["make", target]:  # what it would do; this test is a part of it
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        case ["python", script]:
            runpy.run_path(script, run_name="__main__")
        case ["python", "-m", module, *rest] if module.startswith("cfmgml."):
            assert importlib.import_module(module).main(rest) == 0, line
        case ["echo", *_]:
            subprocess.run(line, shell=True, check=True)
        case _:
            raise AssertionError(f"{line!r} is a command that no page had so far: say here how it is run.")


def commands_in_text(page):
    """Commands in a page's sentences, which name what made a figure."""
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [m[1] for m in re.finditer(r"(?<!`)`(?:[A-Z_]+=\S+ )*((?:python|cfmgml|make|pip) [^`\n]+)`(?!`)", text)]


def check_command(line):
    """That a command in a sentence names a script that is there, or a command of ours, and options that it has."""
    words = shlex.split(line, comments=True)
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    match words:
        case ["python", script, *_] if script.endswith(".py"):
            known = (ROOT / script).read_text(encoding="utf-8")
        case ["cfmgml", "build", "KIND", *_]:
            known = said_by_help("build", "images")
        case ["cfmgml", *rest]:
            known = said_by_help(*[word for word in rest[: 1 + (rest[0] == "build")] if re.fullmatch("[a-z]+", word)])
        case ["make", *rest]:
            known = (ROOT / "Makefile").read_text(encoding="utf-8")
            options = {f"{word}:" if word.islower() else word.partition("=")[0] for word in rest}
        case ["pip", "install", *what]:
            known = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
            options = {f"{extra} = [" for part in re.findall(r"\[(.*?)\]", " ".join(what)) for extra in part.split(",")}
        case ["python", "-m", module, *_] if module.startswith("cfmgml."):
            known = Path(importlib.import_module(module).__file__).read_text(encoding="utf-8")
        case _:
            raise AssertionError(f"{line!r} is a command that no page had so far: say here how it is checked.")
    assert all(option in known for option in options), line


@functools.cache
def said_by_help(*command):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main([*command, "--help"]) == 0, command
    return said.getvalue()


def served(line):
    """The server that a command starts, on any free port; gives its address."""
    return serving([sys.executable, "-m", "cfmgml.cli", *shlex.split(line, comments=True)[1:], "--port", "0"])


@contextlib.contextmanager
def serving(words):
    """A process that says where it listens; gives the address once it is well, and ends it afterwards."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://[\d.]+:\d+", line.decode())))
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

"""Pages of the documentation as what they ask a reader to do: blocks of commands and code, in their order.

A block's first line says what it is: ``sh`` is run line by line, ``python`` is run as one program with the page's
earlier ones, ``python NAME.py`` is saved under that name. ``sh server`` is started, and ``sh client`` and ``python
client`` are run while it listens, by the page's own test. ``text`` is only shown; what stands in braces is Sphinx's. A
block that cannot be run here has a comment above it, ``<!-- not run: REASON -->``. Commands under docs/results take
hours and real data: `check_command` looks whether they could be run.
"""

import contextlib
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
    r"(?:^<!-- not run: (?P<reason>.+) -->\n)?"
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
RESULTS = [page for page in PAGES if page.startswith("docs/results/")]


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    language: str
    name: str  # of the file it is saved as, or its part: server, client
    body: str
    reason: str  # why it is not run
    line: int


def blocks(page):
    """Of a page, named from the repository's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(m["language"], m["name"] or "", m["body"], m["reason"] or "", text.count("\n", 0, m.start("body")))
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
            case Block(reason=str(reason)) if reason:
                continue
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
        case ["echo", *_]:
            subprocess.run(line, shell=True, check=True)
        case _:
            raise AssertionError(f"{line!r} is a command that no page had so far: say here how it is run.")


def check_command(line):
    """That a command of docs/results names a script that is there, or a command of ours, and options that it has."""
    words = shlex.split(line, comments=True)
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    match words:
        case ["python", script, *_] if script.startswith("benchmarks/"):
            known = (ROOT / script).read_text(encoding="utf-8")
        case ["cfmgml", command, *_]:
            known = (ROOT / "src" / "cfmgml" / "cli" / f"{command}.py").read_text(encoding="utf-8")
            options = {option.removeprefix("--").replace("-", "_") for option in options}
        case ["python", "-m", "venv", *_]:  # an environment for a peer
            return
        case _:
            raise AssertionError(
                f"{line!r} is a command that no page of results had so far: say here how it is checked."
            )
    assert all(option in known for option in options), line


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

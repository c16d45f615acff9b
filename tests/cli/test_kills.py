"""Any command that writes files, killed at any moment: the old file is there or the new one, never half of one."""

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from made_up import make_collection

pytestmark = pytest.mark.slow

WAIT = 120
OLD = b"old"
FEW = "--methods cfmgml,dummy --n-jobs 1"
COMMANDS = {  # each with the files that must be whole, and how often it is killed
    "build images": ("build images photos --labels labels.csv --n-jobs 1 -o {out}/made.bags", ["made.bags"], 8),
    "build text": ("build text papers.jsonl -o {out}/made.bags", ["made.bags"], 8),
    "build graphs": ("build graphs molecules --labels molecules.csv -o {out}/made.bags", ["made.bags"], 8),
    "train": ("train papers.bags -o {out}/made.cfmgml --alpha 1e-3", ["made.cfmgml"], 8),
    "predict": (
        "predict photos.cfmgml new --level node -o {out}/made.csv --draw {out} --masks {out}/masks "
        "--regions {out}/regions --geojson {out}/polygons --coco {out}/coco.json",
        [
            *("made.csv", "p00.png", "p01.png", "masks/p00.png", "masks/p01.png", "masks/legend.csv"),
            *("regions/p00.png", "polygons/p00.geojson", "coco.json"),
        ],
        8,
    ),
    "demo": ("demo --n-train 12 --n-test 3 --out {out}/made.html", ["made.html"], 4),
    "evaluate": (
        f"evaluate papers.bags {FEW} --folds 2 --inner 2 --out {{out}}",
        ["report.html", "costs.md", "tables/bags.md", "tables/figures.csv"],
        4,
    ),
    "reproduce": (
        f"reproduce --quick --data msrc_v2-labels {FEW} --no-samples --out {{out}}",
        ["report.html", "rows.jsonl.gz", "tables/bags.md", "data/msrc_v2-labels.json"],
        4,
    ),
}
READ = ("rows", "data/")  # by the next run, which would refuse something else in their place


class Runner:
    """Command lines in forked processes of a warm one."""

    def __init__(self, folder):
        command = [sys.executable, str(Path(__file__).with_name("warm_runner.py")), str(folder)]
        settings = {**os.environ, "CFMGML_DATA": str(folder / "data"), "CFMGML_CACHE": str(folder / "cache")}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=settings,
        )

    def ask(self, task, subject):
        print(json.dumps({task: subject}), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(WAIT)


@pytest.fixture(scope="module")
def runner(world):
    make_collection(world / "data" / "msrc_v2", 10)
    runner = Runner(world)
    with contextlib.closing(runner):
        for line in (
            "build text papers.jsonl -o papers.bags",
            "build images photos --labels labels.csv --n-jobs 1 -o photos.bags",
            "train photos.bags -o photos.cfmgml --alpha 1e-3",
        ):
            assert runner.ask("run", line) == 0
        yield runner


def contents(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def changes(out):
    """What is in a folder, by name, size and time."""
    with os.scandir(out) as entries:
        return {(entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries if entry.is_file()}


def wait_for_change(out, seconds):
    """Until something is written in the folder."""
    before, until = changes(out), time.perf_counter() + seconds
    while time.perf_counter() < until:
        with contextlib.suppress(FileNotFoundError):
            if changes(out) != before:
                return
        time.sleep(0.0002)


def check_whole(name, found, new):
    """The same as of a run that was left alone; where it says how long that took, of the same shape."""
    if name.endswith(".html"):
        assert found.startswith(new[:60])
        assert found.endswith(new[-60:])
    elif name.endswith(".gz"):
        assert gzip.decompress(found).count(b"\n") == gzip.decompress(new).count(b"\n")
    elif name == "costs.md":
        assert [line.count(b"|") for line in found.splitlines()] == [line.count(b"|") for line in new.splitlines()]
    else:
        assert found == new


def check_all(out, names, new):
    found = contents(out)
    for name in names:
        if found.get(name, OLD) != OLD:
            check_whole(name, found[name], new[name])


def make_old(out, names):
    for name in names:
        if name.startswith(READ):
            continue
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(OLD)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_any_moment(runner, tmp_path, rng, command):
    line, names, n_kills = COMMANDS[command]
    first, again, out = (tmp_path / name for name in ("first", "again", "out"))
    for folder in (first, again, out):
        folder.mkdir()
    assert runner.ask("run", line.format(out=first)) == 0
    new, start, statuses = contents(first), time.perf_counter(), []
    assert runner.ask("wait", runner.ask("start", line.format(out=again))) == 0
    seconds = time.perf_counter() - start
    for number in range(n_kills):
        make_old(out, names)
        process = runner.ask("start", line.format(out=out))
        if number % 2:
            wait_for_change(out, seconds)
            time.sleep(rng.uniform(0, 0.005) if number % 4 == 1 else 0)
        else:
            time.sleep(rng.uniform(0, seconds))
        os.kill(process, signal.SIGKILL)  # its number is its own until it is waited for
        statuses.append(runner.ask("wait", process))
        check_all(out, names, new)
    assert set(statuses) <= {0, -signal.SIGKILL}
    assert statuses.count(-signal.SIGKILL) >= n_kills // 2
    assert runner.ask("wait", runner.ask("start", line.format(out=out))) == 0
    found = contents(out)
    assert [name for name in found if name.endswith(".part")] == []  # what was left has been cleared away
    for name in names:
        check_whole(name, found[name], new[name])

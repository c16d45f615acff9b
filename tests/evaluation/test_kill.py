"""A run that is killed again and again ends with the tables of one that was left alone, byte for byte."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import small_experiment
from cfmgml.evaluation.experiment import Experiment
from cfmgml.evaluation.methods import find_methods
from cfmgml.evaluation.protocol import Protocol
from cfmgml.evaluation.report import table_files
from cfmgml.evaluation.summary import summary_table
from cfmgml.evaluation.tables import markdown
from small_experiment import digits, run_in_process

pytestmark = pytest.mark.slow

N_KILLS = 20
MOST_RUNS = 40


@pytest.fixture(scope="module")
def processes():
    """Processes that are forked from one in which all is imported and compiled."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warm_experiment"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(small_experiment.__file__).parent), prepend=os.pathsep)  # for the import
        yield context


@pytest.fixture(scope="module")
def undisturbed(processes, tmp_path_factory):
    """The tables of a run that was left alone, and the seconds it took."""
    process(processes, tmp_path_factory.mktemp("first")).join()  # the server starts with the first one
    out = tmp_path_factory.mktemp("undisturbed")
    start = time.perf_counter()
    process(processes, out).join()
    return tables(out), time.perf_counter() - start


def process(processes, out):
    started = processes.Process(target=run_in_process, args=(out,))
    started.start()
    return started


def tables(out):
    return {name: text.encode() for name, text in table_files(Experiment(out).results()).items()}


def killed_after(seconds, processes, out):
    """Start a run and kill it with SIGKILL; whether it was still at work."""
    started = process(processes, out)
    started.join(seconds)
    if started.is_alive():
        os.kill(started.pid, signal.SIGKILL)
    started.join()
    assert started.exitcode in (0, -signal.SIGKILL)
    return started.exitcode != 0


def tear_last_line(rows, rng):
    """As if the kill had come while it was written."""
    size = rows.stat().st_size
    last = size - rows.read_bytes()[:-1].rfind(b"\n") - 1
    with open(rows, "rb+") as stream:
        stream.truncate(size - int(rng.integers(1, last + 1)))


def test_tables_after_kills_at_random_moments(processes, undisturbed, tmp_path, rng):
    expected, seconds = undisturbed
    kills, torn = 0, 0
    for number in range(MOST_RUNS):
        out, patience, before = tmp_path / str(number), 0.7 * seconds, kills
        while killed_after(rng.uniform(0.02 * seconds, patience), processes, out):
            kills, patience = kills + 1, 1.2 * patience  # a machine that has become slow must get on, too
            rows = out / "rows.jsonl"
            if rows.exists() and rows.stat().st_size and rng.random() < 0.5:
                tear_last_line(rows, rng)
                torn += 1
        assert tables(out) == expected
        if kills >= N_KILLS:
            break
        if kills == before:  # it was through before the kill came: the machine has become quicker
            seconds *= 0.6
    assert kills >= N_KILLS
    assert torn


def test_kill_of_the_command_and_its_workers(tmp_path):
    """The command itself with two worker processes, killed as soon as it has kept something, then given again."""
    data, out = tmp_path / "digits.bags", tmp_path / "out"
    digits().load(None).save(data)
    options = ["--methods", "cfmgml,dummy", "--kernel", "nodes", "--folds", "2", "--inner", "2", "--n-jobs", "2"]
    options += ["--out", str(out)]
    command = [sys.executable, "-m", "cfmgml.cli", "evaluate", str(data), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows, end = out / "rows.jsonl", time.monotonic() + 120
    while not (rows.exists() and rows.stat().st_size) and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    n_kept = len(rows.read_bytes().splitlines())
    assert n_kept
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    alone = Experiment(tmp_path / "alone")
    assert alone.run([digits()], find_methods(["cfmgml", "dummy"]), Protocol(2, 2)) == []
    assert finished.stdout == markdown(summary_table(alone.results(), "digits")) + "\n"
    assert "Traceback" not in finished.stderr

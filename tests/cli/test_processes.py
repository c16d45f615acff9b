"""The command line as a process: signals, pipes, terminals, completion."""

import os
import signal
import subprocess
import sys
import time

import pytest

from cfmgml import BagDataset, CfMGML
from cfmgml.datasets import load_digit_bags
from cfmgml.inputs import read_table

CFMGML = [sys.executable, "-m", "cfmgml.cli"]
WAIT = 120


def start(folder, command, **options):
    """A shell that puts the tests into the background makes all its children deaf to Ctrl-C, so that is undone here."""
    return subprocess.Popen(
        [*CFMGML, *command.split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def kill_when_writing(process, folder, number):
    """Send the signal as soon as the temporary file is there, or when the process has ended."""
    until = time.monotonic() + WAIT
    while process.poll() is None and time.monotonic() < until:
        if any(name.endswith(".part") for name in os.listdir(folder)):
            break
        time.sleep(0.002)
    process.send_signal(number)


COMMANDS = {
    "build": ("build text papers.jsonl -o {out}/made.bags", "made.bags", BagDataset.load),
    "train": ("train papers.bags -o {out}/made.cfmgml --alpha 1e-3", "made.cfmgml", CfMGML.load),
    "predict": ("predict papers.cfmgml papers.jsonl --level node -o {out}/made.csv", "made.csv", read_table),
}


@pytest.fixture(scope="module")
def papers(world, run_in):
    assert run_in(world, "build text papers.jsonl -o papers.bags") == 0
    assert run_in(world, "train papers.bags -o papers.cfmgml --alpha 1e-3") == 0
    return world


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_stopped_while_it_writes_leaves_the_old_file_or_the_new_one(papers, run_in, tmp_path, command):
    line, name, load = COMMANDS[command]
    assert run_in(papers, line.format(out=tmp_path)) == 0
    target, new = tmp_path / name, (tmp_path / name).read_bytes()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        target.write_bytes(b"old")
        process = start(papers, line.format(out=tmp_path))
        kill_when_writing(process, tmp_path, number)
        process.communicate(timeout=WAIT)
        content = target.read_bytes()
        assert content in (b"old", new), number
        if content != b"old":
            load(target)
        left = [path.name for path in tmp_path.iterdir() if path != target]
        assert all(name.endswith(".part") for name in left)
        if number != signal.SIGKILL:  # it could clean up
            assert left == []


@pytest.mark.slow
def test_ctrl_c_says_stopped(tmp_path, tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    load_digit_bags(n_bags=400, random_state=0).save(work / "digits.bags")  # seconds of work, so the signal is in time
    process = start(work, f"train digits.bags --kernel nodes -o {tmp_path / 'm.cfmgml'} --probability")
    assert process.stderr.readline().startswith(b"Learning from BagDataset(400 bags")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT)
    assert b"Traceback" not in err
    assert process.returncode == 130
    assert out == b""
    assert err.endswith(b"cfmgml: stopped.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(papers):
    process = start(papers, "predict papers.cfmgml papers.bags --level node")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=WAIT) == 1
    assert err == b""


def test_completion():
    environment = {**os.environ, "_CFMGML_COMPLETE": "complete_bash", "COMP_WORDS": "cfmgml bu", "COMP_CWORD": "1"}
    code = (
        "import atexit, sys; sys.argv[0] = 'cfmgml'; atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from cfmgml.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["build"]
    loaded = done.stderr.split()
    assert "typer" in loaded
    assert not {"numpy", "scipy", "sklearn", "rich"} & set(loaded)  # someone waits at a prompt

"""Worker processes: order, bounds, errors, and workers that are killed at any moment."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from cfmgml.common.messages import pack_message
from cfmgml.common.processes import Processes, WorkerLost

LOCK = threading.Lock()


def children():
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if "cfmgml.common.processes" in " ".join(child.cmdline()):
                found.append(child)
    return found


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def by_value(work):
    """A function made in a test module is sent by value, as one of a notebook is."""
    work.__module__ = "__main__"
    return work


def in_order(n, n_jobs=2, **how):
    def double(k):
        time.sleep(0.002 * (k % 3))
        return 2 * k

    with Processes(n_jobs) as workers:
        return list(workers.map(by_value(double), range(n), **how))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_order_and_workers_end(n_jobs):
    assert in_order(40, n_jobs) == [2 * k for k in range(40)]
    assert not children()


def test_nothing_to_do_starts_nobody():
    with Processes(2) as workers:
        assert list(workers.map(abs, [])) == []
        assert not children()


def test_workers_are_kept_for_further_work():
    with Processes(2) as workers:
        first = set(workers.map(by_value(lambda k: (time.sleep(0.05), os.getpid())[1]), range(8)))
        second = set(workers.map(by_value(lambda k: (time.sleep(0.05), os.getpid())[1]), range(8)))
        assert second <= first
        assert len(first) == 2
        assert os.getpid() not in first
    assert not children()


@pytest.mark.parametrize("ahead", [0, 9])
def test_no_more_is_taken_than_ahead(ahead):
    taken = []
    bound = max(ahead, 4)
    with Processes(2) as workers:
        for done, _ in enumerate(workers.map(abs, (taken.append(k) or k for k in range(50)), ahead=ahead), 1):
            assert len(taken) <= done + bound
    assert len(taken) == 50


def test_workers_go_on_while_nobody_asks(tmp_path):
    touch = by_value(lambda k: (tmp_path / str(k)).touch())
    with Processes(2) as workers:
        results = workers.map(touch, range(30), ahead=12)
        next(results)
        deadline = time.monotonic() + 20
        while len(list(tmp_path.iterdir())) < 13 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        assert len(list(tmp_path.iterdir())) == 13
        results.close()


# -- errors ----------------------------------------------------------------------------------


class Picky(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def test_an_error_is_raised_in_its_place_with_its_lines():
    def fail_at_5(k):
        if k == 5:
            raise ValueError("five is right out")
        return k

    got = []
    with pytest.raises(ValueError, match="five is right out") as caught, Processes(2) as workers:
        got.extend(workers.map(by_value(fail_at_5), range(20)))
    assert got == [0, 1, 2, 3, 4]
    assert "in fail_at_5" in caught.value.__notes__[0]
    assert not children()


def test_an_error_that_cannot_travel_is_told():
    def fail(k):
        raise Picky("this", "that")

    with pytest.raises(RuntimeError, match="Picky in a worker process: this and that"), Processes(2) as workers:
        list(workers.map(by_value(fail), range(4)))


def test_what_ends_a_program_ends_no_worker():
    with pytest.raises(SystemExit), Processes(2) as workers:
        list(workers.map(sys.exit, [3, 3]))


@pytest.mark.parametrize(
    ("work", "item"),
    [
        (abs, threading.Lock()),
        (by_value(lambda k, lock=LOCK: k), 1),
        (by_value(lambda k: threading.Lock()), 1),
    ],
    ids=["item", "work", "result"],
)
def test_what_cannot_be_pickled_is_an_error(work, item):
    with pytest.raises(TypeError, match="pickle"), Processes(2) as workers:
        list(workers.map(work, [item, item]))
    assert not children()


def test_what_is_printed_stays_out_of_the_messages(capfd):
    with Processes(2) as workers:
        assert list(workers.map(by_value(lambda k: print("hello", flush=True) or k), range(3))) == [0, 1, 2]
    assert "hello" in capfd.readouterr().err


# -- deaths ----------------------------------------------------------------------------------


def dies_once(folder, how):
    """Work that ends its process in some way, the first time it has item 7."""

    def work(k):
        mark = folder / "died"
        if k == 7 and not mark.exists():
            mark.touch()
            how()
        return bytes([k]) * 200_000  # more than a pipe holds

    return by_value(work)


def writes(part):
    """A worker that dies when it has written so much of its answer; 4 is the first pipe that a worker has open."""

    def how():

        pipes = [fd for fd in range(3, 20) if is_pipe(fd)]
        os.write(pipes[-1], part)
        os.kill(os.getpid(), signal.SIGKILL)

    def is_pipe(fd):
        import stat

        try:
            return stat.S_ISFIFO(os.fstat(fd).st_mode)
        except OSError:
            return False

    is_pipe.__module__ = how.__module__ = "__main__"
    return how


WHOLE = pack_message({"raised": False}, b"x" * 1000)


@pytest.mark.parametrize(
    "how",
    [
        by_value(kill_self),
        by_value(lambda: os._exit(1)),
        by_value(lambda: os.abort()),
        writes(WHOLE[:1]),
        writes(WHOLE[:5]),
        writes(WHOLE[:12]),
        writes(WHOLE[:20]),
        writes(WHOLE[:-1]),
        writes(b"\xff" * 4096),
    ],
    ids=["killed", "exit", "abort", "one byte", "half a length", "lengths", "half a header", "half a body", "noise"],
)
def test_a_death_costs_nothing_but_time(tmp_path, how):
    with Processes(2) as workers:
        results = list(workers.map(dies_once(tmp_path, how), range(20)))
    assert results == [bytes([k]) * 200_000 for k in range(20)]
    assert (tmp_path / "died").exists()
    assert not children()


def deadly(k):
    if k == 7:
        kill_self()
    return k


@pytest.mark.slow
def test_who_kills_twice_is_found():
    got = []
    with pytest.raises(WorkerLost, match="killed twice"), Processes(2) as workers:
        got.extend(workers.map(deadly, range(20)))
    assert got == list(range(7))
    with Processes(2) as workers:
        assert list(workers.map(deadly, range(20), lost=-1)) == [-1 if k == 7 else k for k in range(20)]


@pytest.mark.slow
def test_who_dies_idle_is_nobodys_fault():
    with Processes(2) as workers:
        for _ in range(3):
            assert list(workers.map(abs, range(4))) == [0, 1, 2, 3]
            for child in children():
                child.kill()
                child.wait()


@pytest.mark.slow
def test_kills_at_many_moments():
    """Large answers are on the way nearly all the time, so many a kill hits half a message."""

    def answer(k):
        return bytes([k % 256]) * 3_000_000

    by_value(answer)
    stop, killed = threading.Event(), []

    def killer():
        moment = 0
        while not stop.wait(0.35 + 0.0037 * (moment % 50)):
            moment += 1
            for child in children()[:1]:
                child.kill()
                killed.append(child.pid)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        with Processes(2) as workers:
            n_lost = 0
            for k, result in enumerate(workers.map(answer, range(1500), lost=b"")):
                n_lost += not result
                assert result in (b"", bytes([k % 256]) * 3_000_000)
    finally:
        stop.set()
        thread.join()
    assert k == 1499
    assert len(killed) >= 5
    assert n_lost <= len(killed) / 2
    assert not children()


# -- ends ------------------------------------------------------------------------------------


def test_closing_early_leaves_nobody_behind():
    def stream():
        with Processes(2) as workers:
            yield from workers.map(by_value(lambda k: time.sleep(30 * (k > 1)) or k), range(20))

    begin = time.monotonic()
    results = stream()
    assert next(results) == 0
    assert children()
    results.close()
    assert not children()
    assert time.monotonic() - begin < 20


SCRIPT = """
import os, signal, sys, threading, time
from cfmgml.common.processes import Processes

signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores Ctrl-C

class Thing:  # travels by value, there and back: no guard, and __main__ is run once
    def __init__(self, k): self.k = k

def work(thing):
    time.sleep({seconds} * (thing.k > 2))
    return Thing(thing.k + 1)

print("main", flush=True)
with Processes(2) as workers:
    for thing in workers.map(work, map(Thing, range(6))):
        print(thing.k, flush=True)
"""


def run_script(seconds, **how):
    """Ctrl-C reaches it even where these tests are run in the background of a shell, which lets nobody hear it."""
    return subprocess.Popen(
        [sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **how,
    ), SCRIPT.format(seconds=seconds)  # fmt: skip


def test_a_script_needs_no_guard():
    process, script = run_script(0)
    out, err = process.communicate(script, timeout=60)
    assert (out.split(), err) == (["main", "1", "2", "3", "4", "5", "6"], "")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_workers_end_with_their_parent(how):
    process, script = run_script(1.5)
    with process:
        process.stdin.write(script)
        process.stdin.close()
        while process.stdout.readline() != "3\n":
            pass
        workers = psutil.Process(process.pid).children()
        assert len(workers) == 2
        process.send_signal(how)
        process.wait(timeout=20)
        _, alive = psutil.wait_procs(workers, timeout=10)
        assert not alive
        assert ("KeyboardInterrupt" in process.stderr.read()) == (how == signal.SIGINT)

"""Bounded work: a queue that is full says so, what takes too long is ended, and a dead worker is replaced."""

import concurrent.futures
import os
import signal
import time

import httpx
import pytest

from cfmgml.web import Limits, create_app
from cfmgml.web.worker import answer

URL = "/api/v1/models/model/image"
HEADERS = {"Content-Type": "image/png"}


def ask(address, data):
    return httpx.post(f"{address}{URL}", content=data, headers=HEADERS, timeout=180)


def worker_numbers():
    """Process numbers of this test's workers."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline") as command, open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                    if "cfmgml.web.worker" in command.read() and parent == os.getpid():
                        found.append(int(entry))
            except OSError:
                continue
    return set(found)


def wait_for(condition, seconds=40):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def strip():
    from cfmgml.web.demo import digit_strips

    return digit_strips()[0].data


@pytest.mark.slow
def test_a_full_queue_says_so(photo_model, photo_file, serving):
    """One worker, one more may wait: of six at once some are answered, the rest are told when to come back."""
    with serving(create_app(photo_model, limits=Limits(workers=1, waiting=1))) as address:
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda _: ask(address, photo_file), range(6)))
        assert {response.status_code for response in answers} == {200, 503}
        for response in answers:
            if response.status_code == 503:
                assert response.headers["retry-after"] == "2"
                assert response.json()["error"] == "busy"
        assert ask(address, photo_file).status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes and sockets up in /proc")
def test_slow_work_is_ended_and_its_worker_replaced(digit_model, strip, serving):
    """Stopped in the middle, a worker never answers: 504, another takes its place, and nothing is left behind."""
    before = worker_numbers()
    with serving(create_app(digit_model, limits=Limits(workers=1, seconds=6.0, wait_seconds=120))) as address:
        (worker,) = worker_numbers() - before
        os.kill(worker, signal.SIGSTOP)
        response = ask(address, strip)
        assert response.status_code == 504
        assert "more than 6 s" in response.json()["reason"]
        assert ask(address, strip).status_code == 200
        assert worker not in worker_numbers()
        (worker,) = worker_numbers() - before
        os.kill(worker, signal.SIGKILL)
        assert ask(address, strip).status_code == 500
        assert ask(address, strip).status_code == 200
        assert "cfmgml_workers_replaced 2" in httpx.get(f"{address}/metrics").text
    assert wait_for(lambda: worker_numbers() == before)


def test_a_worker_says_what_it_refuses(digit_model, strip, capsys):
    from cfmgml.web.answers import Analyst

    analysts = {"model": Analyst(digit_model)}
    assert answer(analysts, {"model": "model", "kind": "image"}, strip)[0] == 200
    status, content = answer(analysts, {"model": "model", "kind": "image"}, b"secret words")
    assert (status, content["error"]) == (415, "not_an_image")
    status, content = answer(analysts, {"model": "model", "kind": "text"}, b"no json")
    assert (status, content["error"]) == (500, "failed")
    log = capsys.readouterr().err
    assert "JSONDecodeError at decoder.py" in log
    assert "no json" not in log


def test_a_model_file_that_is_gone(digit_model, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        create_app(tmp_path / "nothing.cfmgml")

"""Bounded work: a queue that is full says so, what takes too long is ended, and a dead worker is replaced."""

import concurrent.futures
import os
import signal
import sys
import time

import httpx
import pytest

from cfmgml.web import Limits, create_app
from cfmgml.web.worker import answer
from web_workers import wait_for, worker_numbers

URL = "/api/v1/models/model/image"
HEADERS = {"Content-Type": "image/png"}


def ask(address, data):
    return httpx.post(f"{address}{URL}", content=data, headers=HEADERS, timeout=180)


@pytest.fixture(scope="module")
def strip():
    from cfmgml.demo.models import digit_strips

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
                assert 1 <= int(response.headers["retry-after"]) <= 10
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
        assert wait_for(lambda: httpx.get(f"{address}/healthz").status_code == 503, 2)  # it counts those that live
        retry = httpx.get(f"{address}/healthz").headers["retry-after"]
        assert 1 <= int(retry) < 60
        assert ask(address, strip).status_code == 200  # from the one that has taken its place by itself
        assert "cfmgml_workers_replaced 2" in httpx.get(f"{address}/metrics").text
    assert wait_for(lambda: worker_numbers() == before)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes and sockets up in /proc")
def test_retry_after_is_the_true_wait(digit_model, strip, serving):
    """An answer has taken 2 s and ten are inside: that will be 20 s."""
    before = worker_numbers()
    with (
        serving(create_app(digit_model, limits=Limits(workers=1, waiting=9, wait_seconds=120))) as address,
        concurrent.futures.ThreadPoolExecutor(10) as threads,
    ):
        (worker,) = worker_numbers() - before

        def stopped(n_requests):
            os.kill(worker, signal.SIGSTOP)
            answers = [threads.submit(ask, address, strip) for _ in range(n_requests)]
            inside = f"cfmgml_requests_inside {n_requests}\n"
            assert wait_for(lambda: inside in httpx.get(f"{address}/metrics").text)
            return answers

        (first,) = stopped(1)
        time.sleep(2)
        os.kill(worker, signal.SIGCONT)
        assert first.result().status_code == 200
        answers = stopped(10)
        response = ask(address, strip)
        os.kill(worker, signal.SIGCONT)
        assert response.status_code == 503
        assert 20 <= int(response.headers["retry-after"]) <= 40
        assert f"in {response.headers['retry-after']} s" in response.json()["reason"]
        assert [answer.result().status_code for answer in answers] == [200] * 10


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes and sockets up in /proc")
def test_a_worker_that_dies_at_work_costs_nobody_an_answer(digit_model, strip, serving):
    before = worker_numbers()
    with (
        serving(create_app(digit_model, limits=Limits(workers=1, wait_seconds=120))) as address,
        concurrent.futures.ThreadPoolExecutor(1) as thread,
    ):
        (worker,) = worker_numbers() - before
        os.kill(worker, signal.SIGSTOP)
        answer = thread.submit(ask, address, strip)
        assert wait_for(lambda: "cfmgml_requests_inside 1" in httpx.get(f"{address}/metrics").text)
        os.kill(worker, signal.SIGKILL)
        assert answer.result().status_code == 200
        assert "cfmgml_workers_replaced 1" in httpx.get(f"{address}/metrics").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("death", "status", "code"), [("os.abort()", 500, "failed"), ("os.kill(os.getpid(), 9)", 503, "interrupted")]
)
def test_an_input_that_kills_is_tried_twice(graph_model, serving, tmp_path, monkeypatch, death, status, code):
    """Workers that die at every graph: a second crash is the input's fault, a second kill is somebody else's."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import os\nfrom cfmgml.web.answers import Analyst\nAnalyst.answer = lambda *given: {death}\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    with serving(create_app(graph_model, limits=Limits(workers=1, wait_seconds=120))) as address:
        response = httpx.post(f"{address}/api/v1/models/model/graphs", json={"graphs": []}, timeout=180)
        assert (response.status_code, response.json()["error"]) == (status, code)
        assert wait_for(lambda: httpx.get(f"{address}/healthz").status_code == 200)
        assert "cfmgml_workers_replaced 2" in httpx.get(f"{address}/metrics").text


def test_a_worker_says_what_it_refuses(digit_model, strip, capsys):
    from cfmgml.web.answers import Analyst

    analysts = {"model": Analyst(digit_model)}
    assert answer(analysts, {"model": "model", "route": "image"}, strip)[0] == 200
    status, content = answer(analysts, {"model": "model", "route": "image"}, b"secret words")
    assert (status, content["error"]) == (415, "not_an_image")
    status, content = answer(analysts, {"model": "model", "route": "text"}, b"no json")
    assert (status, content["error"]) == (500, "failed")
    log = capsys.readouterr().err
    assert "JSONDecodeError at decoder.py" in log
    assert "no json" not in log


def test_a_model_file_that_is_gone(digit_model, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        create_app(tmp_path / "nothing.cfmgml")

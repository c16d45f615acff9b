"""Clients that keep a server waiting, on real sockets: their time is bounded, and nobody else waits for them."""

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from urllib.parse import urlsplit

import httpx
import pytest

from cfmgml.demo.models import digit_strips
from cfmgml.web import Limits, create_app
from web_workers import wait_for, worker_numbers

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes up in /proc")
IMAGE = "/api/v1/models/model/image"
GONE = 'requests_total{method="POST",route="/api/v1/models/{model}/image",status="499"}'
LIMITS = Limits(
    workers=1, waiting=3, header_seconds=1.0, body_seconds=3.0, connections=20, body_bytes=2**20, wait_seconds=60
)
STRIP = digit_strips()[0].data


@pytest.fixture(scope="module")
def served(digit_model, serving):
    """A server's address, and its worker."""
    before = worker_numbers()
    with serving(create_app(digit_model, limits=LIMITS)) as address:
        (worker,) = worker_numbers() - before
        yield address, worker


@pytest.fixture
def address(served):
    return served[0]


@contextlib.contextmanager
def wires(address, n_wires, first=b""):
    """Connections that have sent so much and no more."""
    with contextlib.ExitStack() as stack:
        host = urlsplit(address)
        opened = []
        for _ in range(n_wires):
            opened.append(stack.enter_context(socket.create_connection((host.hostname, host.port), timeout=20)))
            opened[-1].sendall(first)
        yield opened


def head(address, length, path=IMAGE):
    lines = (f"POST {path} HTTP/1.1", f"Host: {urlsplit(address).netloc}", "Content-Type: image/png")
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def health(address):
    """Of `/healthz`: the status, and that it took less than a second."""
    start = time.monotonic()
    response = httpx.get(f"{address}/healthz", timeout=20)
    assert time.monotonic() - start < 1
    return response.status_code


def ask(address):
    return httpx.post(f"{address}{IMAGE}", content=STRIP, headers={"Content-Type": "image/png"}, timeout=60)


def value(address, name):
    """One of the server's counts."""
    lines = httpx.get(f"{address}/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"cfmgml_{name} "))


def inside(address):
    return value(address, "requests_inside")


@pytest.mark.slow
def test_half_open_headers_keep_nobody_out(address):
    """More of them than there may be connections: the oldest make way, and all are hung up on in time."""
    with wires(address, 26, f"POST {IMAGE} HTTP/1.1\r\nHost: ".encode()) as half_open:
        for _ in range(3):
            assert health(address) == 200
        assert ask(address).status_code == 200
        answers = []
        for wire in half_open:
            with contextlib.suppress(ConnectionResetError):
                answers.append(wire.recv(10_000))
        told = [answer for answer in answers if answer]
        assert len(told) >= 15
        assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in told)
        assert json.loads(told[-1].partition(b"\r\n\r\n")[2])["error"] == "slow_headers"


def test_headers_a_byte_at_a_time(address):
    """The clock of headers does not start again with every byte, nor does silence stop it."""
    with wires(address, 1, b"GET /healthz HTTP/1.1\r\n") as (wire,), wires(address, 1) as (silent,):
        start = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - start < 10:
                wire.sendall(b"x")
                time.sleep(0.05)
        assert 0.9 < time.monotonic() - start < 3
        assert silent.recv(100) == b""


def test_an_idle_connection_may_be_used_again(address):
    with httpx.Client(base_url=address) as client:
        for _ in range(4):
            assert client.get("/healthz").status_code == 200
            time.sleep(0.4)  # together longer than one request's headers may take


@pytest.mark.slow
def test_bodies_a_byte_at_a_time_hold_no_place(address):
    """As many as have places, and more: a question is answered at once, and they are refused in time."""
    start = time.monotonic()
    with wires(address, 10, head(address, 5000)) as slow:
        for wire in slow:
            wire.sendall(b"x")
        assert ask(address).status_code == 200
        assert time.monotonic() - start < LIMITS.body_seconds
        assert health(address) == 200
        for wire in slow:
            assert wire.recv(10_000).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - start < LIMITS.body_seconds + 10  # they are read for a while, to hear it


def test_bodies_that_stall_do_not_use_up_memory(address):
    """Together they may hold eight of the largest: beyond that the most silent one is given up."""
    with wires(address, 10, head(address, 2**20)) as stalled:
        for wire in stalled:
            wire.sendall(bytes(2**20 - 1))
        assert wait_for(lambda: len(select.select(stalled, [], [], 0)[0]) == 2, LIMITS.body_seconds - 1)
        for wire in select.select(stalled, [], [], 0)[0]:
            assert wire.recv(10_000).startswith(b"HTTP/1.1 408 ")
        assert ask(address).status_code == 200


@pytest.mark.slow
def test_an_answer_that_is_not_read(address):
    """A client that asks on and on, and reads nothing, is hung up on: nothing is kept for it for ever."""
    request = f"GET /static/app.js HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\n\r\n".encode()
    with wires(address, 1) as (wire,):
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.settimeout(1)
        start = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() - start < 30:
                with contextlib.suppress(TimeoutError):
                    wire.sendall(request * 50)
                time.sleep(0.02)  # the server is a thread of this process, and must have its turn
        assert health(address) == 200


@pytest.mark.slow
def test_after_a_refusal_nothing_more_is_read(address):
    with wires(address, 1, head(address, 5000, "/nowhere")) as (wire,):
        start = time.monotonic()
        assert wire.recv(10_000).startswith(b"HTTP/1.1 404 ")
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - start < 20:
                wire.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() - start < 10


def test_rubbish_is_no_request(address):
    with wires(address, 1, b"\x16\x03\x01 hello\r\n\r\n") as (wire,):
        answer = wire.recv(10_000)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "bad_request"
    with wires(address, 1, head(address, 5)[:-2] + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n") as (wire,):
        assert wire.recv(10_000).startswith(b"HTTP/1.1 400 ")
    assert health(address) == 200


@pytest.mark.slow
def test_who_hangs_up_is_not_worked_for(served):
    """With the worker stopped nothing is answered: both who is worked for and who waits leave their places."""
    address, worker = served
    n_gone = value(address, GONE)
    os.kill(worker, signal.SIGSTOP)
    with wires(address, 3, head(address, len(STRIP)) + STRIP) as asking:
        assert wait_for(lambda: inside(address) == 3)
        for wire in asking:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # hang up with a reset
    start = time.monotonic()
    assert wait_for(lambda: inside(address) == 0, 5)
    assert ask(address).status_code == 200
    assert time.monotonic() - start < LIMITS.seconds - 5  # not after the first one's time was up
    assert worker not in worker_numbers()
    assert value(address, GONE) == n_gone + 3

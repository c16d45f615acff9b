"""`serve` as a process of its own: where it listens, what it says, and that it ends cleanly."""

import asyncio
import concurrent.futures
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
from typer.testing import CliRunner

from cfmgml.cli import app
from cfmgml.demo.models import digit_strips
from cfmgml.web import create_app, serve
from cfmgml.web.server import known_hosts, listen
from web_workers import wait_for

STRIP = digit_strips()[0].data


@pytest.fixture(scope="module")
def model_file(digit_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "digits.cfmgml"
    digit_model.save(path)
    return path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as wire:
        return wire.getsockname()[1]


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks processes and sockets up in /proc")
def test_the_command_serves_until_stopped(model_file, tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "cfmgml.cli", "serve", str(model_file), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    try:
        first = process.stderr.readline()
        assert f"http://127.0.0.1:{port}" in first
        wait_until_healthy(port, process)
        catalogue = httpx.get(f"http://localhost:{port}/api/v1/models").json()
        assert [model["title"] for model in catalogue["models"]] == ["digits"]
        assert listening_addresses(port) == {"0100007F"}  # 127.0.0.1 and no other
    finally:
        process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode == 0
    assert rest.splitlines()[-1] == "cfmgml: Stopped."
    assert "Traceback" not in rest
    assert not list(tmp_path.iterdir())  # nothing is left behind


@pytest.mark.slow
def test_sigterm_answers_everyone(model_file):
    """Twelve requests under way and a slow one: those that there is time for are answered, the rest 503, as JSON."""
    port = free_port()
    code = (
        "import sys; from cfmgml.web import Limits, serve\n"
        "serve(sys.argv[1], port=int(sys.argv[2]), limits=Limits(workers=1, grace_seconds=2.5))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(model_file), str(port)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert f"http://127.0.0.1:{port}" in process.stderr.readline()
        wait_until_healthy(port, process)
        address = f"http://127.0.0.1:{port}/api/v1/models/model/image"

        def ask(_):
            return httpx.post(address, content=STRIP, headers={"Content-Type": "image/png"}, timeout=30)

        assert ask(0).status_code == 200
        (worker,) = children(process.pid)
        os.kill(worker, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(12) as threads:
            answers = [threads.submit(ask, number) for number in range(12)]
            metrics = f"http://127.0.0.1:{port}/metrics"
            assert wait_for(lambda: "cfmgml_requests_inside 12" in httpx.get(metrics).text)
            start = time.monotonic()
            for number in (process.pid, worker):  # as a service manager does it
                os.kill(number, signal.SIGTERM)
            os.kill(worker, signal.SIGCONT)
            concurrent.futures.wait(answers, 20, concurrent.futures.FIRST_COMPLETED)
            with contextlib.suppress(ProcessLookupError):  # a quick machine has answered all twelve by now
                os.kill(worker, signal.SIGSTOP)
            answers = [answer.result() for answer in answers]
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)
        process.wait(20)
        assert time.monotonic() - start < 10
    finally:
        process.kill()
        process.communicate()
    statuses = [answer.status_code for answer in answers]
    assert 200 in statuses
    assert set(statuses) <= {200, 503}
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
        assert "labels" in answer.json() or answer.json()["error"] == "stopping"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(number) for number in file.read().split()]


def wait_until_healthy(port, process):
    for _ in range(600):
        assert process.poll() is None
        try:
            assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 200
            return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail("the server did not start")


def listening_addresses(port):
    with open("/proc/net/tcp") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    local = [row[1].split(":") for row in rows if row[3] == "0A"]
    return {address for address, number in local if int(number, 16) == port}


def test_a_port_that_is_taken():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="cannot listen on 127.0.0.1, port .* try another --port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


def test_a_file_that_is_no_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        serve(tmp_path / "none.cfmgml", port=0)
    (tmp_path / "bad.cfmgml").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a cfmgml file"):
        serve(tmp_path / "bad.cfmgml", port=0)


@pytest.mark.slow
def test_without_the_extra_it_says_what_to_install(model_file):
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from cfmgml.web import serve\n"
        "try: serve(sys.argv[1])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(model_file)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("serving needs FastAPI and uvicorn: ")
    assert done.stdout.strip().endswith("pip install 'cfmgml[web]'.")


@pytest.mark.parametrize(("hosts", "status"), [(None, 200), (("lab.example",), 200), (("127.0.0.1",), 421)])
def test_hosts_may_be_named(digit_model, hosts, status):
    assert ask_app(create_app(digit_model, hosts=hosts), "http://lab.example").status_code == status


def ask_app(app, base, **headers):
    """A page's question to an application that was reached at an address of this machine."""

    async def ask():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base) as client:
            return await client.get("/", headers=headers)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def for_all(digit_model):
    """What `serve` makes with ``--host 0.0.0.0 --allow-host models.example``."""
    return create_app(digit_model, hosts=known_hosts("0.0.0.0", ["Models.example"]))


@pytest.mark.parametrize(
    ("base", "headers", "status"),
    [
        ("http://10.1.2.3:8000", {}, 200),  # the address at which it is reached
        ("http://[fe80::1]:8000", {}, 200),
        ("http://10.1.2.3:8000", {"Host": "10.9.9.9"}, 421),
        ("http://10.1.2.3:8000", {"Host": "evil.example"}, 421),  # DNS rebinding
        ("http://10.1.2.3:8000", {"Host": "evil.example", "Origin": "http://evil.example"}, 421),
        ("http://10.1.2.3:8000", {"Origin": "http://10.1.2.3:8000"}, 200),
        ("http://10.1.2.3:8000", {"Origin": "http://evil.example"}, 403),
        ("http://10.1.2.3:8000", {"Host": "models.example", "Origin": "http://evil.example"}, 403),
        ("http://10.1.2.3:8000", {"Host": "models.example"}, 200),
        ("http://127.0.0.1:8000", {"Host": "MODELS.example", "Origin": "https://models.example"}, 200),  # by a proxy
        ("http://127.0.0.1:8000", {"Host": "models.example", "Origin": "https://models.example:8443"}, 200),
        ("http://127.0.0.1:8000", {"Origin": "https://models.example"}, 200),  # by one that says where it asks
        ("http://127.0.0.1:8000", {"Origin": "http://localhost:3000"}, 403),  # another server of this machine
        ("http://127.0.0.1:8000", {"Origin": "http://models.example.evil.example"}, 403),
        ("http://127.0.0.1:8000", {"Origin": "null"}, 403),
    ],
)
def test_whom_a_server_for_others_answers(for_all, base, headers, status):
    assert ask_app(for_all, base, **headers).status_code == status


@pytest.mark.parametrize("name", ["http://models.example", "models.example:80", "", "a/b", "*"])
def test_an_allowed_host_is_a_name(name, digit_model, model_file):
    with pytest.raises(ValueError, match="--allow-host must be a name such as models.example"):
        serve(model_file, port=0, allow_hosts=[name])


def test_the_command_takes_several_names(monkeypatch, model_file):
    """And hands them on; what they do is tested above."""
    seen = []
    monkeypatch.setattr("cfmgml.web.server.run_server", lambda *given: seen.append(given[-1]))
    for command in (["serve", str(model_file)], ["demo", "--serve"]):
        monkeypatch.setattr("cfmgml.demo.models.demo_exhibits", dict)
        result = CliRunner().invoke(app, [*command, "--allow-host", "a.example", "--allow-host", "b.example"])
        assert result.exit_code == 0, result.output
    assert seen == [["a.example", "b.example"]] * 2

"""`serve` as a process of its own: where it listens, what it says, and that it ends cleanly."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from cfmgml.web import create_app, serve
from cfmgml.web.server import listen


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
    assert done.stdout.strip() == "serving needs FastAPI and uvicorn: pip install 'cfmgml[web]'."


@pytest.mark.parametrize(("hosts", "status"), [(None, 200), (("lab.example",), 200), (("127.0.0.1",), 421)])
def test_hosts_may_be_named(digit_model, hosts, status):
    async def ask():
        transport = httpx.ASGITransport(create_app(digit_model, hosts=hosts))
        async with httpx.AsyncClient(transport=transport, base_url="http://lab.example") as client:
            return await client.get("/")

    assert asyncio.run(ask()).status_code == status

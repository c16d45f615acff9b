"""Behind a real nginx, with the guide's configuration: password, name, pages, sizes."""

import getpass
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from cfmgml.demo.models import digit_strips
from cfmgml.web import Limits, create_app
from cfmgml.web.server import known_hosts
from needs import needs_program

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "serving.md"
IMAGE = "/api/v1/models/model/image"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[True, False], ids=["allowed", "not allowed"])
def proxied(request, digit_model, serving, tmp_path_factory):
    """The proxy's address, and whether the server knows the name."""
    hosts = known_hosts("127.0.0.1", ["models.example"] if request.param else [])
    with (
        serving(create_app(digit_model, limits=Limits(workers=1), hosts=hosts)) as address,
        Nginx(tmp_path_factory.mktemp("nginx"), address) as front,
    ):
        yield front, request.param


class Nginx:
    """nginx on a free port of this machine, in a folder of its own, with the guide's site."""

    def __init__(self, folder, address):
        self.program = needs_program("nginx")
        with socket.create_server(("127.0.0.1", 0)) as wire:
            self.port = wire.getsockname()[1]
        (site,) = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        given = {
            "listen 80;": f"listen 127.0.0.1:{self.port};",
            "/etc/nginx/models.passwd": str(folder / "passwd"),
            "http://127.0.0.1:8000": address,
        }
        for old, new in given.items():
            assert site.count(old) == 1, old
            site = site.replace(old, new)
        hashed = subprocess.run(
            ["openssl", "passwd", "-apr1", "secret"], capture_output=True, text=True, check=True
        ).stdout
        (folder / "passwd").write_text(f"ada:{hashed}")
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        start = f"user {getpass.getuser()};\n" if os.getuid() == 0 else ""  # who may read the folder
        start += f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        (folder / "nginx.conf").write_text(f"{start}http {{\naccess_log off;\n{temporary}{site}}}\n")
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "-c", str(self.folder / "nginx.conf"), "-e", "/dev/null"])
        for _ in range(200):
            assert self.process.poll() is None, (self.folder / "error.log").read_text()
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return f"http://127.0.0.1:{self.port}"
            except ConnectionRefusedError:
                time.sleep(0.05)
        pytest.fail("nginx did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


def test_the_guides_proxy(proxied):
    """What a browser at the proxy sends works if the server knows the name, and is refused if not."""
    address, is_allowed = proxied
    strip = digit_strips()[0].data
    with httpx.Client(base_url=address, headers={"Host": "models.example"}, timeout=60) as client:
        assert client.get("/").status_code == 401
        client.auth = ("ada", "secret")
        page = client.get("/")
        assert page.status_code == (200 if is_allowed else 421)
        headers = {"Content-Type": "image/png", "Origin": "https://models.example", "Sec-Fetch-Site": "same-origin"}
        answer = client.post(IMAGE, content=strip, headers=headers)
        assert answer.status_code == (200 if is_allowed else 421)
        if is_allowed:
            assert len(answer.json()["graphs"]) == 4
            foreign = client.post(IMAGE, content=strip, headers={**headers, "Origin": "https://evil.example"})
            assert foreign.status_code == 403
            large = client.post(IMAGE, content=bytes(11 * 2**20), headers=headers)
            assert (large.status_code, large.json()["error"]) == (415, "not_an_image")

"""`serve`: the application behind uvicorn, on this machine only unless told otherwise."""

import contextlib
import functools
import ipaddress
import logging
import re
import socket
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cfmgml.web.app import create_app, import_fastapi
from cfmgml.web.exhibits import Exhibit, read_samples
from cfmgml.web.limits import Limits
from cfmgml.web.request_guard import LOOPBACK

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Config

KEEP_ALIVE_SECONDS = 10
NAME = re.compile(r"[0-9a-z.-]+|[0-9a-f:]+", re.IGNORECASE)  # of a machine, or its address


def serve(
    model_path: str | Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    limits: Limits | None = None,
    allow_hosts: Collection[str] = (),
    device: str | None = None,
    dtype: str | None = None,
    samples: Collection[str | Path] = (),
) -> None:
    """Serve the page and the API for a model's file, until stopped with Ctrl-C.

    Parameters
    ----------
    model_path
        What `CfMGML.save` or ``cfmgml train`` wrote.
    host
        The address to listen on: this machine only by default. ``"0.0.0.0"`` lets others in: there is no password.
    port
        The port; 0 takes a free one.
    limits
        What one request may cost, see `Limits`.
    allow_hosts
        Names by which it may be asked, beside its address: a proxy's, or this machine's own in its network.
    device, dtype
        Where and in which precision the model computes, see `CfMGML`; by default as its file says.
    samples
        Files, and folders of them, that the page offers to try.
    """
    title = Path(model_path).stem
    exhibit = Exhibit(model_path, title=title, samples=read_samples(samples), device=device, dtype=dtype)
    run_server({"model": exhibit}, host, port, limits, allow_hosts)


def run_server(
    exhibits: Mapping[str, Exhibit], host: str, port: int, limits: Limits | None, allow_hosts: Collection[str] = ()
) -> None:
    """Start the workers, say where it listens as soon as it does, and serve until stopped."""
    import_fastapi()
    import uvicorn

    bounds, hosts = limits or Limits(), known_hosts(host, allow_hosts)
    with listen(host, port) as listening:  # before the work, so that a port that is taken fails now
        app = create_app(exhibits, limits=bounds, hosts=hosts)
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
        logging.getLogger("cfmgml.web").setLevel(logging.INFO)
        address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"

        class Announced(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    _say(f"Serving on {address} (Ctrl-C stops it).")
                    if not is_loopback(host):
                        _say("Anyone who can reach this machine can use it: there is no password.")

        server = Announced(server_config(app, bounds))
        if sys.stderr.isatty():
            _say("Loading the model and starting the workers ...")
        with contextlib.suppress(KeyboardInterrupt):  # the way to stop it
            server.run(sockets=[listening])
    if not server.started:
        raise OSError("the server did not start; what it wrote above says why.")
    _say("Stopped.")


def known_hosts(host: str, allow_hosts: Collection[str]) -> frozenset[str]:
    """Names that a server on an address answers to, beside addresses at which it is reached.

    >>> sorted(known_hosts("0.0.0.0", ["Lab.Example"]) - LOOPBACK)
    ['lab.example']
    """
    for name in allow_hosts:
        if not NAME.fullmatch(name):
            raise ValueError(
                f"--allow-host must be a name such as models.example, without http:// or port, got {name!r}."
            )
    own = () if host in ("0.0.0.0", "::") else (host.lower(),)
    return LOOPBACK.union(own, (name.lower() for name in allow_hosts))


def server_config(app: "FastAPI", limits: Limits, port: int = 8000) -> "Config":
    """How uvicorn runs the application: connections timed, and a grace time when it is told to stop."""
    import uvicorn

    from cfmgml.web.connections import TimedProtocol

    return uvicorn.Config(
        app,
        port=port,
        http=functools.partial(TimedProtocol, limits, {}),  # type: ignore[arg-type]  # it is called as a class would be
        log_config=None,
        access_log=False,  # it would log addresses as they were asked for; `RequestGuard` logs routes
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=limits.grace_seconds,  # type: ignore[arg-type]  # and waited for, whole or not
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to an address, or an error that says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OSError(f"cannot listen on {host}, port {port} ({error.strerror}); try another --port.") from error
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _say(text: str) -> None:
    print(f"cfmgml: {text}", file=sys.stderr, flush=True)

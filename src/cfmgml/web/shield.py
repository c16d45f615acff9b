"""What stands before every route: which hosts and pages may ask, security headers, counts, and one line of log."""

import json
import logging
from collections.abc import Collection
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cfmgml.web.bodies import Tracked
from cfmgml.web.limits import Refused
from cfmgml.web.metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset(["127.0.0.1", "localhost", "::1"])
METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
log = logging.getLogger("cfmgml.web")


class Shield:
    """Pure ASGI, so that nothing of a body is read before it is wanted.

    Parameters
    ----------
    app
        What it stands before.
    metrics
        Where requests are counted.
    hosts
        Names that a request's Host may have, so that another site cannot reach a server on this machine by pointing its
        own name here (DNS rebinding); None for any.
    """

    def __init__(self, app: "ASGIApp", metrics: Metrics, hosts: Collection[str] | None) -> None:
        self._app = app
        self._metrics = metrics
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, body = perf_counter(), 500, Tracked(scope, receive)

        async def send_safely(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status >= 400:
                    await body.drain()
                message = {**message, "headers": _with_headers(message.get("headers", []))}
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, body, send_safely)
            else:
                await _refuse(refusal, send_safely)
        finally:
            self._note(scope, status, perf_counter() - start)

    def _refusal(self, scope: "Scope") -> Refused | None:
        """Why a request is turned away by its headers alone."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return Refused(421, "unknown_host", "This server does not answer to that host name.")
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit_netloc(origin) != host.lower()
        is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"  # followed to the page
        if foreign or (headers.get("sec-fetch-site") == "cross-site" and not is_link):
            return Refused(403, "foreign_origin", "This server does not answer to pages of other sites.")
        return None

    def _note(self, scope: "Scope", status: int, seconds: float) -> None:
        """By the route's pattern: neither counts nor log hold anything that was sent."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.observe(method, route, status, seconds)
        log.info("%s %s %d %.0f ms", method, route, status, 1000 * seconds)


def urlsplit_netloc(origin: str) -> str:
    """Host and port of an origin, lower case; empty if it is none.

    >>> urlsplit_netloc("http://LOCALHOST:8000"), urlsplit_netloc("null"), urlsplit_netloc("http://[")
    ('localhost:8000', '', '')
    """
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _with_headers(given: Any) -> list[tuple[bytes, bytes]]:
    names = {name.lower() for name, _ in given}
    ours = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in names]
    return [*given, *ours]


async def _refuse(refusal: Refused, send: "Send") -> None:
    body = json.dumps(refusal.to_json()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

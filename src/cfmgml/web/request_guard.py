"""What stands before every route: which hosts and pages may ask, security headers, counts, and one line of log."""

import asyncio
import contextlib
import ipaddress
import logging
from collections.abc import Collection
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cfmgml.web.bodies import Tracked
from cfmgml.web.limits import Refused
from cfmgml.web.metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

GONE = 499  # in counts and log: the client hung up before there was an answer
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


class RequestGuard:
    """Pure ASGI, so that nothing of a body is read before it is wanted.

    ``hosts`` are names that a request's Host may have, so that another site cannot reach a server on this machine by
    pointing its own name here (DNS rebinding); None for any. An address may always be asked by that address: no site
    has it for a name. Pages under these names may ask, whatever Host a proxy makes of them; those under this machine's
    own names (`LOOPBACK`) only if it is the Host that they ask, as other servers of this machine have pages too.
    """

    def __init__(self, app: "ASGIApp", metrics: Metrics, hosts: Collection[str] | None) -> None:
        self._app = app
        self._metrics = metrics
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._sites = (self._hosts or set()) - LOOPBACK

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        start, body = perf_counter(), Tracked(scope, receive)
        sender = _Sender(send, body, with_content=scope["method"] != "HEAD")
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            refusal = self._refusal(scope)
            answer = self._app if refusal is None else JSONResponse(refusal.to_json(), refusal.status)
            await answer(asked, body, sender)
        except ClientDisconnect:
            sender.status = GONE
        except asyncio.CancelledError:  # the server stops, and this request's time is over
            if not sender.is_started:
                body.is_done = True  # there is no time left to wait for the rest of it
                refusal = Refused(503, "stopping", "The server is stopping. Try again when it is back.")
                await JSONResponse(refusal.to_json(), refusal.status)(asked, body, sender)
        finally:
            self._note(scope["method"], asked, sender.status, perf_counter() - start)

    def _refusal(self, scope: "Scope") -> Refused | None:
        """Why a request is turned away by its headers alone."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if self._hosts is not None and host_and_name(f"//{host}")[1] not in self._hosts | _own_address(scope):
            reason = "This server does not answer to that host name; --allow-host names those that it does."
            return Refused(421, "unknown_host", reason)
        origin = headers.get("origin")
        page, page_name = host_and_name(origin or "")
        foreign = origin is not None and page != host.lower() and page_name not in self._sites
        is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"  # followed to the page
        if foreign or (headers.get("sec-fetch-site") == "cross-site" and not is_link):
            return Refused(403, "foreign_origin", "This server does not answer to pages of other sites.")
        return None

    def _note(self, method: str, scope: "Scope", status: int, seconds: float) -> None:
        """By the route's pattern: neither counts nor log hold anything that was sent."""
        route = getattr(scope.get("route"), "path", "none")
        method = method if method in METHODS else "other"
        self._metrics.observe(method, route, status, seconds)
        log.info("%s %s %d %.0f ms", method, route, status, 1000 * seconds)


class _Sender:
    """``send``, with our headers, without content for HEAD, and with what has become of the answer."""

    def __init__(self, send: "Send", body: Tracked, with_content: bool) -> None:
        self._send = send
        self._body = body
        self._with_content = with_content
        self.is_started = False
        self.status = 500

    async def __call__(self, message: "Message") -> None:
        from starlette.datastructures import MutableHeaders

        if message["type"] == "http.response.start":
            if message["status"] >= 400 and message["status"] != 408:  # who is slow has been waited for already
                await self._body.drain()
            self.status, self.is_started = message["status"], True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        elif not self._with_content:
            message = {**message, "body": b""}
        await self._send(message)


def host_and_name(url: str) -> tuple[str, str]:
    """Of an origin, or of ``//`` and a Host header: its host, and that without port and brackets; empty if it is none.

    >>> host_and_name("http://LOCALHOST:8000"), host_and_name("//[::1]:8000"), host_and_name("null")
    (('localhost:8000', 'localhost'), ('[::1]:8000', '::1'), ('', ''))
    >>> host_and_name("http://["), host_and_name("//a]")
    (('', ''), ('', ''))
    """
    try:
        parts = urlsplit(url)
        return parts.netloc.lower(), (parts.hostname or "").lower()
    except ValueError:
        return "", ""


def _own_address(scope: "Scope") -> set[str]:
    """The address at which a connection reached this machine."""
    address = str((scope.get("server") or ("",))[0])
    with contextlib.suppress(ValueError):
        return {str(ipaddress.ip_address(address))}
    return set()

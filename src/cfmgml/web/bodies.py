"""Reading a request's body: its size and the time it takes are bounded while it comes in."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from cfmgml.web.limits import Limits, Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope

DRAIN_BYTES = 128 * 2**20  # of a refused body, read and dropped so that its sender hears why
DRAIN_SECONDS = 5.0


async def read_body(request: "Request", most_bytes: int, limits: Limits) -> bytes:
    """The body, or a refusal as soon as it is known to be too large."""
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise Refused(400, "bad_length", "Content-Length must be a number.")
    if int(length) > most_bytes:
        raise _too_large(most_bytes)
    parts, n_bytes = [], 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for part in request.stream():
                n_bytes += len(part)
                if n_bytes > most_bytes:
                    raise _too_large(most_bytes)
                parts.append(part)
    except TimeoutError:
        raise Refused(408, "slow_upload", f"The upload took more than {limits.body_seconds:g} s.") from None
    return b"".join(parts)


class Tracked:
    """``receive``, and whether all of the body has come through it."""

    def __init__(self, scope: "Scope", receive: "Receive") -> None:
        headers = dict(scope["headers"])
        self._receive = receive
        self._length = headers.get(b"content-length", b"")
        self.is_done = self._length in (b"", b"0") and b"transfer-encoding" not in headers

    async def __call__(self) -> "Message":
        message = await self._receive()
        if not message.get("more_body", False):
            self.is_done = True
        return message

    async def drain(self) -> None:
        """Drop what is left of a body: a sender that is cut off while sending does not see the answer."""
        n_bytes = 0
        if self._length.isdigit() and int(self._length) > DRAIN_BYTES:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while not self.is_done and n_bytes <= DRAIN_BYTES:
                    n_bytes += len((await self()).get("body", b""))


def _too_large(most_bytes: int) -> Refused:
    size = f"{most_bytes / 2**20:.3g} MiB" if most_bytes >= 2**20 else f"{most_bytes / 2**10:.3g} KiB"
    return Refused(413, "body_too_large", f"The upload is larger than {size}.")

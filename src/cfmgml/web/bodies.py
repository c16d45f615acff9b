"""Reading a request's body: its size and the time it takes are bounded while it comes in."""

import asyncio
import contextlib
from collections.abc import Coroutine
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from cfmgml.web.limits import Limits, Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope

DRAIN_BYTES = 128 * 2**20  # of a refused body, read and dropped so that its sender hears why
DRAIN_SECONDS = 5.0
LARGEST_BODIES = 8  # so many bodies of the largest size may be on their way in together

Answer = TypeVar("Answer")


class _Arrival:
    """A body on its way in."""

    def __init__(self, seconds: float) -> None:
        self.timeout = asyncio.timeout(seconds)
        self.n_bytes = 0
        self.last = monotonic()  # when a part of it came


class Intake:
    """All bodies that are on their way in.

    They hold no place in the queue, so that slow senders keep nobody waiting. What they hold is memory, and that is
    bounded: where it is used up, the body whose sender has been silent for longest is given up.
    """

    def __init__(self, limits: Limits) -> None:
        self._seconds = limits.body_seconds
        self._most_bytes = LARGEST_BODIES * limits.body_bytes
        self._arrivals: set[_Arrival] = set()

    async def read(self, request: "Request", most_bytes: int) -> bytes:
        """The body, or a refusal as soon as it is known to be too large or too slow."""
        length = request.headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise Refused(400, "bad_length", "Content-Length must be a number.")
        if int(length) > most_bytes:
            raise _too_large(most_bytes)
        arrival, body = _Arrival(self._seconds), bytearray()
        self._arrivals.add(arrival)
        try:
            async with arrival.timeout:
                async for part in request.stream():
                    body += part
                    if len(body) > most_bytes:
                        raise _too_large(most_bytes)
                    arrival.n_bytes, arrival.last = len(body), monotonic()
                    self._keep_within()
        except TimeoutError:
            reason = f"The upload took too long: {self._seconds:g} s are the most, less where many come at once."
            raise Refused(408, "slow_upload", reason) from None
        finally:
            self._arrivals.discard(arrival)
        return bytes(body)

    def _keep_within(self) -> None:
        if sum(arrival.n_bytes for arrival in self._arrivals) > self._most_bytes:
            silent = min(self._arrivals, key=lambda arrival: arrival.last)
            self._arrivals.discard(silent)
            if not silent.timeout.expired():
                silent.timeout.reschedule(asyncio.get_running_loop().time())


async def unless_gone(request: "Request", work: Coroutine[object, None, Answer]) -> Answer:
    """What the work gives, its body having been read; as soon as the client hangs up, it is cancelled."""
    from starlette.requests import ClientDisconnect

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.create_task(work), asyncio.create_task(hung_up())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


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

"""Connections that keep the server waiting do so for a bounded time, and never keep others out."""

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cfmgml.web.limits import Limits, Refused


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, which waits for ever for headers and for clients that do not read their answers.

    Here both are timed; the application times bodies. Where there are too many connections, the one that has kept the
    server waiting for longest makes way for the newest. So whoever asks at once is let in: what the server itself is at
    work on is bounded by its queue.

    Each has the ``line``: all connections of a server, those first that were made or answered first. Answers must be
    read within ``body_seconds``, too; ``options`` are uvicorn's.
    """

    def __init__(self, limits: Limits, line: "dict[TimedProtocol, None]", **options: Any) -> None:
        super().__init__(**options)
        self._limits = limits
        self._line = line
        self._until_headers: asyncio.TimerHandle | None = None
        self._until_read: asyncio.TimerHandle | None = None

    @property
    def keeps_waiting(self) -> bool:
        """Whether it is the client's turn: to send headers, to send a body, or to read an answer."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        if len(self._line) >= self._limits.connections:
            oldest = next((other for other in self._line if other.keeps_waiting), None)
            if oldest is not None:
                del self._line[oldest]
                oldest.transport.abort()
        self._line[self] = None
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of anything unread
        self._time_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._line.pop(self, None)
        for timer in (self._until_headers, self._until_read):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self._time_headers()

    def on_response_complete(self) -> None:
        if self in self._line:
            self._line[self] = self._line.pop(self)  # to its end
        if self.cycle.more_body:  # refused before all of it was read: nobody reads the rest
            self.transport.close()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._until_read is None:
            self._until_read = self.loop.call_later(self._limits.body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._until_read is not None:
            self._until_read.cancel()
            self._until_read = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(Refused(400, "bad_request", msg))

    # -- headers -----------------------------------------------------------------------------

    def _time_headers(self) -> None:
        """The clock runs from the connection, or the answer before, until all headers are there."""
        waiting = self.conn.their_state is h11.IDLE
        if waiting and self._until_headers is None:
            self._until_headers = self.loop.call_later(self._limits.header_seconds, self._give_up)
        elif not waiting and self._until_headers is not None:
            self._until_headers.cancel()
            self._until_headers = None

    def _give_up(self) -> None:
        if self.conn.trailing_data[0]:  # a request was begun
            self._refuse(Refused(408, "slow_headers", f"Headers must be here in {self._limits.header_seconds:g} s."))
        else:
            self.transport.close()

    def _refuse(self, refusal: Refused) -> None:
        """Say why, if an answer can still be begun, and hang up."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            content = json.dumps(refusal.to_json()).encode()
            headers = [
                ("content-type", "application/json"),
                ("content-length", str(len(content))),
                ("connection", "close"),
            ]
            answer = h11.Response(status_code=refusal.status, headers=headers)
            events = (answer, h11.Data(data=content), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()

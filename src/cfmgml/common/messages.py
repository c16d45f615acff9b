"""Messages between a process and its workers: a JSON header and raw bytes, their lengths first."""

import asyncio
import json
import struct
from typing import IO

from cfmgml.common.typing import Json

LENGTHS = struct.Struct(">IQ")
MAX_HEADER = 2**20
MAX_BODY = 2**30


def pack_message(header: Json, body: bytes = b"") -> bytes:
    """A message as bytes.

    >>> import io
    >>> read_message(io.BytesIO(pack_message({"do": "add"}, b"12")))
    ({'do': 'add'}, b'12')
    """
    text = json.dumps(header, allow_nan=False).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def read_message(stream: IO[bytes], max_body: int = MAX_BODY) -> tuple[Json, bytes]:
    """The next message of a pipe; EOFError where it ends, be it in the middle of a message."""
    n_header, n_body = _lengths(_exactly(stream, LENGTHS.size), max_body)
    header = json.loads(_exactly(stream, n_header))
    return header, _exactly(stream, n_body)


async def read_message_async(stream: asyncio.StreamReader) -> tuple[Json, bytes]:
    """The next message; asyncio.IncompleteReadError where the pipe ends."""
    n_header, n_body = _lengths(await stream.readexactly(LENGTHS.size))
    header = json.loads(await stream.readexactly(n_header))
    return header, await stream.readexactly(n_body)


def _lengths(prefix: bytes, max_body: int = MAX_BODY) -> tuple[int, int]:
    n_header, n_body = LENGTHS.unpack(prefix)
    if n_header > MAX_HEADER or n_body > max_body:
        raise ValueError(f"a message must have {MAX_HEADER} and {max_body} bytes at most, got {n_header} and {n_body}.")
    return n_header, n_body


def _exactly(stream: IO[bytes], n_bytes: int) -> bytes:
    data = stream.read(n_bytes)
    if len(data) < n_bytes:
        raise EOFError("the pipe has ended.")
    return data

"""A worker process: ``python -m cfmgml.web.worker``, spoken to through stdin and stdout (`cfmgml.common.messages`).

It decodes and computes, so that a file that breaks a decoder, or an input that takes too long, costs one process and
not the server. The first message says which models to load; each further one holds one input. It ends with its stdin.
"""

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from cfmgml.common.messages import pack_message, read_message
from cfmgml.common.processes import own_pipes
from cfmgml.common.typing import Json
from cfmgml.data.questions import Question
from cfmgml.web.answers import Analyst
from cfmgml.web.exhibits import Exhibit
from cfmgml.web.limits import Limits, Refused


def answer(analysts: Mapping[str, Analyst], header: Json, body: bytes) -> tuple[int, dict[str, Any] | bytes]:
    """The status and the content of the reply to one input; it never raises."""
    try:
        analyst = analysts[header["model"]]
        if header["route"] == "bags":
            return 200, analyst.bags(json.loads(body))
        if header.get("table"):
            analyst = replace(analyst, table=tuple(header["table"]))
        content = json.loads(body) if header["route"] == "text" else body
        return 200, analyst.answer(header["route"], Question(content, header.get("regions"), header.get("drawn")))
    except Refused as refusal:
        return refusal.status, refusal.to_json()
    except MemoryError:
        return 413, {"error": "too_large", "reason": "The input needs more memory than it may have. Make it smaller."}
    except Exception as error:
        print(f"cfmgml worker: {_where(error)}", file=sys.stderr, flush=True)
        return 500, {"error": "failed", "reason": "The server failed at this input; its log says where."}


def _where(error: BaseException) -> str:
    """What went wrong and in which lines, without the message: it may hold what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    lines = " < ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {lines}"


def bound_memory(n_bytes: int) -> None:
    """From here on this process may take so much more address space; where a system cannot say, it is not bounded."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + n_bytes, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return


def run(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Load what the first message names, then answer until the pipe ends."""
    header, _ = read_message(incoming)
    limits = Limits(**header["limits"])
    analysts = {name: Analyst(Exhibit(**given).load(), limits) for name, given in header["models"].items()}
    for analyst in analysts.values():
        analyst.warm_up()
    if all(analyst.model.device == "cpu" for analyst in analysts.values()):  # a card takes what addresses it likes
        bound_memory(limits.worker_bytes)
    _send(outgoing, {"ready": True})
    while True:
        try:
            header, body = read_message(incoming)
        except EOFError:
            return
        status, content = answer(analysts, header, body)
        del body
        if not isinstance(content, bytes):
            content = json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
        _send(outgoing, {"status": status}, content)


def _send(outgoing: BinaryIO, header: Json, body: bytes = b"") -> None:
    outgoing.write(pack_message(header, body))
    outgoing.flush()


def main() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # sent to all of a service: the server ends it when it has answered
    with contextlib.suppress(BrokenPipeError), own_pipes() as (incoming, outgoing):
        run(incoming, outgoing)


if __name__ == "__main__":
    main()

"""A server among honest and hostile clients, while its workers are killed one after the other.

    python benchmarks/soak_web.py --seconds 600

Starts a server of its own on this machine with three small models. Of 20 clients a tenth is hostile: slow headers and
bodies, hang-ups, rubbish, bombs in images and in JSON, answers that are not read, more connections than there may be.
The others send inputs whose right answers are known, and every 20 s a worker is killed. Prints what happened, and fails
unless

- every honest request was answered rightly or with 503, and nobody got another 5xx;
- `/healthz`, asked twice a second on a connection of its own, always answered within a second;
- memory is flat: server and workers have in the last minute at most a tenth more than in the first;
- the server's log holds no traceback.

Ends after the seconds given, or as soon as there have been as many requests as --most says.
"""

import argparse
import asyncio
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import numpy as np

from fuzz_uploads import mutants, pixel_bomb, text_bomb
from load_web import family as server_and_workers
from load_web import free_port, resident_mib

SERVE = """import json, sys
from cfmgml.web.exhibits import Exhibit
from cfmgml.web.server import run_server
run_server({name: Exhibit(file) for name, file in json.loads(sys.argv[1]).items()}, "127.0.0.1", int(sys.argv[2]), None)
"""
HOSTILE = 0.1  # of all clients
BODY = 12 * 2**20 - 100  # as large as a body may be
HEALTH_SECONDS = 1.0
GROWTH = 1.1
Asked = tuple[str, bytes, str, dict[str, Any]]  # route, body, its type, the right answer


@dataclass
class Seen:
    """What happened."""

    until: float
    most: int
    honest: Counter[str] = field(default_factory=Counter)
    hostile: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    healthy: Counter[int] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    kills: int = 0

    def go_on(self) -> bool:
        return time.monotonic() < self.until and self.honest.total() + self.hostile.total() < self.most

    async def rest(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, min(seconds, self.until - time.monotonic())))


# -- what is asked ---------------------------------------------------------------------------


def make_models(folder: Path) -> tuple[dict[str, str], list[Asked]]:
    """Files of models of photos, digits and graphs, and inputs with their right answers."""
    from cfmgml import BagDataset, CfMGML, GraphBatch, WeisfeilerLehman
    from cfmgml.data.questions import Question
    from cfmgml.demo import models as demo
    from cfmgml.web.answers import Analyst

    photos = demo.load_photos()
    labels = np.array(["C", "N", "O"])[np.arange(48) % 3]
    edges = np.arange(48).reshape(-1, 2).T
    graphs = BagDataset(
        GraphBatch(np.arange(0, 49, 4), np.arange(0, 25, 2), edges, node_labels=labels), np.arange(0, 13, 2)
    )
    models = {
        "photos": demo.train_photos(photos, n_crops=4, features="rich"),
        "digits": demo.train_digits(n_bags=60),
        "graphs": CfMGML(WeisfeilerLehman(n_iter=2), alpha=1e-3).fit(graphs, np.eye(6)),
    }
    for name, model in models.items():
        model.save(folder / f"{name}.cfmgml")
    photo, digit, graph = (Analyst(models[name]) for name in ("photos", "digits", "graphs"))
    own = [{"graphs": [{"node_labels": list("CNOC")[: 2 + k], "edges": [[0, 1]]}] * (1 + k)} for k in range(3)]
    bodies = [json.dumps(body).encode() for body in own]
    files = list(demo.photo_files(photos).values())[:3]
    strips = [sample.data for sample in demo.digit_strips()]
    asked = [
        *(("photos/image?regions=4", data, "image/jpeg", photo.answer("image", Question(data, 4))) for data in files),
        *(("digits/image", data, "image/png", digit.answer("image", Question(data))) for data in strips),
        *(("graphs/graphs", data, "application/json", graph.answer("graphs", Question(data))) for data in bodies),
    ]
    return {name: str(folder / f"{name}.cfmgml") for name in models}, asked


def is_right(got: Any, expected: Any) -> bool:
    """The same, numbers to the last digits but three."""
    if isinstance(expected, dict):
        same = isinstance(got, dict) and got.keys() == expected.keys()
        return same and all(is_right(got[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(is_right, got, expected))
    if isinstance(expected, float):
        return abs(got - expected) <= 1e-9 * max(1.0, abs(expected))
    return bool(got == expected)


async def honest(base: str, inputs: list[Asked], seen: Seen, rng: random.Random) -> None:
    async with httpx.AsyncClient(timeout=180) as session:
        while seen.go_on():
            route, body, kind, expected = rng.choice(inputs)
            try:
                url = f"{base}/api/v1/models/{route}"
                response = await session.post(url, content=body, headers={"Content-Type": kind})
            except httpx.TransportError as error:
                seen.honest[type(error).__name__] += 1
                seen.wrong.append(f"{route}: {error!r}")
                continue
            seen.honest[str(response.status_code)] += 1
            if response.status_code == 503:
                await seen.rest(float(response.headers["retry-after"]))
            elif response.status_code != 200:
                seen.wrong.append(f"{route}: {response.status_code} {response.text[:200]}")
            elif not is_right(response.json(), expected):
                seen.wrong.append(f"{route}: a wrong answer")
            await seen.rest(rng.random())


# -- the hostile -----------------------------------------------------------------------------


def head(port: int, route: str, length: int, kind: str = "image/jpeg") -> bytes:
    lines = (f"POST /api/v1/models/{route} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Type: {kind}")
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


async def hold(port: int, n_wires: int, first: bytes, seconds: float, drip: bytes = b"") -> None:
    """Connections that send so much, then a byte now and then, and then hang up."""
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(n_wires)]
    until = time.monotonic() + seconds
    with contextlib.suppress(ConnectionError):
        for _, writer in opened:
            writer.write(first)
        while time.monotonic() < until:
            await asyncio.sleep(0.5)
            for _, writer in opened:
                if not writer.is_closing():
                    writer.write(drip)
    for _, writer in opened:
        writer.transport.abort()


async def abort(port: int, data: bytes, rng: random.Random) -> None:
    """A question whose asker is gone a moment later."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head(port, "photos/image", len(data)) + data)
    await asyncio.sleep(rng.random())
    wire = writer.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def unread(port: int, data: bytes) -> None:
    """Many questions on one connection, and no answer read."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=2048)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    request = f"GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    writer.write(request * 2000 + head(port, "photos/image", len(data)) + data)
    await asyncio.sleep(5)
    writer.transport.abort()


def bombs(rng: random.Random) -> tuple[str, bytes, str]:
    """Much from little, or rubbish of the largest size."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    parts = rng.choice(["1,", "[],", "{},", '{"node_labels": [1]},', "[[[", '"",'])
    return rng.choice(
        [
            ("photos/image", pixel_bomb(numbers), "image/png"),
            ("photos/image", text_bomb(numbers), "image/png"),
            ("graphs/graphs", ('{"graphs": [' + parts * (BODY // len(parts))).encode() + b"1]}", "application/json"),
            ("graphs/graphs", b'{"graphs": [{"node_labels": [' + b"1," * (BODY // 2) + b"1]}]}", "application/json"),
        ]
    )


async def hostile(port: int, photo: bytes, seen: Seen, rng: random.Random) -> None:
    mutations = itertools.cycle(mutants(400, seed=rng.randrange(2**32)))
    acts = ["half-open", "flood", "slow body", "abort", "noise", "mutant", "bomb", "unread"]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1/models/", timeout=180) as session:
        while seen.go_on():
            act = rng.choice(acts)
            outcome = ""
            try:
                if act == "half-open":
                    await hold(port, 40, b"POST /healthz HTTP/1.1\r\nHost: ", 4, b"x")
                elif act == "flood":
                    await hold(port, 520, b"GET / HTTP/1.1\r\n", 2)
                elif act == "slow body":
                    await hold(port, 18, head(port, "photos/image", 10_000), 6, b"x")
                elif act == "abort":
                    await asyncio.gather(*(abort(port, photo, rng) for _ in range(4)))
                elif act == "noise":
                    await hold(port, 5, rng.randbytes(3000), 0.5)
                elif act == "unread":
                    await unread(port, photo)
                else:
                    if act == "bomb":
                        route, data, kind = bombs(rng)
                    else:
                        route, data, kind = "photos/image", next(mutations)[1], "image/png"
                    response = await session.post(route, content=data, headers={"Content-Type": kind})
                    outcome = f" {response.status_code}"
                    if response.status_code >= 500 and response.status_code != 503:
                        seen.wrong.append(f"{act} {route}: {response.status_code} {response.text[:200]}")
            except (httpx.TransportError, OSError) as error:
                outcome = f" {type(error).__name__}"
            seen.hostile[act + outcome] += 1
            await seen.rest(0.5 * rng.random())


# -- what is watched -------------------------------------------------------------------------


def ask_health(port: int) -> tuple[float, int]:
    """Seconds and status, on a connection of its own; 0 if there was no answer."""
    start = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        status = 0
    finally:
        connection.close()
    return time.monotonic() - start, status


async def watch_health(port: int, seen: Seen) -> None:
    """By another process, since this one is busy with its clients."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        while seen.go_on():
            seconds, status = await asyncio.get_running_loop().run_in_executor(process, ask_health, port)
            seen.health.append(seconds)
            seen.healthy[status] += 1
            await seen.rest(0.5)


async def watch_memory(server: int, seen: Seen) -> None:
    while seen.go_on():
        with contextlib.suppress(OSError):  # a worker ended just now
            seen.memory.append((time.monotonic(), resident_mib(server)))
        await seen.rest(1)


async def kill_workers(server: int, every: float, seen: Seen, rng: random.Random) -> None:
    while seen.go_on():
        await seen.rest(every)
        workers = server_and_workers(server)[1:]
        if workers and seen.go_on():
            os.kill(rng.choice(workers), signal.SIGKILL)
            seen.kills += 1


async def soak(port: int, server: int, inputs: list[Asked], seen: Seen, options: argparse.Namespace) -> None:
    base = f"http://127.0.0.1:{port}"
    n_hostile = max(1, round(HOSTILE * options.clients))
    rngs = [random.Random(f"{options.seed}-{number}") for number in range(options.clients + 1)]
    photo = inputs[0][1]
    await asyncio.gather(
        *(honest(base, inputs, seen, rng) for rng in rngs[n_hostile + 1 :]),
        *(hostile(port, photo, seen, rng) for rng in rngs[1 : n_hostile + 1]),
        watch_health(port, seen),
        watch_memory(server, seen),
        kill_workers(server, options.kill_every, seen, rngs[0]),
    )


def claims(seen: Seen, log: str) -> dict[str, bool]:
    """Each with whether it holds; prints the figures."""
    (first, *_, last), most = (at for at, _ in seen.memory), max(mib for _, mib in seen.memory)
    minute = min(60.0, (last - first) / 3)
    early = statistics.median(mib for at, mib in seen.memory if at <= first + minute)
    late = statistics.median(mib for at, mib in seen.memory if at >= last - minute)
    print(f"honest: {dict(sorted(seen.honest.items()))}")
    print(f"hostile: {dict(sorted(seen.hostile.items()))}")
    print(f"workers killed: {seen.kills}")
    late_health = np.quantile(seen.health, [0.5, 0.99, 1.0])
    print(f"/healthz: {dict(seen.healthy)}; median, 99 %, longest: " + ", ".join(f"{s:.3f} s" for s in late_health))
    print(f"memory of server and workers, MiB: first {early:.0f}, last {late:.0f}, most {most:.0f}")
    for line in seen.wrong[:20]:
        print(f"wrong: {line}")
    return {
        "honest requests were answered rightly or with 503, and nobody got another 5xx": not seen.wrong,
        "there were honest answers": seen.honest["200"] > 0,
        "/healthz answered within a second": 0 not in seen.healthy and max(seen.health) < HEALTH_SECONDS,
        "memory is flat": late <= GROWTH * early,
        "no traceback in the log": "Traceback" not in log,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--kill-every", type=float, default=20)
    parser.add_argument("--most", type=int, default=100_000, help="requests at which it ends")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        files, inputs = make_models(folder)
        with open(folder / "log", "w") as log:
            process = subprocess.Popen([sys.executable, "-c", SERVE, json.dumps(files), str(port)], stderr=log)
        try:
            while "Serving on" not in (folder / "log").read_text():
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.2)
            seen = Seen(time.monotonic() + options.seconds, options.most)
            asyncio.run(soak(port, process.pid, inputs, seen, options))
        finally:
            process.terminate()
            process.wait(60)
        held = claims(seen, (folder / "log").read_text())
    for claim, holds in held.items():
        print(f"{'holds' if holds else 'FAILS'}: {claim}")
    return int(not all(held.values()))


if __name__ == "__main__":
    sys.exit(main())

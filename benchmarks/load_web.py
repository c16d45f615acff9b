"""The API under load: many clients at once for a while, beside one client alone.

    python benchmarks/load_web.py --clients 20 --seconds 60 [--size 640 480]

Starts a server of its own on this machine, in a process of its own, with the photo model of the demo; every client
sends a photo, waits for the answer, and sends the next (after a 503 it waits as long as Retry-After says). Prints how
many answers there were of each status, median and 95th percentile of the time to an answer, and the memory of the
server and its workers at the start, in the middle and at the end. Fails on any answer but 200 and 503.
"""

import argparse
import asyncio
import io
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
from PIL import Image

SERVE = "import sys; from cfmgml.web import serve; serve(sys.argv[1], port=int(sys.argv[2]))"


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as wire:
        return int(wire.getsockname()[1])


def family(pid: int) -> list[int]:
    """A process and its children."""
    found = [pid]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == pid:
                found.append(int(entry.name))
    return found


def resident_mib(pid: int) -> float:
    total = 0
    for number in family(pid):
        for line in Path(f"/proc/{number}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
    return total / 1024


def photo_file(pixels: np.ndarray, size: tuple[int, int]) -> bytes:
    """A photo of this width and height, as a JPEG file."""
    stream = io.BytesIO()
    Image.fromarray(pixels).resize(tuple(size)).save(stream, "JPEG", quality=90)
    return stream.getvalue()


class Results:
    """What all clients saw."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.seconds: list[float] = []

    def line(self, name: str, wall: float) -> str:
        median, late = (float(np.quantile(self.seconds, q)) if self.seconds else float("nan") for q in (0.5, 0.95))
        rate = len(self.seconds) / wall
        return f"| {name} | {dict(self.statuses)} | {median:.2f} | {late:.2f} | {rate:.2f} |"


async def client(url: str, data: bytes, until: float, results: Results) -> None:
    headers = {"Content-Type": "image/jpeg"}
    async with httpx.AsyncClient(timeout=120) as session:
        while time.perf_counter() < until:
            start = time.perf_counter()
            try:
                response = await session.post(url, content=data, headers=headers)
            except httpx.TransportError as error:
                results.statuses[type(error).__name__] += 1
                continue
            results.statuses[str(response.status_code)] += 1
            if response.status_code == 200:
                results.seconds.append(time.perf_counter() - start)
            elif response.status_code == 503:
                await asyncio.sleep(min(float(response.headers["retry-after"]), max(0.0, until - time.perf_counter())))


async def load(url: str, data: bytes, n_clients: int, seconds: float) -> tuple[Results, float]:
    results, start = Results(), time.perf_counter()
    await asyncio.gather(*(client(url, data, start + seconds, results) for _ in range(n_clients)))
    return results, time.perf_counter() - start


def start_server(model_file: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SERVE, str(model_file), str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while True:
        assert process.poll() is None, "the server ended"
        try:
            if httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200:
                return process
        except httpx.TransportError:
            time.sleep(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 480), help="width and height of the photo")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--alone", type=float, default=15, help="seconds of the single client")
    options = parser.parse_args()

    from cfmgml.demo import models as demo

    photos = demo.load_photos()
    data = photo_file(photos["coffee"], options.size)
    with TemporaryDirectory() as folder:
        model_file = Path(folder) / "photos.cfmgml"
        demo.train_photos(photos, features="rich").save(model_file)
        port = free_port()
        process = start_server(model_file, port)
        try:
            url = f"http://127.0.0.1:{port}/api/v1/models/model/image"
            asyncio.run(load(url, data, 2, 5))  # so that what is allocated once is
            alone, alone_wall = asyncio.run(load(url, data, 1, options.alone))
            memory = [resident_mib(process.pid)]
            half, half_wall = asyncio.run(load(url, data, options.clients, options.seconds / 2))
            memory.append(resident_mib(process.pid))
            rest, rest_wall = asyncio.run(load(url, data, options.clients, options.seconds / 2))
            memory.append(resident_mib(process.pid))
            healthy = httpx.get(f"http://127.0.0.1:{port}/healthz").json()
        finally:
            process.send_signal(2)
            process.wait(30)
    half.statuses.update(rest.statuses)
    half.seconds += rest.seconds
    width, height = options.size
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end, {width} x {height} pixels, {healthy}\n")
    print("| clients | answers | median s | 95 % s | answered a second |\n|---|---|---|---|---|")
    print(alone.line("1", alone_wall))
    print(half.line(str(options.clients), half_wall + rest_wall))
    print("\nmemory of server and workers, MiB: " + ", ".join(f"{value:.0f}" for value in memory))
    return int(bool(set(half.statuses) - {"200", "503"} or set(alone.statuses) - {"200"}))


if __name__ == "__main__":
    sys.exit(main())

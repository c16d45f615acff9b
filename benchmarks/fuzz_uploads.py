"""Send mutated images to a running server: it must answer each with 200 or 4xx, in time, and stay alive.

    python benchmarks/fuzz_uploads.py --n 1000

Without ``--url`` it starts a server of its own on this machine, with the photo model of the demo. The seed decides
every byte. Prints how many answers there were of each status, and fails on a 5xx, a lost connection, a hang, a
worker that had to be replaced, or one that had more than 2 GB of memory.
"""

import argparse
import io
import os
import struct
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np

MOST_MIB = 2e9 / 2**20
Rng = np.random.Generator
KINDS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
FOREIGN = (
    b"",
    b"just a text",
    b"PK\x03\x04" + bytes(200),
    b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>",
    b"<!doctype html><title>x</title>",
    b"II*\x00\x08\x00\x00\x00" + bytes(64),
    b"\x00\x00\x00 ftypheic" + bytes(64),
    b"\x7fELF" + bytes(64),
)


def photo(rng: Rng) -> np.ndarray:
    """A small picture with a few areas, different for every draw."""
    height, width = rng.integers(20, 120, 2)
    coarse = rng.integers(0, 256, (3, 3, 3), dtype=np.uint8)
    pixels = coarse.repeat(-(-height // 3), 0).repeat(-(-width // 3), 1)[:height, :width]
    return np.clip(pixels + rng.normal(0, 12, pixels.shape), 0, 255).astype(np.uint8)


def file_of(rng: Rng, kind: str | None = None) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(photo(rng)).save(stream, kind or str(rng.choice(KINDS)))
    return stream.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, colour: int, packed: bytes, before: bytes = b"") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = chunk(b"IHDR", head) + before + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# -- mutations -------------------------------------------------------------------------------


def untouched(rng: Rng) -> bytes:
    return file_of(rng)


def truncated(rng: Rng) -> bytes:
    data = file_of(rng)
    return data[: int(rng.integers(0, len(data)))]


def flipped(rng: Rng) -> bytes:
    data = bytearray(file_of(rng))
    for place in rng.integers(0, len(data), int(rng.integers(1, 40))):
        data[place] = int(rng.integers(0, 256))
    return bytes(data)


def flipped_header(rng: Rng) -> bytes:
    data = bytearray(file_of(rng))
    for place in rng.integers(0, min(len(data), 64), int(rng.integers(1, 8))):
        data[place] = int(rng.integers(0, 256))
    return bytes(data)


def spliced(rng: Rng) -> bytes:
    first, second = file_of(rng), file_of(rng)
    return first[: int(rng.integers(1, len(first)))] + second[int(rng.integers(0, len(second))) :]


def repeated(rng: Rng) -> bytes:
    data = file_of(rng)
    start, stop = sorted(rng.integers(0, len(data), 2).tolist())
    return data[:stop] + data[start:stop] * int(rng.integers(1, 20)) + data[stop:]


def huge_dimensions(rng: Rng) -> bytes:
    sizes = (1, 7, 3000, 20_000, 65_535, 2**20, 2**31 - 1)
    width, height = (int(size) for size in rng.choice(sizes, 2))
    return png(width, height, int(rng.choice([1, 8, 16])), int(rng.choice([0, 2, 3, 6])), zlib.compress(bytes(1000)))


def huge_jpeg(rng: Rng) -> bytes:
    """The frame's height and width overwritten."""
    data = bytearray(file_of(rng, "JPEG"))
    place = data.find(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">HH", *(int(n) for n in rng.integers(1, 65_535, 2)))
    return bytes(data)


def pixel_bomb(rng: Rng) -> bytes:
    """Few bytes that unpack to many pixels, some inside the limit and some beyond."""
    side = int(rng.choice([2000, 4000, 4800, 9000]))
    return png(side, side, 1, 0, zlib.compress(bytes(side * (side // 8 + 1)), 9))


def too_much_data(rng: Rng) -> bytes:
    """More data in the stream than the pixels need."""
    return png(20, 20, 8, 0, zlib.compress(bytes(int(rng.integers(2**20, 2**25))), 9))


def text_bomb(rng: Rng) -> bytes:
    packed = zlib.compress(bytes(int(rng.integers(2**18, 2**25))), 9)
    kind, start = (b"zTXt", b"k\0\0") if rng.random() < 0.5 else (b"iCCP", b"icc\0\0")
    return png(20, 20, 8, 0, zlib.compress(bytes(20 * 21)), chunk(kind, start + packed))


def many_frames(rng: Rng) -> bytes:
    from PIL import Image

    frames = [Image.fromarray(photo(rng)).resize((24, 24)) for _ in range(int(rng.integers(2, 30)))]
    stream = io.BytesIO()
    frames[0].save(stream, str(rng.choice(["GIF", "PNG", "WEBP"])), save_all=True, append_images=frames[1:])
    return stream.getvalue()


def odd_depth(rng: Rng) -> bytes:
    """Valid and invalid pairs of depth and colour type."""
    width, height = (int(n) for n in rng.integers(1, 60, 2))
    data = rng.integers(0, 256, 8 * (width + 1) * height, dtype=np.uint8)
    data[:: max(1, width)] = 0
    depth, colour = int(rng.choice([1, 2, 4, 8, 16, 17])), int(rng.integers(0, 7))
    return png(width, height, depth, colour, zlib.compress(data.tobytes()))


def tiny(rng: Rng) -> bytes:
    width, height = (int(n) for n in rng.integers(1, 5, 2))
    return png(width, height, 8, 0, zlib.compress(bytes((width + 1) * height)))


def foreign(rng: Rng) -> bytes:
    return FOREIGN[int(rng.integers(len(FOREIGN)))]


def noise(rng: Rng) -> bytes:
    start = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\x20\0\0\0WEBPVP8 ", b"BM"]
    return start[int(rng.integers(len(start)))] + rng.bytes(int(rng.integers(0, 5000)))


MUTATIONS: tuple[Callable[[Rng], bytes], ...] = (
    untouched, truncated, flipped, flipped_header, spliced, repeated, huge_dimensions, huge_jpeg, pixel_bomb,
    too_much_data, text_bomb, many_frames, odd_depth, tiny, foreign, noise,
)  # fmt: skip


def mutants(n: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """So many uploads, each with the name of what was done to it; all mutations take turns."""
    for number in range(n):
        mutate = MUTATIONS[number % len(MUTATIONS)]
        yield mutate.__name__, mutate(np.random.default_rng([seed, number]))


def attack(url: str, n: int, seed: int = 0, seconds: float = 60.0) -> Counter[tuple[str, int]]:
    """Send them all; how many answers of each status each mutation got. A lost connection or a hang raises."""
    seen: Counter[tuple[str, int]] = Counter()
    headers = {"Content-Type": "application/octet-stream"}
    with httpx.Client(timeout=seconds) as client:
        for name, data in mutants(n, seed):
            response = client.post(url, content=data, headers=headers)
            seen[name, response.status_code] += 1
            if response.status_code != 200:
                assert response.json()["reason"], (name, response.text)
    return seen


def report(seen: Counter[tuple[str, int]]) -> str:
    statuses = sorted({status for _, status in seen})
    lines = ["| mutation | " + " | ".join(map(str, statuses)) + " |", "|---|" + "---|" * len(statuses)]
    for mutate in MUTATIONS:
        counts = " | ".join(str(seen[mutate.__name__, status]) for status in statuses)
        lines.append(f"| {mutate.__name__} | {counts} |")
    return "\n".join(lines)


def start_server() -> str:
    import uvicorn

    from cfmgml.web import create_app, demo

    app = create_app(demo.train_photos(demo.load_photos(), n_crops=4, features="rich"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


def most_memory() -> float:
    """The most that this process, which holds the server, or one of its workers has ever had, in MiB."""
    from load_web import family

    lines = [line for pid in family(os.getpid()) for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return max(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--url", help="of a running server, such as http://127.0.0.1:8000")
    options = parser.parse_args()
    base = options.url or start_server()
    model = httpx.get(f"{base}/api/v1/models").json()["models"][0]["name"]
    start = time.perf_counter()
    seen = attack(f"{base}/api/v1/models/{model}/image", options.n, options.seed)
    print(report(seen))
    totals = Counter({status: 0 for _, status in seen})
    for (_, status), count in seen.items():
        totals[status] += count
    health = httpx.get(f"{base}/healthz").json()
    replaced = [line for line in httpx.get(f"{base}/metrics").text.splitlines() if "workers_replaced " in line][-1]
    seconds = time.perf_counter() - start
    print(f"\n{options.n} uploads in {seconds:.0f} s: {dict(sorted(totals.items()))}; {health}; {replaced}")
    failed = any(status >= 500 for status in totals) or not replaced.endswith(" 0")
    if not options.url:
        most = most_memory()
        print(f"most memory of any process: {most:.0f} MiB")
        failed |= most > MOST_MIB
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

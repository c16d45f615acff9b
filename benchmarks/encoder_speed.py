"""Photos a second of the deep encoder on a card, and where the time goes.

    PYTHONPATH=src python benchmarks/encoder_speed.py --device cuda

EfficientNet-Lite0 with its weights; photos of random bytes, 320 x 240, which the encoder enlarges to 640 x 480 (as in
every bag). Wall time from arrays of pixels to arrays of maps in memory, in calls of 512 photos and of 16 (as a build
makes them), in the median over `--rounds` after one that is not counted. Then the parts one after the other: scaling by
Pillow (in one thread, and in those that the encoder has), the network (on a card also with channels last and with
tf32), and the way back. Last, how far maps on the device are from those of the CPU, in units of a map's largest value.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch

from cfmgml.builders.pictures.encoders.efficientnet_lite0 import efficientnet_lite0
from cfmgml.builders.pictures.encoders.torch_encoder import MOST_THREADS

SIZE = (240, 320)


def seconds(work, rounds, place):
    """Of one call, in the median, after one that warms up."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        work()
        if place.type == "cuda":
            torch.cuda.synchronize(place)
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def told(name, n, spent):
    print(f"{name:<52} {n / spent:9.0f} photos/s {1e3 * spent / n:8.3f} ms a photo", flush=True)


@torch.inference_mode()
def parts(encoder, photos, place, rounds):
    n = len(photos)
    height, width = encoder._size(photos[0])
    rows = np.empty((n, height, width, 3), dtype=np.uint8)
    n_threads = min(MOST_THREADS, os.cpu_count() or 1)
    for threads in (1, n_threads):
        with ThreadPoolExecutor(threads) as pool:
            told(
                f"scaling, {threads} threads",
                n,
                seconds(lambda: list(pool.map(encoder._scale_into, photos, rows)), rounds, place),
            )
    module = encoder._module_on(place)
    for layout in ("contiguous_format", "channels_last"):
        for tf32 in (False, True):
            for batch in (8, 16, 32, 64) if place.type == "cuda" else (1,):
                given = torch.randn((batch, 3, height, width), device=place)
                given = given.contiguous(memory_format=getattr(torch, layout))
                with torch.backends.cudnn.flags(deterministic=True, allow_tf32=tf32):
                    spent = seconds(partial(module, given), rounds, place)
                told(f"network, {layout}, tf32 {tf32}, {batch} together", batch, spent)
            if place.type == "cpu":
                return
    maps = [one.permute(0, 2, 3, 1).contiguous() for one in module(torch.randn((32, 3, height, width), device=place))]
    host = [torch.empty(one.shape, pin_memory=True) for one in maps]
    pairs = list(zip(host, maps, strict=True))
    told(
        "back into pinned memory", 32, seconds(lambda: [a.copy_(b, non_blocking=True) for a, b in pairs], rounds, place)
    )
    told("back into ordinary memory", 32, seconds(lambda: [one.cpu() for one in maps], rounds, place))
    for threads in (1, n_threads):
        with ThreadPoolExecutor(threads) as pool:
            spent = seconds(
                lambda: list(pool.map(lambda k: [one[k].numpy().copy() for one in host], range(32))), rounds, place
            )
            told(f"out of pinned memory, {threads} threads", 32, spent)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--photos", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    encoder, place = efficientnet_lite0(), torch.device(asked.device.removeprefix("torch:"))
    card = torch.cuda.get_device_name(place) if place.type == "cuda" else "no card"
    print(f"torch {torch.__version__}, {card}, {os.cpu_count()} cores, encoder {encoder.digest[:16]}")
    rng = np.random.default_rng(0)
    photos = list(rng.integers(0, 256, (asked.photos, *SIZE, 3), dtype=np.uint8))
    n = len(photos)

    def in_calls_of(size):
        for k in range(0, n, size):
            encoder.maps(photos[k : k + size], asked.device)

    for size in sorted({n, min(16, n)}, reverse=True):
        told(f"from pixels to maps, in calls of {size}", n, seconds(partial(in_calls_of, size), asked.rounds, place))
    parts(encoder, photos[:128], place, asked.rounds)
    few = photos[:8]
    apart = [
        [float(np.abs(one - other).max() / np.abs(other).max()) for one, other in zip(own, expected, strict=True)]
        for own, expected in zip(encoder.maps(few, asked.device), encoder.maps(few), strict=True)
    ]
    print("apart from the CPU:", dict(zip(encoder.widths, np.max(apart, axis=0).tolist(), strict=True)))


if __name__ == "__main__":
    main()

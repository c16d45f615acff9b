"""Peak memory of ``cfmgml build --store`` as the number of bags grows.

    python benchmarks/build_stores.py [--texts 5000 10000 20000] [--pictures 500 1000 2000] [--work DIR]
    python benchmarks/build_stores.py --texts 12500 125000 --pictures      # 100,000 and 1,000,000 sentences

Makes texts (8 sentences of 12 words, drawn by Zipf's law from 50,000) and pictures (240 x 160 pixels, patches of colour
and noise) with labels, builds a store of each size by the command, in a process of its own, and prints a table with a
line for each. Memory is the largest sum of the resident memory of the command and its worker processes, looked at every
50 ms; what a page shared by several is counted for each. CPU seconds are those of all processes together; on a machine
that has nothing else to do, a second of the clock has as many of them as it has cores, or nearly.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from PIL import Image

from cfmgml.stores import BagStore

N_WORDS, SENTENCES, WORDS = 50_000, 8, 12
SIZE, PATCH = (160, 240), 40
LABELS = ["first", "second", "third", "fourth"]


def make_texts(n_texts: int, file: Path) -> None:
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(row) for row in rng.choice(letters, size=(N_WORDS, 7))])
    chances = 1 / np.arange(1, N_WORDS + 1)
    chances /= chances.sum()
    with open(file, "w") as stream:
        for start in range(0, n_texts, 1000):  # at a time: each draw adds up all chances
            size = min(1000, n_texts - start)
            drawn = rng.choice(words, size=(size, SENTENCES, WORDS), p=chances)
            for number, sentences in enumerate(drawn, start):
                text = " ".join(f"{' '.join(row).capitalize()}." for row in sentences)
                labels = [name for name in LABELS if rng.random() < 0.4]
                stream.write(json.dumps({"id": f"text {number}", "text": text, "labels": labels}) + "\n")


def make_pictures(n_pictures: int, folder: Path) -> None:
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    lines = ["image,labels"]
    for number in range(n_pictures):
        colours = rng.integers(0, 255, size=(SIZE[0] // PATCH, SIZE[1] // PATCH, 3))
        pixels = np.kron(colours, np.ones((PATCH, PATCH, 1))) + rng.normal(0, 12, (*SIZE, 1))
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / f"p{number:05}.png")
        lines.append(f"p{number:05}.png,{';'.join(name for name in LABELS if rng.random() < 0.4)}")
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")


def measure(*arguments: str) -> tuple[float, float, float]:
    """Seconds by the clock, CPU seconds, and the peak of memory in MiB, of a command and its workers."""
    start, began, peak = cpu_seconds(), time.perf_counter(), 0
    with subprocess.Popen([sys.executable, "-m", "cfmgml.cli", *arguments], stderr=subprocess.DEVNULL) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, resident(watched))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"cfmgml {' '.join(arguments)} failed.")
    return time.perf_counter() - began, cpu_seconds() - start, peak / 2**20


def cpu_seconds() -> float:
    """Of all that this process has waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def resident(watched: psutil.Process) -> int:
    total = 0
    for one in [watched, *watched.children(recursive=True)]:
        try:
            total += one.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def show(what: str, store: Path, wall: float, cpu: float, peak: float) -> None:
    made = BagStore(store)
    counts = f"{made.n_bags:,} | {made.n_graphs:,} | {made.n_partitions} | {made.n_bytes / 2**20:.0f}"
    rates = f"{wall:.0f} | {made.n_graphs / wall:,.0f} | {cpu:.0f} | {made.n_graphs / cpu:,.0f}"
    print(f"| {what} | {counts} | {rates} | {peak:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, nargs="*", default=[5_000, 10_000, 20_000])
    parser.add_argument("--pictures", type=int, nargs="*", default=[500, 1_000, 2_000])
    parser.add_argument("--work", type=Path, help="folder for what is made (default: a temporary one)")
    options = parser.parse_args()
    print("| input | bags | graphs | partitions | MiB on disk | s | graphs a s | CPU s | graphs a CPU s | peak MiB |")
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory(dir=options.work) as name:
        work = Path(name)
        for n_texts in options.texts:
            make_texts(n_texts, work / f"{n_texts}.jsonl")
            store = work / f"texts-{n_texts}"
            show("texts", store, *measure("build", "text", str(work / f"{n_texts}.jsonl"), "--store", str(store)))
        for n_pictures in options.pictures:
            folder, store = work / f"{n_pictures}", work / f"pictures-{n_pictures}"
            make_pictures(n_pictures, folder)
            given = ("--labels", str(folder / "labels.csv"), "--store", str(store))
            show("pictures", store, *measure("build", "images", str(folder), *given))


if __name__ == "__main__":
    main()

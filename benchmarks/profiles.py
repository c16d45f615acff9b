"""Where does our time go, and how far is it from what the machine could do?

    python benchmarks/profiles.py [QUESTION ...] [--out docs/results/bench]

For each question of the suite, one run of our contender at its largest size that others reach, under the profiler, one
thread: the functions that took most of the time themselves. Beside it stands the physical limit, from the operations or
bytes that the question cannot do without and from speeds measured in this very run: products of large matrices, and
memory copied. With questions named, the lines of the others stay as they were.
"""

import argparse
import cProfile
import os
import platform
import pstats
import time
from pathlib import Path

import numpy as np

from suite import ONE_THREAD, load, names

TOP = 5


def best_rate(work, amount, passes=5):
    """Amount a second, in the quickest of several passes."""
    seconds = []
    for _ in range(passes):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return amount / min(seconds)


def limits():
    """Products in float32 and float64, in operations a second, and bytes a second copied."""
    rates = {}
    for name, dtype in (("sgemm", np.float32), ("dgemm", np.float64)):
        a, b = np.random.default_rng(0).random((2, 2048, 2048)).astype(dtype)
        rates[name] = best_rate(lambda a=a, b=b: a @ b, 2 * 2048**3)
    source, target = np.ones(2**27, dtype=np.uint8), np.empty(2**27, dtype=np.uint8)
    rates["copy"] = best_rate(lambda: np.copyto(target, source), 2 * 2**27)
    return rates


def pairs(given):
    n = len(given.labels)
    return n * (n + 1) / 2


def gram_bytes(given):
    return 8 * given.n_graphs**2


# What a question cannot do without: (contender, size, what it is, which limit, how much of it).
NEEDS = {
    "wl": ("cfmgml", 8000, "writing the matrix", "copy", gram_bytes),
    "wl_many_labels": ("cfmgml", 8000, "writing the matrix", "copy", gram_bytes),
    "wl_features": ("cfmgml", 32000, "reading labels and edges for each refinement", "copy",
                    lambda made: 6 * (8 * len(made.labels) + 2 * made.edges.nbytes)),
    "hopper_linear": ("cfmgml", 1000, "reading attributes", "copy", lambda made: made.attributes.nbytes),
    "hopper_features": ("cfmgml", 16000, "reading attributes", "copy", lambda made: made.attributes.nbytes),
    "hopper_rbf": ("cfmgml float32", 2000, "all products of nodes, half of the pairs, as if dense", "sgemm",
                   lambda made: 2 * pairs(made) * made.attributes.shape[1]),
    "gemm_share": ("GraphHopper float32", 2000, "all products of nodes, half of the pairs", "sgemm",
                   lambda made: 2 * pairs(made) * made.attributes.shape[1]),
    "hopper_approximate": ("cfmgml Nystrom", 2000, "products of nodes with landmarks", "sgemm",
                           lambda made: 2 * len(made.labels) * 256 * made.attributes.shape[1]),
    "node_sum": ("cfmgml float32", 1000, "all products of nodes, half of the pairs, as if dense", "sgemm",
                 lambda made: 2 * pairs(made) * made.attributes.shape[1]),
    "path_counts": ("cfmgml", 1000, "reading edges", "copy", lambda made: made.edges.nbytes),
    "train": ("cccp", 600, "the eigenvectors of the Gram matrix", "dgemm",
              lambda given: 9 * given[0].n_graphs**3),
    "train_explicit": ("cfmgml cccp", 8000, None, None, None),
    "transform": ("cfmgml GraphHopper", 1000, "all products of nodes", "dgemm",
                  lambda sides: 2 * len(sides[0].labels) * len(sides[1].labels) * sides[0].attributes.shape[1]),
    "predict": ("node sum", 10000, None, None, None),
    "build": ("pictures", 80, None, None, None),
    "startup": ("load a model", 400, None, None, None),
}  # fmt: skip


def profile(name):
    """Seconds, the functions that took most, and what was given."""
    contender, size, *_ = NEEDS[name]
    question = load(name)
    how = question.contenders[contender]
    how.run(how.prepare(question.warm_up))
    given, took = how.prepare(size), []
    while len(took) < 3 and sum(took) < 5:  # the first run may wait for memory that a virtual machine lends
        start = time.process_time()
        how.run(given)
        took.append(time.process_time() - start)
    profiler = cProfile.Profile()
    profiler.runcall(how.run, given)
    found = pstats.Stats(profiler).stats
    own = sorted(((spent[2], where) for where, spent in found.items()), reverse=True)
    return min(took), sum(spent for spent, _ in own), own[:TOP], given


def where_text(where):
    file, _, function = where
    return function if file == "~" else f"{Path(file).stem}.{function}"


def section(name, rates):
    contender, size, need, limit, amount = NEEDS[name]
    seconds, total, top, given = profile(name)
    shares = ", ".join(f"`{where_text(where)}` {spent / total:.0%}" for spent, where in top)
    bound = "none that is simple"
    if need:
        least = amount(given) / rates[limit]
        bound = f"{need}, {limit}: {least:.3g} s, {least / seconds:.0%} of the time"
    return f"| {name} | {contender}, {size:,} | {seconds:.3g} | {shares} | {bound} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help="(default: all)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "results" / "bench")
    options = parser.parse_args()
    unknown = set(options.questions) - set(names())
    if unknown:
        parser.error(f"no such question: {sorted(unknown)}; there are {names()}")
    rates = limits()
    lines = [
        "# Where the time goes",
        "",
        f"Made by `python benchmarks/profiles.py`; {platform.machine()}, one thread, load {os.getloadavg()[0]:.1f} "
        f"at the start. Limits of this machine in this run: sgemm {rates['sgemm'] / 1e9:.0f} GFLOP/s, dgemm "
        f"{rates['dgemm'] / 1e9:.0f} GFLOP/s, memory copied at {rates['copy'] / 1e9:.1f} GB/s (read and written).",
        "Seconds are CPU seconds without the profiler; shares are those of functions themselves, under it. Lines may "
        "be of several runs on the same machine: limits are those of the last.",
        "",
        "| question | contender, size | s | most of it in | physical limit |",
        "|---|---|---:|---|---|",
    ]
    page = options.out / "profiles.md"
    there = page.read_text().splitlines() if options.questions and page.exists() else []
    for name in names():
        before = [line for line in there if line.startswith(f"| {name} |")]
        if options.questions and name not in options.questions:
            lines += before
            continue
        lines.append(section(name, rates))
        print(lines[-1], flush=True)
    page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if any(os.environ.get(key) != value for key, value in ONE_THREAD.items()):
        import sys

        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    main()

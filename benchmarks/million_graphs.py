"""Training over a store of up to a million graphs on two cores: time, memory over all processes, and quality.

    python benchmarks/million_graphs.py --data ../shared/data --work DIR --sizes 50000 200000 1000000

Sentences are resampled from the real ones of Hallmarks of Cancer: a new abstract takes the shape of a real one, each of
its sentences is drawn from all real sentences with the same labels, and each keyword is left out with a chance of 10 %.
So bags and graphs are new and their labels are true. A fifth of the real abstracts is held out first and never
resampled; quality is measured on these. Prints Markdown rows to stdout, and what it is doing to stderr.

Each size is built and trained in processes of its own. Memory is the sum of the resident memory of all of them while
they train, or predict graphs, sampled ten times a second. ``--compare N`` also trains on the first size of at least N
in memory, with the same kernel and with the exact dictionary.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from cfmgml import BagDataset, CfMGML, GraphBatch, WeisfeilerLehman
from cfmgml.common.segments import offsets, segment_ids, take_segments
from cfmgml.datasets import load_hallmarks
from cfmgml.kernels import HashedWL
from cfmgml.metrics import bag_report, graph_report
from cfmgml.scale import fit_store
from cfmgml.scale.prediction import StorePredictions
from cfmgml.stores import BagStore

HELD_OUT = 0.2
CHUNK = 10_000  # graphs resampled at a time: one partition
DROP = 0.1


def real_bags(folder):
    """Abstracts to resample, and abstracts to measure on."""
    bags = load_hallmarks(folder)
    order = np.random.default_rng(0).permutation(bags.n_bags)
    n_test = int(HELD_OUT * bags.n_bags)
    return bags[np.sort(order[n_test:])], bags[np.sort(order[:n_test])]


def resample(real, n_graphs, rng):
    """About ``n_graphs`` new graphs in new bags."""
    n_bags = max(1, round(n_graphs * real.n_bags / real.n_graphs))
    like, bag_ptr = take_segments(real.bag_ptr, rng.integers(real.n_bags, size=n_bags))
    _, kind = np.unique(real.graph_Y, axis=0, return_inverse=True)
    by_kind, first = np.argsort(kind, kind="stable"), offsets(np.bincount(kind))
    start, stop = first[kind[like]], first[kind[like] + 1]
    drawn = by_kind[start + (rng.random(len(like)) * (stop - start)).astype(np.int64)]
    graph_Y = real.graph_Y[drawn]
    Y = np.logical_or.reduceat(graph_Y, bag_ptr[:-1])
    graphs = drop_nodes(real.graphs[drawn], rng)
    return BagDataset(graphs, bag_ptr, Y, graph_Y, label_names=real.label_names, info=real.info)


def drop_nodes(graphs, rng):
    """Each node is left out with a chance of ``DROP``; a graph that would lose all keeps its first."""
    keep = rng.random(graphs.n_nodes) >= DROP
    keep[graphs.node_ptr[:-1]] |= ~np.logical_or.reduceat(keep, graphs.node_ptr[:-1])
    edge = keep[graphs.edges].all(axis=0)
    return GraphBatch(
        offsets(np.add.reduceat(keep.astype(np.int64), graphs.node_ptr[:-1])),
        offsets(np.bincount(segment_ids(graphs.edge_ptr)[edge], minlength=graphs.n_graphs)),
        (np.cumsum(keep) - 1)[graphs.edges[:, edge]],
        node_labels=graphs.node_labels[keep],
    )


def build(args, size):
    real, _ = real_bags(args.data)
    done = 0
    for number in range(-(-size // CHUNK)):
        bags = resample(real, min(CHUNK, size - done), np.random.default_rng([1, number]))
        bags.to_store(folder_of(args, size), graphs_per_partition=10**9, append=True)
        done += bags.n_graphs
    return {"graphs": done}


def folder_of(args, size):
    return Path(args.work) / f"sentences-{size}"


def model_of(args, kernel):
    return CfMGML(kernel, alpha=args.alpha, n_jobs=args.n_jobs, verbose=True)


def train(args, size):
    store = BagStore(folder_of(args, size))
    start = time.perf_counter()
    model = fit_store(
        model_of(args, HashedWL(args.n_iter, tfidf=True, n_bits=args.n_bits)),
        store,
        engine=args.engine,
        memory=int(args.memory * 2**20),
        cache=folder_of(args, size) / "cache",
        cheap_start=not args.from_zero,
    )
    seconds = time.perf_counter() - start
    model.save(Path(args.work) / f"sentences-{size}.model")
    return {"seconds": seconds, "steps": model.n_iter_, "objective": float(model.objective_[-1])}


def measure(args, size):
    model = CfMGML.load(Path(args.work) / f"sentences-{size}.model")
    return quality(model, real_bags(args.data)[1])


def predict(args, size):
    """A table of all graphs, as ``cfmgml predict`` writes it."""
    model, store = CfMGML.load(Path(args.work) / f"sentences-{size}.model"), BagStore(folder_of(args, size))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=args.work) as out:
        rows = StorePredictions(model, store, "graph", args.engine, args.n_jobs).write(Path(out) / "graphs.parquet")
    return {"seconds": time.perf_counter() - start, "rows": rows}


def quality(model, test):
    graphs = graph_report(test.graph_Y, model.decision_function_graphs(test))
    return {
        "precision": bag_report(test.Y, model.decision_function(test))["average_precision"],
        "graph_precision": graphs["average_precision"],
        "accuracy": graphs["accuracy"],
    }


def compare(args, size):
    """The same bags in memory: the same kernel, and the exact dictionary."""
    bags, test = BagStore(folder_of(args, size)).load(), real_bags(args.data)[1]
    found = {}
    for name, kernel in (
        ("in memory", HashedWL(args.n_iter, tfidf=True, n_bits=args.n_bits)),
        ("in memory, exact dictionary", WeisfeilerLehman(args.n_iter, tfidf=True)),
    ):
        start = time.perf_counter()
        model = model_of(args, kernel).fit(bags)
        found[name] = {"seconds": time.perf_counter() - start, "steps": model.n_iter_, **quality(model, test)}
    return found


STEPS = {
    "build": build,
    "train": train,
    "measure": measure,
    "predict": predict,
    "compare": compare,
}


def run(args, step, size):
    """One step in a process of its own; its result, its wall time, and the peak of its and its children's memory."""
    command = [sys.executable, __file__, *sys.argv[1:], "--step", step, "--size", str(size)]
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        peak = max(peak, resident(watched))
        time.sleep(0.1)
    out, _ = process.communicate()
    if process.returncode:
        sys.exit(f"{step} failed for {size} graphs")
    return {**json.loads(out.splitlines()[-1]), "wall": time.perf_counter() - start, "peak": peak / 2**30}


def resident(process):
    """Bytes in memory of a process and all its children; what they share is counted for each."""
    total = 0
    try:
        for one in (process, *process.children(recursive=True)):
            total += one.memory_info().rss
    except psutil.Error:  # one has just ended
        pass
    return total


def table(args):
    print("| graphs | training | wall s | steps | peak GiB | bags: avg. precision | graphs: avg. precision | top-1 |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for size in args.sizes:
        if not folder_of(args, size).exists():
            print(f"building {size:,} graphs", file=sys.stderr)
            run(args, "build", size)
        found = {**run(args, "train", size), **run_quality(args, size)}
        rows.append(found)
        show(found["graphs"], f"store, {args.engine}", found)
        if args.compare and size == min(s for s in args.sizes if s >= args.compare):
            for name, other in run(args, "compare", size).items():
                if isinstance(other, dict):
                    show(found["graphs"], name, other)
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        exponent = np.log(last["seconds"] / first["seconds"]) / np.log(last["graphs"] / first["graphs"])
        peaks = ", ".join(f"{row['peak']:.2f}" for row in rows)
        print(f"\nWall time grows with exponent {exponent:.2f}; peak memory over all processes (GiB): {peaks}.")
    print("\n| graphs predicted | wall s | peak GiB |\n|---|---|---|")
    for size in args.sizes:
        found = run(args, "predict", size)
        print(f"| {found['rows']:,} | {found['seconds']:.0f} | {found['peak']:.2f} |", flush=True)


def run_quality(args, size):
    found = run(args, "measure", size)
    return {**{name: found[name] for name in ("precision", "graph_precision", "accuracy")}, "graphs": size}


def show(graphs, name, row):
    peak = f"{row['peak']:.2f}" if "peak" in row else ""
    print(
        f"| {graphs:,} | {name} | {row['seconds']:.0f} | {row['steps']} | {peak} | {row['precision']:.4f} | "
        f"{row['graph_precision']:.4f} | {row['accuracy']:.4f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder that holds hoc_sentences")
    parser.add_argument("--work", required=True, help="folder for stores, features and models")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 200_000, 1_000_000])
    parser.add_argument(
        "--compare", type=int, default=0, help="also train in memory at the first size of at least this"
    )
    parser.add_argument("--engine", default="joblib", help="inline, joblib or dask")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--alpha", type=float, default=1e-3)
    parser.add_argument("--n-iter", type=int, default=1, help="refinements of Weisfeiler-Lehman")
    parser.add_argument("--n-bits", type=int, default=16)
    parser.add_argument("--memory", type=float, default=0, help="MiB of features in memory; the rest is on disk")
    parser.add_argument("--from-zero", action="store_true", help="no first pass of mini-batches")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    Path(args.work).mkdir(parents=True, exist_ok=True)
    if args.step:
        print(json.dumps(STEPS[args.step](args, args.size)))
    else:
        table(args)


if __name__ == "__main__":
    main()

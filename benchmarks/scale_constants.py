"""What the cost model of docs/scale.md is made of: CPU time of one core, and bytes, a graph of a store.

    python benchmarks/scale_constants.py STORE

STORE is one that benchmarks/million_graphs.py has built, or any other with labelled nodes. Prints a Markdown table.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from cfmgml import CfMGML
from cfmgml.kernels import HashedWL
from cfmgml.learning.solvers.lbfgs import MEMORY, State, descend
from cfmgml.learning.training import Training
from cfmgml.scale.engines import Inline
from cfmgml.scale.maps import resolve_on_sample
from cfmgml.scale.partitions import Job, features_key, partition, release
from cfmgml.scale.problem import StoreProblem, cut_blocks, describe_block
from cfmgml.stores import BagStore

ALPHA = 1e-3


def constants(store, kernel):
    """For the whole store; a pass is the median of five."""
    found = {"store, bytes": store.n_bytes, "reading, s": cpu_seconds(lambda: [part.n_bags for part in store])}
    loss, key = Training.of(CfMGML(kernel)).loss_of_no_bags(store.n_labels), features_key(store, kernel)
    with tempfile.TemporaryDirectory() as cache:
        for where, memory in (("memory", 2**40), ("disk", 0)):
            job = Job(store, kernel, loss, True, Path(cache), memory, key)
            problem, seconds = make_problem(job)
            if memory:
                found |= {"reading and making features, s": seconds, **features_of(job)}
            found[f"a pass from {where}, s"] = median_pass(problem)
            release(key, Path(cache), remove=memory > 0)
    return found, lbfgs_step(problem.start().size)


def make_problem(job):
    blocks, start = cut_blocks(job.store.n_partitions), time.process_time()
    squares, _ = Inline().map_sum(describe_block, blocks, job)
    return StoreProblem(job, Inline(), blocks, ALPHA, squares), time.process_time() - start


def features_of(job):
    parts = [partition(job, number).problem.rows for number in range(job.store.n_partitions)]
    q = 8 * job.n_labels * (job.store.n_graphs + job.store.n_bags)
    size = sum(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes for rows in parts)
    return {"features, nonzero": sum(rows.nnz for rows in parts), "features, bytes": size, "Q, bytes": q}


def median_pass(problem):
    theta = np.random.default_rng(0).normal(0, 0.01, problem.start().size)
    bound = problem.bound(theta)
    bound.value_and_gradient(theta)  # makes Q
    return float(np.median([cpu_seconds(lambda: bound.value_and_gradient(theta)) for _ in range(5)]))


def lbfgs_step(size, n_steps=20):
    """With its memory full, on a function that costs nearly nothing itself."""
    curvature = np.linspace(1, 1e4, size)

    def function(x):
        return float(x @ (curvature * x)) / 2, curvature * x

    states = descend(function, State.start(function, np.ones(size)))
    for _ in range(MEMORY):
        next(states)
    return cpu_seconds(lambda: [next(states).value for _ in range(n_steps)]) / n_steps


def cpu_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--n-iter", type=int, default=1, help="refinements of Weisfeiler-Lehman")
    parser.add_argument("--n-bits", type=int, default=16)
    args = parser.parse_args()
    store = BagStore(args.store)
    kernel = resolve_on_sample(HashedWL(args.n_iter, tfidf=True, n_bits=args.n_bits), store)
    found, step = constants(store, kernel)
    print(f"| {store!r} | a graph |\n|---|---|")
    for name, value in found.items():
        of_one = value / store.n_graphs
        print(f"| {name[:-3]} | {of_one * 1e6:.2f} µs |" if name.endswith(", s") else f"| {name} | {of_one:.4g} |")
    print(f"| L-BFGS, a step | {step:.3f} s in all |")


if __name__ == "__main__":
    main()

"""How long do images take to become bags, the first time and from the cache?

    python benchmarks/build_images.py --data DIR [--name msrc_v2|voc2012_multi] [--n-jobs N]

Prints one line a measurement: wall seconds, CPU seconds of all processes, and the machine's load before it, since on a
busy machine the wall clock says little. Functions compiled by numba are kept on disk: the first run ever takes 1.4 s of
CPU more in each worker.
"""

import argparse
import os
import resource
import tempfile
from time import perf_counter

from joblib.externals.loky import get_reusable_executor

from cfmgml.datasets import load_msrc_v2, load_voc2012

LOADERS = {"msrc_v2": load_msrc_v2, "voc2012_multi": load_voc2012}


def cpu_seconds() -> float:
    """Of this process and of all it has waited for."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def measure(what: str, name: str, data: str | None, n_jobs: int | None, cache: str) -> None:
    load, wall, cpu = os.getloadavg()[0], perf_counter(), cpu_seconds()
    bags = LOADERS[name](data, n_jobs=n_jobs, verbose=False, cache_dir=cache)
    wall = perf_counter() - wall
    if what == "built":
        get_reusable_executor().shutdown(wait=True)  # the workers' CPU seconds count once they have ended
    cpu = cpu_seconds() - cpu
    nodes = bags.graphs.n_nodes / bags.n_graphs
    print(
        f"{name} {what}: wall {wall:.1f} s, CPU {cpu:.1f} s, load before {load:.1f}, {os.cpu_count()} cores; "
        f"{bags.n_bags} bags, {bags.n_graphs} graphs, {nodes:.1f} nodes a graph"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder that holds the data sets (default: CFMGML_DATA)")
    parser.add_argument("--name", choices=list(LOADERS), default="msrc_v2")
    parser.add_argument("--n-jobs", type=int, help="worker processes (default: one a core)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        for what in ("built", "cached"):
            measure(what, options.name, options.data, options.n_jobs, cache)


if __name__ == "__main__":
    main()

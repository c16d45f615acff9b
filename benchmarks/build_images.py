"""How long do images take to become bags, the first time and from the cache?

    python benchmarks/build_images.py --data DIR [--name msrc_v2|voc2012_multi] [--n-jobs N] [--features rich]
    python benchmarks/build_images.py --photos  # no data needed: one photo without mask, in one process

Prints one line a measurement: wall seconds, CPU seconds of all processes, and the machine's load before it, since on a
busy machine the wall clock says little. Functions compiled by numba are kept on disk: the first run ever takes some
seconds of CPU more in each worker. Of single photos the median of 30 builds counts, after one that is not measured.
"""

import argparse
import os
import resource
import tempfile
from statistics import median
from time import perf_counter

import numpy as np
from PIL import Image
from skimage import data

from cfmgml.datasets import bags_from_images, load_msrc_v2, load_voc2012

LOADERS = {"msrc_v2": load_msrc_v2, "voc2012_multi": load_voc2012}


def cpu_seconds() -> float:
    """Of this process and of all it has waited for."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def measure(what: str, options: argparse.Namespace, cache: str) -> None:
    load, wall, cpu = os.getloadavg()[0], perf_counter(), cpu_seconds()
    how = {"n_jobs": options.n_jobs, "features": options.features, "verbose": False, "cache_dir": cache}
    bags = LOADERS[options.name](options.data, **how)
    wall = perf_counter() - wall
    cpu = cpu_seconds() - cpu
    nodes = bags.graphs.n_nodes / bags.n_graphs
    print(
        f"{options.name} {what}, {options.features}: wall {wall:.1f} s, CPU {cpu:.1f} s, load before {load:.1f}, "
        f"{os.cpu_count()} cores; "
        f"{bags.n_bags} bags, {bags.n_graphs} graphs, {nodes:.1f} nodes a graph"
    )


def measure_photo(width: int, height: int, features: str) -> None:
    """scikit-image's cup of coffee at this size, from pixels in memory to a bag."""
    pixels = np.asarray(Image.fromarray(data.coffee()).resize((width, height)))
    load, walls, cpus = os.getloadavg()[0], [], []
    for _ in range(31):
        wall, cpu = perf_counter(), cpu_seconds()
        bags = bags_from_images([pixels], features=features, n_jobs=1)
        walls.append(perf_counter() - wall)
        cpus.append(cpu_seconds() - cpu)
    print(
        f"photo of {width} x {height} without mask, {features}: wall {median(walls[1:]):.3f} s, "
        f"CPU {median(cpus[1:]):.3f} s, load before {load:.1f}; {bags.n_graphs} graphs, {bags.graphs.n_nodes} nodes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder that holds the data sets (default: CFMGML_DATA)")
    parser.add_argument("--name", choices=list(LOADERS), default="msrc_v2")
    parser.add_argument("--n-jobs", type=int, help="worker processes (default: one a core)")
    parser.add_argument("--features", default="rich", help="what nodes know")
    parser.add_argument("--photos", action="store_true", help="single photos without mask instead of a data set")
    options = parser.parse_args()
    if options.photos:
        for size in ((320, 240), (640, 480)):
            measure_photo(*size, options.features)
        return
    with tempfile.TemporaryDirectory() as cache:
        for what in ("built", "cached"):
            measure(what, options, cache)


if __name__ == "__main__":
    main()

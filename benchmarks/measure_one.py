"""Measure one contender at one size, in a process of its own: one JSON object on the last line of stdout.

    python benchmarks/measure_one.py QUESTION CONTENDER SIZE [FILE for what came out] [GB to touch before]

CPU seconds are those of this process and of all it has waited for; `suite.py` starts this with one thread for linear
algebra. What is given is prepared and everything compiled, by a run at a small size, before the clock starts. Then
another process fills as much memory as is expected to be needed, and ends: a virtual machine's host lends memory when
it is first touched, and takes it back seconds later, which can take longer than the work itself.
"""

import importlib
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

SAMPLED = 500  # rows of a large result that are kept to compare


def usage():
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts), parts[0].ru_maxrss / 1e6


def sampled(result):
    rows = np.asarray(result, dtype=np.float64)
    return rows[:: max(1, len(rows) // SAMPLED)]


def touch_memory(gb):
    """Fill memory and give it back, in a process of its own, so that it does not count as ours."""
    child = os.fork()
    if not child:
        np.ones(int(gb * 1.25e8))
        os._exit(0)
    os.waitpid(child, 0)


def main(question, contender, size, keep=None, gb=0):
    sys.path.insert(0, str(Path(__file__).parent))
    warnings.simplefilter("ignore")  # of other libraries, about each other's versions
    asked = importlib.import_module(f"questions.{question}").QUESTION
    chosen = asked.contenders[contender]
    chosen.run(chosen.prepare(asked.warm_up))
    given = chosen.prepare(int(size))
    touch_memory(float(gb))
    cpu, memory = usage()
    wall = time.perf_counter()
    result = chosen.run(given)
    wall, (cpu_after, peak) = time.perf_counter() - wall, usage()
    if keep is not None and result is not None:
        np.save(keep, sampled(result))
    row = {
        "version": chosen.version,
        "cpu_s": cpu_after - cpu,
        "wall_s": wall,
        "peak_gb": peak,
        "added_gb": peak - memory,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])

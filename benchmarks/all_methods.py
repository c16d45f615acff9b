"""Every method on MSRC v2 as graphs: both levels, CPU seconds of a fit and its peak memory, 10 folds over bags.

    python benchmarks/all_methods.py --data ../shared/data --work out/all_methods

One setting a method, its default (for Algorithm 1 the alpha that won on training digits, docs/defaults.md), the same
folds for all (seed 0). Parameters searched inside training folds: `cfmgml reproduce`. Seconds are of the fit alone;
the Gram matrix is computed once and its cost printed apart. Memory is what the process held at most during the fit, the
interpreter, its libraries and the matrix included.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from cfmgml.evaluation.measures import measure_model
from cfmgml.evaluation.metering import metered
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.representations import LoadedData
from cfmgml.paper.catalogue import DATA_SETS

OWN = {"paper": {"alpha": 1e-3}, "printed": {"alpha": 1e-2}}
COLUMNS = ("bag.one_error", "bag.hamming_loss", "bag.ranking_loss", "bag.average_precision", "bag.macro_f1",
           "graph.accuracy", "graph.annotated", "graph.macro_f1")  # fmt: skip


def run(key, files, train, test):
    method = METHODS[key]
    bags, kernel = files.open()
    learned = bags[train]
    with threadpool_limits(limits=1), metered() as meter:
        model = method.make(kernel, 0, **OWN.get(key, {})).fit(learned)
    return {**measure_model(model, bags[test], method.levels), "seconds": meter.cpu_seconds, "peak": meter.peak_mib}


def cell(rows, column, digits=3):
    values = [row[column] for row in rows if row.get(column) is not None]
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}" if values else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--work", type=Path, default=Path("out/all_methods"), help="where Gram matrices are kept")
    parser.add_argument("--dataset", choices=DATA_SETS, default="msrc_v2-rich")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--n-jobs", type=int, default=2)
    args = parser.parse_args()
    loaded = LoadedData(DATA_SETS[args.dataset], args.data)
    folds = list(KFold(10, shuffle=True, random_state=0).split(np.zeros(loaded.bags.n_bags)))
    titles = [column.replace(".", " ").replace("_", " ") for column in COLUMNS]
    print("| method | " + " | ".join(titles) + " | CPU s a fit | peak MiB |")
    print("|" + "---|" * (len(COLUMNS) + 3))
    for key in args.methods:
        start = time.process_time()
        files = loaded.write(METHODS[key].takes, args.work, 1)
        spent = time.process_time() - start
        rows = Parallel(args.n_jobs)(delayed(run)(key, files, train, test) for train, test in folds)
        cost = f"{np.median([row['seconds'] for row in rows]):.1f} | {max(row['peak'] for row in rows):.0f}"
        cells = " | ".join(cell(rows, column) for column in COLUMNS)
        note = f" (Gram matrix: {spent:.0f} CPU s)" if spent > 5 else ""
        print(f"| {METHODS[key].title}{note} | {cells} | {cost} |", flush=True)


if __name__ == "__main__":
    main()

"""MIMLfast, M3MIML and others on bags of vectors: the splits that come with MSRC v2, and 10 folds of Scene.

    python benchmarks/vector_tables.py msrc_v2_miml --data ../shared/data
    python benchmarks/vector_tables.py scene --methods MIMLfast M3MIML --data ../shared/data

prints one Markdown row a method, mean and deviation over the splits, beside the paper's figures. Every method has its
default settings. The paper's rows are its bag-of-instances runs, on splits of its own.
"""

import argparse
import sys
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from cfmgml import CfMGML, NodeSum
from cfmgml.baselines import M3MIML, MISVM, MIMLfast
from cfmgml.datasets import load_msrc_v2_miml, load_scene
from cfmgml.metrics import bag_report, graph_report

LOADERS = {"msrc_v2_miml": load_msrc_v2_miml, "scene": load_scene}
METHODS = {
    "MIMLfast": lambda: MIMLfast(random_state=0),
    "M3MIML": M3MIML,
    "M3MIML, the authors' early stop": lambda: M3MIML(solver="frank-wolfe"),
    "MISVM": MISVM,
    "CfMGML": lambda: CfMGML(NodeSum(), dtype="float32"),
}
COLUMNS = ("average_precision", "ranking_loss", "one_error", "macro_f1", "accuracy")
PAPER = {  # average precision, ranking loss, one-error, macro-F1, instance accuracy
    "msrc_v2_miml": {"MIMLfast": (0.693, 0.107, 0.279, 0.281, 0.410), "M3MIML": (0.540, 0.261, 0.289, 0.186, None)},
    "scene": {"MIMLfast": (0.770, 0.189, 0.351, 0.311, None), "M3MIML": (0.527, 0.197, 0.525, 0.175, None)},
}


def run(name, train, test):
    with threadpool_limits(limits=1):
        start = time.process_time()
        model = METHODS[name]().fit(train)
        seconds = time.process_time() - start
        found = bag_report(test.Y, model.decision_function(test), model.predict(test))
        if test.graph_Y is not None:
            found["accuracy"] = graph_report(test.graph_Y, model.decision_function_graphs(test))["accuracy"]
        return {**found, "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=LOADERS)
    parser.add_argument("--data", default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--n-splits", type=int, default=None, help="run the first ones only")
    parser.add_argument("--n-jobs", type=int, default=2)
    args = parser.parse_args()
    bags = LOADERS[args.dataset](args.data)
    print(bags, file=sys.stderr)
    shipped = bags.info.get("splits")
    folds = KFold(10, shuffle=True, random_state=0).split(np.zeros(bags.n_bags))
    splits = (list(zip(shipped["train"], shipped["test"], strict=True)) if shipped else list(folds))[: args.n_splits]
    print("| data | method | splits | " + " | ".join(COLUMNS) + " | CPU s a fit |")
    print("|" + "---|" * (len(COLUMNS) + 4))
    for name in args.methods:
        rows = Parallel(args.n_jobs)(delayed(run)(name, bags[train], bags[test]) for train, test in splits)
        known = {c: [row[c] for row in rows] for c in COLUMNS if c in rows[0]}
        cells = [f"{np.mean(known[c]):.3f} ± {np.std(known[c]):.3f}" if c in known else "-" for c in COLUMNS]
        seconds = f"{np.median([row['seconds'] for row in rows]):.1f}"
        print("| " + " | ".join([args.dataset, name, str(len(rows)), *cells, seconds]) + " |", flush=True)
        if name in PAPER[args.dataset]:
            cells = ["-" if value is None else f"{value:.3f}" for value in PAPER[args.dataset][name]]
            print("| " + " | ".join([args.dataset, f"{name}, paper's table", "10", *cells, "-"]) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Which term weights and class weights win inside training data, over all data sets: where CfMGML's defaults come from.

    python benchmarks/choose_defaults.py --rows ROWS.jsonl --path ../shared/data

Data sets are those of the tables, the test bags of the first fold set aside, and three folds inside the rest; where
bags share graphs, folds that share none. Digits are the training digits, a third of them checked at a time, with 400
bags to fit and 200 to check, drawn by four seeds. Alpha is the best by bags' average precision, for each data set and
setting. An hour and a half on two cores with other work beside it.

What decides was fixed before the first run: the mean, over sources, of the mean of bags' average precision, bags'
macro-F1 and graph accuracy. A source is digits, MSRC v2, VOC 2012, DBLP (its three fields together), Hallmarks and
Scene (which has no graph labels: two measures).

Rows are appended to the file as they come; a second run goes on.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from cfmgml import CfMGML
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.evaluation.measures import measure_model
from cfmgml.evaluation.representations import LoadedData
from cfmgml.paper.catalogue import DATA_SETS
from digit_settings import split_digits

SOURCES = {"digits": "digits", "msrc_v2-rich": "MSRC v2", "voc2012-rich": "VOC 2012", "dblp_cv": "DBLP",
           "dblp_db": "DBLP", "dblp_ai": "DBLP", "hallmarks": "Hallmarks", "scene": "Scene"}  # fmt: skip
MEASURES = ("bag.average_precision", "bag.macro_f1", "graph.accuracy")
ALPHAS = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6)
MEAN, PAPER = {"term_weights": "mean"}, {"term_weights": "paper"}
ALL, MAX = {"irrelevant": "all"}, {"irrelevant": "max"}
BALANCED = {"class_weight": "balanced"}
DEFAULT = "mean, all"
SETTINGS = {
    "mean, all": {**MEAN, **ALL},
    "mean, all, balanced": {**MEAN, **ALL, **BALANCED},
    "mean, max": {**MEAN, **MAX},
    "mean, max, balanced": {**MEAN, **MAX, **BALANCED},
    "paper, all": {**PAPER, **ALL},
    "paper, all, balanced": {**PAPER, **ALL, **BALANCED},
    "paper, max": {**PAPER, **MAX},
    "paper, max, balanced": {**PAPER, **MAX, **BALANCED},
    "hamming: mean, all": {**MEAN, **ALL, "loss": "hamming"},
    "hamming: paper, max": {**PAPER, **MAX, "loss": "hamming"},
}


def fold_split(files, fold):
    bags, kernel = files.open()
    return bags[fold.train], bags[fold.test], kernel


def measure(make_split, args, key, name):
    """A row for every alpha."""
    train, test, kernel = make_split(*args)
    with threadpool_limits(limits=1):
        models = CfMGML(kernel, dtype="float32", random_state=0, **SETTINGS[name]).fit_path(train, ALPHAS)
        found = [measure_model(model, test, ("bag", "graph")) for model in models]
    return [
        {**key, "setting": name, "alpha": alpha, **{m: values[m] for m in MEASURES if m in values}}
        for alpha, values in zip(ALPHAS, found, strict=True)
    ]


def splits(data, path, folder):
    """What tells a split from the others, and how to make it."""
    if data == "digits":
        return [({"data": data, "split": 3 * s + k}, split_digits, (k, s, 3, 400)) for s in range(4) for k in range(3)]
    loaded = LoadedData(DATA_SETS[data], path)
    files = loaded.write("features", folder, n_jobs=-1)
    folds = make_folds(loaded.bags, FoldPlan("disjoint" if loaded.data.shared else "bags"))
    return [
        ({"data": data, "split": fold.inner}, fold_split, (files, fold))
        for fold in folds
        if fold.outer == 0 and fold.inner is not None
    ]


def run(args):
    done = set()
    if args.rows.exists():
        done = {(r["data"], r["split"], r["setting"]) for r in map(json.loads, args.rows.read_text().splitlines())}
    for data in args.data:
        tasks = [
            delayed(measure)(make, given, key, name)
            for key, make, given in splits(data, args.path, args.folder)
            for name in SETTINGS
            if (data, key["split"], name) not in done
        ]
        print(f"{data}: {len(tasks)} paths to fit", file=sys.stderr, flush=True)
        with args.rows.open("a") as stream:
            for rows in Parallel(2, return_as="generator_unordered")(tasks):
                stream.write("".join(json.dumps(row) + "\n" for row in rows))
                stream.flush()


def best_rows(rows, data, setting):
    """Measures at the alpha of the best average precision, and that alpha."""
    means = {}
    for alpha in ALPHAS:
        here = [r for r in rows if (r["data"], r["setting"], r["alpha"]) == (data, setting, alpha)]
        means[alpha] = {m: np.mean([r[m] for r in here]) if m in here[0] else None for m in MEASURES}
    alpha = max(ALPHAS, key=lambda a: means[a]["bag.average_precision"])
    return means[alpha], alpha


def report(rows):
    present = [data for data in SOURCES if any(r["data"] == data for r in rows)]
    sources = list(dict.fromkeys(SOURCES[data] for data in present))
    found = {(data, setting): best_rows(rows, data, setting) for data in present for setting in SETTINGS}

    def by_source(setting):
        values = {data: np.mean([v for v in found[data, setting][0].values() if v is not None]) for data in present}
        return np.array([np.mean([v for data, v in values.items() if SOURCES[data] == s]) for s in sources])

    print_head("setting", f"less {DEFAULT}", "ahead on", *sources)
    for setting in SETTINGS:
        gaps = by_source(setting) - by_source(DEFAULT)
        mean = f"{gaps.mean():+.4f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if len(gaps) > 1 else "-"
        ahead = f"{(gaps > 0).sum()} of {len(gaps)}"
        print("| " + " | ".join([setting, mean, ahead, *(f"{gap:+.4f}" for gap in gaps)]) + " |")
    print("\nAverage precision, macro-F1 of bags, graph accuracy, and the alpha they were found at:\n")
    print_head("setting", *present)
    for setting in SETTINGS:
        cells = []
        for data in present:
            values, alpha = found[data, setting]
            shown = [f"{v:.3f}".removeprefix("0") for v in values.values() if v is not None]
            cells.append(f"{', '.join(shown)} ({alpha:g})")
        print(f"| {setting} | " + " | ".join(cells) + " |")


def print_head(*cells):
    print("| " + " | ".join(cells) + " |\n|" + "---|" * len(cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True, help="file of rows, gone on with if it is there")
    parser.add_argument("--path", type=Path, default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--folder", type=Path, default=Path("build/forms"), help="for Gram matrices; may be kept")
    parser.add_argument("--data", nargs="+", default=list(SOURCES), choices=SOURCES)
    args = parser.parse_args()
    run(args)
    report([json.loads(line) for line in args.rows.read_text().splitlines()])


if __name__ == "__main__":
    main()

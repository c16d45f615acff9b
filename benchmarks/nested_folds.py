"""CfMGML on real data: 10-fold cross-validation over bags, alpha chosen inside the training folds.

    python benchmarks/nested_folds.py msrc_v2 --features rich --kernel nodes --data ../shared/data

prints one Markdown row for each level, and the alphas that were chosen. Folds are the same for every setting (seed 0).
Gram matrices are computed once over all graphs, in float32; the default gamma is taken from them, without labels.
Inside each training fold alpha (and temperature and context, if several are given) is the one with the best average
precision over 3 inner folds.

With --device cuda models are trained on a card. For a machine that has a card and not the data, --prepared DIR keeps
the bags and their Gram matrix in a folder, or reads them from there if it has them.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from cfmgml import BagDataset, CfMGML, GraphHopper, NodeSum, Precomputed, WeisfeilerLehman, gram_matrix
from cfmgml.datasets import load_hallmarks, load_msrc_v2, load_voc2012
from cfmgml.learning.annotation import annotate
from cfmgml.metrics import bag_report, graph_report

LOADERS = {"msrc_v2": load_msrc_v2, "voc2012": load_voc2012, "hallmarks": load_hallmarks}
COLUMNS = ("one_error", "hamming_loss", "ranking_loss", "average_precision", "macro_f1", "accuracy", "annotated")


def kernel_for(name, graphs):
    """Gram matrices once for all folds; Weisfeiler-Lehman works on explicit features and needs none."""
    if name.startswith("wl"):
        return WeisfeilerLehman(n_iter=int(name[2:] or 1), tfidf=True)
    parts = {"nodes": [NodeSum()], "hopper": [GraphHopper()], "both": [NodeSum(), GraphHopper()]}[name]
    return Precomputed(np.mean([gram_matrix(part, graphs, dtype="float32", n_jobs=-1) for part in parts], axis=0))


def prepare(args):
    """Bags and kernel, from the data or from the folder where they were kept."""
    folder = args.prepared
    if folder and (folder / "gram.npy").exists():
        bags, half = BagDataset.load(folder / "bags.bags"), np.load(folder / "gram.npy")
        K = np.zeros((bags.n_graphs,) * 2, dtype=np.float32)
        K[np.triu_indices(len(K))] = half
        return bags, Precomputed(np.maximum(K, K.T))
    options = {"features": args.features} if args.features else {}
    bags = LOADERS[args.dataset](args.data, **options)
    kernel = kernel_for(args.kernel, bags.graphs)
    if isinstance(kernel, Precomputed):  # the matrix knows all; workers need not be sent the attributes
        bags = replace(bags, graphs=replace(bags.graphs, node_attributes=None, node_names=None))
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            bags.save(folder / "bags.bags")
            np.save(folder / "gram.npy", kernel.K[np.triu_indices(len(kernel.K))])
    return bags, kernel


def measure(model, bags):
    scores = model.decision_function_graphs(bags)
    labelled = bags.graph_Y.any(axis=1)
    given = annotate(scores, bags.bag_ptr, bags.Y)
    return {
        **bag_report(bags.Y, model.decision_function(bags)),
        "accuracy": graph_report(bags.graph_Y, scores)["accuracy"],
        "annotated": float((given & bags.graph_Y).any(axis=1)[labelled].mean()),
    }


def fit_and_measure(kernel, settings, alphas, device, train, test):
    """Measures at each setting and alpha, and the seconds of all fits."""
    with threadpool_limits(limits=1):
        start = time.perf_counter()
        models = [CfMGML(kernel, dtype="float32", device=device, **setting) for setting in settings]
        paths = [model.fit_path(train, alphas) for model in models]
        seconds = time.perf_counter() - start
        return [{**measure(model, test), "seconds": seconds} for models in paths for model in models]


def folds(n, n_folds, seed):
    return list(KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(n)))


def shown(args, temperature, context, alpha):
    """A point of the grid, in words; what was not chosen is left out."""
    others = [f"temperature {temperature:g}"] * (len(args.temperatures) > 1)
    others += [f"context {context:g}"] * (len(args.contexts) > 1)
    return " at ".join([f"{alpha:g}", ", ".join(others)]) if others else f"{alpha:g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=LOADERS)
    parser.add_argument("--data", default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--features", default=None, help="of image nodes: paper, hellinger or rich")
    parser.add_argument("--kernel", default="nodes", help="nodes, hopper, both, or wl1, wl2, ...")
    parser.add_argument("--alphas", type=float, nargs="+", default=[1e-4, 3e-5, 1e-5])
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.3], help="chosen from, beside alpha")
    parser.add_argument("--contexts", type=float, nargs="+", default=[0.0], help="likewise: how much the bag counts")
    parser.add_argument("--folds", type=int, default=10, help="of 10, how many to run")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--prepared", type=Path, help="folder to keep bags and Gram matrix in, or to read them from")
    args = parser.parse_args()
    bags, kernel = prepare(args)
    print(bags, bags.graphs, file=sys.stderr)
    outer = folds(bags.n_bags, 10, 0)[: args.folds]
    inner = [(train[i], train[o]) for train, _ in outer for i, o in folds(len(train), 3, 1)]
    workers = Parallel(args.n_jobs, verbose=0)
    settings = [{"temperature": t, "context": c} for t in args.temperatures for c in args.contexts]
    grid = [(*setting.values(), a) for setting in settings for a in args.alphas]
    fits = workers(
        delayed(fit_and_measure)(kernel, settings, args.alphas, args.device, bags[i], bags[o])
        for i, o in [*outer, *inner]
    )
    found = np.array([[r["average_precision"] for r in fit] for fit in fits[len(outer) :]])
    best = found.reshape(len(outer), 3, len(grid)).mean(axis=1).argmax(axis=1)
    rows = [fit[k] for fit, k in zip(fits, best, strict=False)]
    chosen = [grid[k] for k in best]
    cells = [f"{np.mean([r[c] for r in rows]):.3f} ± {np.std([r[c] for r in rows]):.3f}" for c in COLUMNS]
    print("| data | nodes | kernel | folds | " + " | ".join(COLUMNS) + " | alphas chosen | seconds a path |")
    print("|" + "---|" * (len(COLUMNS) + 6))
    alphas = ", ".join(f"{shown(args, *point)} x {chosen.count(point)}" for point in grid if point in chosen)
    seconds = np.median([r["seconds"] for r in rows])
    head = [args.dataset, args.features or "-", args.kernel, str(len(outer))]
    print("| " + " | ".join([*head, *cells, alphas, f"{seconds:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()

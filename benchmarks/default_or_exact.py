"""What the default costs in accuracy: landmarks as ``rank="auto"`` takes them beside exact values, nested.

    python benchmarks/default_or_exact.py msrc_v2 --data DIR  # and voc2012: what the default takes in each fold
    python benchmarks/default_or_exact.py scene --data DIR --dtype float32 --first 3  # hours of one core
    python benchmarks/default_or_exact.py scene --data DIR --dtype float32 --first 3 --bags 800 --also 1024 2048
    PYTHONPATH=src python benchmarks/default_or_exact.py digits --device cuda

Scene: 18,000 graphs of one node. Digits: 4,000 graphs, shifted and noised, none repeated (`growth.py`). For each outer
fold over bags, alpha is the best of six by bags' average precision over three folds inside its training bags, for each
way by itself, and the test bags are scored once. The default's number of landmarks is what it takes on a CPU in the
first fold; with --device both ways are trained there, where exact values of so many graphs are a matter of seconds (on
a CPU, of hours). What the default takes is a matter of a CPU: ``--only-rank`` prints it and ends, ``--rank 1024`` is
told it on a machine that has a card and no numba. ``--also 250`` adds a fixed number of landmarks, ``--bags 800`` takes
so many bags, drawn once. Prints a row a fold, then means and mean differences from exact values. Where the default is
exact values in all folds there is nothing to compare, and it ends with saying so.
"""

import argparse
import sys
from functools import partial

import numpy as np

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.common.compute import USUAL
from cfmgml.datasets import load_msrc_v2, load_scene, load_voc2012
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.kernels.approximation import exact_seconds, settle_rank
from cfmgml.metrics import bag_report, graph_report
from growth import digit_bags

LOAD = {
    "digits": lambda data: digit_bags(4000, "train", 0),
    "scene": load_scene,
    "msrc_v2": partial(load_msrc_v2, features="rich"),
    "voc2012": partial(load_voc2012, features="rich"),
}
ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


def landmarks_of(bags: BagDataset) -> int | None:
    """How many the default takes on a CPU; None where it computes exact values."""
    kernel = NodeSum().resolve(bags.graphs)
    taken = settle_rank(kernel, bags.graphs, "auto", USUAL)
    told = (
        f"{taken.kernel.n_components} landmarks, error aside {taken.error:.4f}" if taken.kernel.is_explicit else "exact"
    )
    print(
        f"exact values: {exact_seconds(kernel, bags.graphs):.0f} s by the cost model; the default: {told}", flush=True
    )
    return taken.kernel.n_components if taken.kernel.is_explicit else None


def model(n_landmarks: int | None, args: argparse.Namespace) -> CfMGML:
    kernel = NodeSum(approximation="nystrom", n_components=n_landmarks) if n_landmarks else NodeSum()
    return CfMGML(kernel, rank=None, device=args.device, dtype=args.dtype)


def measures(bags: BagDataset, scores: np.ndarray) -> list[float]:
    best = np.maximum.reduceat(scores, bags.bag_ptr[:-1], axis=0)
    found = [bag_report(bags.Y, best)["average_precision"]]
    return found if bags.graph_Y is None else [*found, graph_report(bags.graph_Y, scores)["accuracy"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(LOAD))
    parser.add_argument("--data", help="folder with scene_miml, msrc_v2 or voc2012_multi")
    parser.add_argument("--bags", type=int, help="of the bags, only so many")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--first", type=int, help="of the folds, only so many")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float64", help="float32 halves what exact values of Scene take on a CPU")
    parser.add_argument("--also", type=int, nargs="*", default=[])
    parser.add_argument("--no-exact", action="store_true", help="without exact values")
    parser.add_argument("--only-rank", action="store_true", help="print what the default takes in each fold, and end")
    parser.add_argument("--rank", type=int, help="what the default takes, found by --only-rank elsewhere")
    args = parser.parse_args()
    bags = LOAD[args.what](args.data)
    if args.bags:
        bags = bags[np.sort(np.random.default_rng(0).permutation(bags.n_bags)[: args.bags])]
    n_folds = args.first or args.folds
    folds = make_folds(bags, FoldPlan(n_folds=args.folds))
    ways: dict[str, int | None] = {} if args.no_exact else {"exact": None}
    whole = [fold.train for fold in folds if fold.inner is None and fold.outer < n_folds]
    taken = [args.rank] if args.rank else [landmarks_of(bags[train]) for train in whole]
    ways |= ({"default": taken[0]} if taken[0] else {}) | {str(n): n for n in args.also}
    if set(ways) == {"exact"} or args.only_rank:
        return
    rows: dict[str, list[list[float]]] = {way: [] for way in ways}
    for outer in range(n_folds):
        (whole,), inner = ([f for f in folds if f.outer == outer and (f.inner is None) == it] for it in (True, False))
        for way, n_landmarks in ways.items():
            scored = np.zeros(len(ALPHAS))
            for fold in inner:
                path = model(n_landmarks, args).fit_path(bags[fold.train], ALPHAS)
                scored += [measures(bags[fold.test], m.decision_function_graphs(bags[fold.test]))[0] for m in path]
            alpha = ALPHAS[int(scored.argmax())]
            fitted = model(n_landmarks, args).set_params(alpha=alpha).fit(bags[whole.train])
            found = measures(bags[whole.test], fitted.decision_function_graphs(bags[whole.test]))
            rows[way].append(found)
            print(outer, way, n_landmarks, f"alpha {alpha:g}", *(f"{value:.4f}" for value in found), flush=True)
    for way, found in rows.items():
        line = "  ".join(f"{np.mean(column):.4f}" for column in zip(*found, strict=True))
        if way != "exact" and "exact" in rows:
            off = np.array(found) - np.array(rows["exact"])
            error = off.std(axis=0, ddof=1) / np.sqrt(len(off))
            line += "   less exact " + "  ".join(f"{d:+.4f} ± {e:.4f}" for d, e in zip(off.mean(0), error, strict=True))
        print(f"{way} ({ways[way]}): {line}")


if __name__ == "__main__":
    sys.exit(main())

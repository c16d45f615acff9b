"""Which gamma, and which weight of place beside a network's maps: chosen inside the training photos of every fold.

    python benchmarks/deep_settings.py --path DATA --only msrc_v2

A photo's true segments are its graphs (MSRC v2, VOC 2012), folds and rows are those of `deep_pictures.py` (task
``regions``, method ``settled``), whose tables show them. The exact node sum does not depend on which photos are trained
on, so its matrices are made once for all settings and folds.

The rule, set before the run, sees labels of photos only: of gamma, weight of place and alpha the best in the sum of two
figures, in one third of the training photos that the other two did not see: the photos' average precision, and how many
of their graphs have one of their photo's labels as their best of all labels. Beside it thresholds of photos, one a
label: where its F1 is best, half-way to the next score below, over the held-out scores of all three thirds
(`bag.macro_f1_thresholds`).
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

from cfmgml import CfMGML
from cfmgml.builders.pictures.encoded_nodes import PLACE_WEIGHT
from cfmgml.common.segments import segment_ids
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.kernels import Precomputed
from cfmgml.metrics import bag_report
from deep_pictures import LOADERS, load, measure, read_rows, tables, write_row

GAMMAS = (0.25, 0.5, 1.0)  # each twice the one before: kernels are squared
WEIGHTS = (0.0, 0.5)
ALPHAS = (3e-4, 1e-4, 3e-5)
NODES = 2048  # of a block


def gram_matrices(bags):
    """The normalised node sum of all graphs for every gamma and weight of place."""
    rows, ptr = np.asarray(bags.graphs.node_attributes, dtype=np.float32), bags.graphs.node_ptr
    start = bags.info["columns"]["centre_in_image"][0]
    parts = rows[:, :start], rows[:, start:] / PLACE_WEIGHT
    squares = [np.einsum("ij,ij->i", part, part) for part in parts]
    cuts = np.unique(np.searchsorted(ptr, np.arange(0, ptr[-1] + NODES, NODES)).clip(max=len(ptr) - 1))
    found = {key: np.zeros((len(ptr) - 1,) * 2) for key in ((g, w) for g in GAMMAS for w in WEIGHTS)}
    for first, a in enumerate(cuts[:-1]):
        for second, b in enumerate(cuts[:-1]):
            if b < a:
                continue
            graphs = slice(a, cuts[first + 1]), slice(b, cuts[second + 1])
            nodes = tuple(slice(ptr[one.start], ptr[one.stop]) for one in graphs)
            maps, place = (
                np.maximum(square[nodes[0], None] + square[nodes[1]] - 2 * part[nodes[0]] @ part[nodes[1]].T, 0)
                for part, square in zip(parts, squares, strict=True)
            )
            for weight in WEIGHTS:
                kernel = np.exp(-GAMMAS[0] * (maps + weight**2 * place))
                for number, gamma in enumerate(GAMMAS):
                    kernel = kernel * kernel if number else kernel
                    summed = np.add.reduceat(kernel, ptr[graphs[0]] - nodes[0].start, axis=0)
                    summed = np.add.reduceat(summed, ptr[graphs[1]] - nodes[1].start, axis=1)
                    found[gamma, weight][graphs] = summed
                    found[gamma, weight][graphs[::-1]] = summed.T
    return {key: K / np.sqrt(np.outer(np.diag(K), np.diag(K))) for key, K in found.items()}


def weakly_right(model, bags):
    """How many graphs have one of their bag's labels as their best."""
    best = model.decision_function_graphs(bags).argmax(axis=1)
    return float(bags.Y[segment_ids(bags.bag_ptr), best].mean())


def thresholds(scores, Y):
    """For each label where its F1 is best; 0 for one that no bag has."""
    found = np.zeros(Y.shape[1])
    for label, (own, has) in enumerate(zip(scores.T, Y.T, strict=True)):
        order = np.argsort(-own)
        hits = np.cumsum(has[order])
        if hits[-1]:
            best = int(np.argmax(2 * hits / (np.arange(1, len(own) + 1) + hits[-1])))
            found[label] = own[order[best : best + 2]].mean()
    return found


def run_fold(bags, matrices, folds):
    start = time.process_time()
    outer, *inner = sorted(folds, key=lambda fold: -1 if fold.inner is None else fold.inner)
    inside = {}
    for key, K in matrices.items():
        models, rest = CfMGML(Precomputed(K)).fit_path(bags[inner[0].train], ALPHAS), bags[inner[0].test]
        for alpha, model in zip(ALPHAS, models, strict=True):
            precision = bag_report(rest.Y, model.decision_function(rest))["average_precision"]
            inside[*key, alpha] = [precision, weakly_right(model, rest)]
    gamma, weight, alpha = max(inside, key=lambda key: sum(inside[key]))
    how = CfMGML(Precomputed(matrices[gamma, weight]), alpha=alpha)
    held_out = [clone(how).fit(bags[fold.train]).decision_function(bags[fold.test]) for fold in inner]
    told = np.concatenate([bags.Y[fold.test] for fold in inner])
    model, test = how.fit(bags[outer.train]), bags[outer.test]
    scores = model.decision_function(test) - thresholds(np.concatenate(held_out), told)
    row = {"method": "settled", "fold": outer.outer, "params": {"gamma": gamma, "place": weight, "alpha": alpha}}
    row["inside"] = {" ".join(map(str, key)): value for key, value in inside.items()}
    row |= measure(model, test, None) | {"bag.macro_f1_thresholds": bag_report(test.Y, scores)["macro_f1"]}
    return row | {"cpu_seconds": time.process_time() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the folder of data sets")
    parser.add_argument("--only", choices=[*LOADERS])
    given = parser.parse_args()
    for data in [given.only] if given.only else LOADERS:
        there = {row["fold"] for row in read_rows() if (row["data"], row["method"]) == (data, "settled")}
        if len(there) == 10:
            continue
        bags, _ = load(data, "regions", given.path, "deep")
        start = time.process_time()
        matrices, plan = gram_matrices(bags), make_folds(bags, FoldPlan())
        print(f"{data}: matrices in {time.process_time() - start:.0f} CPU s", flush=True)
        for fold in sorted(set(range(10)) - there):
            row = run_fold(bags, matrices, [one for one in plan if one.outer == fold])
            write_row(data, "regions", bags, row)
    tables()


if __name__ == "__main__":
    main()

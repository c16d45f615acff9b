"""Which gamma, and which weight of place beside a network's maps: chosen inside the training photos of every fold.

    python benchmarks/deep_settings.py --path DATA --only msrc_v2

A photo's true segments are its graphs (MSRC v2, VOC 2012), folds and rows are those of `deep_pictures.py` (task
``regions``, method ``settled``), whose tables show them. The exact node sum does not depend on which photos are trained
on, so its matrices are made once for all settings and folds.

The rule, set before the run, sees labels of photos only: of gamma, weight of place and alpha the best in the sum of
three figures of photos held out in turn, a third of the training photos each time: their average precision, how many of
their labels are the best label of one of their graphs (one that swallows its neighbours' graphs leaves those without),
and macro-F1 with thresholds by counts. With what is chosen a model learns from all training photos, down the alphas as
inside (learned at 1e-5 at once it ends in a worse place), with `thresholds="counts"` (`bag.macro_f1_thresholds`;
`bag.macro_f1` is that of scores above 0, as in the other rows). Method ``both`` is the mean of that and of what is
learned twice with the same settings, its thresholds by the scores of the three thirds.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from cfmgml import CfMGML
from cfmgml.builders.pictures.encoded_nodes import PLACE_WEIGHT
from cfmgml.common.segments import segment_ids, segment_max
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.kernels import Precomputed
from cfmgml.learning.thresholds import COUNTS, f1_by_thresholds, thresholds_by_counts
from cfmgml.learning.ways import ROUNDS
from cfmgml.metrics import bag_report, macro_f1
from deep_pictures import LOADERS, figures, load, measure, read_rows, tables, write_row

GAMMAS = (0.25, 0.5)  # each twice the one before: kernels are squared; 1 won nowhere on inner folds
WEIGHTS = (0.0, 0.5)
ALPHAS = (3e-4, 1e-4, 3e-5, 1e-5)
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


def labels_found(model, bags):
    """How many of the bags' labels are the best of all labels for one of the bag's graphs."""
    found = np.zeros_like(bags.Y)
    found[segment_ids(bags.bag_ptr), model.decision_function_graphs(bags).argmax(axis=1)] = True
    return float(found[bags.Y].mean())


def figures_inside(bags, K, folds):
    """For every alpha the three figures of the rule, of the photos of each fold by models of the others."""
    scores = np.empty((len(ALPHAS), *bags.Y.shape))
    figures = np.zeros((len(ALPHAS), 3))
    held_out_in = np.full(bags.n_bags, -1)
    for number, fold in enumerate(folds):
        rest, held_out_in[fold.test] = bags[fold.test], number
        for k, model in enumerate(CfMGML(Precomputed(K)).fit_path(bags[fold.train], ALPHAS)):
            scores[k, fold.test] = model.decision_function(rest)
            precision = bag_report(rest.Y, scores[k, fold.test])["average_precision"]
            figures[k, :2] += np.array([precision, labels_found(model, rest)]) / len(folds)
    own = held_out_in >= 0
    Y = bags.Y[own]
    figures[:, 2] = [f1_by_thresholds(one[own], Y, np.ones_like(Y), held_out_in[own])[COUNTS] for one in scores]
    return dict(zip(ALPHAS, figures.tolist(), strict=True))


def run_fold(bags, matrices, folds):
    start = time.process_time()
    (outer,), inner = ([fold for fold in folds if (fold.inner is None) == is_outer] for is_outer in (True, False))
    inside = {
        (*key, alpha): figures
        for key, K in matrices.items()
        for alpha, figures in figures_inside(bags, K, inner).items()
    }
    gamma, weight, alpha = max(inside, key=lambda key: sum(inside[key]))
    how = CfMGML(Precomputed(matrices[gamma, weight]), thresholds=COUNTS, random_state=0)
    *_, model = how.fit_path(bags[outer.train], [value for value in ALPHAS if value >= alpha])
    test = bags[outer.test]
    row = {"method": "settled", "fold": outer.outer, "params": {"gamma": gamma, "place": weight, "alpha": alpha}}
    row["inside"] = {" ".join(map(str, key)): value for key, value in inside.items()}
    row |= measure(model, test, None) | {"bag.macro_f1_thresholds": macro_f1(test.Y, model.predict(test))}
    return row | {"cpu_seconds": time.process_time() - start}


def run_both(bags, matrices, folds, settled):
    """The mean of what is learned once and twice, with the settings that were chosen for once."""
    start = time.process_time()
    (outer,), inner = ([fold for fold in folds if (fold.inner is None) == is_outer] for is_outer in (True, False))
    gamma, weight, alpha = settled["params"].values()
    path = [value for value in ALPHAS if value >= alpha]

    def scores(fold):
        ways = (CfMGML(Precomputed(matrices[gamma, weight]), refine=rounds) for rounds in (0, ROUNDS))
        learned = (way.fit_path(bags[fold.train], path)[-1] for way in ways)
        of_graphs = np.mean([model.decision_function_graphs(bags[fold.test]) for model in learned], axis=0)
        return segment_max(of_graphs, bags[fold.test].bag_ptr), of_graphs

    held_out = np.concatenate([scores(fold)[0] for fold in inner])
    Y = np.concatenate([bags.Y[fold.test] for fold in inner])
    (of_bags, of_graphs), test = scores(outer), bags[outer.test]
    row = {"method": "both", "fold": outer.outer, "params": settled["params"], **figures(test, of_bags, of_graphs)}
    decided = of_bags > thresholds_by_counts(held_out, Y, np.ones_like(Y))
    return row | {"bag.macro_f1_thresholds": macro_f1(test.Y, decided), "cpu_seconds": time.process_time() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the folder of data sets")
    parser.add_argument("--only", choices=[*LOADERS])
    given = parser.parse_args()
    for data in [given.only] if given.only else LOADERS:
        bags, _ = load(data, "regions", given.path, "deep")
        start = time.process_time()
        matrices, plan = gram_matrices(bags), make_folds(bags, FoldPlan())
        print(f"{data}: matrices in {time.process_time() - start:.0f} CPU s", flush=True)
        for number in range(10):
            folds = [one for one in plan if one.outer == number]
            there = {row["method"]: row for row in read_rows() if (row["data"], row["fold"]) == (data, number)}
            if "settled" not in there:
                there["settled"] = run_fold(bags, matrices, folds)
                write_row(data, "regions", bags, there["settled"])
            if "both" not in there:
                write_row(data, "regions", bags, run_both(bags, matrices, folds, there["settled"]))
    tables()


if __name__ == "__main__":
    main()

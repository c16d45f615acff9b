"""Which gamma, and which weight of place beside a network's maps: chosen inside the training photos of every fold.

    python benchmarks/deep_settings.py --path DATA --only msrc_v2
    python benchmarks/deep_settings.py --path DATA --only msrc_v2 --features deep_lite2

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

Method ``lite2``, of ``features="deep_lite2"``: gamma and weight of place are chosen in the same way; then, with these,
alpha and the way to learn (once, twice, or the mean of both) by the same sum. Thresholds by the scores of the three
thirds. This was set before its run, after a look at inner folds of the training photos of folds 0, 3, 6 and 9.

Method ``levels`` takes each level's scores from what serves it: photos' are those of ``lite2``; segments' are learned
twice, with gamma, weight of place and alpha by the second figure alone, how many labels are found. This was set after
the row of ``lite2`` had been seen (short in annotated alone) and after a look at the same inner folds, before its run.
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
WAYS = {"once": (0,), "twice": (ROUNDS,), "mean": (0, ROUNDS)}  # rounds of learning again
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


def held_out_scores(bags, K, folds, rounds=0, alphas=ALPHAS):
    """For each alpha the scores (n_graphs, n_labels) of the photos of each fold by a model of the others; else 0."""
    found = np.zeros((len(alphas), bags.n_graphs, bags.n_labels))
    for fold in folds:
        held_out = bags[fold.test]
        for k, model in enumerate(CfMGML(Precomputed(K), refine=rounds).fit_path(bags[fold.train], alphas)):
            found[k, held_out.graphs.graph_ids] = model.decision_function_graphs(held_out)
    return found


def rule_figures(bags, of_graphs, folds):
    """The three figures of the rule, of the photos of all folds."""
    of_bags, is_held_out_in = segment_max(of_graphs, bags.bag_ptr), np.full(bags.n_bags, -1)
    means = []
    for number, fold in enumerate(folds):
        held_out, is_held_out_in[fold.test] = bags[fold.test], number
        found = np.zeros_like(held_out.Y)  # labels that are the best of all for one of their photo's graphs
        best = of_graphs[held_out.graphs.graph_ids].argmax(axis=1)
        found[segment_ids(held_out.bag_ptr), best] = True
        precision = bag_report(held_out.Y, of_bags[fold.test])["average_precision"]
        means.append((precision, float(found[held_out.Y].mean())))
    own = is_held_out_in >= 0
    Y = bags.Y[own]
    f1 = f1_by_thresholds(of_bags[own], Y, np.ones_like(Y), is_held_out_in[own])[COUNTS]
    return [*np.mean(means, axis=0).tolist(), float(f1)]


def tried_inside(bags, matrices, folds, rounds=0):
    """The rule's figures for every gamma, weight of place and alpha."""
    return {
        (*key, alpha): rule_figures(bags, scores, folds)
        for key, K in matrices.items()
        for alpha, scores in zip(ALPHAS, held_out_scores(bags, K, folds, rounds), strict=True)
    }


def choose_matrix(bags, matrices, folds):
    """Gamma, weight of place and alpha that are best learned once, and what all of them gave."""
    inside = tried_inside(bags, matrices, folds)
    return max(inside, key=lambda key: sum(inside[key])), told(inside)


def told(inside):
    return {" ".join(map(str, key)): value for key, value in inside.items()}


def outer_and_inner(folds):
    (outer,), inner = ([fold for fold in folds if (fold.inner is None) == is_outer] for is_outer in (True, False))
    return outer, inner


def run_settled(bags, matrices, folds):
    outer, inner = outer_and_inner(folds)
    (gamma, weight, alpha), inside = choose_matrix(bags, matrices, inner)
    how = CfMGML(Precomputed(matrices[gamma, weight]), thresholds=COUNTS, random_state=0)
    *_, model = how.fit_path(bags[outer.train], [value for value in ALPHAS if value >= alpha])
    test = bags[outer.test]
    row = {"params": {"gamma": gamma, "place": weight, "alpha": alpha}, "inside": inside}
    row |= measure(model, test, None) | {"bag.macro_f1_thresholds": macro_f1(test.Y, model.predict(test))}
    return row


def run_both(bags, matrices, folds, settled):
    """The mean of what is learned once and twice, with the settings that were chosen for once."""
    outer, inner = outer_and_inner(folds)
    gamma, weight, alpha = settled["params"].values()
    path, K = [value for value in ALPHAS if value >= alpha], matrices[gamma, weight]
    held_out = np.mean([held_out_scores(bags, K, inner, rounds, path) for rounds in WAYS["mean"]], axis=0)[-1]
    return {"params": settled["params"], **learned_so(bags, K, outer, inner, "mean", path, held_out)}


def run_chosen(bags, matrices, folds):
    """Gamma and weight as for learning once; with them alpha and the way by the same rule."""
    outer, inner = outer_and_inner(folds)
    (gamma, weight, _), inside = choose_matrix(bags, matrices, inner)
    K = matrices[gamma, weight]
    learned = {rounds: held_out_scores(bags, K, inner, rounds) for rounds in WAYS["mean"]}
    held_out = {
        (way, alpha): np.mean([learned[rounds][k] for rounds in WAYS[way]], axis=0)
        for way in WAYS
        for k, alpha in enumerate(ALPHAS)
    }
    tried = {key: rule_figures(bags, scores, inner) for key, scores in held_out.items()}
    way, alpha = best = max(tried, key=lambda key: sum(tried[key]))
    row = {"params": {"gamma": gamma, "place": weight, "alpha": alpha, "way": way}, "inside": inside | told(tried)}
    path = [value for value in ALPHAS if value >= alpha]
    return row | learned_so(bags, K, outer, inner, way, path, held_out[best])


def run_levels(bags, matrices, folds, photos):
    """Photos' figures as they are there; segments' by the settings that find most labels, learned twice."""
    outer, inner = outer_and_inner(folds)
    inside = tried_inside(bags, matrices, inner, ROUNDS)
    gamma, weight, alpha = max(inside, key=lambda key: inside[key][1])
    path, test = [value for value in ALPHAS if value >= alpha], bags[outer.test]
    of_graphs = held_out_scores(bags, matrices[gamma, weight], [outer], ROUNDS, path)[-1, test.graphs.graph_ids]
    row = figures(test, segment_max(of_graphs, test.bag_ptr), of_graphs)
    row |= {key: value for key, value in photos.items() if key.startswith("bag.")}
    segments = {"gamma": gamma, "place": weight, "alpha": alpha, "way": "twice"}
    return {"params": {"photos": photos["params"], "segments": segments}, "inside": told(inside), **row}


def learned_so(bags, K, outer, inner, way, path, held_out):
    """Figures of test photos by a way to learn and the last alpha of a path; thresholds by held-out scores."""
    test = bags[outer.test]
    found = [held_out_scores(bags, K, [outer], rounds, path)[-1, test.graphs.graph_ids] for rounds in WAYS[way]]
    of_graphs = np.mean(found, axis=0)
    of_bags, own = segment_max(of_graphs, test.bag_ptr), np.concatenate([fold.test for fold in inner])
    Y = bags.Y[own]
    decided = of_bags > thresholds_by_counts(segment_max(held_out, bags.bag_ptr)[own], Y, np.ones_like(Y))
    return figures(test, of_bags, of_graphs) | {"bag.macro_f1_thresholds": macro_f1(test.Y, decided)}


RUNS = {  # method, its function, the methods whose rows it needs
    "deep": [("settled", run_settled, ()), ("both", run_both, ("settled",))],
    "deep_lite2": [("lite2", run_chosen, ()), ("levels", run_levels, ("lite2",))],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the folder of data sets")
    parser.add_argument("--only", choices=[*LOADERS])
    parser.add_argument("--features", choices=[*RUNS], default="deep")
    given = parser.parse_args()
    for data in [given.only] if given.only else LOADERS:
        bags, _ = load(data, "regions", given.path, given.features)
        start = time.process_time()
        matrices, plan = gram_matrices(bags), make_folds(bags, FoldPlan())
        print(f"{data}: matrices in {time.process_time() - start:.0f} CPU s", flush=True)
        for number in range(10):
            folds = [one for one in plan if one.outer == number]
            there = {row["method"]: row for row in read_rows() if (row["data"], row["fold"]) == (data, number)}
            for method, run, former in RUNS[given.features]:
                if method not in there:
                    start = time.process_time()
                    row = run(bags, matrices, folds, *(there[one] for one in former))
                    spent = {"cpu_seconds": time.process_time() - start}
                    there[method] = {"method": method, "fold": number, **row, **spent}
                    write_row(data, "regions", bags, there[method])
    tables()


if __name__ == "__main__":
    main()

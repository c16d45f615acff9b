"""Tox21: which kernel for whole molecules, on one inner fold of the first random and the first scaffold training fold.

    python benchmarks/tox21_kernels.py                 # appends to docs/results/tox21/kernels.jsonl

No test fold is looked at. The last figure of a line is the best of its alphas. Rows for the solver are a pivoted
Cholesky factor of the Gram matrix here, where `CfMGML` takes eigenvectors: the same objective in a tenth of the time.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy import linalg

from cfmgml import CfMGML, MinMaxWL, ProductKernel, WeisfeilerLehman, gram_matrix
from cfmgml.learning.solvers.cccp import Problem, solve_cccp
from cfmgml.learning.training import Training
from tox21 import ASSAYS, SCHEMES, aucs, folds, molecules

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "kernels.jsonl"
COUNTS, SHARE = WeisfeilerLehman(3, edge_labels=True), MinMaxWL(3, edge_labels=True)
TRIED = {  # name: kernel, settings, landmarks
    "counts, tf-idf": (WeisfeilerLehman(3, tfidf=True, edge_labels=True), {}, None),
    "counts": (COUNTS, {}, None),
    "counts, squared kernel": (ProductKernel([COUNTS, COUNTS]), {}, None),
    "min-max, depth 1": (MinMaxWL(1, edge_labels=True), {}, None),
    "min-max, depth 2": (MinMaxWL(2, edge_labels=True), {}, None),
    "min-max, depth 3": (SHARE, {}, None),
    "min-max, depth 4": (MinMaxWL(4, edge_labels=True), {}, None),
    "min-max, depth 3, without bonds": (MinMaxWL(3), {}, None),
    "min-max, depth 3, squared": (ProductKernel([SHARE, SHARE]), {}, None),
    "min-max, depth 3, 2,000 landmarks": (SHARE, {}, 2000),
    "min-max, depth 3, not balanced": (SHARE, {"class_weight": None}, None),
    "min-max, depth 3, rank loss": (SHARE, {"loss": "rank"}, None),
}
ALPHAS = (3e-5, 1e-5, 3e-6)


def solutions(K, train, settings, n_landmarks):
    """For each alpha the landmarks, a coefficient for each, and the intercept."""
    bags = molecules(single_graph=True)
    Y, known = bags.Y[train] > 0, bags.Y_known[train]
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K, lower=1, tol=1e-7)
    rank, pivots = min(rank, n_landmarks or rank), pivots - 1
    rows = np.empty((len(train), rank))
    rows[pivots] = np.tril(factor)[:, :rank]
    trail = ()
    for alpha in ALPHAS:
        how = {"loss": "hamming", "class_weight": "balanced", **settings}
        training = Training.of(CfMGML(alpha=alpha, **how))
        weights = training.label_weights((Y & known).sum(0).astype(float), list(ASSAYS))
        loss = training.rank_loss(np.arange(len(train) + 1), Y & known, ~Y & known, weights)
        solved = solve_cccp(Problem(rows, loss, alpha, fit_intercept=True), 5, 200, 1e-3, trail=trail)
        trail = solved.trail
        coef = linalg.solve_triangular(factor[:rank, :rank], solved.coef, lower=True, trans="T")
        yield alpha, pivots[:rank], coef, solved.intercept


def measure(name, scheme, train, test):
    kernel, settings, n_landmarks = TRIED[name]
    graphs, start = molecules(single_graph=True).graphs, time.process_time()
    kernel = kernel.resolve(graphs[train])
    K = gram_matrix(kernel, graphs[train])
    across = gram_matrix(kernel, graphs[test], graphs[train])
    found = {
        f"{alpha:g}": round(float(np.mean(aucs(test, across[:, chosen] @ coef + intercept))), 4)
        for alpha, chosen, coef, intercept in solutions(K, train, settings, n_landmarks)
    }
    return {"roc_auc": max(found.values()), "by_alpha": found, "cpu_seconds": round(time.process_time() - start, 1)}


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["tried"], row["scheme"]) for row in rows}
    everything = np.arange(molecules(single_graph=True).n_bags)
    for name in TRIED:
        for scheme in SCHEMES:
            if (name, scheme) not in done:
                train, test = folds(scheme, folds(scheme, everything)[0][0])[0]
                row = {"tried": name, "scheme": scheme, **measure(name, scheme, train, test)}
                with ROWS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


if __name__ == "__main__":
    main()

"""Tox21: which kernel for whole molecules, on one inner fold of the first random and the first scaffold training fold.

    python benchmarks/tox21_kernels.py                 # appends to docs/results/tox21/kernels.jsonl

No test fold of those is looked at. A row's figure is the best of its alphas.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from cfmgml import CfMGML, MinMaxWL, ProductKernel, WeisfeilerLehman, gram_matrix
from tox21 import SCHEMES, aucs, folds, molecules
from tox21_gram import scores_by_alpha

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "kernels.jsonl"
COUNTS, SHARE = WeisfeilerLehman(3, edge_labels=True), MinMaxWL(3, edge_labels=True)
TRIED = {  # name: kernel, settings, landmarks
    "min-max, depth 3": (SHARE, {}, None),
    "counts, depth 3": (COUNTS, {}, None),
    "counts, depth 3, tf-idf": (WeisfeilerLehman(3, tfidf=True, edge_labels=True), {}, None),
    "counts, depth 3, squared kernel": (ProductKernel([COUNTS, COUNTS]), {}, None),
    "min-max, depth 1": (MinMaxWL(1, edge_labels=True), {}, None),
    "min-max, depth 2": (MinMaxWL(2, edge_labels=True), {}, None),
    "min-max, depth 4": (MinMaxWL(4, edge_labels=True), {}, None),
    "min-max, depth 3, without bonds": (MinMaxWL(3), {}, None),
    "min-max, depth 3, squared": (ProductKernel([SHARE, SHARE]), {}, None),
    "min-max, depth 3, 2,000 landmarks": (SHARE, {}, 2000),
    "min-max, depth 3, not balanced": (SHARE, {"class_weight": None}, None),
    "min-max, depth 3, rank loss": (SHARE, {"loss": "rank"}, None),
}
ALPHAS = (3e-5, 1e-5, 3e-6)


def measure(name, scheme, train, test):
    kernel, settings, n_landmarks = TRIED[name]
    bags, start = molecules(single_graph=True), time.process_time()
    model = CfMGML(**{"loss": "hamming", "class_weight": "balanced", **settings})
    kernel, both = kernel.resolve(bags.graphs[train]), np.concatenate([train, test])
    K, n = gram_matrix(kernel, bags.graphs[both]), len(train)
    asked = np.arange(n), np.arange(n, len(both))
    scores = scores_by_alpha(K, bags[both], *asked, model, ALPHAS, n_landmarks)
    found = {f"{alpha:g}": round(float(np.mean(aucs(test, values))), 4) for alpha, values in scores.items()}
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

"""Which settings win on bags of training digits: where the demo's alphas and C come from.

    python benchmarks/digit_settings.py

Five folds of the 1,200 training digits: 600 bags of 960 digits to fit, 200 bags of the other 240 to check, each with
bags drawn by four seeds, so that all is as large as in the table of test digits; those are never looked at. (Folds of
bags would share digits: bags draw them with replacement.) The alphas of CfMGML, HLK and Algorithm 1 stand equally close
around their best; the one with the best average precision of bags is chosen, for the SVM, which may see graph labels,
the C with the best accuracy of graphs. Differences to the best HLK are paired by split, with their standard error over
the 20 splits.
"""

import argparse
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from cfmgml import CfMGML, Precomputed
from cfmgml.baselines import HLK, SgslSVM
from cfmgml.datasets.digits import N_TRAIN, digit_numbers, draw_bags
from cfmgml.demo.digits import measure_method, share_gram

N_FOLDS, SEEDS = 5, range(4)
COLUMNS = [("bag", "average_precision"), ("bag", "macro_f1"), ("bag", "ranking_loss"), ("bag", "hamming_loss"),
           ("graph", "accuracy"), ("graph", "annotated"), ("graph", "macro_f1")]  # fmt: skip
BY_BAGS, BY_GRAPHS = COLUMNS.index(("bag", "average_precision")), COLUMNS.index(("graph", "accuracy"))


class Candidate(NamedTuple):
    """A method, its fixed settings, and the values of one that are tried."""

    make: Any
    fixed: dict[str, Any]
    searched: str
    values: tuple[float, ...]


def _alphas(make, values, **fixed):
    return Candidate(make, fixed, "alpha", values)


WIDE = (1e-3, 5e-4, 3e-4, 2e-4, 1e-4, 5e-5, 3e-5, 2e-5)
SMALL = (1e-4, 5e-5, 3e-5, 2e-5, 1e-5, 5e-6, 3e-6)
LARGE = (1e-2, 5e-3, 3e-3, 2e-3, 1e-3, 5e-4, 3e-4)
PAPER = {"term_weights": "paper", "irrelevant": "max"}
CANDIDATES = {
    "CfMGML": _alphas(CfMGML, WIDE),
    "CfMGML, balanced": _alphas(CfMGML, WIDE, class_weight="balanced"),
    "CfMGML, the paper's terms": _alphas(CfMGML, WIDE, **PAPER),
    "CfMGML, temperature .1": _alphas(CfMGML, (3e-4, 2e-4, 1e-4), temperature=0.1),
    "CfMGML, temperature 1": _alphas(CfMGML, (3e-4, 2e-4, 1e-4), temperature=1.0),
    "CfMGML, tol 1e-4": _alphas(CfMGML, (3e-4, 2e-4, 1e-4), tol=1e-4),
    "HLK": _alphas(HLK, SMALL),
    "HLK, our terms": _alphas(HLK, WIDE, term_weights="mean", irrelevant="all"),
    "CfMGML (paper)": _alphas(CfMGML, LARGE, solver="paper", random_state=0),
    "CfMGML (printed)": _alphas(CfMGML, (1e-1, 1e-2, 1e-3), solver="printed", random_state=0),
    "SVM": Candidate(SgslSVM, {}, "C", (1.0, 3.0, 10.0, 30.0, 100.0)),
}


def split_digits(fold, seed, n_folds=N_FOLDS, n_bags=600):
    """Bags of all training digits but a fold's, 200 bags of that fold's, and a kernel over both."""
    parts = np.array_split(digit_numbers()[:N_TRAIN], n_folds)
    others = np.concatenate([part for k, part in enumerate(parts) if k != fold])
    train, test, _, K = share_gram(draw_bags(others, n_bags, seed, "fit"), draw_bags(parts[fold], 200, seed, "check"))
    return train, test, Precomputed(K)


def measure(fold, seed, names):
    """Measures of every setting of the candidates, one after the other."""
    train, test, kernel = split_digits(fold, seed)
    rows = []
    for candidate in (CANDIDATES[name] for name in names):
        for value in candidate.values:
            model = candidate.make(kernel, **candidate.fixed, **{candidate.searched: value})
            found = measure_method("", "", model, train, test).values
            rows.append([found[column] for column in COLUMNS])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(CANDIDATES), choices=CANDIDATES, metavar="METHOD")
    names = parser.parse_args().methods
    splits = [(fold, seed) for seed in SEEDS for fold in range(N_FOLDS)]
    found = np.array(Parallel(2)(delayed(measure)(*split, names) for split in splits))  # split, setting, column
    heads = [f"{level} {key}".replace("_", " ") for level, key in COLUMNS]
    print("| method | | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 2))
    best = {}
    start = 0
    for name in names:
        candidate = CANDIDATES[name]
        here = found[:, start : start + len(candidate.values)]
        start += len(candidate.values)
        chosen = int(here.mean(0)[:, BY_GRAPHS if candidate.make is SgslSVM else BY_BAGS].argmax())
        best[name] = here[:, chosen]
        for k, value in enumerate(candidate.values):
            mark = "**" if k == chosen else ""
            cells = [f"{mean:.4f}" for mean in here[:, k].mean(0)]
            print(f"| {name} | {mark}{candidate.searched} {value:g}{mark} | " + " | ".join(cells) + " |")
    if "HLK" in best:
        print("\nLess HLK, each at its best:\n\n| method | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 1))
        for name, values in best.items():
            gaps = values - best["HLK"]
            errors = gaps.std(0, ddof=1) / np.sqrt(len(gaps))
            cells = [f"{gap:+.4f} ± {error:.4f}" for gap, error in zip(gaps.mean(0), errors, strict=True)]
            print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

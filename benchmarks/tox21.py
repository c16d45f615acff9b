"""Tox21: twelve assays by cfMGML and by fingerprints, in 5 random folds and in 5 folds that share no scaffold.

    python benchmarks/tox21.py rf logistic cfmgml ...    # measures what is not yet among the rows
    python benchmarks/tox21.py --table                   # writes docs/results/molecules.md

A row is one assay of one fold. What was not measured is left out. Parameters are chosen in one inner fold of the
training molecules, made as the outer ones are, by the mean ROC-AUC over assays.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from rdkit import Chem, rdBase
from rdkit.Chem import rdFingerprintGenerator
from rdkit.Chem.Scaffolds import MurckoScaffold
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold

from cfmgml import CfMGML, MinMaxWL, WeisfeilerLehman
from cfmgml.datasets import load_tox21
from cfmgml.datasets.tox21 import ASSAYS

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "rows.jsonl"
PAGE, GROUPS = ROWS.parents[1] / "molecules.md", ROWS.parent / "functional_groups.jsonl"
SCHEMES = ("random", "scaffold")
N_FOLDS = 5


# -- data and folds --------------------------------------------------------------------------


@cache
def molecules(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # eight molecules that RDKit refuses
        return load_tox21(**options)


@cache
def scaffolds():
    """A number a molecule; one without rings is a group of its own."""
    names, numbers = molecules(single_graph=True).bag_names.tolist(), {}
    with rdBase.BlockLogs():
        found = [MurckoScaffold.MurckoScaffoldSmiles(mol=Chem.MolFromSmiles(smiles)) for smiles in names]
    pairs = zip(found, names, strict=True)
    return np.array([numbers.setdefault(scaffold or smiles, len(numbers)) for scaffold, smiles in pairs])


def folds(scheme, index, seed=0):
    """Pairs of molecule numbers, out of these."""
    if scheme == "random":
        parts = KFold(N_FOLDS, shuffle=True, random_state=seed).split(index)
    else:
        parts = GroupKFold(N_FOLDS).split(index, groups=scaffolds()[index])
    return [(index[train], index[test]) for train, test in parts]


def aucs(test, scores):
    """ROC-AUC of each assay among the molecules that were measured."""
    bags = molecules(single_graph=True)
    Y, known = bags.Y[test], bags.Y_known[test]
    return [roc_auc_score(Y[known[:, c], c], scores[known[:, c], c]) for c in range(len(ASSAYS))]


# -- methods: each gives scores of the test molecules, and what it chose ---------------------


@cache
def fingerprints():
    """ECFP4: 2,048 bits."""
    maker = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    with rdBase.BlockLogs():
        mols = [Chem.MolFromSmiles(smiles) for smiles in molecules(single_graph=True).bag_names.tolist()]
    bits = np.array([maker.GetFingerprintAsNumPy(mol) for mol in mols], dtype=np.float32)
    return sparse.csr_matrix(bits)  # a forest of 500 trees is the same, and four times as quick


def by_assay(make, train, test):
    bags, X = molecules(single_graph=True), fingerprints()
    scores = []
    for c in range(len(ASSAYS)):
        rows = train[bags.Y_known[train, c]]
        scores.append(make().fit(X[rows], bags.Y[rows, c]).predict_proba(X[test])[:, 1])
    return np.array(scores).T


def forest(scheme, train, test):
    return by_assay(lambda: RandomForestClassifier(500, random_state=0, n_jobs=1), train, test), {}


def logistic(scheme, train, test):
    def measure(C, inner_train, inner_test):
        make = lambda: LogisticRegression(C=C, max_iter=2000, class_weight="balanced")  # noqa: E731
        return by_assay(make, inner_train, inner_test)

    inner_train, inner_test = folds(scheme, train)[0]
    found = {C: np.mean(aucs(inner_test, measure(C, inner_train, inner_test))) for C in (0.01, 0.1, 1.0)}
    best = max(found, key=found.get)
    return measure(best, train, test), {"C": best}


WAYS = {  # name: how molecules become bags, kernels to choose from, other settings, alphas to choose from
    "cfmgml": ({"single_graph": True}, [MinMaxWL(3, edge_labels=True)], {}, (3e-5, 1e-5, 3e-6)),
    "cfmgml counts": (
        {"single_graph": True},
        [WeisfeilerLehman(n, tfidf=True, edge_labels=True) for n in (2, 3)],
        {},
        (1e-4, 3e-5, 1e-5),
    ),
    "cfmgml fragments": ({}, [WeisfeilerLehman(2, tfidf=True, edge_labels=True)], {"context": 0.5}, (1e-4, 1e-5)),
}


def cfmgml(name, scheme, train, test):
    options, kernels, settings, alphas = WAYS[name]
    bags = molecules(**options)
    inner_train, inner_test = folds(scheme, train)[0]
    found = {}
    for k, kernel in enumerate(kernels):
        path = CfMGML(kernel, loss="hamming", class_weight="balanced", **settings).fit_path(bags[inner_train], alphas)
        for alpha, model in zip(alphas, path, strict=True):
            found[k, alpha] = np.mean(aucs(inner_test, model.decision_function(bags[inner_test])))
    k, alpha = max(found, key=found.get)
    model = CfMGML(kernels[k], alpha=alpha, loss="hamming", class_weight="balanced", **settings).fit(bags[train])
    return model.decision_function(bags[test]), {"kernel": repr(kernels[k]), "alpha": alpha, **settings}


TITLES = {
    "rf": "random forest, ECFP4",
    "logistic": "logistic regression, ECFP4",
    "cfmgml": "cfMGML, whole molecules, MinMaxWL",
    "cfmgml counts": "cfMGML, whole molecules, WeisfeilerLehman",
    "cfmgml fragments": "cfMGML, fragments with context, WeisfeilerLehman",
}
METHODS = {"rf": forest, "logistic": logistic} | {name: partial(cfmgml, name) for name in WAYS}


# -- rows ------------------------------------------------------------------------------------


def read_rows():
    return [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []


def measure(names):
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["method"], row["scheme"], row["fold"]) for row in read_rows()}
    everything = np.arange(molecules(single_graph=True).n_bags)
    for fold, scheme, name in product(range(N_FOLDS), SCHEMES, names):  # a part of the table is a fair part
        if (name, scheme, fold) in done:
            continue
        train, test = folds(scheme, everything)[fold]
        start = time.process_time()
        scores, chosen = METHODS[name](scheme=scheme, train=train, test=test)
        seconds = round(time.process_time() - start, 1)
        found = aucs(test, scores)
        with ROWS.open("a") as file:
            for assay, value in zip(ASSAYS, found, strict=True):
                row = {"method": name, "scheme": scheme, "fold": fold, "assay": assay, "roc_auc": round(value, 4)}
                file.write(json.dumps({**row, "cpu_seconds": seconds, "chosen": chosen}) + "\n")
        print(f"{name} {scheme} {fold}: {np.mean(found):.4f} {chosen} {seconds} s", flush=True)


# -- the page --------------------------------------------------------------------------------


def table(rows):
    """A line a method and scheme: the mean over assays and folds, and over the folds that the forest has, too."""
    means = defaultdict(dict)
    for row in rows:
        means[row["method"], row["scheme"]].setdefault(row["fold"], []).append(row["roc_auc"])
    lines = ["| folds | method | folds done | mean ROC-AUC | in the folds that the forest has | forest there |"]
    lines.append("|---|---|---|---|---|---|")
    for scheme, name in product(SCHEMES, METHODS):
        by_fold = {fold: np.mean(values) for fold, values in means.get((name, scheme), {}).items()}
        forest_by_fold = {fold: np.mean(values) for fold, values in means.get(("rf", scheme), {}).items()}
        shared = sorted(by_fold.keys() & forest_by_fold.keys())
        if by_fold:
            both = [f"{np.mean([part[fold] for fold in shared]):.3f}" for part in (by_fold, forest_by_fold) if shared]
            cells = [scheme, TITLES.get(name, name), str(len(by_fold)), f"{np.mean(list(by_fold.values())):.3f}"]
            lines.append(f"| {' | '.join([*cells, *(both or ['-', '-'])])} |")
    return "\n".join(lines)


def group_table():
    rows = [json.loads(line) for line in GROUPS.read_text().splitlines()]
    lines = ["| patterns | label | molecules | fragment average precision | top atom inside |", "|---|---|---|---|---|"]
    for kind in dict.fromkeys(row["patterns"] for row in rows):
        own = [row for row in rows if row["patterns"] == kind]
        pairs = sum(row["pairs"] for row in own)
        inside = sum(row["pairs"] * row["top_atom_inside"] for row in own) / pairs
        precision = np.mean([row["fragment_ap"] for row in own])
        lines.append(f"| {kind} | **all {len(own)}** | | **{precision:.3f}** | **{inside:.3f}** |")
        for row in own:
            cells = [
                kind,
                row["label"],
                f"{row['molecules']:,}",
                f"{row['fragment_ap']:.3f}",
                f"{row['top_atom_inside']:.3f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


PAGE_TEXT = """# Molecules: Tox21 and functional groups

Made by `python benchmarks/tox21.py --table` from the rows in `tox21/`, which hold figures only. Eight of Tox21's
7,831 molecules are refused by RDKit (an aluminium with six bonds).

## Tox21

```
python benchmarks/tox21.py rf logistic cfmgml 'cfmgml fragments' 'cfmgml fragments and whole'
```

Mean ROC-AUC over twelve assays; what was not measured is left out. 5 random folds, and 5 folds of which no two have a
scaffold (Bemis and Murcko) in common. Random forest (500 trees) and logistic regression see ECFP4 (2,048 bits), an
assay at a time; cfMGML learns all assays at once. C, alpha and the kernel are chosen in one inner fold of the
training molecules. The run goes on where it stopped, fold by fold; a method may have fewer than 5 folds so far, and
the last two columns compare in the same folds only.

{tox21}

## Functional groups

```
python benchmarks/functional_groups.py
```

Labels are 20 of RDKit's `fr_*` patterns, the most frequent ones of which BRICS leaves at least 90 % whole, known of
the molecule only; a fragment has the label if all atoms of a match lie in it. Trained on four fifths of the
molecules, measured on the fragments of the rest. The top atom is the one that adds most in the fragment that decides;
it is inside if it is one of a match's atoms. "explicit" leaves out patterns that say what an atom must be next to
without matching that: `fr_aryl_methyl` matches the atom of the ring and not the methyl, `fr_Al_OH_noTert` has no
oxygen among its atoms, so that an atom of the group counts as outside.

{groups}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help=", ".join(METHODS))
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    measure(given.methods)
    if given.table:
        PAGE.write_text(PAGE_TEXT.format(tox21=table(read_rows()), groups=group_table()))


if __name__ == "__main__":
    main()

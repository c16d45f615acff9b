"""Tox21: twelve assays by cfMGML and by fingerprints, in 5 random folds and in 5 folds that share no scaffold.

    python benchmarks/tox21.py rf logistic cfmgml ...    # measures what is not yet among the rows
    python benchmarks/molecule_page.py                   # writes docs/results/molecules.md

A row is one assay of one fold. What was not measured is left out. Parameters are chosen in one inner fold of the
training molecules, made as the outer ones are, by the mean ROC-AUC over assays.
"""

import argparse
import json
import time
import warnings
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

from cfmgml import CfMGML, MinMaxWL, WeisfeilerLehman, gram_matrix
from cfmgml.datasets import load_tox21
from cfmgml.datasets.tox21 import ASSAYS
from tox21_gram import check, scores_by_alpha

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "rows.jsonl"
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


SHARE, ALPHAS = MinMaxWL(3, edge_labels=True), (3e-5, 1e-5, 3e-6)
WAYS = {  # name: how molecules become bags, kernels to choose from, other settings, alphas to choose from
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


@cache
def shares():
    """The Gram matrix of all molecules: nothing in it depends on labels, or on which molecules are trained on."""
    bags = molecules(single_graph=True)
    K = gram_matrix(SHARE, bags.graphs, dtype="float32")
    difference = check(K, bags, CfMGML(loss="hamming", class_weight="balanced"))
    print(f"scores differ from CfMGML's own by at most {difference:.1e} of the largest", flush=True)
    return K


def whole(scheme, train, test):
    """cfMGML on whole molecules, by the share of their environments that they have in common."""
    bags, model = molecules(single_graph=True), CfMGML(loss="hamming", class_weight="balanced")
    inner_train, inner_test = folds(scheme, train)[0]
    tried = scores_by_alpha(shares(), bags, inner_train, inner_test, model, ALPHAS)
    found = {alpha: np.mean(aucs(inner_test, scores)) for alpha, scores in tried.items()}
    alpha = max(found, key=found.get)
    scores = scores_by_alpha(shares(), bags, train, test, model, [alpha])[alpha]
    return scores, {"kernel": repr(SHARE), "alpha": alpha}


TITLES = {
    "rf": "random forest, ECFP4",
    "logistic": "logistic regression, ECFP4",
    "cfmgml": "cfMGML, whole molecules, MinMaxWL",
    "cfmgml counts": "cfMGML, whole molecules, WeisfeilerLehman",
    "cfmgml fragments": "cfMGML, fragments with context, WeisfeilerLehman",
}
METHODS = {"rf": forest, "logistic": logistic, "cfmgml": whole} | {name: partial(cfmgml, name) for name in WAYS}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", help=", ".join(METHODS))
    measure(parser.parse_args().methods)


if __name__ == "__main__":
    main()

"""One assay of Tox21 by QSARmil, molecules as bags of conformers, and by cfMGML on the same ones: quality and time.

    python -m venv peer && peer/bin/pip install qsarmil     # beside this environment: it brings 200 packages
    python benchmarks/qsarmil_peer.py --peer peer/bin/python # appends to docs/results/tox21/qsarmil.jsonl

As many active molecules as inactive ones, drawn at random from those of one component, of 6 to 40 heavy atoms and of
the usual elements (a metal costs QSARmil most of its descriptors); three quarters to train. QSARmil's own conformers,
descriptors and networks with its defaults; one a line. Seconds are of the CPU and include everything from SMILES on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "qsarmil.jsonl"
DESCRIPTORS = ("RDKitMORSE", "RDKitWHIM")
USUAL = {"C", "N", "O", "S", "P", "F", "Cl", "Br", "I"}
NETWORKS = ("MeanBagNetworkClassifier", "AdditiveAttentionNetworkClassifier")


# -- in QSARmil's environment ------------------------------------------------------------------


def run_peer(question):
    """Scores of the test molecules by each descriptor and network, and the seconds each took with its preparation."""
    from milearn.preprocessing import BagMinMaxScaler
    from qsarmil.modelling.lazy import CLASSIFIERS, generate_conformers
    from qsarmil.modelling.lazy import DESCRIPTORS as FACTORIES

    start = time.process_time()
    made = generate_conformers(question["train"] + question["test"], question["conformers"], num_cpu=1)
    usable = [k for k, conformers in enumerate(made) if isinstance(conformers, list)]
    preparing = time.process_time() - start
    n_train, answers = len(question["train"]), []
    train, test = [k for k in usable if k < n_train], [k for k in usable if k >= n_train]
    for descriptor in DESCRIPTORS:
        start = time.process_time()
        calculator = FACTORIES[descriptor]()
        calculator.verbose = False
        bags = dict(zip(usable, calculator.run([made[k] for k in usable]), strict=True))
        scaler = BagMinMaxScaler()
        scaler.fit([bags[k] for k in train])
        rows, asked = (scaler.transform([bags[k] for k in part]) for part in (train, test))
        describing = time.process_time() - start
        for network in NETWORKS:
            start = time.process_time()
            model = CLASSIFIERS[network](accelerator="cpu", verbose=False, random_seed=0)
            model.fit(rows, [question["y"][k] for k in train])
            scores = np.asarray(model.predict(asked), dtype=float).ravel()
            seconds = preparing + describing + time.process_time() - start
            found = dict(zip((k - n_train for k in test), scores.tolist(), strict=True))
            answers.append({"method": f"QSARmil, {descriptor}, {network}", "scores": found, "cpu_seconds": seconds})
    return answers


# -- here --------------------------------------------------------------------------------------


def is_usual(smiles):
    from rdkit import Chem

    mol = Chem.MolFromSmiles(smiles)
    elements = {atom.GetSymbol() for atom in mol.GetAtoms()}
    return "." not in smiles and 6 <= mol.GetNumAtoms() <= 40 and elements <= USUAL


def drawn(assay, n, seed):
    """SMILES and outcomes, half of them active; the first three quarters are trained on."""
    from cfmgml.datasets import load_tox21

    bags = load_tox21(single_graph=True)
    c, random = bags.label_names.tolist().index(assay), np.random.default_rng(seed)
    usual = np.array([is_usual(smiles) for smiles in bags.bag_names.tolist()])
    known = np.flatnonzero(bags.Y_known[:, c] & usual)
    halves = [random.choice(known[bags.Y[known, c] == value], n // 2, replace=False) for value in (0, 1)]
    chosen = random.permutation(np.concatenate(halves))
    return bags.bag_names[chosen].tolist(), bags.Y[chosen, c].tolist()


def ask_peer(interpreter, question):
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "question.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(question))
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [interpreter, __file__, "--question", asked, "--answer", answered]
        subprocess.run([str(part) for part in command], check=True, env=clean, cwd=folder)
        return json.loads(answered.read_text())


def run_ours(question):
    """As the peer, by molecules whole and by fragments; alpha by inner folds."""
    from cfmgml import CfMGML, MinMaxWL, WeisfeilerLehman
    from cfmgml.datasets import bags_from_molecules
    from cfmgml.model_selection import choose_alpha

    ways = {
        "cfMGML, whole, MinMaxWL": ({"single_graph": True}, CfMGML(MinMaxWL(3, edge_labels=True))),
        "cfMGML, fragments, WeisfeilerLehman": ({}, CfMGML(WeisfeilerLehman(2, edge_labels=True), context=0.5)),
    }
    n_train, answers = len(question["train"]), []
    for name, (options, model) in ways.items():
        start = time.process_time()
        Y = np.array(question["y"])[:, None]
        bags = bags_from_molecules(question["train"] + question["test"], Y, label_names=["active"], **options)
        model.set_params(loss="hamming", alpha=choose_alpha(model, bags[:n_train]).alpha).fit(bags[:n_train])
        scores = model.decision_function(bags[n_train:])[:, 0]
        found = {str(k): float(score) for k, score in enumerate(scores)}
        answers.append({"method": name, "scores": found, "cpu_seconds": time.process_time() - start})
    return answers


def compare(given):
    from sklearn.metrics import roc_auc_score

    smiles, y = drawn(given.assay, given.n, given.seed)
    n_train = 3 * len(smiles) // 4
    question = {"train": smiles[:n_train], "test": smiles[n_train:], "y": y, "conformers": given.conformers}
    answers = ask_peer(given.peer, question) + run_ours(question)
    shared = sorted(set.intersection(*({int(k) for k in answer["scores"]} for answer in answers)))
    told = {"assay": given.assay, "train": n_train, "test": len(shared), "conformers": given.conformers}
    with ROWS.open("a") as file:
        for answer in answers:
            auc = roc_auc_score([y[n_train + k] for k in shared], [answer["scores"][str(k)] for k in shared])
            row = {"method": answer["method"], "seed": given.seed, **told, "roc_auc": round(auc, 4)}
            row["cpu_seconds"] = round(answer["cpu_seconds"], 1)
            file.write(json.dumps(row) + "\n")
            print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="Python of the environment that has qsarmil")
    parser.add_argument("--assay", default="NR-AhR")
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--conformers", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--question", type=Path, help=argparse.SUPPRESS)  # as `ask_peer` calls it
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.question:
        given.answer.write_text(json.dumps(run_peer(json.loads(given.question.read_text()))))
    elif given.peer:
        compare(given)
    else:
        sys.exit("--peer names the Python of an environment that has qsarmil.")


if __name__ == "__main__":
    main()

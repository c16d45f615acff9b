"""Functional groups that only molecules are labelled with: are the right fragments and the right atoms named?

    python benchmarks/functional_groups.py               # appends to docs/results/tox21/functional_groups.jsonl

Tox21's molecules as bags of BRICS fragments; labels are 20 of RDKit's ``fr_*`` patterns, the most frequent ones of
which BRICS leaves at least 90 % whole. A fragment has a label if all atoms of a match lie in it; a molecule whose only
matches are cut is unknown for it. Four fifths of the molecules are trained on, without any label of a fragment.

Twice: of RDKit's functional groups ("groups"), and with the patterns too that its file lists under "Topliss Metabolism"
("all"): sites where a molecule is metabolised, matched as one atom that is next to something. fr_aryl_methyl matches
the ring's atom and not the methyl, fr_Al_OH_noTert no oxygen, so that the group itself is outside of the match.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from rdkit import Chem, RDConfig, rdBase
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.common.segments import segment_ids
from cfmgml.datasets import load_tox21

ROWS = Path(__file__).resolve().parents[1] / "docs" / "results" / "tox21" / "functional_groups.jsonl"
N_LABELS, WHOLE, LEAST = 20, 0.9, 100
ALPHAS = (1e-4, 1e-5)
KERNELS = {n: WeisfeilerLehman(n, edge_labels=True) for n in (1, 2, 3)}
SITES = "Topliss Metabolism"


def patterns():
    """SMARTS by name, and the heading of RDKit's file that each stands under."""
    smarts, headings, heading = {}, {}, ""
    for line in (Path(RDConfig.RDDataDir) / "FragmentDescriptors.csv").read_text().splitlines():
        if line.startswith("# "):
            heading = line[2:].strip()
        elif line.startswith("fr_"):
            name, _, pattern = line.split("\t")[:3]
            smarts[name], headings[name] = pattern.strip(), heading
    return smarts, headings


def atoms_of(bags):
    """The numbers of each node's atom in its molecule."""
    return np.array([int(name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*")) for name in
                     bags.graphs.node_names.tolist()])  # fmt: skip


def truth(bags):
    """Y with NaN, the fragments' own labels, and which atoms (nodes) lie in a match, for each pattern."""
    known, headings = patterns()
    atoms, fragment = atoms_of(bags), segment_ids(bags.graphs.node_ptr)
    first = bags.graphs.node_ptr[bags.bag_ptr]
    Y = np.zeros((bags.n_bags, len(known)))
    graph_Y = np.zeros((bags.n_graphs, len(known)), dtype=bool)
    inside = np.zeros((bags.graphs.n_nodes, len(known)), dtype=bool)
    with rdBase.BlockLogs():
        found = [Chem.MolFromSmarts(smarts) for smarts in known.values()]
        for bag, smiles in enumerate(bags.bag_names.tolist()):
            mol, nodes = Chem.MolFromSmiles(smiles), np.arange(first[bag], first[bag + 1])
            node_of = dict(zip(atoms[nodes].tolist(), nodes.tolist(), strict=True))
            for c, pattern in enumerate(found):
                matches = [[node_of[atom] for atom in match] for match in mol.GetSubstructMatches(pattern)]
                whole = [match for match in matches if len(set(fragment[match].tolist())) == 1]
                Y[bag, c] = 1.0 if whole else np.nan if matches else 0.0
                for match in whole:
                    graph_Y[fragment[match[0]], c] = True
                    inside[match, c] = True
    return headings, Y, graph_Y, inside


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    warnings.simplefilter("ignore")
    bags = load_tox21()
    headings, Y, graph_Y, inside = truth(bags)
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    n_whole, n_cut = np.nansum(Y, axis=0), np.isnan(Y).sum(axis=0)
    usable = (n_whole >= LEAST) & (n_whole >= WHOLE * (n_whole + n_cut))
    is_group = np.array([heading != SITES for heading in headings.values()])
    with ROWS.open("w") as file:
        for kind, mask in {"groups": usable & is_group, "all": usable}.items():
            some = np.flatnonzero(mask)
            chosen = some[np.argsort(-n_whole[some], kind="stable")[:N_LABELS]]
            rows = measure(bags, (Y[:, chosen], graph_Y[:, chosen], inside[:, chosen]))
            for c, row in zip(chosen, rows, strict=True):
                told = {"patterns": kind, "label": list(headings)[c], "molecules": int(n_whole[c])}
                file.write(json.dumps({**told, "cut": int(n_cut[c]), **row}) + "\n")
            show(kind, rows)


def measure(bags, truths):
    Y = truths[0]
    train, test = next(KFold(5, shuffle=True, random_state=0).split(np.arange(bags.n_bags)))
    fit, check = next(KFold(5, shuffle=True, random_state=0).split(train))
    start = time.process_time()
    found = {}
    for n_iter, kernel in KERNELS.items():  # chosen by what is known of bags, inside the training molecules
        for alpha in ALPHAS:
            model = learn(kernel, alpha, bags, Y, train[fit])
            found[n_iter, alpha] = bag_quality(Y[train[check]], model.decision_function(bags[train[check]]))
    n_iter, alpha = max(found, key=found.get)
    rows = results(learn(KERNELS[n_iter], alpha, bags, Y, train), bags, truths, test)
    told = {"n_iter": n_iter, "alpha": alpha, "cpu_seconds": round(time.process_time() - start, 1)}
    return [{**row, **told} for row in rows]


def show(kind, rows):
    pairs = sum(row["pairs"] for row in rows)
    inside = sum(row["top_atom_inside"] * row["pairs"] for row in rows) / pairs
    precision = np.mean([row["fragment_ap"] for row in rows])
    print(f"{kind}: fragment average precision {precision:.4f}, top atom inside {inside:.4f} of {pairs} pairs")


def learn(kernel, alpha, bags, Y, rows):
    return CfMGML(kernel, alpha=alpha, loss="hamming").fit(bags[rows], Y[rows])


def bag_quality(Y, scores):
    columns = [(Y[:, c], scores[:, c], ~np.isnan(Y[:, c])) for c in range(Y.shape[1])]
    return np.mean([average_precision_score(y[known], s[known]) for y, s, known in columns if y[known].any()])


def results(model, bags, known, test):
    """A row a label: average precision over fragments, and how often the atom that adds most lies in the group."""
    Y, graph_Y, inside = known
    tested = bags[test]
    graphs = np.concatenate([np.arange(*bags.bag_ptr[bag : bag + 2]) for bag in test])
    nodes = np.concatenate([np.arange(*bags.graphs.node_ptr[g : g + 2]) for g in graphs])
    scores, added = model.decision_function_graphs(tested), model.explain(tested)
    graph_Y, inside, bag_of = graph_Y[graphs], inside[nodes], tested.bag_ids
    rows = []
    for c in range(Y.shape[1]):
        sure = ~np.isnan(Y[test, c])
        kept = sure[bag_of]
        hits = []
        for bag in np.flatnonzero(Y[test, c] == 1):
            own = np.arange(*tested.bag_ptr[bag : bag + 2])
            best = own[scores[own, c].argmax()]
            of_best = np.arange(*tested.graphs.node_ptr[best : best + 2])
            hits.append(inside[of_best[added[of_best, c].argmax()], c])
        ap = average_precision_score(graph_Y[kept, c], scores[kept, c])
        rows.append(
            {"fragment_ap": round(ap, 4), "top_atom_inside": round(float(np.mean(hits)), 4), "pairs": len(hits)}
        )
    return rows


if __name__ == "__main__":
    main()

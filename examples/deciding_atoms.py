"""Atoms that decide: what each atom adds to a label's score, as numbers and as a drawing.

python examples/deciding_atoms.py atoms.png
"""

import sys

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures
from cfmgml.plots import plot_bag

model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(load_mixtures())

smiles = "NCCc1ccc(O)c(O)c1"  # dopamine
bag = model.builder_.rebuild([smiles])
added = model.explain(bag)  # (n_atoms, n_labels); with the intercept they add up to the fragments' scores
for label in ("phenol", "amine", "acid"):
    column = added[:, model.label_names_.tolist().index(label)]
    best = column.argsort()[:-4:-1]
    print(f"{label:8}", ", ".join(f"{bag.graphs.node_names[atom]} {column[atom]:+.2f}" for atom in best))

if len(sys.argv) > 1:
    from dataclasses import replace

    named = replace(bag, label_names=model.label_names_)
    scores = model.decision_function_graphs(bag)
    plot_bag(named, scores=scores, contributions=added, label="phenol").figure.savefig(sys.argv[1])
    print(f"drawn: {sys.argv[1]}")

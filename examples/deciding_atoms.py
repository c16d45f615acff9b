"""
Atoms that decide
=================

What each atom adds to a label's score, as numbers and as a drawing. The model was told what mixtures contain, never
which molecule is what, let alone which atom.

    python examples/deciding_atoms.py atoms.png
"""

import sys
from dataclasses import replace

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures
from cfmgml.plots import plot_bag

model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(load_mixtures())

# %%
# Dopamine, cut into fragments as the training data were. What the atoms add, and the intercept, add up to the
# fragments' scores.

smiles = "NCCc1ccc(O)c(O)c1"
bag = model.builder_.rebuild([smiles])
added = model.explain(bag)  # (n_atoms, n_labels)
for label in ("phenol", "amine", "acid"):
    column = added[:, model.label_names_.tolist().index(label)]
    best = column.argsort()[:-4:-1]
    print(f"{label:8}", ", ".join(f"{bag.graphs.node_names[atom]} {column[atom]:+.2f}" for atom in best))

# %%
# The same as a picture: atoms that speak for phenol.

named = replace(bag, label_names=model.label_names_)
axes = plot_bag(named, scores=model.decision_function_graphs(bag), contributions=added, label="phenol")

if len(sys.argv) > 1:
    axes.figure.savefig(sys.argv[1])
    print(f"drawn: {sys.argv[1]}")

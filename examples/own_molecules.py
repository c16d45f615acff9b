"""
Your own SMILES
===============

A few molecules with labels, a model, and predictions for new ones. Put your molecules in place of these; where
something was not measured, write None.

    python examples/own_molecules.py
"""

from dataclasses import replace

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import bags_from_molecules
from cfmgml.plots import plot_bag

known = {  # SMILES: is it an acid, does it smell of vinegar or worse
    "CC(=O)O": [1, 1],
    "CCC(=O)O": [1, 1],
    "CCCC(=O)O": [1, 1],
    "OC(=O)c1ccccc1": [1, 0],
    "OC(=O)CCCCCCCCC(=O)O": [1, None],
    "CCO": [0, 0],
    "CCCCO": [0, None],
    "c1ccccc1": [0, 0],
    "CC(=O)OCC": [0, 0],
    "CCOCC": [0, 0],
    "CC(N)=O": [0, 0],
    "C1CC": [0, 0],  # a typing error: it is skipped, with a warning, and the rest is used
}
bags = bags_from_molecules(list(known), list(known.values()), label_names=["acid", "vinegar"])
print(bags)
print("skipped:", dict(bags.info["skipped"]))

# %%
# Learn, and predict for molecules built as the training data were.

model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-2, class_weight="balanced").fit(bags)
new = model.builder_.rebuild(["CCCCC(=O)O", "CCCCCO", "OC(=O)c1ccccc1C"])
for name, labels in zip(new.bag_names, model.predict(new), strict=True):
    print(f"{name:20} {', '.join(model.label_names_[labels]) or 'none'}")

# %%
# The first of them, and the atoms that make it an acid.

named = replace(new, label_names=model.label_names_)
plot_bag(named, scores=model.decision_function_graphs(new), contributions=model.explain(new), label="acid")

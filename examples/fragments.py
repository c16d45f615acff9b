"""
Which fragment speaks for a label
=================================

A label is known of the molecule, and the model says which of its fragments speaks for it.

    python examples/fragments.py
"""

from dataclasses import replace

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import bags_from_molecules
from cfmgml.datasets.mixtures import MOLECULES
from cfmgml.plots import plot_bag

smiles = [smiles for smiles, _ in MOLECULES.values()]
groups = [groups.split() for _, groups in MOLECULES.values()]
bags = bags_from_molecules(smiles, groups, fragments="rings")  # ring systems and chains; "brics" by default
model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(bags)

# %%
# Three drugs that it has not seen, fragment by fragment.

drugs = {"aspirin": "CC(=O)Oc1ccccc1C(=O)O", "paracetamol": "CC(=O)Nc1ccc(O)cc1", "chloramphenicol":
         "OCC(NC(=O)C(Cl)Cl)C(O)c1ccc(cc1)[N+](=O)[O-]"}  # fmt: skip
new = model.builder_.rebuild(list(drugs.values()), names=list(drugs))
scores = model.decision_function_graphs(new)
for bag, name in enumerate(drugs):
    print(name)
    for number in range(*new.bag_ptr[bag : bag + 2]):
        atoms = " ".join(new.graphs[number].node_names)
        found = ", ".join(f"{model.label_names_[c]} {scores[number, c]:+.2f}" for c in scores[number].argsort()[:-3:-1])
        print(f"  {found:40} {atoms}")

# %%
# Chloramphenicol, its fragments outlined and named.

plot_bag(replace(new, label_names=model.label_names_), 2, scores=scores, smiles=drugs["chloramphenicol"])

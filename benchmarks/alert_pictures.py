"""What a model of one Tox21 assay marks, beside the structural alerts of RDKit's FilterCatalog, as a picture.

    python benchmarks/alert_pictures.py alerts.png --assay NR-AhR

On the left atoms by what they add (red for the assay, blue against it), fragments outlined; on the right the alerts of
Brenk and PAINS in the same molecule. Test molecules only: the active ones of a fifth that score highest. The picture
shows Tox21's molecules: it is not kept in this repository.
"""

import argparse
import warnings
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem
from rdkit.Chem import Draw
from rdkit.Chem.FilterCatalog import FilterCatalog, FilterCatalogParams
from sklearn.model_selection import KFold

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_tox21
from cfmgml.plots import plot_bag

N_SHOWN = 6


@cache
def catalogue():
    options = FilterCatalogParams()
    for which in (FilterCatalogParams.FilterCatalogs.BRENK, FilterCatalogParams.FilterCatalogs.PAINS):
        options.AddCatalog(which)
    return FilterCatalog(options)


def alerts_of(mol):
    """Names of the alerts, and the atoms of all of them."""
    found = catalogue().GetMatches(mol)
    atoms = {pair[1] for entry in found for match in entry.GetFilterMatches(mol) for pair in match.atomPairs}
    return [entry.GetDescription() for entry in found], sorted(atoms)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("--assay", default="NR-AhR")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    bags = load_tox21()
    label = bags.label_names.tolist().index(given.assay)
    train, test = next(KFold(5, shuffle=True, random_state=0).split(np.arange(bags.n_bags)))
    kernel = WeisfeilerLehman(2, tfidf=True, edge_labels=True)
    model = CfMGML(kernel, alpha=1e-4, loss="hamming", class_weight="balanced").fit(bags[train])
    of_bags = model.decision_function(bags[test])[:, label]
    active = np.flatnonzero(bags.Y[test, label])
    shown = bags[test[active[np.argsort(-of_bags[active])[:N_SHOWN]]]]
    scores, added = model.decision_function_graphs(shown), model.explain(shown)
    figure, axes = plt.subplots(N_SHOWN, 2, figsize=(11, 3.6 * N_SHOWN))
    n_atoms = n_fragments = 0
    for bag, (left, right) in enumerate(axes):
        plot_bag(shown, bag, scores=scores, contributions=added, label=label, ax=left)
        mol = Chem.MolFromSmiles(str(shown.bag_names[bag]))
        names, atoms = alerts_of(mol)
        right.imshow(Draw.MolToImage(mol, size=(720, 460), highlightAtoms=atoms))
        right.set_axis_off()
        right.set_title(f"alerts: {', '.join(names) or 'none'}", loc="left", fontsize=10)
        graphs = np.arange(*shown.bag_ptr[bag : bag + 2])
        best = graphs[scores[graphs, label].argmax()]
        nodes = np.arange(*shown.graphs.node_ptr[best : best + 2])
        numbers = [int("".join(filter(str.isdigit, name))) for name in shown.graphs.node_names[nodes].tolist()]
        n_atoms += numbers[added[nodes, label].argmax()] in atoms
        n_fragments += not set(numbers).isdisjoint(atoms)
    figure.tight_layout()
    figure.savefig(given.picture, dpi=80)
    told = f"the fragment that decides has atoms of an alert in {n_fragments} of {N_SHOWN} molecules"
    print(f"Wrote {given.picture}; {told}, and the atom that adds most is one in {n_atoms}.")


if __name__ == "__main__":
    main()

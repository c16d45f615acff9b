"""Mixtures of molecules, written down here by hand: a bag is a mixture, a graph a molecule, a label a functional group.

Every molecule and its groups are known, so what a model says of the molecules of a mixture can be held against the
truth, though it learns from mixtures only.
"""

from dataclasses import replace

import numpy as np

from cfmgml.builders.molecules.molecules import bags_from_molecules
from cfmgml.common.segments import segment_max
from cfmgml.data.bags import BagDataset

GROUPS = ("acid", "alcohol", "amine", "chloride", "nitrile", "nitro", "phenol")
MOLECULES = {  # name: SMILES, and the groups in it
    "acetic acid": ("CC(=O)O", "acid"),
    "propionic acid": ("CCC(=O)O", "acid"),
    "hexanoic acid": ("CCCCCC(=O)O", "acid"),
    "benzoic acid": ("OC(=O)c1ccccc1", "acid"),
    "phenylacetic acid": ("OC(=O)Cc1ccccc1", "acid"),
    "cinnamic acid": ("OC(=O)C=Cc1ccccc1", "acid"),
    "adipic acid": ("OC(=O)CCCCC(=O)O", "acid"),
    "nicotinic acid": ("OC(=O)c1cccnc1", "acid"),
    "ibuprofen": ("CC(C)Cc1ccc(cc1)C(C)C(=O)O", "acid"),
    "lactic acid": ("CC(O)C(=O)O", "acid alcohol"),
    "mandelic acid": ("OC(C(=O)O)c1ccccc1", "acid alcohol"),
    "salicylic acid": ("OC(=O)c1ccccc1O", "acid phenol"),
    "glycine": ("NCC(=O)O", "acid amine"),
    "alanine": ("CC(N)C(=O)O", "acid amine"),
    "4-aminobenzoic acid": ("Nc1ccc(cc1)C(=O)O", "acid amine"),
    "chloroacetic acid": ("OC(=O)CCl", "acid chloride"),
    "4-nitrobenzoic acid": ("OC(=O)c1ccc(cc1)[N+](=O)[O-]", "acid nitro"),
    "ethanol": ("CCO", "alcohol"),
    "2-propanol": ("CC(C)O", "alcohol"),
    "1-octanol": ("CCCCCCCCO", "alcohol"),
    "cyclohexanol": ("OC1CCCCC1", "alcohol"),
    "benzyl alcohol": ("OCc1ccccc1", "alcohol"),
    "ethylene glycol": ("OCCO", "alcohol"),
    "glycerol": ("OCC(O)CO", "alcohol"),
    "tert-butanol": ("CC(C)(C)O", "alcohol"),
    "menthol": ("CC1CCC(C(C)C)C(O)C1", "alcohol"),
    "ethanolamine": ("NCCO", "alcohol amine"),
    "2-chloroethanol": ("OCCCl", "alcohol chloride"),
    "lactonitrile": ("CC(O)C#N", "alcohol nitrile"),
    "2-nitroethanol": ("OCC[N+](=O)[O-]", "alcohol nitro"),
    "tyrosol": ("OCCc1ccc(O)cc1", "alcohol phenol"),
    "methylamine": ("CN", "amine"),
    "diethylamine": ("CCNCC", "amine"),
    "triethylamine": ("CCN(CC)CC", "amine"),
    "aniline": ("Nc1ccccc1", "amine"),
    "benzylamine": ("NCc1ccccc1", "amine"),
    "piperidine": ("C1CCNCC1", "amine"),
    "cyclohexylamine": ("NC1CCCCC1", "amine"),
    "N,N-dimethylaniline": ("CN(C)c1ccccc1", "amine"),
    "amphetamine": ("CC(N)Cc1ccccc1", "amine"),
    "tyramine": ("NCCc1ccc(O)cc1", "amine phenol"),
    "4-chloroaniline": ("Nc1ccc(Cl)cc1", "amine chloride"),
    "4-nitroaniline": ("Nc1ccc(cc1)[N+](=O)[O-]", "amine nitro"),
    "aminoacetonitrile": ("NCC#N", "amine nitrile"),
    "chloroform": ("ClC(Cl)Cl", "chloride"),
    "chlorobenzene": ("Clc1ccccc1", "chloride"),
    "1-chlorobutane": ("CCCCCl", "chloride"),
    "benzyl chloride": ("ClCc1ccccc1", "chloride"),
    "vinyl chloride": ("C=CCl", "chloride"),
    "dichloromethane": ("ClCCl", "chloride"),
    "chlorocyclohexane": ("ClC1CCCCC1", "chloride"),
    "1,4-dichlorobenzene": ("Clc1ccc(Cl)cc1", "chloride"),
    "4-chlorophenol": ("Oc1ccc(Cl)cc1", "chloride phenol"),
    "1-chloro-4-nitrobenzene": ("Clc1ccc(cc1)[N+](=O)[O-]", "chloride nitro"),
    "chloroacetonitrile": ("ClCC#N", "chloride nitrile"),
    "acetonitrile": ("CC#N", "nitrile"),
    "acrylonitrile": ("C=CC#N", "nitrile"),
    "benzonitrile": ("N#Cc1ccccc1", "nitrile"),
    "butyronitrile": ("CCCC#N", "nitrile"),
    "adiponitrile": ("N#CCCCCC#N", "nitrile"),
    "phenylacetonitrile": ("N#CCc1ccccc1", "nitrile"),
    "4-hydroxybenzonitrile": ("Oc1ccc(cc1)C#N", "nitrile phenol"),
    "4-nitrobenzonitrile": ("N#Cc1ccc(cc1)[N+](=O)[O-]", "nitrile nitro"),
    "nitromethane": ("C[N+](=O)[O-]", "nitro"),
    "nitrobenzene": ("[O-][N+](=O)c1ccccc1", "nitro"),
    "2-nitropropane": ("CC(C)[N+](=O)[O-]", "nitro"),
    "2-nitrotoluene": ("Cc1ccccc1[N+](=O)[O-]", "nitro"),
    "trinitrotoluene": ("Cc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-]", "nitro"),
    "1-nitronaphthalene": ("[O-][N+](=O)c1cccc2ccccc12", "nitro"),
    "4-nitrophenol": ("Oc1ccc(cc1)[N+](=O)[O-]", "nitro phenol"),
    "phenol": ("Oc1ccccc1", "phenol"),
    "4-cresol": ("Cc1ccc(O)cc1", "phenol"),
    "2-naphthol": ("Oc1ccc2ccccc2c1", "phenol"),
    "resorcinol": ("Oc1cccc(O)c1", "phenol"),
    "thymol": ("Cc1ccc(C(C)C)c(O)c1", "phenol"),
    "guaiacol": ("COc1ccccc1O", "phenol"),
    "eugenol": ("COc1cc(CC=C)ccc1O", "phenol"),
    "vanillin": ("COc1cc(C=O)ccc1O", "phenol"),
    "hexane": ("CCCCCC", ""),
    "cyclohexane": ("C1CCCCC1", ""),
    "benzene": ("c1ccccc1", ""),
    "toluene": ("Cc1ccccc1", ""),
    "naphthalene": ("c1ccc2ccccc2c1", ""),
    "anisole": ("COc1ccccc1", ""),
    "diethyl ether": ("CCOCC", ""),
    "acetone": ("CC(C)=O", ""),
    "ethyl acetate": ("CCOC(C)=O", ""),
    "acetamide": ("CC(N)=O", ""),
    "benzaldehyde": ("O=Cc1ccccc1", ""),
    "pyridine": ("c1ccncc1", ""),
    "thiophene": ("c1ccsc1", ""),
    "dimethyl sulfoxide": ("CS(C)=O", ""),
    "camphor": ("CC1(C)C2CCC1(C)C(=O)C2", ""),
    "limonene": ("CC1=CCC(CC1)C(C)=C", ""),
    "styrene": ("C=Cc1ccccc1", ""),
    "furan": ("c1ccoc1", ""),
}  # fmt: skip
SUBSETS = {"train": [0, 1], "test": [2]}  # every third molecule is for tests
INFO = {
    "name": "Mixtures",
    "description": "Mixtures of molecules (bags); functional groups are known of the mixture, and of each molecule.",
    "source": "Written by hand for this package.",
}


def load_mixtures(
    subset: str = "train", n_bags: int = 200, n_molecules: int = 3, random_state: int = 0, **options: object
) -> BagDataset:
    """Mixtures of some of 96 common molecules, with seven functional groups as labels.

    Parameters
    ----------
    subset
        ``"train"`` or ``"test"``; no molecule is in both.
    n_bags, n_molecules
        How many mixtures, and of how many different molecules each.
    random_state
        Which molecules come together.
    **options
        Of how graphs are made, for `bags_from_molecules`: ``atoms``, ``bonds``, ``gasteiger``, ``single_graph``.

    Returns
    -------
    Bags with ``graph_Y``, the groups of every molecule; graphs are named by molecule, so that one that is in several
    mixtures is known again.

    Examples
    --------
    >>> mixtures = load_mixtures(n_bags=3)
    >>> mixtures
    BagDataset(3 bags, 9 graphs, 7 labels; 1.67 labels a bag, graph labels)
    >>> mixtures.graph_names[:3].tolist()
    ['phenylacetonitrile', 'vinyl chloride', 'hexane']
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset must be one of {tuple(SUBSETS)}, got {subset!r}.")
    rng, names = np.random.default_rng(random_state), np.array(list(MOLECULES))
    names = names[np.isin(np.arange(len(names)) % 3, SUBSETS[subset])]
    if n_bags < 1 or not 1 <= n_molecules <= len(names):
        raise ValueError(f"there are mixtures of 1 to {len(names)} molecules, got {n_bags} of {n_molecules}.")
    drawn = [names[rng.choice(len(names), n_molecules, replace=False)].tolist() for _ in range(n_bags)]
    truth = np.array([[group in MOLECULES[name][1].split() for group in GROUPS] for bag in drawn for name in bag])
    Y = segment_max(truth.astype(float), np.arange(0, len(truth) + 1, n_molecules))
    smiles = [[MOLECULES[name][0] for name in bag] for bag in drawn]
    bags = bags_from_molecules(smiles, Y, label_names=GROUPS, **options)  # type: ignore[arg-type]
    told = {**INFO, **{key: value for key, value in bags.info.items() if key not in INFO}}
    if bags.n_graphs == bags.n_bags < len(truth):  # joined
        return replace(bags, info=told)
    return replace(bags, graph_Y=truth, graph_names=np.array([name for bag in drawn for name in bag]), info=told)

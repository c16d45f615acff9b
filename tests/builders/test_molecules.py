"""Molecules as bags: fragments, atoms and bonds, and what becomes of molecules that are unlike others."""

import numpy as np
import pytest

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.builders.molecules.builder import MoleculeBuilder
from cfmgml.builders.molecules.cutting import WAYS, fragments_of
from cfmgml.datasets import bags_from_molecules
from needs import needs

needs("rdkit")
from rdkit import Chem  # noqa: E402

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
SOME = [
    ASPIRIN,
    "CCN(CC)CCNC(=O)c1ccc(N)cc1",
    "O=C(Nc1ccccc1)C1CCCCC1",
    "CC1=C(C)C(=O)c2ccccc2C1=O",
    "C=C1CCC(CC1)C=C(C)C",
    "CCCCCC",
    "C1CCC2(CC1)OCCO2",
    "[Na+].[O-]C(=O)CC(c1ccccc1)c1ccncc1",
    "c1ccc(cc1)-c1ccccc1",
]


def pieces(smiles, way):
    mol = Chem.MolFromSmiles(smiles)
    return mol, WAYS[way](mol)


def names(bags):
    return [graph.node_names.tolist() for graph in bags.graphs]


# -- cutting ---------------------------------------------------------------------------------


@pytest.mark.parametrize("smiles", SOME)
def test_brics_cuts_the_bonds_that_rdkit_names(smiles):
    from rdkit.Chem import BRICS

    mol = Chem.MolFromSmiles(smiles)
    bonds = {mol.GetBondBetweenAtoms(*pair).GetIdx() for pair, _ in BRICS.FindBRICSBonds(mol)}
    assert WAYS["brics"](mol) == fragments_of(mol, bonds)


@pytest.mark.parametrize("smiles", SOME)
def test_a_scaffold_is_the_one_that_rdkit_finds(smiles):
    from rdkit.Chem.Scaffolds import MurckoScaffold

    mol, parts = pieces(smiles, "murcko")
    scaffold = MurckoScaffold.GetScaffoldForMol(mol)
    with_rings = [part for part in parts if any(mol.GetAtomWithIdx(atom).IsInRing() for atom in part)]
    assert [len(part) for part in with_rings] == ([scaffold.GetNumAtoms()] if scaffold.GetNumAtoms() else [])


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("rings", [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9], [10, 11, 12]]),
        ("murcko", [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9], [10, 11, 12]]),
        ("brics", [[0, 1, 2], [3], [4, 5, 6, 7, 8, 9], [10, 11, 12]]),
        ("components", [list(range(13))]),
    ],
)
def test_aspirin_is_cut(way, expected):
    assert pieces(ASPIRIN, way)[1] == expected
    bags = bags_from_molecules([ASPIRIN], fragments=way)
    assert [[int(name.lstrip("CO")) for name in graph] for graph in names(bags)] == expected


def test_components_are_what_dots_are_between():
    bags = bags_from_molecules(["CCO.c1ccccc1.[Na+]"], fragments="components")
    assert np.diff(bags.graphs.node_ptr).tolist() == [3, 6, 1]


def test_a_whole_molecule_beside_its_fragments_and_instead_of_them():
    both = bags_from_molecules([ASPIRIN, "CC"], whole=True)
    assert np.diff(both.bag_ptr).tolist() == [5, 1], "what is not cut is not there twice"
    assert both.graphs[4].n_nodes == 13
    assert bags_from_molecules([ASPIRIN], single_graph=True).graphs.n_edges == 13


def test_a_list_is_a_mixture_of_whole_molecules():
    bags = bags_from_molecules([[ASPIRIN, "CCO"]])
    assert np.diff(bags.graphs.node_ptr).tolist() == [13, 3]
    joined = bags_from_molecules([[ASPIRIN, "CCO"]], single_graph=True)
    assert joined.graphs.node_names.tolist()[-3:] == ["C13", "C14", "O15"]
    both = bags_from_molecules([[ASPIRIN, "CCO"], f"{ASPIRIN}.CCO"], single_graph=True)
    assert both.info["n_duplicates"] == 1


# -- atoms and bonds -------------------------------------------------------------------------


def test_nodes_know_what_is_asked_of_their_atoms():
    atoms = ("element", "charge")
    plain, charged = bags_from_molecules([["CO", "C[O-]"]], atoms=atoms).graphs
    assert plain.node_labels[0] == charged.node_labels[0]
    assert plain.node_labels[1] != charged.node_labels[1]
    first = bags_from_molecules([["CO", "C[O-]"]], atoms=["element"]).graphs
    assert np.array_equal(first[0].node_labels, first[1].node_labels)
    with pytest.raises(ValueError, match="atoms must name one or more of element, degree, .*, got 'mass'"):
        MoleculeBuilder(atoms=("mass",))
    with pytest.raises(ValueError, match="got none"):
        MoleculeBuilder(atoms=())


def test_a_molecule_is_the_same_however_it_is_written():
    mol = Chem.MolFromSmiles("CC(=O)Nc1ccc(O)cc1C#N")
    written = [Chem.MolToSmiles(mol, doRandom=True) for _ in range(20)]
    bags = bags_from_molecules([*written, mol, Chem.MolToMolBlock(mol)], names=[str(k) for k in range(22)])
    kernel = WeisfeilerLehman(4, edge_labels=True)
    K = kernel.block(bags.graphs, bags.graphs)
    for k in range(1, 22):  # fragments in another order
        own = np.arange(*bags.bag_ptr[k : k + 2])
        assert np.array_equal(np.sort(np.diag(K)[own]), np.sort(np.diag(K)[np.arange(bags.bag_ptr[1])]))
    assert bags.info["n_duplicates"] == 21


def test_bonds_are_edge_labels():
    bags = bags_from_molecules(["CC=CC#CC", "c1ccccc1"], fragments="components")
    assert bags.graphs[0].edge_labels.tolist() == [1, 2, 1, 3, 1]
    assert set(bags.graphs[1].edge_labels.tolist()) == {12}
    assert bags_from_molecules(["CC"], bonds=False).graphs.edge_labels is None


def test_isotopes_and_stereo_count_if_they_are_asked_for():
    pairs = {"isotope": ("CC", "[13CH3]C"), "stereo": ("C[C@H](N)O", "C[C@@H](N)O")}
    for name, pair in pairs.items():
        same = bags_from_molecules(pair, fragments="components")
        told = bags_from_molecules(pair, fragments="components", atoms=["element", name])
        assert same.info["n_duplicates"] == 1, name
        assert told.info["n_duplicates"] == 0, name
    cis, trans = bags_from_molecules([["F/C=C\\F", "F/C=C/F"]], atoms=["element", "stereo"]).graphs
    assert cis.edge_labels[1] != trans.edge_labels[1]
    hydrogens = bags_from_molecules(["[H]C([H])([H])O", "CO", "[2H]C"], fragments="components")
    assert hydrogens.info["duplicates"] == [[2, 1]]
    assert hydrogens.graphs[2].n_nodes == 2, "deuterium is an atom"


def test_salts_are_fragments_or_left_out():
    salt = "[Na+].[Cl-].OC(=O)CCc1ccccc1"
    kept = bags_from_molecules([salt], fragments="components")
    assert names(kept)[0] == ["Na0"]
    assert kept.n_graphs == 3
    for options in ({}, {"single_graph": True}, {"whole": True}):
        dropped = bags_from_molecules([salt], drop_salts=True, **options)
        plain = bags_from_molecules(["OC(=O)CCc1ccccc1"], **options)
        assert np.array_equal(dropped.graphs.node_labels, plain.graphs.node_labels)
        assert names(dropped)[0][0] == "O2", "atoms keep their numbers"


def test_attributes():
    charged = bags_from_molecules([ASPIRIN, "[Fe]"], gasteiger=True)
    assert charged.graphs.n_attributes == 1
    assert charged.graphs.node_attributes.min() < -0.2
    bags = bags_from_molecules(["CCCO"], conformers=3, gasteiger=True)
    assert bags.n_graphs == 3
    assert bags.graphs.n_attributes == 4
    again = bags_from_molecules(["CCCO"], conformers=3, gasteiger=True)
    assert bags.fingerprint() == again.fingerprint()


def test_a_molecule_keeps_conformers_that_it_brings():
    from rdkit.Chem import rdDistGeom

    mol = Chem.AddHs(Chem.MolFromSmiles("CCCO"))
    rdDistGeom.EmbedMultipleConfs(mol, 2, randomSeed=1)
    bags = bags_from_molecules([mol], conformers=7)
    assert bags.n_graphs == 2
    ours = bags.graphs[1].node_attributes
    theirs = Chem.RemoveHs(mol).GetConformer(1).GetPositions()
    gaps = [np.linalg.norm(places[0] - places[3]) for places in (ours, theirs)]
    assert gaps[0] == pytest.approx(gaps[1])


# -- what cannot be used ---------------------------------------------------------------------


def test_bad_molecules_are_listed_and_the_rest_is_built():
    given = ["CCO", "C1CC", "", None, float("nan"), "c1cccc1", "C" * 30_000, "CC\0", 7, ["CC", "C("], "C" * 1500, []]
    with pytest.warns(UserWarning, match="11 of 12 molecules were skipped, such as C1CC, which is no SMILES: unclosed"):
        bags = bags_from_molecules(given, [[1]] * 12)
    assert bags.n_bags == 1
    reasons = list(bags.info["skipped"].values())
    for reason, words in zip(
        reasons,
        ["unclosed ring", "is empty", "is empty", "is empty", "kekulize", "30,000 letters", "character", "got int",
         "has a molecule, number 2, that is no SMILES", "has 1,500 atoms, and 1,000 are the most", "no molecules"],
        strict=True,
    ):  # fmt: skip
        assert words in reason
    with pytest.raises(ValueError, match=r"molecule C1CC \(row 2\) is no SMILES"):
        bags_from_molecules(given, on_error="raise")
    with pytest.raises(ValueError, match="none of the 1 molecules can be used; the first, C1CC, is no SMILES"):
        bags_from_molecules(["C1CC"])


def test_duplicates_stay_and_are_told():
    bags = bags_from_molecules(["CCO", "OCC", "CCN", "C(C)O"])
    assert bags.n_bags == 4
    assert bags.info["n_duplicates"] == 2
    assert bags.info["duplicates"] == [[2, 1], [4, 1]]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("CCO", TypeError, r"for one molecule pass \[smiles\]"),
        ([], ValueError, "at least one"),
        (7, TypeError, "list of SMILES"),
    ],
)
def test_what_is_no_list_of_molecules(given, error, message):
    with pytest.raises(error, match=message):
        bags_from_molecules(given)


def test_labels_as_names_and_as_numbers():
    sets = bags_from_molecules(["CO", "CC", "CN"], [["a"], [], None], label_names=["b", "a"])
    assert sets.label_sets() == [["a"], [], []]
    assert sets.Y_known.tolist() == [[True, True], [True, True], [False, False]]
    matrix = bags_from_molecules(["CO", "CC"], [[1, None], [0, 1]])
    assert matrix.Y_known.tolist() == [[True, False], [True, True]]
    with pytest.raises(ValueError, match="label 'c' is not among label_names"):
        bags_from_molecules(["CO"], [["c"]], label_names=["a"])
    with pytest.raises(ValueError, match="labels must have one entry a molecule, 2, got 1"):
        bags_from_molecules(["CO", "CC"], [["c"]])
    with pytest.raises(ValueError, match="label_names must have one entry a label, 2, got 1"):
        bags_from_molecules(["CO"], [[1, 0]], label_names=["a"])
    with pytest.raises(ValueError, match="names must have one entry a molecule, 1, got 2"):
        bags_from_molecules(["CO"], names=["a", "b"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fragments": "atoms"}, "fragments must be one of brics, rings, murcko, components, got 'atoms'"),
        ({"max_atoms": 0}, "max_atoms must be at least 1"),
        ({"conformers": -1}, "conformers must be 0"),
        ({"conformers": 2, "whole": True}, "leave whole out"),
        ({"on_error": "stop"}, "on_error must be 'raise' or 'skip'"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        bags_from_molecules(["CC"], **options)


def test_new_molecules_are_built_as_the_training_data_were(tmp_path):
    bags = bags_from_molecules(SOME, [[k % 2] for k in range(len(SOME))], fragments="rings", atoms=["element"])
    model = CfMGML(WeisfeilerLehman(1), alpha=1e-2).fit(bags)
    model.save(tmp_path / "m.cfmgml")
    again = CfMGML.load(tmp_path / "m.cfmgml")
    assert again.builder_ == MoleculeBuilder(fragments="rings", atoms=("element",))
    new = again.builder_.rebuild(SOME[:2])
    assert np.allclose(again.decision_function(new), model.decision_function(bags[:2]))


@pytest.mark.slow
def test_worker_processes_build_the_same():
    many = [smiles for _ in range(80) for smiles in SOME]
    one, two = (bags_from_molecules(many, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert one.fingerprint() == two.fingerprint()

"""Mixtures that come along, and Tox21."""

import numpy as np
import pytest

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures, load_tox21
from cfmgml.datasets.mixtures import GROUPS, MOLECULES
from cfmgml.datasets.tox21 import ASSAYS
from cfmgml.metrics import graph_report
from needs import needs

needs("rdkit")
from rdkit import Chem  # noqa: E402

PATTERNS = {
    "acid": "[CX3](=O)[OX2H1]",
    "alcohol": "[CX4][OX2H1]",
    "amine": "[NX3;!$(NC=[O,N,S]);!$([N+])]",
    "chloride": "[#6]Cl",
    "nitrile": "C#N",
    "nitro": "[N+](=O)[O-]",
    "phenol": "c[OX2H1]",
}


def test_the_groups_are_those_that_the_molecules_have():
    patterns = {group: Chem.MolFromSmarts(smarts) for group, smarts in PATTERNS.items()}
    for name, (smiles, groups) in MOLECULES.items():
        mol = Chem.MolFromSmiles(smiles)
        matched = {group for group, pattern in patterns.items() if mol.HasSubstructMatch(pattern)}
        assert matched == set(groups.split()), name
    assert len({Chem.CanonSmiles(smiles) for smiles, _ in MOLECULES.values()}) == len(MOLECULES) == 96


def test_mixtures():
    train, test = load_mixtures(n_bags=50), load_mixtures("test", n_bags=50)
    assert not set(train.graph_names) & set(test.graph_names)
    assert train.Y.tolist() == [train.graph_Y[3 * k : 3 * k + 3].any(axis=0).tolist() for k in range(50)]
    assert set(GROUPS) == set(train.label_names)
    assert (train.Y.sum(axis=0) >= 5).all()
    joined = load_mixtures(n_bags=5, single_graph=True)
    assert joined.n_graphs == 5
    with pytest.raises(ValueError, match="mixtures of 1 to 64 molecules, got 200 of 65"):
        load_mixtures(n_molecules=65)
    with pytest.raises(ValueError, match="subset must be one of"):
        load_mixtures("all")


@pytest.mark.slow
def test_molecules_of_mixtures_are_told_apart_though_only_mixtures_are_known():
    train, test = load_mixtures(), load_mixtures("test", n_bags=100)
    model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(train)
    report = graph_report(test.graph_Y, model.decision_function_graphs(test))
    assert report["average_precision"] > 0.95


@pytest.fixture
def folder(tmp_path):
    rows = [f"{','.join(['1', '', *'0' * 10])},T{k},{smiles}" for k, (smiles, _) in enumerate(MOLECULES.values())]
    (tmp_path / "tox21").mkdir()
    (tmp_path / "tox21" / "tox21.csv").write_text("\n".join([f"{','.join(ASSAYS)},mol_id,smiles", *rows]))
    return tmp_path


def test_tox21_in_its_layout(folder, tmp_path):
    bags = load_tox21(folder, cache_dir=tmp_path / "cache")
    assert bags.label_names.tolist() == list(ASSAYS)
    assert bags.Y_known.mean(axis=0).tolist() == [1, 0, *[1] * 10]
    assert bags.bag_names[0] == "CC(=O)O"
    again = load_tox21(folder, cache_dir=tmp_path / "cache")
    assert again.fingerprint() == bags.fingerprint()
    assert again.builder == bags.builder
    assert load_tox21(folder, cache_dir=False, single_graph=True).n_graphs == 96
    with pytest.raises(TypeError, match="unknown option 'window'; options are fragments"):
        load_tox21(folder, window=2)


@pytest.mark.data
@pytest.mark.slow
def test_tox21_itself(data_folder):
    with pytest.warns(UserWarning, match="8 of 7,831 molecules were skipped"):
        bags = load_tox21(data_folder, cache_dir=False)
    assert bags.n_bags == 7823
    assert np.round(1 - bags.Y_known.mean(), 2) == 0.17
    assert len(bags.info["skipped"]) == 8

"""Molecules from files: tables, lines of SMILES, SDF and MOL; bad rows never lose the rest."""

import gzip
import json
import shlex
import warnings

import numpy as np
import pytest

from cfmgml import BagDataset
from cfmgml.builders.molecules import building
from cfmgml.cli import main
from cfmgml.data.questions import Question, Refused
from cfmgml.datasets import bags_from_molecules
from cfmgml.datasets.mixtures import MOLECULES
from cfmgml.inputs import Pattern, bags_like
from cfmgml.stores import BagStore, build_store
from cfmgml.web.answers import Analyst
from file_input import input_stream, molecule_bags
from needs import needs

needs("rdkit")
from rdkit import Chem  # noqa: E402

GOOD = [smiles for smiles, _ in MOLECULES.values()]
BROKEN = {  # ten ways to break a row, and words of the reason
    "C1CC": "unclosed ring",
    "CC(C": "no SMILES",
    "c1cccc1": "kekulize",
    "CC(C)(C)(C)C": "valence",
    "": "is empty",
    "Ethanol": "no SMILES",
    "[Xy]CC": "no SMILES",
    "C" * 25_000: "letters",
    "CC[N+": "no SMILES",
    "CÖC": "a character that no SMILES has",
}


@pytest.fixture
def table(tmp_path):
    rows = ["mol_id,smiles,toxic,irritant"]
    rows += [f"m{k},{smiles},{k % 2},{'' if k % 3 else 1}" for k, smiles in enumerate(GOOD[:12])]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(rows))
    return file


# -- tables ----------------------------------------------------------------------------------


def test_columns_are_labels_and_what_is_missing_stays_unknown(table):
    bags = molecule_bags([table], labels="toxic,irritant")
    assert bags.bag_names[:2].tolist() == ["m0", "m1"]
    assert bags.Y[:, 0].tolist() == [k % 2 == 1 for k in range(12)]
    assert bags.Y_known[:, 1].tolist() == [k % 3 == 0 for k in range(12)]
    named = bags_from_molecules(table, labels=["toxic", "irritant"])
    assert named.fingerprint() == bags.fingerprint()
    assert molecule_bags([table]).Y is None
    assert molecule_bags([table], name="smiles").bag_names[0] == GOOD[0]
    with pytest.raises(ValueError, match="'sour' is none of mol_id, smiles, toxic, irritant"):
        molecule_bags([table], labels="toxic,sour")
    with pytest.raises(ValueError, match="has no column 'SMILES'; it has mol_id, smiles, toxic"):
        molecule_bags([table], smiles="SMILES")


def test_labels_as_names_or_in_a_table_of_their_own(tmp_path):
    rows = [{"smiles": ["CCO", "CC#N"], "labels": ["a"]}, {"smiles": "CCN", "labels": "b"}, {"smiles": "C"}]
    file = tmp_path / "mixtures.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{broken\n")
    with pytest.warns(UserWarning, match="1 of 4 molecules were skipped, such as row 4, which is no JSON object"):
        bags = molecule_bags([file])
    assert np.diff(bags.bag_ptr).tolist() == [2, 1, 1]
    assert bags.label_sets() == [["a"], ["b"], []]
    assert bags.Y_known.tolist() == [[True, True], [True, True], [False, False]]
    (tmp_path / "few.smi").write_text("CCO one\nCCN two\nCC three\n")
    (tmp_path / "labels.csv").write_text("name,a,b\none,1,\ntwo,0,1\nnobody,1,1\n")
    with pytest.warns(UserWarning, match=r"1 row of labels.csv is about nothing that was read: 'nobody'"):
        apart = molecule_bags([tmp_path / "few.smi"], labels=tmp_path / "labels.csv")
    assert apart.Y_known.tolist() == [[True, False], [True, True], [False, False]]


def test_new_rows_like_those_trained_on(table, tmp_path):
    pattern = Pattern.of(molecule_bags([table], labels="toxic,irritant"))
    (tmp_path / "new.csv").write_text("irritant,other,SMILES\n1,x,CCO\n,y,CCN\n")
    new = bags_like(pattern, [tmp_path / "new.csv"])
    assert new.label_names.tolist() == ["toxic", "irritant"]
    assert new.Y_known.tolist() == [[False, True], [False, False]]
    assert bags_like(pattern, [tmp_path / "new.csv"], labels=False).Y is None
    with pytest.raises(ValueError, match="the input has the label 'other'; known are toxic, irritant"):
        bags_like(pattern, [tmp_path / "new.csv"], labels="other")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, "must have a column smiles, or name one"),
        ("smiles\n", {}, "has no rows"),
        ("smiles,a\nCC,7.3\n", {"labels": "a"}, "CC, has '7.3' for a, and a label is 0, 1 or nothing"),
        ("smiles,a\nC(,1\n", {"on_error": "stop"}, r"molecule C\( \(row 1\) is no SMILES"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, text, options, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        molecule_bags([tmp_path / "t.csv"], **options)


# -- other files -----------------------------------------------------------------------------


def test_sdf_and_mol_files(tmp_path):
    mols = [Chem.MolFromSmiles(smiles) for smiles in GOOD[:4]]
    with Chem.SDWriter(str(tmp_path / "some.sdf")) as writer:
        for number, mol in enumerate(mols):
            mol.SetProp("_Name", f"m{number}")
            mol.SetProp("active", str(number % 2))
            writer.write(mol)
    text = (tmp_path / "some.sdf").read_text()
    (tmp_path / "some.sdf").write_text(text + "broken\n\n\n  x  y\nM  END\n$$$$\n")
    (tmp_path / "big.sdf.gz").write_bytes(gzip.compress((text + "x" * 1_000_000 + "\n$$$$\n" + text).encode()))
    with pytest.warns(UserWarning, match="1 of 5 molecules were skipped, such as broken, which is no MOL block"):
        bags = molecule_bags([tmp_path / "some.sdf"], labels="active")
    assert bags.Y[:, 0].tolist() == [False, True, False, True]
    plain = bags_from_molecules(GOOD[:4])
    assert np.array_equal(np.sort(bags.graphs.node_labels), np.sort(plain.graphs.node_labels))
    with pytest.warns(UserWarning, match="1 of 9 molecules .* longer than"):
        assert molecule_bags([tmp_path / "big.sdf.gz"]).n_bags == 8
    (tmp_path / "one.mol").write_text(Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")))
    assert molecule_bags([tmp_path / "one.mol"]).bag_names.tolist() == ["one"]
    (tmp_path / "one.txt").write_text("CCO")
    with pytest.raises(ValueError, match="is no file of molecules: its name must end in one of .smi"):
        molecule_bags([tmp_path / "one.txt"])


def test_a_block_that_claims_many_atoms_is_not_decoded():
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")).split("\n")
    block[3] = "999999" + block[3][6:]
    with pytest.raises(ValueError, match="none of the 1 molecules"):
        bags_from_molecules(["\n".join(block)], max_atoms=100)
    V3000 = Chem.MolToV3KMolBlock(Chem.MolFromSmiles("CCO")).replace("COUNTS 3", "COUNTS 99999999")
    with pytest.raises(ValueError, match="has 25,000,000 atoms"):
        bags_from_molecules([V3000])


# -- bad rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "smi"])
def test_a_hundred_broken_rows_do_not_lose_nine_hundred(tmp_path, form):
    rows = [[f"m{k}", GOOD[k % len(GOOD)], "1"] for k in range(1000)]
    broken = list(BROKEN)
    for k in range(100):
        rows[10 * k + 3][1] = broken[k % 10]
    file = tmp_path / f"rows.{form}"
    if form == "csv":
        file.write_text("id,smiles,a\n" + "".join(",".join(row) + "\n" for row in rows))
    else:
        file.write_text("".join(f"{smiles} {name}\n" if smiles else "\n" for name, smiles, _ in rows))
    with pytest.warns(UserWarning, match="100 of 1,000 molecules were skipped, such as m3, which is no SMILES"):
        bags = molecule_bags([file], n_jobs=1)
    assert bags.n_bags == 900
    assert bags.bag_names.tolist() == [row[0] for k, row in enumerate(rows) if k % 10 != 3]
    skipped = bags.info["skipped"]
    assert len(skipped) == 100
    assert form == "smi" or set(skipped) == {f"m{10 * k + 3}" for k in range(100)}
    for number, reason in enumerate(skipped.values()):
        assert BROKEN[broken[number % 10]] in reason


def test_rows_that_a_table_itself_gets_wrong(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"name,smiles\n2,4-D,CCO\nb,CC\xff\nc,CCN\nd\n")
    with pytest.warns(UserWarning, match="3 of 4 molecules were skipped"):
        bags = molecule_bags([tmp_path / "t.csv"])
    assert bags.bag_names.tolist() == ["c"]
    reasons = list(bags.info["skipped"].values())
    assert "more values than there are columns" in reasons[0]
    assert "no SMILES has" in reasons[1]
    assert "is empty" in reasons[2]


# -- stores ----------------------------------------------------------------------------------


class Stopped(Exception):
    """Stands for a crash of the build."""


def test_a_stream_is_what_is_built_at_once_and_goes_on_if_it_stops(table, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "AT_ONCE", 3)
    warnings.simplefilter("ignore")
    with table.open("a") as file:
        file.write("\nbad,C(,1,1\nagain,CC(=O)O,1,0\n")
    options = {"labels": "toxic,irritant", "n_jobs": 1}
    bags = molecule_bags([table], **options)
    bags.to_store(tmp_path / "memory", graphs_per_partition=8)
    stream = input_stream("molecules", [table], **options)
    pieces = stream.pieces

    def some(start):
        for number, piece in enumerate(pieces(start)):
            if number == 3:
                raise Stopped
            yield piece

    stream.pieces = some
    with pytest.raises(Stopped):
        build_store(stream, tmp_path / "store", 8)
    assert build_store(input_stream("molecules", [table], **options), tmp_path / "store", 8) > 0
    store = BagStore(tmp_path / "store")
    assert store.load().fingerprint() == bags.fingerprint()
    assert store.info == BagStore(tmp_path / "memory").info
    assert list(store.info["skipped"]) == ["bad"]
    assert store.info["duplicates"] == [[14, 1]]


# -- commands and the server -----------------------------------------------------------------


@pytest.mark.slow
def test_the_commands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{smiles},{int('acid' in groups)},{'' if k % 5 == 0 else int('nitro' in groups)}"
            for k, (smiles, groups) in enumerate(MOLECULES.values())]  # fmt: skip
    (tmp_path / "table.csv").write_text("\n".join(["smiles,toxic,irritant", *rows]))
    (tmp_path / "new.csv").write_text("id,smiles\na,OC(=O)CCC\nb,CC(\nc,CC[N+](=O)[O-]\n")
    (tmp_path / "actives.smi").write_text("\n".join(GOOD))
    with Chem.SDWriter("library.sdf") as writer:
        for number, smiles in enumerate(GOOD):
            mol = Chem.MolFromSmiles(smiles)
            mol.SetProp("active", str(number % 2))
            writer.write(mol)
    warnings.simplefilter("ignore")
    for command in (
        "build molecules table.csv --smiles smiles --labels toxic,irritant -o table.bags",
        "build molecules actives.smi --fragments rings -o actives.bags",
        "build molecules library.sdf --labels active --store library",
        "build molecules new.csv --like table.bags -o new.bags",
        "build molecules table.csv --labels toxic --fragments murcko --atoms element,ring --no-bonds -o other.bags",
        "train table.bags -o table.cfmgml --kernel wl --alpha 1e-3",
        "predict table.cfmgml new.csv -o new.json --draw drawn",
        "predict table.cfmgml new.csv --level node -o atoms.csv",
        "evaluate table.bags --methods cfmgml,dummy --folds 2 --inner 2 --n-jobs 1",
    ):
        assert main(shlex.split(command)) == 0, (command, capsys.readouterr().err)
    assert BagDataset.load("other.bags").builder.atoms == ("element", "ring")
    predicted = {row["bag"]: row["labels"] for row in json.loads((tmp_path / "new.json").read_text())}
    assert predicted == {"a": ["toxic"], "c": ["irritant"]}
    assert len(list((tmp_path / "drawn").glob("*.png"))) == 2
    assert main(shlex.split("predict table.cfmgml new.csv --on-error stop")) != 0
    assert "molecule b (row 2) is no SMILES" in capsys.readouterr().err
    assert "a:1,O3" in (tmp_path / "atoms.csv").read_text() or "a:0" in (tmp_path / "atoms.csv").read_text()


@pytest.fixture(scope="module")
def analyst():
    from cfmgml import CfMGML, WeisfeilerLehman

    smiles = [smiles for smiles, _ in MOLECULES.values()]
    bags = bags_from_molecules(smiles, [groups.split() for _, groups in MOLECULES.values()])
    return Analyst(CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(bags))


def test_a_smiles_typed_in_is_answered_with_a_drawing(analyst):
    answer = analyst.answer("text", Question(" CC(=O)Oc1ccccc1C(=O)O "))
    assert answer["labels"][0]["name"] == "acid"
    assert answer["drawing"].startswith("<?xml")
    assert "<ellipse" in answer["drawing"] or "<path" in answer["drawing"]
    assert [graph["name"] for graph in answer["graphs"]] == [f"fragment {k}" for k in range(1, 5)]
    assert answer["texts"][3]["text"] == "C10 O11 O12"
    mixture = analyst.answer("text", Question(["CCO", "CC#N"]))
    assert [graph["name"] for graph in mixture["graphs"]] == ["molecule 1", "molecule 2"]
    analyst.warm_up()


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("C1CC", "unusable_molecule", "is no SMILES: unclosed ring"),
        (" ", "no_text", "no SMILES"),
        ("C" * 1_000_000, "text_too_long", "characters"),
        (["C"] * 10_000, "too_many_graphs", "molecules"),
        ("<script>alert(1)</script>", "unusable_molecule", "is no SMILES"),
    ],
)
def test_what_is_turned_away(analyst, content, code, words):
    with pytest.raises(Refused) as refused:
        analyst.answer("text", Question(content))
    assert refused.value.code == code
    assert words in refused.value.reason
    assert "<script>" not in refused.value.reason

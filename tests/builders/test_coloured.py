"""What comes out for texts: sentences beside their labels, the words that decided, and pages with both."""

import csv
import json
import re

import numpy as np
import pytest

from cfmgml import CfMGML
from cfmgml.builders.texts.coloured import write_coloured
from cfmgml.builders.texts.keyword_graphs import word_values
from cfmgml.cli import main
from cfmgml.datasets import bags_from_texts
from cfmgml.inputs import prediction_rows
from cfmgml.model_selection import kernel_named

DOCUMENTS = [
    "The <violin> plays &amp; *softly*. It rains.",
    "A violin, a violin! It rains.",
    "The referee whistles. It rains.",
]
LABELS = {"labels": np.array([[1, 0], [1, 0], [0, 1]] * 4), "label_names": ["music", "sport"]}


@pytest.fixture(scope="module")
def model():
    bags = bags_from_texts(DOCUMENTS * 4, LABELS["labels"], label_names=LABELS["label_names"])
    return CfMGML(kernel_named("auto", bags), alpha=1e-2).fit(bags)


def test_a_sentence_stands_beside_its_labels_and_the_words_that_decided(model):
    bags = model.builder_.rebuild(DOCUMENTS)
    rows = prediction_rows(model, bags, "graph")
    assert list(rows[0])[:6] == ["bag", "graph", "text", "labels", "best", "words"]
    assert rows[0]["text"] == "The <violin> plays &amp; *softly*."
    assert rows[0]["best"] == "music"
    assert "violin" in rows[0]["words"]
    assert rows[4]["best"] == "sport"
    assert "referee" in rows[4]["words"]
    bare = model.builder_.rebuild(DOCUMENTS, text=False)
    assert "text" not in prediction_rows(model, bare, "graph")[0]
    assert "text" not in prediction_rows(model, bags, "bag")[0]


def test_pairs_and_repeats_count_for_their_words(model):
    bags = model.builder_.rebuild(["A violin, a violin."])
    assert bags.graphs.node_names.tolist() == ["violin", "violin ×2", "violin violin"]
    found = word_values(
        "A violin, a violin.", bags.graphs.node_labels, np.array([1.0, 0.5, 4.0]), model.builder_.spelling
    )
    assert [(word.surface, value) for word, value in found] == [("violin", 3.5), ("violin", 3.5)]


def test_beginnings_count_for_their_words():
    bags = bags_from_texts([["Angiogenic angiotensin, a gene."]], pairs=False, beginnings=5)
    assert bags.graphs.node_names.tolist() == ["angiogenic", "angiotensin", "gene", "angio…"]
    added = np.array([1.0, 2.0, 3.0, 0.5])
    found = word_values("Angiogenic angiotensin, a gene.", bags.graphs.node_labels, added, bags.builder.spelling)
    assert [(word.surface, value) for word, value in found] == [
        ("Angiogenic", 1.5), ("angiotensin", 2.5), ("gene", 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "there"),
    [
        (
            "page.html",
            [
                *("&lt;<mark", "&amp;<", ">violin</mark>&gt;", "<small>music +", "no label"),
                'class="for" style="--strength: 1.00"',
                '<p dir="auto">The ',
            ],
        ),
        ("page.md", ["\\<**violin**\\>", "\\&**amp**;", "\\*", "*music \\+", "## 1"]),
    ],
)
def test_texts_are_coloured(model, tmp_path, name, there):
    bags = model.builder_.rebuild(DOCUMENTS)
    scores = model.decision_function_graphs(bags) - 0.3
    write_coloured(bags, model.label_names_, scores, model.explain(bags), tmp_path / name)
    written = (tmp_path / name).read_text()
    for piece in there:
        assert piece in written


def test_texts_are_shown_as_they_were_given(model, tmp_path):
    bags = model.builder_.rebuild([["x² of a ﬁne ｖｉｏｌｉｎ，½", "H₂O"]])
    scores = model.decision_function_graphs(bags)
    write_coloured(bags, model.label_names_, scores, model.explain(bags), tmp_path / "a.html")
    written = re.sub("<[^>]*>", "", (tmp_path / "a.html").read_text())
    assert "x² of a ﬁne ｖｉｏｌｉｎ，½" in written
    assert "H₂O" in written


def test_labels_above_their_thresholds_are_told(model, tmp_path):
    bags = model.builder_.rebuild(DOCUMENTS)
    scores, added = np.array([[-0.1, -0.3]] * bags.graphs.n_graphs), model.explain(bags)
    write_coloured(bags, model.label_names_, scores, added, tmp_path / "a.md", np.array([-0.2, 0.0]))
    write_coloured(bags, model.label_names_, scores, added, tmp_path / "b.md")
    told, none = (tmp_path / "a.md").read_text(), (tmp_path / "b.md").read_text()
    assert "music \\-0.10" in told
    assert "sport" not in told
    assert "music" not in none


def test_only_pages_of_texts_are_written(model, tmp_path):
    bags = model.builder_.rebuild(DOCUMENTS, text=False)
    given = model.label_names_, model.decision_function_graphs(bags), model.explain(bags)
    with pytest.raises(ValueError, match="these bags have no texts to colour"):
        write_coloured(bags, *given, tmp_path / "a.html")
    with pytest.raises(ValueError, match=r"written as .html or .md, got 'a.pdf'"):
        write_coloured(bags, *given, tmp_path / "a.pdf")


def test_the_command_writes_both(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model.save("m.cfmgml")
    rows = [json.dumps({"id": f"n{k}", "text": text}) for k, text in enumerate(DOCUMENTS)]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    assert main(["predict", "m.cfmgml", "new.jsonl", "--level", "graph", "-o", "s.csv", "--coloured", "s.html"]) == 0
    with open("s.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["text"] for row in table][:2] == ["The <violin> plays &amp; *softly*.", "It rains."]
    assert [row["graph"] for row in table][:2] == ["n0:0", "n0:1"]
    assert "<h2>n2</h2>" in (tmp_path / "s.html").read_text()
    assert main(["predict", "m.cfmgml", "new.jsonl", "--coloured", "s.pdf"]) != 0
    assert "written as .html or .md" in capsys.readouterr().err

"""Texts from tables and text files."""

import json

import pytest

from file_input import text_bags


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_documents_of_one_text_or_several(tmp_path):
    rows = [
        {"id": "a", "text": "Violins play. Drums too.", "labels": ["music"]},
        {"id": "b", "text": "Goals fall.", "labels": "sport;music"},
        {"id": "c", "text": "Nobody knows."},
    ]
    bags = text_bags([write(tmp_path / "d.jsonl", rows)])
    assert bags.bag_names.tolist() == ["a", "b", "c"]
    assert bags.bag_ptr.tolist() == [0, 2, 3, 4]
    assert bags.label_sets() == [["music"], ["music", "sport"], []]
    assert bags.Y_known.tolist() == [[True, True], [True, True], [False, False]]


def test_labels_of_the_texts_themselves(tmp_path):
    rows = [{"texts": ["Violins play", "Goals fall"], "labels": ["m", "s"], "text_labels": [["m"], ["s"]]}]
    bags = text_bags([write(tmp_path / "d.jsonl", rows)])
    assert bags.graph_Y.tolist() == [[True, False], [False, True]]
    assert bags.bag_names.tolist() == ["0"]


def test_a_table_of_labels_beside_text_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Letter {name} sings.")
    (tmp_path / "l.csv").write_text("file,labels\nb.txt,x\na.txt,y\nz.txt,y\n")
    with pytest.warns(UserWarning, match="1 row of l.csv is about nothing that was read: 'z.txt'"):
        bags = text_bags([tmp_path], labels=tmp_path / "l.csv", label_names=["y", "x"])
    assert bags.label_sets() == [["y"], ["x"]]
    assert text_bags([tmp_path / "*.txt"], labels=False).Y is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"title": "x"}], "must have a column text (a string) or texts (a list of strings); it has title"),
        ([{"text": 3}], "row 1, must have a text, or a list of texts, got int"),
        ([{"texts": ["a"]}, {"text": "a"}], "row 2, must have a text, or a list of texts, in its column texts"),
        ([{"texts": ["a", 3]}], "row 1, must have a text, or a list of texts, got list"),
        ([{"text": "a", "labels": 3.5}], "row 1, must have labels like 'cow;grass'"),
        ([{"id": 1, "text": "a"}, {"id": 1, "text": "b"}], "has two documents called '1' in column id"),
        ([{"texts": ["a"], "labels": ["x"], "text_labels": []}], "must have a list of labels for each of its texts"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, rows, message):
    with pytest.raises(ValueError) as error:
        text_bags([write(tmp_path / "d.jsonl", rows)])
    assert message in str(error.value)


def test_a_document_without_labels_in_the_table(tmp_path):
    (tmp_path / "a.txt").write_text("One.")
    (tmp_path / "l.csv").write_text("file,labels\nb.txt,x\n")
    with pytest.raises(ValueError, match=r"l.csv has no row for a.txt \(1 of 1 texts have none\)"):
        text_bags([tmp_path], labels=tmp_path / "l.csv")
    (tmp_path / "a.txt").write_bytes(b"\xe9t\xe9")
    with pytest.raises(ValueError, match="a.txt is not UTF-8"):
        text_bags([tmp_path / "a.txt"])

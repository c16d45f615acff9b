"""Tables of every kind, and labels in every form people keep them in."""

import gzip
import json

import numpy as np
import pytest

from cfmgml.inputs import read_table, write_table
from cfmgml.reading.labels import read_labels

ROWS = [{"bag": "a", "labels": ["x", "y"], "score:x": 0.1}, {"bag": "b,;", "labels": [], "score:x": -1 / 3}]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "ndjson", "parquet"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write_table(ROWS, path)
    found = read_table(path)
    if suffix in ("csv", "tsv"):
        found = [
            {**row, "labels": [n for n in row["labels"].split(";") if n], "score:x": float(row["score:x"])}
            for row in found
        ]
    assert found == ROWS
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "\ufeffa,b\r\n1,2\r\n", " a , b \n1,2\n", 'a,b\n"1",2\n']
)
def test_dialects_of_csv(tmp_path, text):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_table(tmp_path / "t.csv") == [{"a": "1", "b": "2"}]


def test_compressed_lines(tmp_path):
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n\n{"a": 2}\n'))
    assert read_table(tmp_path / "t.jsonl.gz") == [{"a": 1}, {"a": 2}]


def test_a_line_separator_inside_a_string_is_no_end_of_line(tmp_path):
    (tmp_path / "t.jsonl").write_text(json.dumps({"text": "a\u2028b"}, ensure_ascii=False), encoding="utf-8")
    assert read_table(tmp_path / "t.jsonl") == [{"text": "a\u2028b"}]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.xls", b"", "must end in one of .csv, .tsv"),
        ("t.csv", b"", "has no rows"),
        ("t.csv", b"a,b\n1,2,3\n", "has more values than there are columns, ['a', 'b']; put values with a ','"),
        ("t.csv", b"a,a\n1,2\n", "names a column twice: 'a'"),
        ("t.csv", b"\xff\xfea", "is not UTF-8 text"),
        ("t.csv", b'a\n"b', "is not a CSV file"),
        ("t.json", b"{}", "must hold a list of objects, got dict"),
        ("t.json", b"[3]", "entry 0, must be an object like {...}, got int"),
        ("t.jsonl", b'{"a": 1}\n{"a": ', "line 2, is not JSON"),
        ("t.jsonl", b"[" * 100_000, "is not JSON"),
        ("t.jsonl.gz", b"plain", "is damaged"),
        ("t.parquet", b"plain", "cannot be read as Parquet"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError) as error:
        read_table(tmp_path / name)
    assert message in str(error.value)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "t.csv")


def labels_in(tmp_path, text):
    (tmp_path / "labels.csv").write_text(text)
    return read_labels(tmp_path / "labels.csv")


@pytest.mark.parametrize(
    "text",
    [
        "image,labels\na,x;y\nb,\nc,y\n",
        "File,Labels\na,x | y\nb,\nc,y\n",
        'labels,id\n"y,x",a\n,b\ny,c\n',
        "name,label\na,x\na,y\nb,\nc,y\n",
        "bag,x,y\na,1,yes\nb,0,0\nc,false,1.0\n",
    ],
)
def test_three_forms_of_labels(tmp_path, text):
    table = labels_in(tmp_path, text)
    assert table.label_names == ["x", "y"]
    np.testing.assert_array_equal(table.matrix(["a", "b", "c"]), [[1, 1], [0, 0], [0, 1]])


def test_labels_that_are_not_known(tmp_path):
    np.testing.assert_array_equal(labels_in(tmp_path, "bag,x,y\na,1,\n").matrix(["a"]), [[1, np.nan]])
    (tmp_path / "l.jsonl").write_text('{"id": "a", "labels": ["x"]}\n{"id": "b", "labels": null}\n')
    np.testing.assert_array_equal(read_labels(tmp_path / "l.jsonl").matrix(["a", "b"]), [[1], [np.nan]])


def test_labels_in_a_models_order(tmp_path):
    table = labels_in(tmp_path, "bag,labels\na,x;y\nb,y\n")
    np.testing.assert_array_equal(table.in_order(["y", "new", "x"]).matrix(["a", "b"]), [[1, 0, 1], [1, 0, 0]])
    with pytest.raises(ValueError, match="has the label 'x'; known are y, z"):
        table.in_order(["y", "z"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("labels\nx\n", "must have a column image, file"),
        ("image\na\n", "says nothing about labels"),
        ("image,labels\na,x\na,y\n", "has two rows for a; put all its labels into one"),
        ("image,x\na,1\na,1\n", "has two rows for a"),
        ("image,labels\n,x\n", "row 1 has no image"),
        ("image,labels\na,\n", "names no label at all"),
        ("image,cow\na,brown\n", "row 1 has 'brown' for cow; a column a label holds 0, 1 or nothing"),
    ],
)
def test_what_is_wrong_with_labels_is_said(tmp_path, text, message):
    with pytest.raises(ValueError) as error:
        labels_in(tmp_path, text)
    assert message in str(error.value)

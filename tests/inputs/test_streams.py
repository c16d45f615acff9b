"""A store that is built as its input is read is the store that would be built in memory; and it goes on if it stops."""

import gzip
import itertools
import json
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

from cfmgml.builders.pictures import building
from cfmgml.builders.texts import counting, stream
from cfmgml.builders.texts.builder import TextBuilder
from cfmgml.builders.texts.cooccurrence import Vocabulary
from cfmgml.builders.texts.counting import count_texts
from cfmgml.common.processes import Processes
from cfmgml.common.tables import read_table, stream_table
from cfmgml.data.parquet import writing
from cfmgml.data.parquet.folder import HEADER
from cfmgml.inputs import Pattern, bags_like
from cfmgml.stores import BagStore, build_store
from file_input import image_bags, input_stream, parts_of, text_bags
from made_up import make_photos, make_texts

BUILD = {"images": image_bags, "texts": text_bags}


class Stopped(Exception):
    """Stands for a crash of the build."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(stream, "DOCUMENTS_AT_ONCE", 3)
    monkeypatch.setattr(building, "AT_ONCE", 2)
    monkeypatch.setattr(counting, "PAIRS_IN_MEMORY", 10)
    warnings.simplefilter("ignore")  # of pictures that are scaled or left out


def content(folder):
    """Partitions as bytes, and the header's values: the order in which words were counted does not matter."""
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    return {**files, HEADER: json.loads(files[HEADER])}


def compare(kind, sources, folder, graphs=8, pattern=None, **options):
    """Build both ways; the store that was streamed."""
    build = (
        BUILD[kind](sources, **options)
        if pattern is None
        else bags_like(pattern, sources, **parts_of(kind, options)[1])
    )
    build.to_store(folder / "memory", graphs_per_partition=graphs)
    build_store(input_stream(kind, sources, pattern, **options), folder / "stream", graphs)
    assert content(folder / "stream") == content(folder / "memory")
    for name, array in BagStore(folder / "stream").load().arrays().items():
        np.testing.assert_array_equal(array, build.arrays()[name], err_msg=name)
    return BagStore(folder / "stream")


# -- texts -----------------------------------------------------------------------------------


@pytest.fixture
def papers(tmp_path):
    make_texts(tmp_path / "papers.jsonl", 17, seed=1)
    rows = read_table(tmp_path / "papers.jsonl")
    rows[3] = {**rows[3], "labels": None}
    rows[5] = {**rows[5], "text": "", "labels": []}
    rows[9] = {**rows[9], "text": rows[8]["text"]}  # a text that occurs again counts once
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "papers.jsonl"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"single_graph": True},
        {"pairs": False, "threshold": 0.5, "max_keywords": 3},
        {"recipe": 2},
        {"features": "corpus"},
    ],
)
def test_texts_of_a_table(papers, tmp_path, options):
    store = compare("texts", [papers], tmp_path, **options)
    assert store.n_partitions > 1
    assert store.info["n_without_keywords"] == 1


def test_many_texts_are_built_in_workers(papers, tmp_path, monkeypatch):
    asked = []

    def in_two(n_jobs):
        asked.append(n_jobs)
        return Processes(2)

    monkeypatch.setattr(stream, "ALONE", 2)
    monkeypatch.setattr(stream, "Processes", in_two)
    compare("texts", [papers], tmp_path)
    assert asked == [-1]


def test_texts_with_labels_elsewhere_or_none(papers, tmp_path):
    table = tmp_path / "labels.csv"
    names = [row.get("id", str(k)) for k, row in enumerate(read_table(papers))]
    table.write_text("id,a,b\n" + "".join(f"{name},{k % 2},{'' if k % 3 else 1}\n" for k, name in enumerate(names)))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "none").mkdir()
    assert compare("texts", [papers], tmp_path / "elsewhere", labels=table).n_labels == 2
    assert compare("texts", [papers], tmp_path / "none", labels=False).n_labels == 0


def test_texts_like_others(papers, tmp_path):
    first = text_bags([papers], pairs=False, threshold=0.1)
    make_texts(tmp_path / "more.jsonl", 9, seed=3)
    pattern = Pattern(first.builder, [*first.label_names.tolist(), "zoology"])
    rows = read_table(tmp_path / "more.jsonl")
    rows[2] = {**rows[2], "labels": None}
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = compare("texts", [tmp_path / "more.jsonl"], tmp_path, pattern=pattern)
    assert store.info["vocabulary"] == first.info["vocabulary"]
    (tmp_path / "bare").mkdir()
    bare = compare("texts", [tmp_path / "more.jsonl"], tmp_path / "bare", pattern=pattern, labels=False)
    assert bare.label_names.tolist()[-1] == "zoology"


def test_texts_of_files(papers, tmp_path):
    (tmp_path / "letters").mkdir()
    for row in read_table(papers):
        (tmp_path / "letters" / f"{row['id']}.txt").write_text(row["text"])
    assert compare("texts", [tmp_path / "letters"], tmp_path).n_bags == 17


def test_lists_of_texts_with_labels_of_their_own(papers, tmp_path):
    rows = [
        {"id": k, "texts": row["text"].split(". "), "labels": row["labels"]} for k, row in enumerate(read_table(papers))
    ]
    for row in rows:
        row["text_labels"] = [(row["labels"] or [])[:1] for _ in row["texts"]]
    file = tmp_path / "lists.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert compare("texts", [file], tmp_path).load().graph_Y is not None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": 1, "text": "a"}] * 4 + [{"id": 2, "text": "b"}], "two documents called '1' in column id"),
        ([{"id": k, "text": "a"} for k in range(4)] + [{"id": 5}], "row 5, must have a text"),
        ([{"id": k, "words": "a"} for k in range(4)], "must have a column text"),
        ([{"id": k, "text": "a", "labels": []} for k in range(5)], "names no label at all"),
    ],
)
def test_bad_tables_are_refused_before_anything_is_written(tmp_path, rows, message):
    file = tmp_path / "bad.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match=message):
        text_bags([file])
    with pytest.raises(ValueError, match=message):
        build_store(input_stream("texts", [file]), tmp_path / "store", 8)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "options", [{"window": 2, "threshold": 0.1}, {"threshold": 0}, {"threshold": 1}, {"threshold": 0.1, "stem": False}]
)
def test_counts_on_disk_are_those_in_memory(papers, options):
    builder = TextBuilder(pairs=False, **options)
    texts = [row["text"] for row in read_table(papers)]
    readings = [builder.words_of(text) for text in dict.fromkeys(texts)]
    expected = Vocabulary.count(readings, builder.window).without_weak_pairs(builder.threshold)
    found = count_texts(texts, builder)
    assert (found.n_texts, found.counts, found.pairs) == (expected.n_texts, expected.counts, expected.pairs)


# -- tables ----------------------------------------------------------------------------------


def test_tables_are_streamed_as_they_are_read(tmp_path):
    rows = [{"id": f"ä{k}", "text": 'a "b"\nc' * k, "n": k} for k in range(5)]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\r\n\n" for row in rows)
    (tmp_path / "a.jsonl").write_bytes(lines.encode("utf-8-sig"))
    (tmp_path / "a.json").write_text(json.dumps(rows))
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as stream:
        stream.write(lines.encode())
    (tmp_path / "a.csv").write_bytes('id;text\r\nx;"1,\r\n2"\r\ny\r\n'.encode("utf-8-sig"))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.json", "a.jsonl.gz", "a.csv", "a.parquet"):
        assert list(stream_table(tmp_path / name)) == read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", b'{"a": 1}\n[1]\n', "line 2, must be an object"),
        ("a.jsonl", b'{"a": 1}\n{\n', "line 2, is not JSON"),
        ("a.jsonl", b"\n", "has no rows"),
        ("a.jsonl", b'{"a": "\xff"}\n', "is not UTF-8"),
        ("a.csv", b"a,b\n1,2,3\n", "has more values than there are columns"),
        ("a.csv", b"a,a\n1,2\n", "names a column twice"),
        ("a.csv.gz", b"a,b", "is damaged"),
        ("a.parquet", b"PAR1", "cannot be read as Parquet"),
        ("a.txt", b"x", "is not a table"),
    ],
)
def test_bad_tables_are_refused_alike(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    for read in (read_table, lambda path: list(stream_table(path))):
        with pytest.raises(ValueError, match=message):
            read(tmp_path / name)


# -- pictures --------------------------------------------------------------------------------


@pytest.fixture
def photos(tmp_path):
    make_photos(tmp_path / "photos", 7, masks=tmp_path / "masks", table=tmp_path / "labels.csv")
    Image.fromarray(np.zeros((700, 40, 3), dtype=np.uint8)).save(tmp_path / "photos" / "p03.png")  # too large
    for number in ("00", "01", "04"):
        (tmp_path / "photos" / f"p{number}.png").write_bytes(b"no picture")
    return tmp_path / "photos"


def test_pictures_with_labels(photos, tmp_path):
    store = compare("images", [photos], tmp_path, labels=tmp_path / "labels.csv", on_error="skip", n_jobs=1)
    assert list(store.info["skipped"]) == ["p00.png", "p01.png", "p04.png"]
    assert list(store.info["scaled"]) == ["p03.png"]


def test_pictures_with_masks_and_their_labels(tmp_path):
    make_photos(tmp_path / "photos", 5, masks=tmp_path / "masks", table=tmp_path / "labels.csv")
    lines = ["image,segment,label"]
    for line in (tmp_path / "labels.csv").read_text().split()[1:]:
        name, kinds = line.split(",")
        lines += [f"{name},{number},{kind}" for number, kind in enumerate(kinds.split(";"), start=1)]
    (tmp_path / "segments.csv").write_text("\n".join(lines))
    options = {"segments": tmp_path / "masks", "segment_labels": tmp_path / "segments.csv", "n_jobs": 1}
    store = compare("images", [tmp_path / "photos"], tmp_path, graphs=2, **options)
    assert store.load().graph_Y.sum(axis=1).tolist() == [1] * store.n_graphs
    (tmp_path / "like").mkdir()
    pattern = Pattern(store.builder, store.label_names.tolist())
    compare("images", [tmp_path / "photos"], tmp_path / "like", graphs=2, pattern=pattern, n_jobs=1)


def test_pictures_of_which_none_can_be_used(photos, tmp_path):
    for file in photos.iterdir():
        file.write_bytes(b"no picture")
    for on_error, message in (
        ("raise", "image p00.png: "),
        ("skip", "none of the 7 images can be used; image p00.png: "),
    ):
        with pytest.raises(ValueError, match=message):
            image_bags([photos], on_error=on_error, n_jobs=1)
        with pytest.raises(ValueError, match=message):
            build_store(input_stream("images", [photos], on_error=on_error, n_jobs=1), tmp_path / "store", 8)


# -- builds that stop ------------------------------------------------------------------------


@pytest.mark.parametrize("n_done", [1, 2])
@pytest.mark.parametrize("kind", ["texts", "images"])
def test_a_stopped_stream_goes_on(papers, photos, tmp_path, monkeypatch, kind, n_done):
    given = {"sources": [papers]} if kind == "texts" else {"sources": [photos], "on_error": "skip", "n_jobs": 1}
    size = {"texts": 6, "images": 1}[kind]  # graphs of a partition
    build_store(input_stream(kind, **given), tmp_path / "whole", size)
    write, written, counted = writing.write_partition, [], []

    def stopping(*args):
        if len(written) == n_done:
            raise Stopped
        written.append(args)
        return write(*args)

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(writing, "write_partition", stopping)
        build_store(input_stream(kind, **given), tmp_path / "again", size)
    with pytest.raises(ValueError, match="same arguments"):
        BagStore(tmp_path / "again")
    with pytest.raises(ValueError, match="a build of something else stopped there"):
        build_store(input_stream(kind, **given), tmp_path / "again", size + 1)
    later = []
    monkeypatch.setattr(writing, "write_partition", lambda *args: later.append(args) or write(*args))
    monkeypatch.setattr(stream, "count_texts", lambda *args: counted.append(args))
    assert build_store(input_stream(kind, **given), tmp_path / "again", size) == n_done
    assert content(tmp_path / "again") == content(tmp_path / "whole")
    assert len(later) == BagStore(tmp_path / "whole").n_partitions - n_done
    assert not counted, "words are not counted again"


def test_other_input_does_not_go_on(papers, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        write, calls = writing.write_partition, itertools.count()
        patch.setattr(writing, "write_partition", lambda *args: write(*args) if next(calls) < 2 else stop())
        build_store(input_stream("texts", [papers]), tmp_path / "store", 6)
    papers.write_text(papers.read_text() + '{"id": "new", "text": "More.", "labels": []}\n')
    with pytest.raises(ValueError, match="a build of something else stopped there"):
        build_store(input_stream("texts", [papers]), tmp_path / "store", 6)


def stop():
    raise Stopped

"""``cfmgml build``: what goes in, what comes out, and what is said when it cannot."""

import json

import numpy as np
import pytest

from cfmgml import BagDataset
from cfmgml.datasets import bags_from_texts
from made_up import make_photos, make_texts
from needs import needs

BUILD = "build images photos --n-jobs 1 --labels"


def test_images_with_masks_have_a_graph_a_segment(world, run_in, capsys):
    assert run_in(world, f"{BUILD} labels.csv --segments masks -o out.bags") == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Wrote out.bags: BagDataset(4 bags")
    bags = BagDataset.load(world / "out.bags")
    labels = dict(line.split(",") for line in (world / "labels.csv").read_text().split()[1:])
    assert [";".join(sorted(labels[name].split(";"))) for name in bags.bag_names] == [
        ";".join(row) for row in bags.label_sets()
    ]
    assert np.diff(bags.bag_ptr).tolist() == [len(row) for row in bags.label_sets()]  # a segment a surface


def test_segment_labels_become_graph_labels(world, run_in):
    lines = ["image,segment,label"]
    for line in (world / "labels.csv").read_text().split()[1:]:
        name, kinds = line.split(",")
        lines += [f"{name},{number},{kind}" for number, kind in enumerate(kinds.split(";"), start=1)]
    (world / "segment_labels.csv").write_text("\n".join(lines))
    command = "build images photos --segments masks --segment-labels segment_labels.csv --n-jobs 1 -o own.bags"
    assert run_in(world, command) == 0
    bags = BagDataset.load(world / "own.bags")
    assert bags.graph_Y.sum(axis=1).tolist() == [1] * bags.n_graphs
    assert bags.label_names.tolist() == ["grass", "sand", "sky"]


def test_like_takes_over_the_recipe_and_the_labels(world, run_in, photo_model, tmp_path):
    make_photos(tmp_path / "more", 1, table=tmp_path / "more.csv", seed=5)
    command = f"build images {tmp_path / 'more'} --labels {tmp_path / 'more.csv'} --like {photo_model}"
    assert run_in(world, f"{command} -o {tmp_path / 'more.bags'}") == 0
    bags, base = BagDataset.load(tmp_path / "more.bags"), BagDataset.load(world / "base.bags")
    assert bags.label_names.tolist() == base.label_names.tolist()
    assert bags.info["parameters"] == base.info["parameters"]


def test_like_of_texts_takes_over_the_counts(world, run_in, tmp_path):
    make_texts(tmp_path / "few.jsonl", 2, seed=7)
    assert run_in(world, f"build text papers.jsonl --max-keywords 9 -o {tmp_path / 'a.bags'}") == 0
    assert run_in(tmp_path, "build text few.jsonl --like a.bags -o b.bags") == 0
    infos = [BagDataset.load(tmp_path / f"{name}.bags").info for name in "ab"]
    assert infos[0]["vocabulary"] == infos[1]["vocabulary"]
    assert infos[1]["parameters"]["max_keywords"] == 9


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("build", 2, ""),
        ("build images", 2, "Missing argument 'INPUT'"),
        ("build images photos", 2, "say where to write: -o FILE.bags, or --store FOLDER"),
        ("build images photos --append -o x.bags", 2, "--append adds to a store"),
        ("build text papers.jsonl --store papers.jsonl", 1, "--store must name a folder, and papers.jsonl is a file"),
        ("build images nowhere -o x.bags", 1, "there is no file or folder nowhere"),
        ("build images photos --labels labels.csv -o nowhere/x.bags", 1, "there is no folder nowhere"),
        ("build images photos --labels labels.csv -o photos", 1, "-o must name a file, and photos is a folder"),
        ("build images 'photos/*.jpg' -o x.bags", 1, "no picture matches photos/*.jpg"),
        ("build images papers.jsonl -o x.bags", 1, "must have a column image, file, filename or path; it has id, text"),
        ("build images photos --labels letters.csv -o x.bags", 1, "letters.csv has no row for p00.png (4 of 4"),
        (
            "build images photos --features best -o x.bags",
            2,
            "'best' is not one of 'deep', 'deep_lite2', 'hellinger', 'paper', 'rich'",
        ),
        ("build images photos --like base.bags --max-side 100 -o x.bags", 2, "--max-side cannot be given with it"),
        (
            "build text new.jsonl --like base.bags -o x.bags",
            1,
            "base.bags was built from pictures: use cfmgml build images",
        ),
        ("build text letters.csv -o x.bags", 1, "must have a column text"),
        ("build graphs photos -o x.bags", 1, "no graph (GraphML file) in photos"),
        ("build graphs molecules --node-label colour -o x.bags", 1, "has no 'colour'; it has charge, label"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(world, run_in, photo_model, capsys, command, status, message):
    capsys.readouterr()
    assert run_in(world, command) == status
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1 or not message
    assert not (world / "x.bags").exists()


def test_bad_pictures_stop_or_are_skipped(world, run_in, tmp_path, capsys):
    make_photos(tmp_path / "mixed", 3, table=tmp_path / "mixed.csv")
    (tmp_path / "mixed" / "p01.png").write_bytes(b"not a picture")
    (tmp_path / "mixed" / "q.png").write_bytes((tmp_path / "mixed" / "p00.png").read_bytes())
    command = "build images mixed --labels mixed.csv -o mixed.bags"
    assert run_in(tmp_path, command) == 1
    assert "mixed.csv has no row for q.png (1 of 4 pictures have none)" in capsys.readouterr().err
    (tmp_path / "mixed.csv").write_text((tmp_path / "mixed.csv").read_text() + "q.png,sand\n")
    assert run_in(tmp_path, command) == 1
    err = capsys.readouterr().err
    assert "image p01.png: mixed/p01.png cannot be read as an image" in err
    assert "Leave such pictures out with --on-error skip." in err
    (tmp_path / "mixed" / "q.png").rename(tmp_path / "mixed" / "r.png")
    assert run_in(tmp_path, f"{command} --on-error skip") == 0
    err = capsys.readouterr().err
    assert "1 of 4 pictures have no row in mixed.csv, such as r.png; they are left out" in err
    assert "cfmgml: 1 of 3 images were skipped, such as p01" in err
    assert "Warning" not in err
    assert BagDataset.load(tmp_path / "mixed.bags").bag_names.tolist() == ["p00.png", "p02.png"]


def test_graphs_from_pyg_without_running_them(tmp_path, run_in, capsys):
    torch = needs("torch")
    graphs = [
        {"x": torch.ones(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.tensor([k])} for k in (0, 1)
    ]
    torch.save(graphs, tmp_path / "graphs.pt")
    assert run_in(tmp_path, "build graphs graphs.pt -o graphs.bags") == 0
    bags = BagDataset.load(tmp_path / "graphs.bags")
    assert (bags.n_bags, bags.graphs.n_attributes, bags.label_sets()) == (2, 2, [["0"], ["1"]])
    (tmp_path / "code.pt").write_bytes(b"")
    torch.save({"edge_index": print}, tmp_path / "code.pt")
    capsys.readouterr()
    assert run_in(tmp_path, "build graphs code.pt -o code.bags") == 1
    err = capsys.readouterr().err
    assert "cannot be read safely" in err
    assert "GraphBatch.from_pyg" in err


def test_tables_of_pictures(world, run_in, tmp_path):
    rows = [
        {"image": f"photos/p0{k}.png", "segments": f"masks/p0{k}.png", "labels": ["a", "b"][: k + 1]} for k in (0, 1)
    ]
    (world / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run_in(world, f"build images table.jsonl -o {tmp_path / 't.bags'}") == 0
    bags = BagDataset.load(tmp_path / "t.bags")
    assert bags.label_sets() == [["a"], ["a", "b"]]
    assert bags.info["files"]["p00.png"] == ["photos/p00.png", "masks/p00.png"]


def test_text_files_as_they_come(run_in, tmp_path, capsys):
    folder = tmp_path / "letters"
    folder.mkdir()
    for name, content in {
        "plain": "Größe zählt.".encode(),
        "marked": "Größe zählt.".encode("utf-8-sig"),
        "windows": "Größe\r\n\r\nzählt.".encode("utf-16"),
        "nothing": b"",
        "one": b"word",
    }.items():
        (folder / f"{name}.txt").write_bytes(content)
    assert run_in(tmp_path, "build text letters -o letters.bags") == 0
    assert "1 text has no words, or stop words only" in capsys.readouterr().err.replace("\n", " ")
    texts = BagDataset.load(tmp_path / "letters.bags").graph_texts.tolist()
    assert texts == ["Größe zählt.", "", "word", "Größe zählt.", "Größe", "zählt."]
    (folder / "latin.txt").write_bytes("Größe".encode("latin-1"))
    for more in ("-o more.bags", "--store more"):
        assert run_in(tmp_path, f"build text letters {more}") == 1
        assert "latin.txt is not UTF-8" in capsys.readouterr().err


def test_stores(world, run_in, tmp_path, capsys):
    needs("pyarrow")
    from cfmgml.stores import BagStore

    for number in (1, 2):
        more = "--append" if number == 2 else ""
        assert run_in(world, f"build text papers.jsonl --store {tmp_path / 'papers'} {more}") == 0
        assert BagStore(tmp_path / "papers").n_bags == 20 * number
    capsys.readouterr()
    assert run_in(world, f"build text papers.jsonl --store {tmp_path / 'papers'}") == 1
    assert capsys.readouterr().err.startswith("cfmgml: ")


def test_what_is_strange_is_said_and_kept(world, run_in, tmp_path, capsys):
    """Rows about nothing, labels in two spellings, and pictures that are there twice."""
    make_photos(tmp_path / "photos", 3, table=tmp_path / "labels.csv")
    (tmp_path / "photos" / "copy.png").write_bytes((tmp_path / "photos" / "p00.png").read_bytes())
    (tmp_path / "labels.csv").write_text((tmp_path / "labels.csv").read_text() + "copy.png,Sky;sky\np07.jpg,sky\n")
    assert run_in(tmp_path, "build images photos --labels labels.csv --n-jobs 1 -o photos.bags") == 0
    err = capsys.readouterr().err
    assert "cfmgml: 1 row of labels.csv is about nothing that was read: 'p07.jpg'." in err
    assert "cfmgml: the labels 'Sky' and 'sky' differ only in case or spaces" in err
    bags = BagDataset.load(tmp_path / "photos.bags")
    n_copied = int(np.diff(bags.bag_ptr)[bags.bag_names.tolist().index("copy.png")])
    n_different = bags.n_graphs - n_copied
    counts = f"{bags.n_graphs} graphs are {n_different} different ones, of which {n_copied} in several bags"
    assert f"cfmgml: {counts}" in err
    assert run_in(tmp_path, "inspect photos.bags") == 0
    out = capsys.readouterr().out
    assert f"repeated:\n  graphs: {bags.n_graphs}\n  different graphs: {n_different}\n" in out
    assert f"graphs in several bags: {n_copied}\n" in out
    assert "1 row of labels.csv is about nothing that was read: 'p07.jpg'." in out
    assert "the labels 'Sky' and 'sky'" in out


def test_inspect_finds_repeated_graphs_in_older_files(tmp_path, run_in, capsys):
    """Files that say nothing of it."""
    bags = bags_from_texts(["Cats purr. Dogs bark."] * 2 + ["Fish swim."])
    assert "overlap" not in bags.info
    bags.save(tmp_path / "old.bags")
    assert run_in(tmp_path, "inspect old.bags --json") == 0
    repeated = json.loads(capsys.readouterr().out)["repeated"]
    assert repeated == {"graphs": 5, "different graphs": 3, "graphs in several bags": 2}


def test_a_store_is_built_partition_by_partition(world, run_in, tmp_path, capsys, monkeypatch):
    """As the file of bags would be, without ever having all bags; and a build that stops goes on."""
    from cfmgml.data import bags as bags_module
    from cfmgml.data.parquet import writing
    from cfmgml.stores import BagStore

    assert run_in(world, f"build text papers.jsonl -o {tmp_path / 'papers.bags'}") == 0
    bags = BagDataset.load(tmp_path / "papers.bags")
    monkeypatch.setattr(bags_module.BagDataset, "to_store", None)
    command = f"build text papers.jsonl --partition 8 --store {tmp_path / 'papers'}"
    write, written = writing.write_partition, []

    def stopping(*given):
        written.append(given)
        return write(*given) if len(written) < 3 else 1 / 0

    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_partition", stopping)
        with pytest.raises(ZeroDivisionError):
            run_in(world, command)
    assert run_in(world, f"inspect {tmp_path / 'papers'}") == 1
    assert "stopped after 2 partitions" in capsys.readouterr().err
    assert run_in(world, command) == 0
    assert "Went on after 2 partitions" in capsys.readouterr().err
    store = BagStore(tmp_path / "papers")
    assert store.n_partitions > 3
    assert store.load().fingerprint() == bags.fingerprint()
    assert run_in(world, command) == 1
    assert "is not empty" in capsys.readouterr().err

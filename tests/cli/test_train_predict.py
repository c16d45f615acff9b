"""``cfmgml train``, ``predict`` and ``inspect``: the same numbers as in Python, on stdout or in files."""

import csv
import io
import json

import numpy as np
import pytest
from PIL import Image

from cfmgml import BagDataset, CfMGML
from cfmgml.builders.painted import label_map
from cfmgml.inputs import read_table


@pytest.fixture(scope="module")
def model(photo_model):
    return CfMGML.load(photo_model)


@pytest.fixture(scope="module")
def bags(world, model):
    """The new pictures, built in Python as the model says."""
    return model.builder_.rebuild(world / "new")


def test_train_says_what_it_chose(world, run_in, photo_model, tmp_path, capsys):
    assert run_in(world, f"train base.bags -o {tmp_path / 'm.cfmgml'} --alpha auto --kernel both --probability") == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    chosen = CfMGML.load(tmp_path / "m.cfmgml")
    table = [line for line in captured.err.split("\n") if line.endswith("taken")]
    assert [line.split()[-2] for line in table] == [f"{chosen.alpha:g}"]
    assert "way to learn" in captured.err
    assert "SumKernel" in captured.err
    assert chosen.calibration_ is not None
    assert not chosen.verbose


@pytest.mark.parametrize("options", ["--refine 0", "--refine 2 --context 0.3"])
def test_train_in_a_given_way(world, run_in, tmp_path, capsys, options):
    assert run_in(world, f"train base.bags -o {tmp_path / 'm.cfmgml'} --kernel nodes {options}") == 0
    chosen, said = CfMGML.load(tmp_path / "m.cfmgml"), capsys.readouterr().err
    assert f"Chose alpha {chosen.alpha:g} (average precision of held-out bags by alpha: 0.0" in said
    assert (chosen.refine, chosen.context) == ((0, 0.0) if "0.3" not in options else (2, 0.3))


def test_train_refuses_other_rounds(world, run_in, tmp_path, capsys):
    assert run_in(world, f"train base.bags -o {tmp_path / 'm.cfmgml'} --refine often") == 2
    assert "--refine must be auto or a number of rounds, 0 or more, got 'often'." in capsys.readouterr().err


@pytest.mark.parametrize("thresholds", ["auto", "zero", "counts"])
def test_train_with_thresholds(world, run_in, tmp_path, capsys, thresholds):
    command = f"train base.bags -o {tmp_path / 'm.cfmgml'} --kernel nodes --refine 0 --thresholds {thresholds}"
    assert run_in(world, command) == 0
    chosen, said = CfMGML.load(tmp_path / "m.cfmgml"), capsys.readouterr().err
    assert ("(macro-F1 of held-out bags: zero: " in said) == (thresholds == "auto")
    assert (chosen.thresholds == thresholds) or (
        thresholds == "auto" and ("Thresholds 0 " in said) == (chosen.thresholds == "zero")
    )
    assert (chosen.thresholds_ <= 0).all()


def test_train_with_context(world, run_in, tmp_path, capsys):
    command = f"train base.bags -o {tmp_path / 'm.cfmgml'} --alpha 1e-3 --context"
    assert run_in(world, f"{command} 0.3") == 0
    assert CfMGML.load(tmp_path / "m.cfmgml").context == 0.3
    capsys.readouterr()
    assert run_in(world, f"{command} 1.5") == 2
    assert "context must be 0 to below 1, got 1.5." in capsys.readouterr().err


def test_predict_gives_the_numbers_of_python(world, run_in, photo_model, model, bags, capsys):
    capsys.readouterr()
    assert run_in(world, "predict base.cfmgml new") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = list(csv.DictReader(io.StringIO(captured.out)))
    assert [row["bag"] for row in rows] == ["p00.png", "p01.png"]
    scores = model.decision_function(bags)
    names = model.label_names_
    found = np.array([[float(row[f"score:{name}"]) for name in names] for row in rows])
    np.testing.assert_array_equal(found, scores)
    assert [row["labels"] for row in rows] == [";".join(names[row > 0]) for row in scores]


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "tsv", "parquet"])
def test_predict_writes_every_format(world, run_in, photo_model, model, bags, tmp_path, suffix):
    out = tmp_path / f"regions.{suffix}"
    assert run_in(world, f"predict base.cfmgml new --level graph -o {out}") == 0
    rows = read_table(out)
    scores = model.decision_function_graphs(bags)
    assert [row["graph"] for row in rows] == bags.graph_names.tolist()
    found = [[float(row[f"score:{name}"]) for name in model.label_names_] for row in rows]
    np.testing.assert_array_equal(found, scores)
    if suffix in ("json", "parquet"):
        assert rows[0]["labels"] == model.label_names_[scores[0] > 0].tolist()


def test_nodes_add_up_to_the_score(world, run_in, photo_model, model, bags, capsys):
    capsys.readouterr()
    assert run_in(world, "predict base.cfmgml new --level node --format json") == 0
    rows = json.loads(capsys.readouterr().out)
    added = np.array([[row[f"adds:{name}"] for name in model.label_names_] for row in rows])
    sums = np.add.reduceat(added, bags.graphs.node_ptr[:-1])
    np.testing.assert_allclose(sums + model.intercept_, model.decision_function_graphs(bags), atol=1e-9)


def test_regions_say_where_they_lie(world, run_in, photo_model, bags, tmp_path):
    assert run_in(world, f"predict base.cfmgml new -o {tmp_path / 'x.csv'} --regions {tmp_path / 'masks'}") == 0
    for number, name in enumerate(bags.bag_names.tolist()):
        mask = np.asarray(Image.open(tmp_path / "masks" / name))
        assert mask.shape == (48, 72)
        assert [f"{name}#{k}" for k in np.unique(mask[mask > 0])] == bags[number].graph_names.tolist()
    built = bags.builder.rebuild(world / "new", segments=tmp_path / "masks")
    assert built.graph_names.tolist() == bags.graph_names.tolist()
    shape_and_share = [part.graphs.node_attributes[part.graphs.node_ptr[:-1], -2:] for part in (built, bags)]
    np.testing.assert_array_equal(*shape_and_share)  # the same regions, whose nodes are cut anew


def test_masks_are_painted(world, run_in, photo_model, model, bags, tmp_path, capsys):
    forms = f"--masks {tmp_path / 'masks'} --geojson {tmp_path / 'polygons'} --coco {tmp_path / 'coco.json'}"
    assert run_in(world, f"predict base.cfmgml new -o {tmp_path / 'x.csv'} {forms}") == 0
    assert f"Painted 2 pictures: {tmp_path / 'masks'}." in capsys.readouterr().err
    legend = read_table(tmp_path / "masks" / "legend.csv")
    assert [row["label"] for row in legend] == ["", *model.label_names_]
    painted = model.paint(bags)
    for number, name in enumerate(bags.bag_names.tolist()):
        mask = np.asarray(Image.open(tmp_path / "masks" / name))
        np.testing.assert_array_equal(mask, label_map(bags, painted, number) + 1)
    assert sorted(path.name for path in (tmp_path / "polygons").iterdir()) == ["p00.geojson", "p01.geojson"]
    coco = json.loads((tmp_path / "coco.json").read_text())
    assert [image["file_name"] for image in coco["images"]] == ["p00.png", "p01.png"]


def test_masks_within_given_labels(world, run_in, photo_model, model, tmp_path):
    """Whatever is predicted: only sky may be painted on one, nothing on the other."""
    (tmp_path / "known.csv").write_text("image,labels\np00.png,sky\np01.png,\n")
    command = f"predict base.cfmgml new --labels {tmp_path / 'known.csv'} -o {tmp_path / 'x.csv'}"
    assert run_in(world, f"{command} --masks {tmp_path / 'masks'}") == 0
    sky, nothing = (set(np.unique(Image.open(tmp_path / "masks" / f"p0{k}.png")).tolist()) for k in (0, 1))
    assert sky <= {0, model.label_names_.tolist().index("sky") + 1}
    assert nothing == {0}


def test_masks_of_saved_bags(world, run_in, photo_model, tmp_path, capsys):
    """Bags do not say where their pictures are; who asks does."""
    assert run_in(world, f"build images new --like base.cfmgml --n-jobs 1 -o {tmp_path / 'new.bags'}") == 0
    command = f"predict base.cfmgml {tmp_path / 'new.bags'} -o {tmp_path / 'x.csv'} --masks {tmp_path / 'masks'}"
    assert run_in(world, f"{command} --regions {tmp_path / 'regions'} --draw {tmp_path / 'drawn'} --pictures new") == 0
    for made in ("masks", "regions", "drawn"):
        assert {"p00.png", "p01.png"} <= {path.name for path in (tmp_path / made).iterdir()}
    capsys.readouterr()
    assert run_in(world, command) == 1
    assert "say where with --pictures" in capsys.readouterr().err


def test_input_built_another_way_is_refused_with_the_command(world, run_in, photo_model, capsys):
    assert run_in(world, "build images new --features paper --n-jobs 1 -o paper.bags") == 0
    capsys.readouterr()
    assert run_in(world, "predict base.cfmgml paper.bags") == 1
    err = capsys.readouterr().err
    assert "built from pictures with features='paper', the model's training data with features='rich'" in err
    assert "cfmgml build images INPUT --like MODEL -o new.bags" in err
    assert run_in(world, "build images new --like base.cfmgml --n-jobs 1 -o right.bags") == 0
    assert run_in(world, "predict base.cfmgml right.bags") == 0


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("predict base.cfmgml new -o x.xls", 1, "x.xls must end in one of .csv"),
        (
            "predict base.bags new",
            1,
            "base.bags holds bags (a BagDataset), not a model (a CfMGML). Learn one from them: cfmgml train base.bags",
        ),
        ("predict nowhere.cfmgml new", 1, "there is no file nowhere.cfmgml"),
        ("predict base.cfmgml papers.jsonl", 1, "must have a column image, file, filename or path; it has id, text"),
        ("predict base.cfmgml base.bags --max-regions 3", 2, "--max-regions is for raw input"),
        ("predict base.cfmgml new --labels labels.csv", 2, "--labels is for painting: say where to, with --masks"),
        ("predict base.cfmgml base.bags --labels labels.csv --coco c.json", 2, "--labels is for raw input"),
        ("predict base.cfmgml new --pictures new", 2, "--pictures is for a file of bags"),
        ("predict base.cfmgml new --coco nowhere/c.json", 1, "there is no folder nowhere to write c.json to"),
        (
            "predict base.cfmgml new --level pixel",
            2,
            "for '--level': 'pixel' is not one of 'bag', 'graph', 'node'. Try",
        ),
        ("train base.bags -o x.cfmgml --alpha much", 2, "--alpha must be auto or a number such as 1e-4, got 'much'"),
        ("train base.bags -o x.cfmgml --context 1.5", 2, "--context must be 0 to below 1, got 1.5. Try: cfmgml train"),
        ("train base.bags -o x.cfmgml --alpha -1", 1, "alpha must be above 0"),
        ("train base.cfmgml -o x.cfmgml", 1, "base.cfmgml holds a model (a CfMGML), not bags (a BagDataset)"),
        ("train unlabelled.bags -o x.cfmgml --alpha 1", 1, "these bags have no Y"),
        ("inspect labels.csv", 1, "labels.csv is a table with no column text, texts or smiles, not bags"),
        ("inspect", 2, "Missing argument 'FILE'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(world, run_in, photo_model, capsys, command, status, message):
    if "unlabelled" in command:
        BagDataset.load(world / "base.bags")
        assert run_in(world, "build images new --n-jobs 1 -o unlabelled.bags") == 0
    capsys.readouterr()
    assert run_in(world, command) == status
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_steps_are_bounded(world, run_in, photo_model, tmp_path):
    """An option of train is one that its module alone knows: this one was added there, and nowhere else."""
    assert run_in(world, f"train base.bags -o {tmp_path / 'few.cfmgml'} --alpha 1e-3 --max-iter 2") == 0
    model = CfMGML.load(tmp_path / "few.cfmgml")
    assert model.max_iter == 2
    assert model.n_iter_ <= 10 < CfMGML.load(photo_model).n_iter_


def test_texts_from_raw_input(world, run_in, tmp_path, capsys):
    assert run_in(world, f"build text papers.jsonl -o {tmp_path / 'p.bags'}") == 0
    assert run_in(tmp_path, "train p.bags -o p.cfmgml --alpha 1e-3") == 0
    (tmp_path / "letter.txt").write_text("The orchestra played a melody. Then the referee ended the match.")
    capsys.readouterr()
    assert run_in(tmp_path, "predict p.cfmgml letter.txt --level graph --format jsonl") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.split("\n") if line]
    assert [row["best"] for row in rows] == ["music", "sport"]


def test_graphs_from_raw_input(world, run_in, tmp_path, capsys):
    assert run_in(world, f"build graphs molecules --labels molecules.csv -o {tmp_path / 'm.bags'}") == 0
    assert run_in(tmp_path, "train m.bags -o m.cfmgml --kernel wl --alpha 1e-4") == 0
    capsys.readouterr()
    assert run_in(world, f"predict {tmp_path / 'm.cfmgml'} molecules/m0/g0.graphml") == 0
    assert capsys.readouterr().out.startswith("bag,labels,best,score:chain,score:ring\ng0,")


def test_inspect(world, run_in, photo_model, model, capsys):
    capsys.readouterr()
    assert run_in(world, "inspect base.bags") == 0
    text = capsys.readouterr().out
    for expected in ("holds: data set", "from: images", "features: rich", "bags: 4", "grass: ", "sha256 of content: "):
        assert expected in text
    assert run_in(world, "inspect base.cfmgml --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kernel"].startswith(("NodeSum(", "WeisfeilerLehman(", "SumKernel("))  # the best on held-out bags
    assert found["labels"]["names"] == ["grass", "sand", "sky"]
    assert found["training"]["fingerprint of the training data"] == BagDataset.load(world / "base.bags").fingerprint()
    assert {"cfmgml", "numpy", "scikit-image"} <= set(found["versions"])
    assert found["built"]["parameters"]["features"] == "rich"

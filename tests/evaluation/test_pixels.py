"""Measures in pixels: from counts of nodes, from masks in a folder, and through `cfmgml evaluate`."""

import os
import re
import shlex
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cfmgml import BagDataset, CfMGML
from cfmgml.builders.painted import label_map
from cfmgml.cli import main
from cfmgml.datasets import bags_from_images
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.evaluation.pixel_masks import read_pixel_truth
from cfmgml.evaluation.pixel_truth import PixelTruth, pixel_truth
from cfmgml.evaluation.pixels import paint_folds
from cfmgml.metrics import pixel_measures, pixel_report
from made_up import COLOURS, draw_photo

LABELS = sorted(COLOURS)
FEWER = " --folds 2 --inner 2 --n-jobs 1 --methods cfmgml,dummy"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Photos, a table of their labels, masks of what every pixel shows, and what the masks' values mean."""
    folder, rng = tmp_path_factory.mktemp("world"), np.random.default_rng(3)
    (folder / "photos").mkdir()
    (folder / "masks").mkdir()
    lines = ["image,labels"]
    for k in range(8):
        pixels, mask, kinds = draw_photo(rng)
        Image.fromarray(pixels).save(folder / "photos" / f"p{k:02}.png")
        values = np.array([0, *(10 * (LABELS.index(kind) + 1) for kind in kinds)], dtype=np.uint8)[mask]
        values[:5] = 200  # means nothing
        Image.fromarray(values).save(folder / "masks" / f"p{k:02}.png")
        lines.append(f"p{k:02}.png,{';'.join(kinds)}")
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    rows = [f"{10 * (k + 1)},{name}" for k, name in enumerate(LABELS)]
    for place in (folder / "classes.csv", folder / "masks" / "legend.csv"):
        place.write_text("\n".join(["value,label", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def bags(world):
    assert (
        main(shlex.split(f"build images {world}/photos --labels {world}/labels.csv --n-jobs 1 -o {world}/photos.bags"))
        == 0
    )
    return BagDataset.load(world / "photos.bags")


@pytest.fixture(scope="module")
def truth(world, bags):
    return read_pixel_truth(bags, world / "masks", world / "classes.csv", folder=world / "photos")


def true_maps(world, n_labels=3):
    """The classes of all pixels, by hand."""
    for path in sorted((world / "masks").glob("*.png")):
        values = np.asarray(Image.open(path)).astype(int)
        yield np.where(values == 200, -1, values // 10 - 1)


@given(seed=st.integers(0, 10**6), background=st.booleans())
def test_counts_of_nodes_are_those_of_pixels(seed, background):
    rng = np.random.default_rng(seed)
    nodes = [rng.integers(-1, 4, size=(5, 6)) for _ in range(3)]
    classes = [rng.integers(-1, 2 + background, size=(5, 6)) for _ in range(3)]
    tables = np.zeros((3, 5, 2 + background), dtype=int)
    for k in range(3):
        for node, label in zip(nodes[k].ravel(), classes[k].ravel(), strict=True):
            if label >= 0:
                tables[k, node, label] += 1  # node -1 is the last row
    truth = PixelTruth(tables[:, :4].reshape(12, -1), tables[:, 4], np.array([0, 4, 8, 12]), 2)
    painted = rng.integers(-1, 2, size=12)
    rest = 2 if background else -1
    maps = [np.append(np.where(painted < 0, rest, painted)[4 * k : 4 * k + 4], rest)[nodes[k]] for k in range(3)]
    assert pixel_measures(truth.counts(painted)) == pixel_report(classes, maps)
    some = truth[[2, 0]]
    chosen = np.concatenate([painted[8:], painted[:4]])
    assert pixel_measures(some.counts(chosen)) == pixel_report([classes[2], classes[0]], [maps[2], maps[0]])
    others = rng.integers(-1, 2, size=(20, 12))
    best = pixel_measures(truth.counts(truth.best()))["pixel_accuracy"]
    assert all(pixel_measures(truth.counts(other))["pixel_accuracy"] <= best + 1e-12 for other in others)


def test_masks_in_a_folder(world, bags, truth):
    painted = np.random.default_rng(0).integers(-1, 3, size=bags.graphs.n_nodes)
    maps = [label_map(bags, painted, k, folder=world / "photos") for k in range(bags.n_bags)]
    assert pixel_measures(truth.counts(painted)) == pixel_report(true_maps(world), maps)
    assert truth.of_nodes.sum() + truth.outside.sum() == 8 * 43 * 72  # but for what means nothing
    with pytest.raises(ValueError, match="one label for each of"):
        truth.counts(painted[1:])


def test_background_is_a_class_if_a_value_means_it(world, bags, tmp_path):
    for label in ("", "background"):
        (tmp_path / "classes.csv").write_text(f"index,label\n200,{label}\n10,{LABELS[0]}\n")
        truth = read_pixel_truth(bags, world / "masks", tmp_path / "classes.csv", folder=world / "photos")
        assert truth.n_classes == 4
        assert truth.of_nodes[:, 3].sum() == 8 * 5 * 72
        assert not truth.of_nodes[:, 1:3].any()
        nothing = truth.counts(np.full(bags.graphs.n_nodes, -1))
        assert nothing[2].tolist() == [0, 0, 0, 8 * 5 * 72]
        assert nothing[1].tolist() == [0, 0, 0, nothing[0].sum()]


def test_values_may_mean_something_else_in_every_picture(world, bags, truth, tmp_path):
    rows = [f"p{k:02},{10 * (c + 1)},{LABELS[c]}" for k in range(7) for c in range(3)]
    (tmp_path / "classes.csv").write_text("\n".join(["image,segment,label", *rows]) + "\n")
    own = read_pixel_truth(bags, world / "masks", tmp_path / "classes.csv", folder=world / "photos")
    np.testing.assert_array_equal(own[:7].of_nodes, truth[:7].of_nodes)
    assert not own[7].of_nodes.any()  # nothing is said of the last picture


def test_pictures_without_a_mask_are_not_counted(world, bags, truth, tmp_path):
    (tmp_path / "p02.png").write_bytes((world / "masks" / "p02.png").read_bytes())
    few = read_pixel_truth(bags, tmp_path, world / "classes.csv", folder=world / "photos")
    np.testing.assert_array_equal(few[2].of_nodes, truth[2].of_nodes)
    assert few.of_nodes.sum() == truth[2].of_nodes.sum()


@pytest.mark.slow
def test_processes_count_the_same(world, bags, truth):
    several = pixel_truth(bags, true_maps(world), 3, n_jobs=2, folder=world / "photos")
    np.testing.assert_array_equal(several.of_nodes, truth.of_nodes)


@pytest.mark.slow
def test_a_map_that_kills_its_workers_is_named(world, bags):
    def deadly():
        os.kill(os.getpid(), signal.SIGKILL)

    deadly.__module__ = "__main__"  # sent by value
    maps = list(true_maps(world))
    maps[5] = deadly
    with pytest.raises(ValueError, match=r"pixels of p05.png cannot be counted: its worker process was killed twice"):
        pixel_truth(bags, maps, 3, n_jobs=2, folder=world / "photos")


def test_maps_that_do_not_fit(world, bags):
    maps = list(true_maps(world))
    with pytest.raises(ValueError, match="a map for each of 8 bags, got 7"):
        pixel_truth(bags, maps[:7], 3, folder=world / "photos")
    with pytest.raises(ValueError, match=r"of p00.png must have its height and width, \(48, 72\), got \(72, 48\)"):
        pixel_truth(bags, [part.T for part in maps], 3, folder=world / "photos")
    with pytest.raises(ValueError, match="must be numbers below 2, got"):
        pixel_truth(bags, maps, 2, folder=world / "photos")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("value,label\n1,moon\n", "row 1: there is no label 'moon' in these bags; they have grass, sand, sky"),
        ("value,label\n1,sky\n1,sand\n", "row 2: the value 1 means something else in an earlier row"),
        ("value,label\none,sky\n", "row 1 must have a whole number as value, got 'one'"),
        ("colour,label\n1,sky\n", "must have a column value, index or segment; it has colour, label"),
    ],
)
def test_tables_that_cannot_be_meant(world, bags, tmp_path, table, message):
    (tmp_path / "classes.csv").write_text(table)
    with pytest.raises(ValueError, match=message):
        read_pixel_truth(bags, world / "masks", tmp_path / "classes.csv", folder=world / "photos")


def test_folders_that_cannot_be_meant(world, bags, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        read_pixel_truth(bags, tmp_path / "none", world / "classes.csv")
    with pytest.raises(ValueError, match="no mask in .* is called like a picture, such as p00.png"):
        read_pixel_truth(bags, tmp_path, world / "classes.csv")
    for suffix in ("png", "bmp"):
        (tmp_path / f"p00.{suffix}").write_bytes((world / "masks" / "p00.png").read_bytes())
    with pytest.raises(ValueError, match="there is p00.bmp and p00.png"):
        read_pixel_truth(bags, tmp_path, world / "classes.csv")


class Oracle:
    """Paints what is true, of what it is allowed; that it was fitted on other bags does not matter to it."""

    def __init__(self, bags, truth):
        self.painted = dict(zip(bags.bag_names.tolist(), np.split(truth.best(), truth.node_ptr[1:-1]), strict=True))

    def paint(self, X, given=False):
        return np.concatenate([self.painted[name] for name in X.bag_names.tolist()])


def test_any_painter_goes_through_the_folds(bags, truth):
    folds = make_folds(bags, FoldPlan(n_folds=4, n_inner=0))
    seen = []

    def fit(train):
        seen.append(train.bag_names.tolist())
        return Oracle(bags, truth)

    parts = list(paint_folds(fit, bags, truth, folds))
    assert [part.fold for part in parts] == [0, 1, 2, 3]
    assert all(len(names) == 6 for names in seen)
    for how in ("predicted", "given"):
        np.testing.assert_array_equal(sum(part.counts[how] for part in parts), truth.counts(truth.best()))


def test_a_model_that_learned_from_labels_paints_pixels(bags, truth):
    """Three surfaces that differ in colour: by chance a third would be right."""
    folds = make_folds(bags, FoldPlan(n_folds=2, n_inner=0))
    parts = list(paint_folds(CfMGML(alpha=1e-3).fit, bags, truth, folds))
    report = pixel_measures(sum(part.counts["given"] for part in parts))
    assert report["pixel_accuracy"] > 0.6


@pytest.mark.slow
def test_evaluate_prints_and_keeps_pixels(world, bags, tmp_path, capsys, monkeypatch):
    """By the example of its --help."""
    monkeypatch.chdir(world)
    assert main(["evaluate", "--help"]) == 0
    (example,) = re.findall(r"^\s+cfmgml (.*--pixel-truth.*)$", capsys.readouterr().out, re.MULTILINE)
    line = f"{example} --out {tmp_path}/out {FEWER}"
    assert main(shlex.split(line)) == 0
    printed = capsys.readouterr()
    assert "Measuring 24,768 pixels of 8 pictures." in printed.err
    table = printed.out.partition("photos, pixels: one confusion matrix over the test pictures of 2 folds")[2]
    assert "| CfMGML |" in table
    assert "Dummy" not in table
    assert "| best possible with these superpixels |" in table
    assert "24,768 pixels, 3 labels." in table
    kept = (tmp_path / "out" / "pixels.jsonl").read_bytes()
    assert kept.count(b"\n") == 2
    assert (tmp_path / "out" / "tables" / "pixels.md").read_text() in printed.out
    assert main(shlex.split(line)) == 0
    assert capsys.readouterr().out == printed.out
    assert (tmp_path / "out" / "pixels.jsonl").read_bytes() == kept


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("--pictures photos", 2, "--pictures is for --pixel-truth"),
        ("--pixel-classes classes.csv", 2, "--pixel-classes is for --pixel-truth"),
        ("--pixel-truth photos", 2, "--pixel-truth needs --pixel-classes: there is no legend.csv in photos"),
        ("--pixel-truth masks --pixel-classes classes.csv", 1, "say where with --pictures"),
        ("--pixel-truth none --pixel-classes classes.csv", 1, "there is no folder none"),
    ],
)
def test_evaluate_refuses(world, bags, monkeypatch, capsys, options, status, message):
    monkeypatch.chdir(world)
    capsys.readouterr()
    assert main(shlex.split(f"evaluate photos.bags {options} {FEWER}")) == status
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_bags_without_labels_or_places(world, bags):
    plain = bags_from_images(world / "photos", n_jobs=1)
    with pytest.raises(ValueError, match="no labels to compare pixels with"):
        read_pixel_truth(plain, world / "masks", world / "classes.csv")

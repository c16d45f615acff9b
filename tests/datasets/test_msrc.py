"""MSRC v2: its counts, its two layouts, its cache."""

import time

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.datasets.msrc import MSRC_LABELS, load_msrc_v2

MASKS = {"1_1_s": [[1, 2, 0]], "1_2_s": [[2, 2, 0]]}
CLASSES = {"1_1_s": {1: 4, 2: 2}, "1_2_s": {2: 7}}  # cow, grass; sky


def mask(name):
    return np.repeat(MASKS[name], 20, axis=0).repeat(10, axis=1)


def pixels(name):
    return np.random.default_rng(list(MASKS).index(name)).integers(256, size=(20, 30, 3), dtype=np.uint8)


@pytest.fixture
def tables(tmp_path):
    """Two pictures in the layout of the tables."""
    folder = tmp_path / "tables" / "msrc_v2"
    for part in ("images", "segments"):
        (folder / part).mkdir(parents=True)
    rows = ["image,segment,class_id,pixels"]
    for name in MASKS:
        Image.fromarray(pixels(name)).save(folder / "images" / f"{name}.png")
        Image.fromarray(mask(name).astype(np.uint8)).save(folder / "segments" / f"{name}.png")
        rows += [f"{name},{segment},{label},200" for segment, label in CLASSES[name].items()]
    (folder / "segments.csv").write_text("\n".join(rows))
    classes = ["id,name", "0,void", *(f"{k},{name}" for k, name in enumerate(MSRC_LABELS, start=1))]
    (folder / "classes.csv").write_text("\n".join(classes))
    return folder


@pytest.fixture
def original(tmp_path):
    """The same two pictures as first published: BMP files and MATLAB masks, whose last number is void."""
    folder = tmp_path / "original" / "MSRC_v2"
    (folder / "Images").mkdir(parents=True)
    (folder / "newsegmentations_mats").mkdir()
    for name in MASKS:
        Image.fromarray(pixels(name)).save(folder / "Images" / f"{name}.bmp")
        labels = [CLASSES[name].get(k, 0) for k in (1, 2)]
        numbers = np.where(mask(name) == 0, 3, mask(name))
        savemat(folder / "newsegmentations_mats" / f"{name}_GT.mat", {"newseg": numbers, "newlabels": [labels]})
    return folder


def test_two_layouts_give_the_same_bags(tables, original, tmp_path):
    a = load_msrc_v2(tables, cache_dir=tmp_path / "cache")
    b = load_msrc_v2(original.parent, cache_dir=False)
    assert a.graph_names.tolist() == b.graph_names.tolist() == ["1_1_s#1", "1_1_s#2", "1_2_s#2"]
    assert a.label_sets() == b.label_sets() == [["grass", "cow"], ["sky"]]
    assert a.label_names.tolist() == list(MSRC_LABELS)
    np.testing.assert_array_equal(a.graph_Y, b.graph_Y)
    np.testing.assert_array_equal(a.graphs.node_attributes, b.graphs.node_attributes)
    assert a.info["files"]["1_2_s"] == ["images/1_2_s.png", "segments/1_2_s.png"]
    assert b.info["files"]["1_2_s"] == ["Images/1_2_s.bmp", "newsegmentations_mats/1_2_s_GT.mat"]
    assert "Microsoft" in a.info["licence"]


def test_cache_follows_content_parameters_and_place(tables, tmp_path):
    cache = tmp_path / "cache"
    first = load_msrc_v2(tables, cache_dir=cache)
    moved = tables.rename(tables.parent.parent / "msrc_v2")
    again = load_msrc_v2(moved, cache_dir=cache)
    assert len(list(cache.iterdir())) == 1
    np.testing.assert_array_equal(first.graphs.node_attributes, again.graphs.node_attributes)
    assert first.info["folder"].path == tables
    assert again.info["folder"].path == moved
    load_msrc_v2(moved, features="paper", cache_dir=cache)
    assert len(list(cache.iterdir())) == 2
    Image.fromarray(pixels("1_1_s")[::-1]).save(moved / "images" / "1_1_s.png")
    changed = load_msrc_v2(moved, cache_dir=cache)
    assert len(list(cache.iterdir())) == 3
    assert not np.array_equal(changed.graphs.node_attributes, first.graphs.node_attributes)


def test_missing_mask(original):
    (original / "newsegmentations_mats" / "1_1_s_GT.mat").unlink()
    with pytest.raises(ImageError, match=r"image 1_1_s: there is no file .*1_1_s_GT\.mat"):
        load_msrc_v2(original, cache_dir=False)
    with pytest.warns(UserWarning, match="1 of 2 images were skipped"):
        assert load_msrc_v2(original, cache_dir=False, on_error="skip").bag_names.tolist() == ["1_2_s"]


def test_damaged_tables(tables):
    (tables / "segments.csv").write_text("image,segment,class_id\n1_1_s,1,99\n")
    with pytest.raises(ValueError, match="names class 99, which classes.csv does not have"):
        load_msrc_v2(tables, cache_dir=False)
    (tables / "segments.csv").write_text("image,class_id\n")
    with pytest.raises(ValueError, match="has no column 'segment'"):
        load_msrc_v2(tables, cache_dir=False)


def test_missing_data(tmp_path):
    with pytest.raises(FileNotFoundError, match="Put images/, segments/, segments.csv and classes.csv"):
        load_msrc_v2(tmp_path)


@pytest.mark.slow
@pytest.mark.data
def test_real_data(data_folder, tmp_path):
    bags = load_msrc_v2(data_folder, nodes="labels", cache_dir=tmp_path, n_jobs=1)
    assert (bags.n_bags, bags.n_graphs, bags.n_labels) == (591, 1871, 23)
    assert round(bags.Y.sum() / bags.n_bags, 2) == 2.61
    assert (bags.graph_Y.sum(axis=1) == 1).all()
    assert 20.5 < bags.graphs.n_nodes / bags.n_graphs < 22
    assert bags.info["n_dropped"] == 0
    assert bags.info["skipped"] == {}
    start = time.perf_counter()
    again = load_msrc_v2(data_folder, nodes="labels", cache_dir=tmp_path)
    assert time.perf_counter() - start < 2
    np.testing.assert_array_equal(again.graphs.node_labels, bags.graphs.node_labels)


@pytest.mark.data
@pytest.mark.parametrize(("features", "n_attributes"), [("paper", 873), ("hellinger", 873), ("rich", 907)])
def test_real_attributes(data_folder, every_nth, features, n_attributes):
    bags = load_msrc_v2(every_nth(data_folder / "msrc_v2", 150), features=features, cache_dir=False)
    assert bags.n_bags == 4
    assert bags.graphs.node_attributes.shape == (bags.graphs.n_nodes, n_attributes)
    histograms = bags.graphs.node_attributes[:, :729].astype(np.float64)
    np.testing.assert_allclose((histograms if features == "paper" else histograms**2).sum(axis=1), 1, rtol=1e-5)

"""PASCAL VOC 2012: its counts and its two layouts."""

import numpy as np
import pytest
from PIL import Image

from cfmgml.builders.pictures.image_files import read_mask
from cfmgml.datasets._segmented_images import table_layout
from cfmgml.datasets.voc import VOC_LABELS, VOID, load_voc2012


def blocks(numbers):
    return np.repeat([numbers], 30, axis=0).repeat(20, axis=1).astype(np.uint8)


@pytest.fixture
def devkit(tmp_path):
    """Three pictures: a person on a horse beside another person, a lone cat, a boat with a bird of one pixel."""
    root = tmp_path / "VOCdevkit" / "VOC2012"
    for part in ("JPEGImages", "SegmentationObject", "SegmentationClass", "ImageSets/Segmentation"):
        (root / part).mkdir(parents=True)
    objects = {"a": blocks([0, 1, 2, 3]), "b": blocks([0, 1, 255, 0]), "c": blocks([1, 1, 0, 0])}
    classes = {"a": blocks([0, 13, 15, 15]), "b": blocks([0, 8, 255, 0]), "c": blocks([4, 4, 0, 0])}
    objects["a"][:, 59] = classes["a"][:, 59] = 255
    objects["c"][0, -1], classes["c"][0, -1] = 2, 3
    rng = np.random.default_rng(0)
    for name in objects:
        Image.fromarray(rng.integers(256, size=(30, 80, 3), dtype=np.uint8)).save(root / "JPEGImages" / f"{name}.jpg")
        Image.fromarray(objects[name]).convert("P").save(root / "SegmentationObject" / f"{name}.png")
        Image.fromarray(classes[name]).convert("P").save(root / "SegmentationClass" / f"{name}.png")
    (root / "ImageSets" / "Segmentation" / "trainval.txt").write_text("a\nb\nc\n")
    return tmp_path


def test_devkit(devkit):
    bags = load_voc2012(devkit, cache_dir=False, n_jobs=1)
    assert bags.bag_names.tolist() == ["a", "c"]  # b shows one class only
    assert bags.graph_names.tolist() == ["a#1", "a#2", "a#3", "c#1", "c#2"]
    assert bags.label_sets() == [["horse", "person"], ["bird", "boat"]]
    assert bags.label_names.tolist() == list(VOC_LABELS)
    assert [VOC_LABELS[k] for k in bags.graph_Y.argmax(axis=1)] == ["horse", "person", "person", "boat", "bird"]
    assert load_voc2012(devkit / "VOCdevkit" / "VOC2012", cache_dir=False, n_jobs=1).n_graphs == 5


def test_tiny_objects_can_be_left_out(devkit):
    bags = load_voc2012(devkit, cache_dir=False, n_jobs=1, min_pixels=20)
    assert bags.n_graphs == 4
    assert bags.info["dropped"] == {"c": [2]}
    assert bags.info["n_dropped"] == 1


def test_cache(devkit, tmp_path):
    first = load_voc2012(devkit, cache_dir=tmp_path / "cache", n_jobs=1)
    again = load_voc2012(devkit, cache_dir=tmp_path / "cache", n_jobs=1)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    np.testing.assert_array_equal(first.graphs.node_attributes, again.graphs.node_attributes)
    assert first.info == again.info


def test_masks_of_two_sizes(devkit):
    path = devkit / "VOCdevkit" / "VOC2012" / "SegmentationClass" / "a.png"
    Image.fromarray(blocks([1, 2])).save(path)
    with pytest.raises(ValueError, match="must have one size"):
        load_voc2012(devkit, cache_dir=False, n_jobs=1)


def test_missing_data(tmp_path):
    with pytest.raises(FileNotFoundError, match="original VOCdevkit/VOC2012"):
        load_voc2012(tmp_path)


@pytest.mark.data
def test_real_data_has_every_object_in_its_masks(data_folder):
    """What decides the counts, for all images; `test_real_data_is_built_as_listed` builds some of them."""
    layout = table_layout(data_folder / "voc2012_multi", VOID)
    objects = layout.collect().segment_labels
    assert (len(objects), sum(map(len, objects.values()))) == (1053, 4141)
    assert round(sum(len(set(row.values())) for row in objects.values()) / len(objects), 2) == 2.33
    for name, row in objects.items():
        image, mask = layout.locate(name)
        assert image.is_file()
        numbers = np.flatnonzero(np.bincount(read_mask(mask).ravel()))
        assert set(row) == set(numbers.tolist()) - set(VOID), name


@pytest.mark.data
def test_real_data_is_built_as_listed(data_folder, every_nth):
    bags = load_voc2012(every_nth(data_folder / "voc2012_multi", 15), nodes="labels", cache_dir=False, n_jobs=1)
    listed = table_layout(data_folder / "voc2012_multi", VOID).collect().segment_labels
    rows = [listed[name] for name in bags.bag_names.tolist()]
    assert (bags.n_bags, bags.n_graphs, bags.n_labels) == (71, sum(map(len, rows)), 20)
    labels = [name for row in rows for _, name in sorted(row.items())]
    assert bags.label_names[bags.graph_Y.argmax(axis=1)].tolist() == labels
    assert (bags.graph_Y.sum(axis=1) == 1).all()
    assert bags.info["n_dropped"] == 0

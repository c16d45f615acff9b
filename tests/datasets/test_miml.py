"""Collections of vectors: a bag of one-node graphs an image."""

import numpy as np
import pytest
from scipy.io import savemat

from cfmgml.datasets.miml import load_msrc_v2_miml, load_scene

RNG = np.random.default_rng(0)
BAGS = [RNG.random((size, 4)) for size in (2, 3, 1)]
SIGNS = np.array([[1, -1], [-1, 1], [1, 1]])


def cells(arrays):
    out = np.empty((len(arrays), 1), dtype=object)
    out[:, 0] = arrays
    return out


@pytest.mark.parametrize(("name", "targets"), [("labels", SIGNS), ("targets", SIGNS.T)])
def test_scene_file(tmp_path, name, targets):
    file = tmp_path / "scene_miml" / "any.mat"
    file.parent.mkdir()
    savemat(file, {"bags": cells(BAGS), name: targets, "class_name": cells(["sea", "sunset"])})
    for path in (tmp_path, file.parent, file):
        bags = load_scene(path)
        np.testing.assert_array_equal(bags.Y, SIGNS > 0)
        np.testing.assert_array_equal(bags.graphs.node_attributes, np.concatenate(BAGS))
        assert bags.bag_ptr.tolist() == [0, 2, 5, 6]
        assert bags.graphs.n_edges == 0
        assert (np.diff(bags.graphs.node_ptr) == 1).all()
        assert bags.label_names.tolist() == ["sea", "sunset"]
        assert bags.graph_names.tolist()[:3] == ["1#1", "1#2", "2#1"]
        assert bags.graph_Y is None
        assert bags.info["builder"] == "vectors"


def test_refused_files(tmp_path):
    file = tmp_path / "scene.mat"
    savemat(file, {"bags": cells(BAGS), "class_name": cells(["sea", "sunset"])})
    with pytest.raises(ValueError, match="no variable labels or targets"):
        load_scene(file)
    savemat(file, {"bags": cells(BAGS), "labels": SIGNS[:2], "class_name": cells(["sea", "sunset"])})
    with pytest.raises(ValueError, match=r"labels must have shape \(3, 2\), got \(2, 2\)"):
        load_scene(file)
    savemat(file, {"bags": cells(["text", "text"]), "labels": SIGNS, "class_name": cells(["sea"])})
    with pytest.raises(ValueError, match="bags must be cells of matrices"):
        load_scene(file)
    file.write_bytes(b"no MATLAB" * 30)
    with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
        load_scene(file)
    with pytest.raises(FileNotFoundError, match="Put scene_MIML.mat into a folder scene_miml"):
        load_scene(tmp_path / "nowhere")
    savemat(tmp_path / "second.mat", {"x": 1})
    with pytest.raises(FileNotFoundError, match="several MATLAB files"):
        load_scene(tmp_path)


@pytest.mark.data
def test_real_scene(data_folder):
    bags = load_scene(data_folder)
    assert (bags.n_bags, bags.n_graphs, bags.n_labels, bags.graphs.n_attributes) == (2000, 18000, 5, 15)
    assert round(bags.Y.sum() / bags.n_bags, 2) == 1.24
    assert bags.label_names.tolist() == ["desert", "mountains", "sea", "sunset", "trees"]


@pytest.mark.data
def test_real_msrc_v2_miml(data_folder):
    bags = load_msrc_v2_miml(data_folder)
    assert (bags.n_bags, bags.n_graphs, bags.n_labels, bags.graphs.n_attributes) == (591, 1758, 23, 48)
    assert round(bags.Y.sum() / bags.n_bags, 2) == 2.51
    np.testing.assert_array_equal(np.logical_or.reduceat(bags.graph_Y, bags.bag_ptr[:-1]), bags.Y)
    train, test = (np.array(bags.info["splits"][side]) for side in ("train", "test"))
    assert train.shape == (30, 394)
    assert test.shape == (30, 197)
    assert all(sorted([*a, *b]) == list(range(591)) for a, b in zip(train, test, strict=True))
    assert bags.bag_names[0] == "10_1_s"

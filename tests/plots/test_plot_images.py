"""What is drawn of a picture's bag."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from PIL import Image
from skimage import data

from cfmgml import GraphBatch
from cfmgml.builders.pictures.drawing import OPACITY
from cfmgml.builders.pictures.images import bags_from_images
from cfmgml.data.bags import BagDataset
from cfmgml.plots import plot_bag
from cfmgml.plots.colours import label_colours
from cfmgml.plots.shown import RIGHT, UNKNOWN, WRONG

PHOTO = np.ascontiguousarray(data.coffee()[::4, ::4])
MASK = np.where(np.indices((100, 150))[1] < 60, 1, 2)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def bags():
    labels = [{1: "cup", 2: "table"}] * 2
    return bags_from_images([PHOTO, PHOTO[::-1]], [MASK, MASK], names=["up", "down"], segment_labels=labels)


def boxes(ax):
    """Each label on the picture, and the colour of its box."""
    return {text.get_text(): to_hex(text.get_bbox_patch().get_facecolor()) for text in ax.texts}


def test_regions_graph_and_true_labels(bags):
    ax = plot_bag(bags, 0, image=PHOTO, segments=MASK)
    assert ax.get_title() == "up\ntrue: cup, table"
    assert boxes(ax) == {"cup": UNKNOWN, "table": UNKNOWN}
    shown = bags[0].graphs
    lines = [layer for layer in ax.collections if isinstance(layer, LineCollection)]
    assert {len(layer.get_segments()) for layer in lines} == {shown.n_edges // 2}
    np.testing.assert_array_equal(ax.images[0].get_array(), PHOTO)
    dots = next(layer for layer in ax.collections if len(layer.get_offsets()) == shown.n_nodes)
    x, y = dots.get_offsets().T
    assert (x[: shown.node_ptr[1]] < 60).all()
    assert (x[shown.node_ptr[1] :] >= 60).all()
    assert y.max() < 100


def test_labels_stand_in_their_regions(bags):
    ax = plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK)
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places["cup"][0] < 60 <= places["table"][0]


def test_predictions(bags):
    scores = np.array([[0.5, -1], [0.4, 0.2], [-0.3, -0.1], [0, 1]])
    ax = plot_bag(bags, 0, image=PHOTO, segments=MASK, scores=scores)
    assert boxes(ax) == {"cup": RIGHT, "cup (table)": WRONG}
    assert ax.get_title() == "up\npredicted: cup, table\ntrue: cup, table"
    ax = plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK, scores=scores)
    assert boxes(ax) == {"table? (cup)": WRONG, "table": RIGHT}


def test_labels_above_their_thresholds_are_predicted(bags):
    scores = np.array([[-0.1, -1], [-0.2, -0.1], [-0.3, -0.1], [0, 1]])
    how = {"image": PHOTO, "segments": MASK, "scores": scores}
    assert "predicted: none" in plot_bag(bags, 0, **how).get_title()
    assert set(boxes(plot_bag(bags, 0, **how))) == {"cup?", "table?"}
    ax = plot_bag(bags, 0, **how, thresholds=np.array([-0.15, 0.0]))
    assert "predicted: cup" in ax.get_title()
    assert set(boxes(ax)) == {"cup", "table?"}


def test_regions_without_a_true_label():
    """Predicting nothing for them is no news, predicting something is wrong."""
    bags = bags_from_images([PHOTO], [MASK], segment_labels=[{1: "cup", 2: []}])
    for score, expected in ((-0.1, {"cup?": UNKNOWN}), (0.2, {"cup (none)": WRONG})):
        ax = plot_bag(bags, 0, image=PHOTO, segments=MASK, scores=np.array([[0.5], [score]]))
        assert boxes(ax) == {"cup": RIGHT, **expected}


def test_graphs_can_be_left_out_and_labels_stay_inside(bags):
    ax = plot_bag(bags, 0, image=PHOTO, segments=MASK, show_graphs=False)
    assert not [layer for layer in ax.collections if isinstance(layer, LineCollection)]
    narrow = np.where(np.indices((100, 150))[1] < 20, 1, 2)
    edge = bags_from_images([PHOTO], [narrow], segment_labels=[{1: "cup", 2: "table"}])
    aligned = {text.get_text(): text.get_ha() for text in plot_bag(edge, image=PHOTO, segments=narrow).texts}
    assert aligned == {"cup": "left", "table": "center"}


def test_contributions_are_a_heat_map(bags):
    contributions = np.zeros((bags.graphs.n_nodes, 2))
    first = bags.graphs.node_ptr[2]  # of the second bag
    contributions[first, 1] = -3
    ax = plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK, contributions=contributions, label="table")
    heat = ax.images[1].get_array()
    assert heat.min() == -3
    assert (heat[MASK == 2] == 0).all()
    assert ax.images[1].get_clim() == (-3, 3)
    assert ax.get_title().startswith("down: what speaks for table")
    assert len(ax.figure.axes) == 2  # the scale
    given = plt.figure().add_subplot()
    assert plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK, contributions=contributions, label=1, ax=given) is given
    assert len(given.figure.axes) == 1


def test_a_painting_has_its_labels_colours_and_a_legend(bags):
    first = bags.graphs.node_ptr[2]  # of the second bag
    painted = np.full(bags.graphs.n_nodes, -1)
    painted[first:] = np.where(np.arange(bags.graphs.n_nodes - first) < bags.graphs.node_ptr[3] - first, 0, 1)
    painted[-1] = -1
    ax = plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK, painted=painted)
    overlay = ax.images[1].get_array()
    np.testing.assert_allclose(overlay[MASK == 1, :3] * 255, np.broadcast_to(label_colours(2)[0], (6000, 3)))
    assert set(np.unique(overlay[MASK == 1, 3])) == {OPACITY}
    assert set(np.unique(overlay[MASK == 2, 3])) == {0, OPACITY}
    keys = dict(
        zip([text.get_text() for text in ax.get_legend().get_texts()], ax.get_legend().get_patches(), strict=True)
    )
    assert list(keys) == ["cup", "table"]
    np.testing.assert_allclose(keys["table"].get_facecolor()[:3], label_colours(2)[1] / 255)
    named = plot_bag(bags, 1, image=PHOTO[::-1], segments=MASK, painted=painted, label_names=["x", "$y$"])
    assert [text.get_text() for text in named.get_legend().get_texts()] == ["x", "$y$"]
    assert not ax.texts  # no verdict on regions
    assert not [layer for layer in ax.collections if isinstance(layer, LineCollection)]
    assert plot_bag(bags, 0, image=PHOTO, segments=MASK, painted=painted).get_legend() is None  # nothing there
    with pytest.raises(ValueError, match="painted must be whole numbers of shape"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK, painted=painted[:2])


def test_pictures_are_read_from_their_files(tmp_path):
    Image.fromarray(PHOTO).save(tmp_path / "cup.png")
    bags = bags_from_images(tmp_path, single_graph=True)
    ax = plot_bag(bags)
    assert ax.get_title() == "cup.png"
    bags.save(tmp_path / "cup.bags")
    saved = BagDataset.load(tmp_path / "cup.bags")
    assert plot_bag(saved, folder=tmp_path).get_title() == "cup.png"
    with pytest.raises(ValueError, match=r"built from cup\.png, in a folder that saved bags do not name: pass folder"):
        plot_bag(saved)
    (tmp_path / "cup.png").unlink()
    with pytest.raises(ValueError, match="there is no file"):
        plot_bag(bags)


def test_scaled_down_pictures():
    with pytest.warns(UserWarning, match="scaled down"):
        bags = bags_from_images([PHOTO], max_side=75)
    assert plot_bag(bags, image=PHOTO).images[0].get_array().shape == (50, 75, 3)


def test_refusals(bags):
    with pytest.raises(ValueError, match=r"bag 'up' was not built from a file.*pass image"):
        plot_bag(bags, 0)
    with pytest.raises(ValueError, match="pass the image and the segments that the bag was built from"):
        plot_bag(bags, 0, image=PHOTO[:, ::-1], segments=MASK[::-1, ::-1])
    with pytest.raises(ValueError, match=r"scores must have shape \(4, 2\), as model.decision_function_graphs"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK, scores=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="contributions must have shape"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK, contributions=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="label must be one of cup, table, got 'dog'"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK, label="dog")
    with pytest.raises(ValueError, match="a number from 0 to 1, got 2"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK, label=2)
    plain = BagDataset(GraphBatch([0, 1], [0, 0], [[], []], node_labels=[1]), [0, 1])
    with pytest.raises(TypeError, match="bags of graph files are drawn without image"):
        plot_bag(plain, image=PHOTO)


def test_missing_library_names_the_extra(bags, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'cfmgml\[plots\]'"):
        plot_bag(bags, 0, image=PHOTO, segments=MASK)

"""The sheets, made by their command from small data of the real layouts."""

import re

import matplotlib.image
import numpy as np
import pytest
from PIL import Image

from cfmgml import CfMGML, NodeSum
from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.datasets.msrc import MSRC_LABELS
from cfmgml.paper.contact_sheets import Shown, held_out, held_out_texts, main, rarest_predictions
from cfmgml.paper.marked_texts import marked_texts
from cfmgml.paper.samples import held_out_samples
from made_up import make_abstracts

COLOURS = {"grass": (30, 160, 40), "sky": (120, 180, 250), "water": (20, 40, 120)}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Four images of two regions each, and ten abstracts of three sentences each."""
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "cache"))
    _write_images(tmp_path / "msrc_v2")
    make_abstracts(tmp_path / "hoc_sentences")
    return tmp_path


def _write_images(folder):
    rng = np.random.default_rng(0)
    for part in ("images", "segments"):
        (folder / part).mkdir(parents=True)
    rows, mask = ["image,segment,class_id,pixels"], np.where(np.indices((40, 60))[1] < 30, 1, 2)
    content = {"a": ("grass", "sky"), "b": ("water", "sky"), "c": ("sky", "grass"), "d": ("grass", "water")}
    for name, classes in content.items():
        colours = np.array([COLOURS[c] for c in classes])[mask - 1]
        noisy = np.clip(colours + rng.integers(-20, 20, size=colours.shape), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(folder / "images" / f"{name}.png")
        Image.fromarray(mask.astype(np.uint8)).save(folder / "segments" / f"{name}.png")
        rows += [f"{name},{k},{MSRC_LABELS.index(label) + 1},1200" for k, label in enumerate(classes, start=1)]
    (folder / "segments.csv").write_text("\n".join(rows))
    classes = ["id,name", "0,void", *(f"{k},{name}" for k, name in enumerate(MSRC_LABELS, start=1))]
    (folder / "classes.csv").write_text("\n".join(classes))


@pytest.mark.parametrize("kind", ["images", "texts"])
def test_the_command_writes_a_sheet(data, capsys, kind):
    out = data / "out" / "sheets"
    assert main(["--data", str(data), "--out", str(out), "--kind", kind, "--n-shown", "1"]) == 0
    assert capsys.readouterr().out == f"{out / kind}.png\n"
    assert [path.name for path in out.iterdir()] == [f"{kind}.png"]
    picture = matplotlib.image.imread(out / f"{kind}.png")
    assert picture.std() > 0.05  # not blank


def test_texts_in_the_report_are_text(data):
    """Every sentence, its words marked, and what is predicted and true of it."""
    shown, texts = held_out_texts(data, 2)
    told = marked_texts(shown, texts)
    words = re.sub("<[^>]*>", "", told)
    for name in shown.bags.graph_names.tolist():
        assert texts[name] in words
    assert told.count("<article") == 2
    assert re.search(r'<mark class=for style="--strength:1.00">\w+</mark>', told)
    assert "<span class=right>predicted" in told
    assert "true none" in words
    assert held_out_samples({"hallmarks"}, data, None).count("<figure") == 1


def test_the_data_must_be_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no data set msrc_v2"):
        main(["--data", str(tmp_path), "--out", str(tmp_path), "--kind", "images"])


class Remembering(CfMGML):
    """A model that notes what it has learned from."""

    def fit(self, X, Y=None):
        self.seen_ = X.bag_names.tolist()
        return super().fit(X, Y)


def test_shown_bags_were_not_learned_from(bags):
    model = Remembering(NodeSum())
    named = type(bags)(bags.graphs, bags.bag_ptr, bags.Y, bags.graph_Y, bag_names=[str(k) for k in range(bags.n_bags)])
    shown = held_out(named, model, n_shown=3, seed=1)
    assert len(model.seen_) == round(0.8 * named.n_bags)
    assert shown.bags.n_bags == 3
    assert not set(shown.bags.bag_names.tolist()) & set(model.seen_)
    np.testing.assert_allclose(shown.scores, model.decision_function_graphs(shown.bags))
    assert shown.contributions.shape == (shown.bags.graphs.n_nodes, named.n_labels)
    again = held_out(named, Remembering(NodeSum()), n_shown=3, seed=1)
    assert again.bags.bag_names.tolist() == shown.bags.bag_names.tolist()
    assert again.summary == shown.summary
    other = held_out(named, Remembering(NodeSum()), n_shown=3, seed=2)
    assert other.bags.bag_names.tolist() != again.bags.bag_names.tolist()


def test_heat_maps_show_the_rarest_label_predicted():
    bags = bags_from_texts([["a gene", "a cell"], ["a gene"], ["a virus"]], [[1, 0, 0]] * 3)
    scores = np.array([[2.0, 1.0, -1.0], [1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [-3.0, -2.0, -1.0]])
    shown = Shown(bags, scores, np.zeros((bags.graphs.n_nodes, 3)), "")
    assert rarest_predictions(shown) == [1, 0, 2]

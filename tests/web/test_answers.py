"""Answers hold the numbers that Python gives, and say rightly where nodes lie."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from answer_numbers import check_numbers
from cfmgml import CfMGML, NodeSum, Precomputed, gram_matrix
from cfmgml.data.questions import Question
from cfmgml.datasets import bags_from_images
from cfmgml.demo import models as demo
from cfmgml.kernels import ProductKernel
from cfmgml.plots.colours import hex_colours
from cfmgml.web.answers import Analyst
from cfmgml.web.exhibits import as_exhibits, check_servable
from cfmgml.web.limits import Limits, Refused


def expand(runs):
    return np.repeat(runs[::2], runs[1::2])


@pytest.mark.parametrize("regions", [None, 3])
def test_a_photo_from_a_file(photo_model, photo_file, tmp_path, regions):
    (tmp_path / "photo.png").write_bytes(photo_file)
    bags = replace(photo_model.builder_, max_regions=regions or 8).rebuild([tmp_path / "photo.png"])
    answer = Analyst(photo_model).answer("image", Question(photo_file, regions))
    check_numbers(answer, photo_model, bags)
    assert len(answer["graphs"]) == bags.n_graphs == (regions or 8)
    picture = answer["picture"]
    nodes, regions_map = expand(picture["nodes"]), expand(picture["regions"])
    assert len(nodes) == len(regions_map) == picture["width"] * picture["height"] == 280 * 200
    assert set(nodes) == set(range(bags.graphs.n_nodes))
    for number, graph in enumerate(answer["graphs"]):
        assert set(nodes[regions_map == number]) == set(range(*graph["nodes"]))
        x, y = graph["at"]
        assert regions_map[int(y) * 280 + int(x)] == number
        assert graph["share"] == pytest.approx((regions_map == number).mean())


def test_what_is_painted(photo_model, photo_file, tmp_path):
    (tmp_path / "photo.png").write_bytes(photo_file)
    bags = photo_model.builder_.rebuild([tmp_path / "photo.png"])
    painting = Analyst(photo_model).answer("image", Question(photo_file))["painting"]
    assert painting["nodes"] == photo_model.paint(bags).tolist()
    assert set(painting["nodes"]) >= {photo_model.label_names_.tolist().index("cat")}
    assert painting["colours"] == hex_colours(len(photo_model.label_names_))


def test_labels_are_ranked_with_their_margins(photo_model, photo_file):
    answer = Analyst(photo_model).answer("image", Question(photo_file))
    scores = [label["score"] for label in answer["labels"]]
    assert scores == sorted(scores, reverse=True)
    assert sorted(label["name"] for label in answer["labels"]) == sorted(photo_model.label_names_)
    for label in answer["labels"]:
        column = answer["label_names"].index(label["name"])
        own = [graph["scores"][column] for graph in answer["graphs"]]
        assert own.index(max(own)) == label["decided_by"]
        assert label["predicted"] == (label["score"] > 0)
        assert label["margin"] == label["score"] - answer["thresholds"][column]
    assert answer["labels"][0]["name"] == "cat"


def test_labels_with_thresholds_of_their_own(photo_model, photo_file):
    """What the page calls found, the painting and the table are what `predict` says."""
    model = copy.copy(photo_model)
    thresholds = np.full(len(model.label_names_), -9.0)
    thresholds[0] = 0.0
    model.learned_ = replace(model.learned_, thresholds=thresholds)
    answer = Analyst(model).answer("image", Question(photo_file))
    assert answer["thresholds"] == thresholds.tolist()
    names = answer["label_names"]
    for label in answer["labels"]:
        assert label["predicted"] == (label["margin"] > 0) == (names.index(label["name"]) > 0 or label["score"] > 0)
    table = json.loads(Analyst(model, table=("bag", "json")).answer("image", Question(photo_file)))
    assert set(table[0]["labels"]) == {label["name"] for label in answer["labels"] if label["predicted"]}
    painted = {names[node] for node in answer["painting"]["nodes"] if node >= 0}
    assert painted <= {label["name"] for label in answer["labels"] if label["predicted"]}


def test_a_strip_of_digits(digit_model):
    from sklearn.datasets import load_digits

    sample = demo.digit_strips()[0]
    true = [int(word) for word in sample.title.split()]
    numbers = demo.digit_numbers()[::-1][: len(true)]
    np.testing.assert_array_equal(load_digits().target[numbers], true)
    bags = digit_model.builder_.rebuild(load_digits().images[numbers] / 16)
    answer = Analyst(digit_model).answer("image", Question(sample.data))
    check_numbers(answer, digit_model, bags)
    nodes = expand(answer["picture"]["nodes"]).reshape(8, -1)
    rows, columns = np.nonzero(nodes >= 0)
    attributes = bags.graphs.node_attributes[nodes[rows, columns]]
    np.testing.assert_array_equal(attributes[:, 0], rows)
    np.testing.assert_array_equal(attributes[:, 1], columns % 8)


@pytest.mark.parametrize("shape", [(8, 60), (4, 8), (16, 16 * 13)])
def test_what_is_no_strip_of_digits(digit_model, make_file, rng, shape):
    pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    with pytest.raises(Refused, match="strip of digits"):
        Analyst(digit_model).answer("image", Question(make_file(pixels)))


def test_an_empty_square(digit_model, make_file):
    pixels = np.full((16, 32, 3), 255, dtype=np.uint8)
    with pytest.raises(Refused, match="one shade"):
        Analyst(digit_model).answer("image", Question(make_file(pixels)))
    pixels[4:12, 4:6] = 0
    with pytest.raises(Refused, match="Square 2 of 2 has no ink"):
        Analyst(digit_model).answer("image", Question(make_file(pixels)))


def test_a_text(text_model):
    text = "Immune cells attack. \U0001d54b Blood vessels sprout, and vessels grow."
    bags = text_model.builder_.rebuild([text])
    answer = Analyst(text_model).answer("text", Question(text))
    check_numbers(answer, text_model, bags)
    np.testing.assert_allclose(
        sorted(label["probability"] for label in answer["labels"]), sorted(text_model.predict_proba(bags)[0])
    )
    words = {
        (part["text"][start:stop].lower(), str(bags.graphs.node_names[node]))
        for part in answer["texts"]
        for start, stop, node in part["marks"]
    }
    assert ("vessels", "vessels") in words
    assert ("sprout", "sprout") in words
    assert [part["graph"] for part in answer["texts"]] == [0, 1]


def test_texts_that_are_cut_already(text_model):
    parts = ["Blood vessels. Immune cells.", "Cells"]
    bags = text_model.builder_.rebuild([parts])
    check_numbers(Analyst(text_model).answer("text", Question(parts)), text_model, bags)


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("", 422, "no text"),
        (["", " "], 422, "no text"),
        ("a" * 501, 413, "501 characters; 500 are the most"),
        (["x"] * 6, 413, "6 sentences; 5 are the most"),
        ("half \ud800 pair", 422, "surrogate"),
    ],
)
def test_texts_that_are_refused(text_model, text, status, reason):
    with pytest.raises(Refused, match=reason) as caught:
        Analyst(text_model, Limits(characters=500, texts=5)).answer("text", Question(text))
    assert caught.value.status == status


def test_nodes_are_bounded(photo_model, photo_file):
    with pytest.raises(Refused, match="nodes; 10 are the most"):
        Analyst(photo_model, Limits(nodes=10)).answer("image", Question(photo_file))


def test_the_wrong_kind_of_input(photo_model, text_model, photo_file):
    with pytest.raises(Refused, match="reads texts, not images"):
        Analyst(text_model).answer("image", Question(photo_file))
    with pytest.raises(Refused, match="reads images, not texts"):
        Analyst(photo_model).answer("text", Question("Cells."))


def test_explained_labels_are_bounded(photo_model, photo_file):
    answer = Analyst(photo_model, Limits(explained=2)).answer("image", Question(photo_file))
    assert answer["explanation"]["labels"] == [label["name"] for label in answer["labels"][:2]]


def test_a_kernel_that_is_no_sum_over_nodes(photos, photo_file):
    bags = demo.photo_bags(photos, n_crops=2, seed=0)
    model = CfMGML(ProductKernel([NodeSum(), NodeSum("linear")]), alpha=1e-3).fit(bags)
    answer = Analyst(model).answer("image", Question(photo_file))
    assert answer["explanation"] is None
    assert "painting" not in answer
    assert len(answer["labels"]) == bags.n_labels
    with pytest.raises(Refused, match="no sums over nodes") as refused:
        Analyst(model, table=("node", "csv")).answer("image", Question(photo_file))
    assert refused.value.status == 422


def test_one_graph_of_the_whole_picture(photos, photo_file):
    names, images = list(photos), [pixels[:120, :160] for pixels in photos.values()]
    bags = bags_from_images(images, labels=[[name] for name in names], names=names, single_graph=True)
    model = CfMGML(alpha=1e-3).fit(bags)
    answer = Analyst(model).answer("image", Question(photo_file, 5))
    assert [graph["share"] for graph in answer["graphs"]] == [1.0]


def test_models_that_cannot_be_served(bags):
    model = CfMGML(Precomputed(gram_matrix(NodeSum(), bags.graphs)), alpha=1e-3).fit(bags)
    with pytest.raises(ValueError, match="Precomputed kernel cannot score new input"):
        check_servable(model)
    with pytest.raises(TypeError, match="CfMGML can be served, got dict"):
        check_servable({})
    with pytest.raises(ValueError, match="letters, digits"):
        as_exhibits({"../x": model})
    with pytest.raises(ValueError, match="no model to serve"):
        as_exhibits({})

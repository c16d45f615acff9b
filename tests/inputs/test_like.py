"""New input built like old: patterns from files, and strips of digits."""

import numpy as np
import pytest
from PIL import Image

from cfmgml import CfMGML
from cfmgml.builders.digits import digit_pictures
from cfmgml.datasets import load_digit_bags
from cfmgml.inputs import bags_like, describe_file, prediction_rows, read_pattern
from examples import random_bags


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.cfmgml"
    CfMGML(alpha=1e-4).fit(load_digit_bags(n_bags=60)).save(path)
    return path


def strip(bags, scale=1):
    """A bag of digits as a picture: dark ink on light paper."""
    ink = np.nan_to_num(digit_pictures(bags.graphs))
    row = np.concatenate(list(ink), axis=1)
    return Image.fromarray(np.rint(255 * (1 - row.repeat(scale, 0).repeat(scale, 1))).astype(np.uint8))


def test_a_strip_of_digits_is_read_as_the_digits_were(digits, tmp_path):
    test = load_digit_bags("test", n_bags=3)
    for k in range(3):
        strip(test[k], scale=k + 1).save(tmp_path / f"s{k}.png")
    pattern = read_pattern(digits)
    bags = bags_like(pattern, [tmp_path], labels=False)
    assert bags.bag_names.tolist() == ["s0.png", "s1.png", "s2.png"]
    assert bags.bag_ptr.tolist() == test.bag_ptr.tolist()
    model = CfMGML.load(digits)
    np.testing.assert_allclose(model.decision_function(bags), model.decision_function(test), atol=0.05)


def test_a_strip_that_is_none(digits, tmp_path):
    Image.fromarray(np.zeros((8, 12), dtype=np.uint8)).save(tmp_path / "s.png")
    with pytest.raises(
        ValueError, match="s.png: the image has 12 x 8 pixels; a strip of digits is a row of 1 to 12 squares"
    ):
        bags_like(read_pattern(digits), [tmp_path / "s.png"])


def test_own_graphs_need_no_recipe(tmp_path):
    bags = random_bags(6)
    bags.save(tmp_path / "own.bags")
    model = CfMGML(alpha=1e-2, max_iter=5, probability=True).fit(bags)
    model.save(tmp_path / "own.cfmgml")
    again = bags_like(read_pattern(tmp_path / "own.cfmgml"), [tmp_path / "own.bags"])
    rows = prediction_rows(model, again, "graph")
    assert rows[0].keys() >= {"bag", "graph", "labels", "best", "score:a", "probability:d"}
    np.testing.assert_allclose([row["probability:a"] for row in rows], model.predict_proba_graphs(bags)[:, 0])
    found = prediction_rows(model, again, "bag")
    np.testing.assert_allclose([row["probability:b"] for row in found], model.predict_proba(bags)[:, 1])
    assert len(prediction_rows(model, again, "node")) == bags.graphs.n_nodes
    assert describe_file(tmp_path / "own.bags")["built"]["from"] == "graphs"
    with pytest.raises(ValueError, match="level must be one of bag, graph, node"):
        prediction_rows(model, again, "edge")
    with pytest.raises(ValueError, match="no input was named"):
        bags_like(read_pattern(tmp_path / "own.bags"), [])


def test_only_bags_and_models_are_described(tmp_path):
    random_bags(2).graphs.save(tmp_path / "graphs")
    with pytest.raises(ValueError, match="holds a GraphBatch, neither bags nor a model"):
        describe_file(tmp_path / "graphs")

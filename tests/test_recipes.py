"""How data were built, and building new bags the same way."""

import json

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML
from cfmgml.datasets import bags_from_images, bags_from_texts, load_digit_bags
from cfmgml.datasets.digits import digit_pictures
from cfmgml.recipes import Recipe, check_same_recipe, recipe_of
from examples import random_bags
from made_up import draw_photo, write_up


def photos(n, seed=0):
    rng = np.random.default_rng(seed)
    return [draw_photo(rng)[0] for _ in range(n)]


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    return [write_up(rng, ["music", "sport"]) for _ in range(n)]


def as_saved(info):
    """As it comes back from a file."""
    return json.loads(json.dumps(dict(info), default=str))


def assert_same_graphs(a, b):
    others = b.graphs.arrays()
    for name, array in a.graphs.arrays().items():
        if name == "graph_ids":
            continue
        np.testing.assert_array_equal(array, others[name])


def test_pictures_are_built_again_as_they_were():
    images = photos(2)
    built = bags_from_images(images, features="hellinger", max_nodes=9, void=[0, 7], max_regions=3, n_jobs=1)
    again = recipe_of(as_saved(built.info)).build_images(images)
    assert_same_graphs(built, again)
    check_same_recipe(as_saved(built.info), again.info)


def test_the_number_of_regions_may_differ():
    recipe = recipe_of(bags_from_images(photos(1), max_regions=2).info)
    more = recipe.build_images(photos(1), max_regions=5)
    check_same_recipe(recipe_of(more.info).parameters, more.info)
    check_same_recipe({"builder": "images", "parameters": dict(recipe.parameters)}, more.info)
    assert more.info["parameters"]["max_regions"] == 5


def test_a_text_of_the_collection_is_built_again_as_it_was():
    texts = documents(6)
    built = bags_from_texts(texts, window=3, threshold=0.3, stop_words=["the"])
    again = recipe_of(as_saved(built.info)).build_texts(texts[2:3], names=["two"])
    assert_same_graphs(built[2], again)
    assert again.bag_names.tolist() == ["two"]
    check_same_recipe(as_saved(built.info), again.info)


def test_digits_are_built_again_as_they_were():
    bags = load_digit_bags(n_bags=3)
    again = recipe_of(bags.info).build_digits(np.nan_to_num(digit_pictures(bags.graphs)), np.diff(bags.bag_ptr))
    np.testing.assert_array_equal(again.graphs.node_attributes, bags.graphs.node_attributes)
    np.testing.assert_array_equal(again.bag_ptr, bags.bag_ptr)
    check_same_recipe(bags.info, again.info)


@pytest.mark.parametrize(
    ("digits", "message"),
    [
        (np.zeros((2, 8)), "must have shape (n, 8, 8), got (2, 8)"),
        (np.zeros((0, 8, 8)), "got (0, 8, 8)"),
        (np.full((1, 8, 8), 16.0), "must hold 0 (paper) to 1 (ink), got 16 to 16"),
        (np.full((1, 8, 8), np.nan), "must hold 0 (paper) to 1 (ink)"),
    ],
)
def test_wrong_digits_are_refused(digits, message):
    with pytest.raises(ValueError) as error:
        Recipe("digits").build_digits(digits)
    assert message in str(error.value)


def test_wrong_input_for_a_recipe_is_refused():
    with pytest.raises(ValueError, match="makes bags from digits, not from images"):
        recipe_of({"builder": "digits"}).build_images(photos(1))
    with pytest.raises(ValueError, match="makes bags from graphs, not from texts"):
        recipe_of({}).build_texts(["a"])
    with pytest.raises(ValueError, match="kind must be one of images"):
        Recipe("sounds")
    with pytest.raises(ValueError, match="vocabulary"):
        recipe_of({"builder": "texts", "parameters": {}})
    with pytest.raises(ValueError, match="must be a mapping"):
        recipe_of({"parameters": [1]})


def test_another_version_of_the_recipe_is_refused():
    info = {**bags_from_texts(documents(2)).info, "recipe_version": 1}
    with pytest.raises(ValueError, match="built by version 1 of the recipe, and this cfmgml has version 2"):
        recipe_of(info).build_texts(["a b"])


def test_what_differs_is_named_both_ways():
    ours, theirs = (bags_from_images(photos(1), features=name, max_nodes=9).info for name in ("rich", "paper"))
    with pytest.raises(ValueError) as error:
        check_same_recipe(ours, theirs)
    assert "with features='paper', the model's training data with features='rich'" in str(error.value)
    assert "cfmgml build images DIR --like MODEL -o new.bags" in str(error.value)
    assert "recipe_of(model.info_).build_images(images)" in str(error.value)


def test_other_kinds_and_other_counts_are_refused():
    texts = bags_from_texts(documents(3)).info
    with pytest.raises(ValueError, match="learned from texts and this input was built from handwritten digits"):
        check_same_recipe(texts, {"builder": "digits"})
    with pytest.raises(ValueError, match="word counts of other texts"):
        check_same_recipe(texts, bags_from_texts(documents(3, seed=1)).info)
    with pytest.raises(ValueError, match=r"learned from \['odd'\] and"):
        check_same_recipe({"builder": ["odd"]}, texts)


def test_without_a_builder_nothing_is_compared():
    check_same_recipe({}, {"builder": "images"})
    check_same_recipe({"builder": "images"}, {"description": "my own"})


def test_a_model_refuses_bags_built_another_way(tmp_path):
    train = bags_from_texts(documents(6), np.arange(12).reshape(6, 2) % 3 == 0)
    CfMGML(alpha=1e-2, max_iter=5).fit(train).save(tmp_path / "m.cfmgml")
    model = CfMGML.load(tmp_path / "m.cfmgml")
    new = documents(2, seed=3)
    with pytest.raises(ValueError, match="word counts of other texts"):
        model.predict(bags_from_texts(new))
    with pytest.raises(ValueError, match="window=1, the model's training data with window=2"):
        model.explain(bags_from_texts(new, window=1))
    assert model.predict(recipe_of(model.info_).build_texts(new)).shape == (2, 2)


def test_own_graphs_are_compared_by_what_they_have():
    bags = random_bags(8)
    model = CfMGML(alpha=1e-2, max_iter=5).fit(bags)
    fewer = BagDataset(
        type(bags.graphs)(**{**bags.graphs.arrays(), "node_attributes": bags.graphs.node_attributes[:, :1]}),
        bags.bag_ptr,
    )
    with pytest.raises(ValueError, match="resolved on graphs with 2 attributes, these have 1"):
        model.predict(fewer)

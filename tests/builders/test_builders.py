"""Builders: what they say of themselves, and building new bags the same way."""

import json
import os
import pickle
import shutil
import sys
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
from matplotlib.figure import Figure

from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum
from cfmgml.builders import Builder, register
from cfmgml.builders.digits import DigitBuilder, digit_pictures
from cfmgml.builders.pictures import descriptions
from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.descriptions import NodeDescription
from cfmgml.cli import main
from cfmgml.cli.build import _commands
from cfmgml.data import builder as builder_module
from cfmgml.data.builder import builder_of
from cfmgml.datasets import bags_from_images, bags_from_texts, load_digit_bags
from cfmgml.plots import plot_bag
from cfmgml.recipes import recipe_of
from cfmgml.stores import BagStore
from examples import random_bags
from made_up import draw_photo, write_up

BEFORE = Path(__file__).resolve().parents[1] / "fixtures" / "before_builders"


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
    read = builder_of(as_saved(built.info))
    assert read == built.builder
    again = read.rebuild(images)
    assert_same_graphs(built, again)
    read.check_same(again.builder)


def test_the_number_of_regions_may_differ():
    few = bags_from_images(photos(1), max_regions=2).builder
    more = replace(few, max_regions=5).rebuild(photos(1))
    few.check_same(more.builder)
    assert more.info["parameters"]["max_regions"] == 5


def test_a_text_of_the_collection_is_built_again_as_it_was():
    texts = documents(6)
    built = bags_from_texts(texts, pairs=False, window=3, threshold=0.3, stop_words=["the"])
    again = builder_of(as_saved(built.info)).rebuild(texts[2:3], bag_names=["two"])
    assert_same_graphs(built[2], again)
    assert again.bag_names.tolist() == ["two"]
    builder_of(as_saved(built.info)).check_same(again.builder)


def test_digits_are_built_again_as_they_were():
    bags = load_digit_bags(n_bags=3)
    again = bags.builder.rebuild(np.nan_to_num(digit_pictures(bags.graphs)), sizes=np.diff(bags.bag_ptr))
    np.testing.assert_array_equal(again.graphs.node_attributes, bags.graphs.node_attributes)
    np.testing.assert_array_equal(again.bag_ptr, bags.bag_ptr)
    bags.builder.check_same(again.builder)


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
        DigitBuilder().build(digits)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"builder": "sounds"}, "no kind of input called 'sounds' here .*: install the package that it comes from"),
        ({"builder": "sounds", "builder_package": "cfmgml-sounds"}, "install the package 'cfmgml-sounds'"),
        ({"builder": ["odd"]}, r"no kind of input called \['odd'\]"),
        ({"builder": "os:system"}, "no kind of input called 'os:system'"),
        ({"builder": "images", "parameters": [1]}, "must be a mapping"),
        ({"builder": "images", "parameters": {"sharpness": 3}}, "images have no parameter 'sharpness'"),
        ({"builder": "images", "parameters": {"max_regions": "many"}}, "of images cannot be used"),
        ({"builder": "images", "parameters": {"max_regions": 0}}, "max_regions must be at least 1, got 0"),
        (
            {"builder": "images", "parameters": {"features": "../os"}},
            "features must be one of deep, deep_lite2, hellinger",
        ),
    ],
)
def test_what_a_file_says_of_a_builder_is_checked(info, message):
    with pytest.raises(ValueError, match=message):
        builder_of(info)
    with pytest.raises(ValueError, match=message):
        BagDataset(random_bags(2).graphs, random_bags(2).bag_ptr, info=info)


def test_texts_without_counts_cannot_be_built_again():
    builder = builder_of({"builder": "texts", "parameters": {}})
    with pytest.raises(ValueError, match="vocabulary is missing"):
        builder.rebuild(["a b"])


def test_another_version_of_the_recipe_is_refused():
    info = {**bags_from_texts(documents(2)).info, "recipe_version": 1}
    builder = builder_of(info)
    assert builder.version == 1
    with pytest.raises(ValueError, match="built by version 1 of the recipe, and this cfmgml has version 2"):
        builder.rebuild(["a b"])
    with pytest.raises(ValueError, match="recipe_version=2, the model's training data with recipe_version=1"):
        builder.check_same(bags_from_texts(documents(2)).builder)


def test_what_differs_is_named_both_ways():
    ours, theirs = (bags_from_images(photos(1), features=name, max_nodes=9).builder for name in ("rich", "paper"))
    with pytest.raises(ValueError) as error:
        ours.check_same(theirs)
    assert "with features='paper', the model's training data with features='rich'" in str(error.value)
    assert "cfmgml build images INPUT --like MODEL -o new.bags" in str(error.value)
    assert "model.builder_.rebuild(...)" in str(error.value)


def test_other_kinds_and_other_counts_are_refused():
    texts = bags_from_texts(documents(3), max_keywords=5).builder
    with pytest.raises(ValueError, match="learned from texts and this input was built from handwritten digits"):
        texts.check_same(DigitBuilder())
    with pytest.raises(ValueError, match="word counts of other texts"):
        texts.check_same(bags_from_texts(documents(3, seed=1), max_keywords=5).builder)


def test_without_a_builder_nothing_is_compared():
    PictureBuilder().check_same(None)


def test_bags_keep_their_builder(tmp_path):
    bags = bags_from_texts(documents(4))
    builder = bags.builder
    bags.save(tmp_path / "t.bags")
    bags.to_store(tmp_path / "store")
    kept = [bags[1:3], bags[[0]], BagDataset.concatenate([bags[:2], bags[2:]]), replace(bags, info={"name": "mine"})]
    kept += [
        pickle.loads(pickle.dumps(bags)),
        BagDataset.load(tmp_path / "t.bags"),
        BagStore(tmp_path / "store").load(),
    ]
    for others in kept:
        assert others.builder == builder
        assert others.info["parameters"] == builder.parameters
        assert others.builder.digest() == builder.digest()
    assert replace(builder, case=True).digest() != builder.digest()
    assert BagStore(tmp_path / "store").builder == builder


def test_former_names_still_work():
    bags = bags_from_texts(documents(3))
    with pytest.warns(DeprecationWarning, match="bags.builder"):
        recipe = recipe_of(bags.info)
    assert_same_graphs(recipe.build_texts(documents(3), names=["a", "b", "c"]), bags)
    assert recipe.build_texts(documents(1), names=["a"]).bag_names.tolist() == ["a"]


class ParentDescription(NodeDescription):
    """The mean colour of each superpixel, in the parent process, all pictures of a piece at once."""

    gamma = 3.0
    widths: ClassVar = {"colour": 3}
    in_workers = False
    batches: ClassVar = []

    def describe(self, pictures, device="cpu"):
        self.batches.append((os.getpid(), len(pictures)))
        rows = []
        for nodes in pictures:
            sums = [np.bincount(nodes.of_pixel, weights=nodes.pixels[nodes.inside][:, c]) for c in range(3)]
            rows.append((np.stack(sums, axis=1) / nodes.n_pixels[:, None] / 255).astype(np.float32))
        return rows


def test_a_description_of_nodes_is_one_file(tmp_path, monkeypatch):
    """Here a module that is put beside the others; it describes in the parent process, in batches."""
    module = ModuleType("cfmgml.builders.pictures.descriptions.mean_colour")
    module.DESCRIPTION = ParentDescription()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "mean_colour.py").write_text("")
    monkeypatch.setattr(descriptions, "__path__", [*descriptions.__path__, str(tmp_path)])
    descriptions._of_this_folder.cache_clear()
    try:
        bags = bags_from_images(photos(6), features="mean_colour", nodes="attributes", n_jobs=2)
        assert bags.graphs.n_attributes == 3
        assert bags.builder.gamma == 3.0
        assert bags.info["columns"] == {"colour": [0, 3]}
        assert ParentDescription.batches == [(os.getpid(), 6)]
        assert_same_graphs(bags.builder.rebuild(photos(6), n_jobs=1), bags)
    finally:
        descriptions._of_this_folder.cache_clear()


def test_words_can_be_described_by_vectors():
    bags = bags_from_texts(documents(6), np.arange(12).reshape(6, 2) % 3 == 0, features="letters")
    assert bags.graphs.n_attributes == 256
    assert bags.builder.gamma == 1.0
    np.testing.assert_allclose(np.linalg.norm(bags.graphs.node_attributes, axis=1), 1, rtol=1e-6)
    model = CfMGML(NodeSum(gamma=1.0), alpha=1e-2, max_iter=5).fit(bags)
    assert model.predict(model.builder_.rebuild(documents(2, seed=3))).shape == (2, 2)
    with pytest.raises(ValueError, match="features must be None or one of .*corpus, .*letters.*, got 'sounds'"):
        bags_from_texts(documents(1), features="sounds")


def test_a_model_refuses_bags_built_another_way(tmp_path):
    counted = {"pairs": False, "threshold": 0.1}
    train = bags_from_texts(documents(6), np.arange(12).reshape(6, 2) % 3 == 0, window=2, **counted)
    CfMGML(alpha=1e-2, max_iter=5).fit(train).save(tmp_path / "m.cfmgml")
    model = CfMGML.load(tmp_path / "m.cfmgml")
    new = documents(2, seed=3)
    with pytest.raises(ValueError, match="word counts of other texts"):
        model.predict(bags_from_texts(new, window=2, **counted))
    with pytest.raises(ValueError, match="window=1, the model's training data with window=2"):
        model.explain(bags_from_texts(new, window=1, **counted))
    assert model.predict(model.builder_.rebuild(new)).shape == (2, 2)


def test_own_graphs_are_compared_by_what_they_have():
    bags = random_bags(8)
    model = CfMGML(alpha=1e-2, max_iter=5).fit(bags)
    fewer = BagDataset(
        type(bags.graphs)(**{**bags.graphs.arrays(), "node_attributes": bags.graphs.node_attributes[:, :1]}),
        bags.bag_ptr,
    )
    with pytest.raises(ValueError, match="resolved on graphs with 2 attributes, these have 1"):
        model.predict(fewer)


@pytest.mark.parametrize("kind", ["texts", "images", "digits"])
def test_files_from_before_there_were_builders(kind):
    """Written by the commit before this class was: bags and models load, are of the right kind, and score the same."""
    scores = json.loads((BEFORE / "expected.json").read_text())["scores"][kind]
    bags, model = BagDataset.load(BEFORE / f"{kind}.bags"), CfMGML.load(BEFORE / f"{kind}.cfmgml")
    assert bags.builder == model.builder_
    assert bags.builder.kind == kind
    np.testing.assert_allclose(model.decision_function_graphs(bags), scores, rtol=1e-12, atol=1e-12)


def test_a_store_and_new_texts_from_before_there_were_builders(tmp_path):
    told = json.loads((BEFORE / "expected.json").read_text())
    shutil.copytree(BEFORE / "store", tmp_path / "store")
    store, model = BagStore(tmp_path / "store"), CfMGML.load(BEFORE / "texts.cfmgml")
    assert store.builder == model.builder_
    np.testing.assert_allclose(model.decision_function_graphs(store.load()), told["scores"]["texts"], rtol=1e-12)
    again = model.builder_.rebuild(told["new"])
    np.testing.assert_allclose(model.decision_function_graphs(again), told["scores"]["rebuilt"], rtol=1e-12)
    BagDataset.load(BEFORE / "texts.bags").to_store(tmp_path / "store", append=True)
    assert BagStore(tmp_path / "store").n_bags == 2 * store.n_bags


@dataclass(frozen=True)
class LetterBuilder(Builder):
    """As little as a kind can have."""

    kind = "letters"
    version = 1
    quantise: float = 0.25

    def build(self, sources, labels=None):
        sizes = [len(word.strip()) for word in sources]
        letters = [ord(letter) for word in sources for letter in word.strip()]
        none = np.zeros(len(sizes) + 1, dtype=int)
        graphs = GraphBatch(np.cumsum([0, *sizes]), none, [[], []], letters)
        return BagDataset(graphs, np.arange(len(sizes) + 1), Y=labels)

    def show(self, bags, k, contributions=None):
        ax = Figure().add_subplot()
        ax.set_title(f"{bags[k].graphs.n_nodes} letters{'' if contributions is None else ', coloured'}")
        return ax


def test_a_kind_with_the_least_there_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr(builder_module, "_registered", dict(builder_module._registered))
    _commands.cache_clear()
    register(LetterBuilder)
    try:
        for name, word in (("a", "cow"), ("b", "wolf")):
            (tmp_path / f"{name}.txt").write_text(word)
        (tmp_path / "labels.csv").write_text("file,labels\na.txt,tame\nb.txt,wild\n")
        monkeypatch.chdir(tmp_path)
        assert main(["build", "letters", "a.txt", "b.txt", "--labels", "labels.csv", "-o", "words.bags"]) == 0
    finally:
        _commands.cache_clear()
    bags = BagDataset.load("words.bags")
    assert bags.builder == LetterBuilder()
    assert bags.builder.nouns == "letters"
    assert bags.label_sets() == [["tame"], ["wild"]]
    model = CfMGML(alpha=1e-2, max_iter=5).fit(bags)
    scores, contributions = model.decision_function_graphs(bags), model.explain(bags)
    assert plot_bag(bags, 1, scores=scores, contributions=contributions).get_title() == "4 letters, coloured"
    with pytest.raises(TypeError, match="unexpected keyword argument 'image'"):
        plot_bag(bags, image=3)


@pytest.mark.parametrize("bags", [bags_from_images(photos(1)), bags_from_texts(documents(2), features="letters")])
def test_another_version_of_a_description_is_refused(bags):
    info = as_saved(bags.info)
    assert info["features_version"] == 1
    info["features_version"] = 7
    builder = builder_of(info)
    with pytest.raises(ValueError, match="were described by version 7 of .*, and this cfmgml has version 1"):
        builder.rebuild(documents(1))
    with pytest.raises(ValueError, match="features_version=1, the model's training data with features_version=7"):
        builder.check_same(bags.builder)
    del info["features_version"]  # as older files have it
    builder_of(info).check_same(bags.builder)


def test_a_package_that_breaks_leaves_the_other_kinds(monkeypatch):
    broken = EntryPoint("broken", "no_such_module:Builder", builder_module.GROUP)
    monkeypatch.setattr(builder_module, "_entries", lambda: {"broken": broken})
    with pytest.warns(UserWarning, match="the kind 'broken' of None cannot be used: No module named 'no_such_module'"):
        kinds = builder_module.all_kinds()
    assert set(builder_module.BUILT_IN) <= set(kinds)
    assert "broken" not in kinds

"""Built bags on disk: found again, rebuilt when anything that counts has changed, never trusted when damaged."""

import os

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.common.cache import cached, default_cache_dir
from cfmgml.common.digests import files_digest
from cfmgml.datasets._locate import find_data
from examples import random_bags


class Builder:
    """Builds the same bags again and again, and counts how often."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return random_bags(5, seed=1)


@pytest.fixture
def build():
    return Builder()


def same(a, b):
    arrays = zip(a.graphs.arrays().values(), b.graphs.arrays().values(), strict=True)
    return all(np.array_equal(x, y) for x, y in arrays) and np.array_equal(a.Y, b.Y)


def test_second_time_comes_from_disk(build, tmp_path):
    first = cached(BagDataset, "toy.bags", {"a": 1}, build, tmp_path)
    second = cached(BagDataset, "toy.bags", {"a": 1}, build, tmp_path)
    assert build.calls == 1
    assert same(first, second)
    assert dict(first.info) == dict(second.info)


@pytest.mark.parametrize("other", [("toy.bags", {"a": 2}), ("toy.bags", {"a": 1, "b": None}), ("other.bags", {"a": 1})])
def test_other_keys_are_other_files(build, tmp_path, other):
    cached(BagDataset, "toy.bags", {"a": 1}, build, tmp_path)
    cached(BagDataset, *other, build, tmp_path)
    assert build.calls == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_order_of_the_key_does_not_matter(build, tmp_path):
    cached(BagDataset, "toy.bags", {"a": 1, "b": 2}, build, tmp_path)
    cached(BagDataset, "toy.bags", {"b": 2, "a": 1}, build, tmp_path)
    assert build.calls == 1


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x03\x04") - 1] ^= 0xFF  # the last one of an array that is read
    path.write_bytes(bytes(data))


def empty(path):
    path.write_bytes(b"")


def replace_by_text(path):
    path.write_text("not a cfmgml file")


@pytest.mark.parametrize("damage", [truncate, flip_a_byte, empty, replace_by_text])
def test_damaged_file_is_built_again(build, tmp_path, damage):
    good = cached(BagDataset, "toy.bags", {}, build, tmp_path)
    (file,) = tmp_path.iterdir()
    damage(file)
    with pytest.warns(UserWarning, match="built again"):
        again = cached(BagDataset, "toy.bags", {}, build, tmp_path)
    assert build.calls == 2
    assert same(good, again)
    assert same(good, cached(BagDataset, "toy.bags", {}, build, tmp_path))  # and what was damaged is whole again
    assert build.calls == 2


def test_no_cache(build, tmp_path, monkeypatch):
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path))
    cached(BagDataset, "toy.bags", {}, build, False)
    cached(BagDataset, "toy.bags", {}, build, False)
    assert build.calls == 2
    assert not list(tmp_path.iterdir())


def test_failed_build_leaves_nothing(tmp_path):
    def fail():
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        cached(BagDataset, "toy.bags", {}, fail, tmp_path)
    assert not list(tmp_path.iterdir())


def test_unwritable_folder_costs_a_warning(build, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="could not be kept"):
        bags = cached(BagDataset, "toy.bags", {}, build, tmp_path / "file" / "cache")
    assert bags.n_bags == 5


def test_default_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "own"))
    assert default_cache_dir() == tmp_path / "own"
    monkeypatch.delenv("CFMGML_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_dir() == tmp_path / "xdg" / "cfmgml"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / ".cache" / "cfmgml"


def test_digest_sees_content_and_names_but_not_places(tmp_path):
    for folder, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text(text)
    (tmp_path / "a" / "y").write_text("one")
    a, b, c, other_name = (files_digest([tmp_path / name]) for name in ("a/x", "b/x", "c/x", "a/y"))
    assert a == b
    assert len({a, c, other_name}) == 3
    os.utime(tmp_path / "a" / "x", (0, 0))
    assert files_digest([tmp_path / "a" / "x"]) == a


# -- finding data ----------------------------------------------------------------------------


@pytest.fixture
def holder(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "table.csv").touch()
    return tmp_path


@pytest.mark.parametrize("given", ["", "toy"])
def test_own_folder_or_the_one_that_holds_it(holder, given):
    assert find_data("toy", holder / given, markers=["*.csv"]) == holder / "toy"


def test_alias(holder):
    assert find_data("new name", holder, markers=["*.csv"], aliases=["toy"]) == holder / "toy"


def test_environment(holder, monkeypatch):
    monkeypatch.setenv("CFMGML_DATA", str(holder))
    assert find_data("toy", markers=["table.csv"]) == holder / "toy"


def test_missing_data_says_what_to_put_where(holder, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"looked for x\.mat.*Put x\.mat into a folder other.*CFMGML_DATA"):
        find_data("other", holder, markers=["x.mat"], contents="x.mat")
    with pytest.raises(FileNotFoundError, match="which is not a folder"):
        find_data("toy", holder / "toy" / "table.csv")
    monkeypatch.delenv("CFMGML_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="CFMGML_DATA is not set"):
        find_data("toy")


def test_models_are_kept_too(tmp_path):
    bags, trained = random_bags(6), []

    def train():
        trained.append(CfMGML(NodeSum(), alpha=1e-2, max_iter=5).fit(bags))
        return trained[-1]

    models = [cached(CfMGML, "toy.cfmgml", {"alpha": 1e-2}, train, tmp_path) for _ in range(2)]
    assert len(trained) == 1
    np.testing.assert_allclose(models[1].decision_function(bags), models[0].decision_function(bags), atol=1e-12)

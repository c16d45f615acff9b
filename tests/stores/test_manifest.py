"""The manifest of a store: every partition that was written is there, whole, and no other; and builds that stopped."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cfmgml import BagDataset
from cfmgml.data.parquet import folder as store_folder
from cfmgml.data.parquet import writing
from cfmgml.data.parquet.folder import HEADER, partition_files
from cfmgml.data.parquet.journal import JOURNAL
from cfmgml.inputs import describe_file
from cfmgml.stores import BagStore, is_store
from examples import random_bags

OLD = Path(__file__).parent / "fixtures" / "without_manifest"


class Stopped(Exception):
    """Stands for a crash of the build."""


@pytest.fixture
def bags():
    return random_bags(40, seed=4)


@pytest.fixture
def store(bags, tmp_path):
    bags.to_store(tmp_path / "store", graphs_per_partition=12)
    return BagStore(tmp_path / "store")


def files_of(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


# -- what is not as it was written -----------------------------------------------------------


def remove(files, other):
    files[1].unlink()


def add(files, other):
    shutil.copy(partition_files(other)[0], files[0].parent / "part-000099-aaaaaaaaaaaa.parquet")


def copy(files, other):
    shutil.copy(files[0], files[0].with_name("copy.parquet"))


def rename(files, other):
    files[1].rename(files[1].with_name("part-000001-aaaaaaaaaaaa.parquet"))


def swap(files, other):
    first, second = files[1].read_bytes(), files[2].read_bytes()
    files[1].write_bytes(second)
    files[2].write_bytes(first)


def replace_by_another_of_its_kind(files, other):
    files[1].write_bytes(partition_files(other)[1].read_bytes())


def truncate(files, other):
    files[1].write_bytes(files[1].read_bytes()[:-100])


def take_anothers_header(files, other):
    shutil.copy(other / HEADER, files[0].parent / HEADER)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove, "it is missing"),
        (add, "part-000099-aaaaaaaaaaaa.parquet: it is not one of those that were written"),
        (copy, "copy.parquet: it is not one of those that were written"),
        (rename, "it is missing"),
        (swap, "it is not the file that was written"),
        (replace_by_another_of_its_kind, "it is not the file that was written"),
        (truncate, "truncated or not a Parquet file"),
        (take_anothers_header, "it is missing"),
    ],
)
def test_what_was_not_written_so_is_refused(bags, store, tmp_path, spoil, message):
    random_bags(40, seed=5).to_store(tmp_path / "other", graphs_per_partition=12)
    files = partition_files(store.path)
    spoil(files, tmp_path / "other")
    with pytest.raises(ValueError, match=message):
        BagStore(store.path)


def test_partitions_of_one_size_are_told_apart(tmp_path):
    """Two that differ in a few bits only, so that sizes and counts are the same."""
    bags = random_bags(40, seed=4)
    bags = bags[np.r_[0:20, 0:20]]
    bags.to_store(tmp_path / "store", graphs_per_partition=int(bags.bag_ptr[20]), keep_ids=True)
    files = partition_files(tmp_path / "store")
    assert len(files) == 2
    swap([None, *files], None)
    with pytest.raises(ValueError, match="it is not the file that was written"):
        BagStore(tmp_path / "store")


def test_a_page_that_was_changed_is_noticed_when_it_is_read(store):
    data = bytearray(partition_files(store.path)[1].read_bytes())
    data[10] ^= 1
    partition_files(store.path)[1].write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        BagStore(store.path).read(1)
    with pytest.raises(ValueError, match="damaged"):
        BagStore(store.path).check()


def test_a_header_that_was_changed_is_noticed(store):
    header = json.loads((store.path / HEADER).read_bytes())
    for change in (
        {"label_names": ["a", "b", "c", "z"]},
        {"partitions": header["partitions"][:-1]},
        {"version": 1},
        {"info": {"x": 1}},
        {"digest": "0"},
        {"partitions": None},
    ):
        (store.path / HEADER).write_text(json.dumps({**header, **change}))
        with pytest.raises(ValueError, match=r"_store\.json is damaged"):
            BagStore(store.path)
    (store.path / HEADER).write_text(json.dumps(header))
    BagStore(store.path).check()


def test_other_files_do_not_matter(bags, store):
    (store.path / "README.txt").write_text("ours")
    (store.path / ".hidden.parquet").write_bytes(b"x")
    assert BagStore(store.path).fingerprint() == store.fingerprint()


# -- stores of the version before ------------------------------------------------------------


def test_a_store_without_manifest_opens_and_says_so():
    store = BagStore(OLD)
    bags = store.load()
    assert bags.fingerprint() == "1de3d20bb3a46a6dd8faf0cb21d50b9d5f9dc3ae10e684782227da7598146dd5"
    assert store.fingerprint() == "58d31e3bcc0792f1b94f0be3a021814751e02e5e8ac7360e9ca50106c7657488"
    assert (bags.n_bags, bags.n_graphs, int(bags.Y.sum())) == (9, 29, 16)
    np.testing.assert_allclose(bags.graphs.node_attributes.sum(), 353.45798240617614)
    np.testing.assert_allclose(bags.graphs.edge_weights.sum(), 1727.142857142857)
    assert bags.info["vocabulary"] == {"n_texts": 2, "counts": {"gene": 2}, "pairs": {}}
    assert not store.has_manifest
    with pytest.warns(UserWarning, match="has no manifest"):
        store.check()
    assert "none" in describe_file(OLD)["folder"]["manifest"]


def test_a_store_with_a_manifest_says_so(store):
    assert store.has_manifest
    store.check()
    assert describe_file(store.path)["folder"]["manifest"] == f"{store.n_partitions} partitions, with digests"


def test_adding_to_a_store_without_manifest_makes_one(tmp_path):
    shutil.copytree(OLD, tmp_path / "store")
    bags = BagStore(OLD).load()
    bags[:2].to_store(tmp_path / "store", append=True)
    store = BagStore(tmp_path / "store")
    assert store.has_manifest
    assert store.n_bags == 11
    store.check()
    assert store.partitions[0].name == BagStore(OLD).partitions[0].name
    partition_files(store.path)[0].unlink()
    with pytest.raises(ValueError, match="it is missing"):
        BagStore(store.path)


def test_a_damaged_partition_of_an_old_store_is_noticed(tmp_path):
    shutil.copytree(OLD, tmp_path / "store")
    data = bytearray(partition_files(tmp_path / "store")[0].read_bytes())
    data[20] ^= 1
    partition_files(tmp_path / "store")[0].write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        BagStore(tmp_path / "store").read(0)
    with pytest.raises(ValueError, match="damaged"):
        BagStore(OLD).load()[:2].to_store(tmp_path / "store", append=True)


# -- builds that stop ------------------------------------------------------------------------


@pytest.fixture
def stop_after(monkeypatch):
    """A build that stops after so many partitions; afterwards, how many were written by the next one."""
    write = writing.write_partition

    def stop(n_partitions, build):
        written = []

        def counting(*args):
            if len(written) == n_partitions:
                raise Stopped
            written.append(args)
            return write(*args)

        with monkeypatch.context() as patch, pytest.raises(Stopped):
            patch.setattr(writing, "write_partition", counting)
            build()
        later = []
        monkeypatch.setattr(writing, "write_partition", lambda *args: later.append(args) or write(*args))
        return later

    return stop


@pytest.mark.parametrize("n_done", [1, 3])
def test_a_stopped_build_says_so_and_goes_on(bags, store, tmp_path, stop_after, n_done):
    again = tmp_path / "again"
    later = stop_after(n_done, lambda: bags.to_store(again, graphs_per_partition=12))
    assert is_store(again)
    with pytest.raises(ValueError, match=rf"stopped after {n_done} partition.*same arguments"):
        BagStore(again)
    bags.to_store(again, graphs_per_partition=12)
    assert len(later) == store.n_partitions - n_done
    assert files_of(again) == files_of(store.path), "as if it had never been stopped"


@pytest.mark.parametrize("n_done", [1, 2])
def test_a_stopped_append_says_so_and_goes_on(bags, tmp_path, stop_after, n_done):
    for name in ("whole", "again"):
        bags.to_store(tmp_path / name, graphs_per_partition=12)
    more = random_bags(30, seed=9)
    more.to_store(tmp_path / "whole", graphs_per_partition=12, append=True)
    later = stop_after(n_done, lambda: more.to_store(tmp_path / "again", graphs_per_partition=12, append=True))
    with pytest.raises(ValueError, match=rf"stopped after {n_done} partition.*same arguments"):
        BagStore(tmp_path / "again")
    more.to_store(tmp_path / "again", graphs_per_partition=12, append=True)
    assert files_of(tmp_path / "again") == files_of(tmp_path / "whole")
    assert n_done + len(later) == BagStore(tmp_path / "whole").n_partitions - len(store_cut(bags))


@pytest.mark.parametrize("n_done", [1, 2])
def test_a_partition_that_nobody_noted_is_of_a_stopped_append(bags, tmp_path, stop_after, n_done):
    for name in ("whole", "again"):
        bags.to_store(tmp_path / name, graphs_per_partition=12)
    more = random_bags(30, seed=9)
    more.to_store(tmp_path / "whole", graphs_per_partition=12, append=True)
    stop_after(n_done, lambda: more.to_store(tmp_path / "again", graphs_per_partition=12, append=True))
    journal = tmp_path / "again" / JOURNAL
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match=rf"stopped after {n_done} partition.*same arguments"):
        BagStore(tmp_path / "again")
    more.to_store(tmp_path / "again", graphs_per_partition=12, append=True)
    assert files_of(tmp_path / "again") == files_of(tmp_path / "whole")


def store_cut(bags):
    return store_folder.cut(bags.bag_ptr, 12)


def test_a_stopped_build_is_not_gone_on_with_something_else(bags, tmp_path, stop_after):
    stop_after(2, lambda: bags.to_store(tmp_path / "store", graphs_per_partition=12))
    before = files_of(tmp_path / "store")
    for build in (
        lambda: bags.to_store(tmp_path / "store", graphs_per_partition=13),
        lambda: bags[:-1].to_store(tmp_path / "store", graphs_per_partition=12),
        lambda: random_bags(40, seed=5).to_store(tmp_path / "store", graphs_per_partition=12, append=True),
    ):
        with pytest.raises(ValueError, match="a build of something else stopped there"):
            build()
    assert files_of(tmp_path / "store") == before


def test_a_build_that_wrote_nothing_is_in_nobodys_way(bags, tmp_path, stop_after):
    stop_after(0, lambda: bags.to_store(tmp_path / "store", graphs_per_partition=12))
    bags[:5].to_store(tmp_path / "store", graphs_per_partition=12)
    assert BagStore(tmp_path / "store").n_bags == 5
    stop_after(0, lambda: bags.to_store(tmp_path / "store", append=True))
    assert BagStore(tmp_path / "store").n_bags == 5
    bags[:4].to_store(tmp_path / "store", append=True)
    assert BagStore(tmp_path / "store").n_bags == 9


@pytest.mark.parametrize("damage", ["torn line", "missing", "flipped", "no line"])
def test_what_a_stopped_build_left_is_checked(bags, store, tmp_path, stop_after, damage):
    again = tmp_path / "again"
    later = stop_after(3, lambda: bags.to_store(again, graphs_per_partition=12))
    journal, second = again / JOURNAL, partition_files(again)[1]
    if damage == "torn line":
        journal.write_bytes(journal.read_bytes()[:-20])
    elif damage == "no line":  # the partition was written, and nobody noted it
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    elif damage == "missing":
        second.unlink()
    else:
        data = bytearray(second.read_bytes())
        data[9] ^= 1
        second.write_bytes(data)
    bags.to_store(again, graphs_per_partition=12)
    assert len(later) == store.n_partitions - (2 if damage in ("torn line", "no line") else 1)
    assert files_of(again) == files_of(store.path)


def test_the_header_comes_last(bags, tmp_path, monkeypatch):
    """Killed between the header and the end of the journal: the store is whole."""
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(writing.Journal, "remove", lambda self: (_ for _ in ()).throw(Stopped))
        bags.to_store(tmp_path / "store", graphs_per_partition=12)
    assert (tmp_path / "store" / JOURNAL).exists()
    assert BagStore(tmp_path / "store").n_bags == bags.n_bags
    BagStore(tmp_path / "store").check()
    bags[:3].to_store(tmp_path / "store", append=True)
    assert not (tmp_path / "store" / JOURNAL).exists()
    assert BagStore(tmp_path / "store").n_bags == bags.n_bags + 3


def test_a_loaded_store_is_the_bags(bags, store):
    assert BagDataset.concatenate(list(store), keep_ids=True).fingerprint() == bags.fingerprint()

"""Files of arrays and JSON: atomic, checked, never unpickled."""

import json
import os
import pathlib
import zipfile

import numpy as np
import pytest

from cfmgml import BagDataset, GraphBatch
from cfmgml._files import atomic_write, load_arrays, save_arrays
from examples import random_bags


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.bags"
    random_bags(3).save(path)
    return path


def rewrite(path, header=None, drop=(), **members):
    """The archive again with parts of it changed."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist() if name not in drop}
    if header:
        parts["header.json"] = json.dumps({**json.loads(parts["header.json"]), **header}).encode()
    parts.update(members)
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)


def test_truncated(path):
    data = path.read_bytes()
    for size in (0, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match="damaged or not a cfmgml file"):
            BagDataset.load(path)


def test_foreign(tmp_path):
    (tmp_path / "a").write_text("hello")
    with pytest.raises(ValueError, match="not a cfmgml file"):
        BagDataset.load(tmp_path / "a")
    np.savez(tmp_path / "b.npz", x=1)
    with pytest.raises(ValueError, match="it has no header.json"):
        BagDataset.load(tmp_path / "b.npz")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        BagDataset.load(tmp_path / "c")


def test_newer_version(path):
    rewrite(path, header={"version": 99})
    with pytest.raises(ValueError, match="file version 99, written by cfmgml .*, which reads up to version 2: install"):
        BagDataset.load(path)


def test_other_kind(path):
    with pytest.raises(ValueError, match="holds a BagDataset, not a GraphBatch"):
        GraphBatch.load(path)


def test_missing_member(path):
    rewrite(path, drop=["bag_ptr.npy"])
    with pytest.raises(ValueError, match="array 'bag_ptr' is missing"):
        BagDataset.load(path)


def test_changed_member(path):
    rewrite(path, **{"bag_ptr.npy": b"\x93NUMPY"})
    with pytest.raises(ValueError, match="does not match its checksum"):
        BagDataset.load(path)


@pytest.mark.parametrize("header", [{"format": "other"}, {"sha256": 3}, {"meta": 3}])
def test_strange_header(path, header):
    rewrite(path, header=header)
    with pytest.raises(ValueError, match="header is not one that cfmgml writes"):
        BagDataset.load(path)


def test_unreadable_header(path):
    rewrite(path, **{"header.json": b"{"})
    with pytest.raises(ValueError, match="header cannot be read"):
        BagDataset.load(path)


def test_incomplete_content(tmp_path):
    save_arrays(tmp_path / "x", "BagDataset", {}, {"strange": np.zeros(3), "graphs.node_ptr": np.zeros(1, dtype=int)})
    with pytest.raises(ValueError, match="does not hold the arrays of a BagDataset"):
        BagDataset.load(tmp_path / "x")
    save_arrays(tmp_path / "y", "thing", {}, {"words:utf8": np.zeros(3, dtype=np.uint8)})
    with pytest.raises(ValueError, match="strings of 'words' cannot be read"):
        load_arrays(tmp_path / "y", "thing")


def test_object_arrays_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Object arrays"):
        save_arrays(tmp_path / "x", "thing", {}, {"a": np.array([{}])})
    assert not list(tmp_path.iterdir())


def test_mutated_bytes_are_refused_or_load_the_same(path, rng):
    """Flip bytes anywhere: the file loads as it was, or a ValueError says why not. Nothing else comes out."""
    original, data = BagDataset.load(path), bytearray(path.read_bytes())
    for _ in range(300):
        changed = bytearray(data)
        for place in rng.integers(len(data), size=3):
            changed[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(changed))
        try:
            found = BagDataset.load(path)
        except ValueError:
            continue
        assert found.fingerprint() == original.fingerprint()


def test_a_failed_write_leaves_the_old_file(path):
    before = path.read_bytes()

    def interrupted_write():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_write()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_what_a_killed_writer_left_is_cleared_away(path):
    left, other = path.parent / f".{path.name}.1a2b3c4d.part", path.parent / ".else.1a2b3c4d.part"
    left.write_bytes(b"half")
    other.write_bytes(b"of another file")
    random_bags(3).save(path)
    assert sorted(os.listdir(path.parent)) == sorted([path.name, other.name])


def test_writers_at_the_same_time_leave_each_other_alone(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first:
        first.write(b"first")
        with atomic_write(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["file"]


def test_where_a_file_cannot_be(path, tmp_path):
    bags = BagDataset.load(path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nope to write x.bags to"):
        bags.save(tmp_path / "nope" / "x.bags")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        bags.save(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a folder, not a file"):
        BagDataset.load(tmp_path)


def test_same_content_same_bytes(path, tmp_path):
    BagDataset.load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_no_pickle_in_the_source():
    """Nothing we write or read goes through pickle; numpy is always told so."""
    root = pathlib.Path(__file__).resolve().parents[1] / "src"
    lines = [line for file in root.rglob("*.py") for line in file.read_text().splitlines()]
    assert not [line for line in lines if line.strip().startswith(("import pickle", "from pickle", "import dill"))]
    assert not [line for line in lines if "allow_pickle=True" in line or "joblib.load" in line]
    assert not [line for line in lines if "np.load(" in line and "allow_pickle=False" not in line]

"""Files of arrays and JSON: atomic, checked, never unpickled."""

import hashlib
import io
import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

from cfmgml import BagDataset, GraphBatch
from cfmgml.common.files import MAX_RATIO, atomic_write, load_arrays, save_arrays
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
    with pytest.raises(ValueError, match=r"holds bags \(a BagDataset\), not a GraphBatch"):
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


# -- made to fill memory ---------------------------------------------------------------------


def write_archive(path, members, how=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", how, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def header_of(kind="thing", meta=None, **members):
    header = {"format": "cfmgml", "kind": kind, "version": 1, "meta": meta or {}}
    return header | {"sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}}


@pytest.mark.parametrize("kind", [["thing"], None, {"thing": 1}, 1])
def test_a_header_whose_kind_is_no_name_is_damaged(tmp_path, kind):
    write_archive(tmp_path / "x", {"header.json": json.dumps(header_of(kind))})
    with pytest.raises(ValueError, match="its header is not one that cfmgml writes"):
        load_arrays(tmp_path / "x", "thing")


def refuses_at_once(path, message, peak=40 * 2**20):
    """Loading says why not, and has never held more than ``peak`` bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            load_arrays(path, "thing")
        assert tracemalloc.get_traced_memory()[1] < peak
    finally:
        tracemalloc.stop()


def test_an_archive_that_unpacks_to_much_more_is_refused_before_it_does(tmp_path, monkeypatch):
    monkeypatch.setattr("cfmgml.common.files.FREE_BYTES", 2**20)
    write_archive(tmp_path / "bomb", {"header.json": json.dumps(header_of(a=b"")), "a.npy": bytes(64 * 2**20)})
    refuses_at_once(tmp_path / "bomb", "bytes unpack to 67,10.,..., more than in any file that cfmgml writes")


@pytest.mark.slow
def test_a_megabyte_that_unpacks_to_a_gigabyte_is_refused(tmp_path):
    write_archive(tmp_path / "bomb", {"header.json": json.dumps(header_of(a=b"")), "a.npy": bytes(2**30)})
    assert (tmp_path / "bomb").stat().st_size < 1.1 * 2**20
    refuses_at_once(tmp_path / "bomb", "more than in any file that cfmgml writes")


def test_what_cfmgml_packs_is_never_refused_for_its_size(tmp_path):
    """Nothing packs better than zeros, whatever zlib this is."""
    save_arrays(tmp_path / "zeros", "thing", {}, {"a": np.zeros(2**22)})
    assert 8 * 2**22 / (tmp_path / "zeros").stat().st_size < MAX_RATIO
    assert len(load_arrays(tmp_path / "zeros", "thing")[1]["a"]) == 2**22


def test_other_ways_of_packing_are_refused(tmp_path):
    write_archive(tmp_path / "x", {"header.json": json.dumps(header_of())}, zipfile.ZIP_LZMA)
    refuses_at_once(tmp_path / "x", "packed in a way that cfmgml does not use")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_parts_of_the_same_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        for _ in range(2):
            archive.writestr("header.json", json.dumps(header_of()))
    refuses_at_once(tmp_path / "x", "two parts of it have the same name")


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        (b"[" + b"[]," * 1_500_000 + b"[]]", "its header has more than 2,000,000 values"),
        (b"[" + b"1," * 2_500_000 + b"1]", "its header has more than 2,000,000 values"),
        (b"[" * 70 + b"]" * 70, "its header is nested more than 64 deep"),
        (b"[" * 100_000, "its header is nested more than 64 deep"),
        (b'["' + b"a" * (65 * 2**20) + b'"]', "its header is larger than 67,108,864 bytes"),
        (b"[NaN]", "NaN is not JSON"),
        (b"\xff", "its header cannot be read"),
    ],
    ids=["lists", "numbers", "deep", "open", "long", "not a number", "not text"],
)
def test_a_header_that_would_fill_memory_is_refused_before_it_is_parsed(tmp_path, meta, message):
    text = json.dumps(header_of()).encode().replace(b'"meta": {}', b'"meta": {"a": ' + meta + b"}")
    write_archive(tmp_path / "x", {"header.json": text})
    refuses_at_once(tmp_path / "x", message)


def test_brackets_in_strings_do_not_count(tmp_path):
    meta = {"text": '[{"\\,' * 10_000, "also": ["\\" * 5 + "[" * 100]}
    save_arrays(tmp_path / "x", "thing", meta, {})
    assert load_arrays(tmp_path / "x", "thing")[0] == meta
    with pytest.raises(ValueError, match="the metadata cannot be kept in a file: its header has more than 2,000,000"):
        save_arrays(tmp_path / "y", "thing", {"a": [0] * 2_000_001}, {})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"descr": "<f8", "fortran_order": False, "shape": (2**40,)}, "its shape is .1099511627776,., of float64, and"),
        ({"descr": "<f8", "fortran_order": False, "shape": (-1, -8)}, "its shape is .-1, -8."),
        ({"descr": "<U9999", "fortran_order": False, "shape": (1,)}, "it holds <U9999"),
    ],
)
def test_an_array_that_claims_more_than_it_has_is_refused(tmp_path, header, message):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    data = stream.getvalue() + bytes(64)
    write_archive(tmp_path / "x", {"header.json": json.dumps(header_of(a=data)), "a.npy": data})
    refuses_at_once(tmp_path / "x", message)


@pytest.mark.parametrize(
    ("data", "ptr", "message"),
    [
        (bytes(1000), [0, 1000] * 1000, "must not fall"),
        (bytes(10), [0, 5], "must go from 0 to 10"),
        (bytes(20_000), [*range(10_000), 20_000], "would take 400,040,000 in memory"),
        (b"", np.zeros(9_000_001), "would take 36,000,000 in memory"),
        (b"\xff", [0, 1], "UnicodeDecodeError"),
    ],
    ids=["again and again", "short", "one is long", "very many", "not text"],
)
def test_strings_that_would_fill_memory_are_refused(tmp_path, data, ptr, message):
    members = {"a:utf8": npy(np.frombuffer(data, dtype=np.uint8)), "a:ptr": npy(np.array(ptr, dtype=np.int64))}
    files = {"header.json": json.dumps(header_of(**members)), **{f"{name}.npy": d for name, d in members.items()}}
    write_archive(tmp_path / "x", files)
    refuses_at_once(tmp_path / "x", message, 400 * 2**20)


def test_a_bag_file_has_the_same_bounds(path, monkeypatch):
    monkeypatch.setattr("cfmgml.common.files.FREE_BYTES", 2**20)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    write_archive(path, {**parts, "more.npy": bytes(32 * 2**20)})
    with pytest.raises(ValueError, match="more than in any file that cfmgml writes"):
        BagDataset.load(path)


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

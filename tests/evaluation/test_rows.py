"""The store: what is written stays, what is torn is dropped, and the order of arrival does not show."""

import json

import numpy as np
import pytest

from cfmgml.evaluation.rows import KEY, ResultStore, row_key


def row(**values):
    return {**dict.fromkeys(KEY), "params": {}, **values}


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "out" / "rows.jsonl")


def fill(store, rows):
    with store.writing() as append:
        for one in rows:
            append([one])


def test_rows_come_back(store):
    rows = [row(fold=k, params={"alpha": 10.0**-k}, value=0.1 * k, why=None) for k in range(5)]
    fill(store, rows)
    assert sorted(store.rows(), key=row_key) == sorted(rows, key=row_key)
    assert ResultStore(store.path.parent / "other.jsonl").rows() == []


def test_order_of_arrival_does_not_show(store, tmp_path, rng):
    rows = [row(fold=k, inner=j, value=float(rng.random())) for k in range(4) for j in (None, 0, 1)]
    fill(store, rows)
    other = ResultStore(tmp_path / "other.jsonl")
    fill(other, [rows[k] for k in rng.permutation(len(rows))])
    assert other.rows() == store.rows()


def test_the_last_of_a_key_counts(store):
    fill(store, [row(fold=0, value=1), row(fold=0, value=2)])
    assert [found["value"] for found in store.rows()] == [2]


@pytest.mark.parametrize("n_bytes", [1, 5, 40])
def test_a_torn_line_is_dropped_and_written_over(store, n_bytes):
    fill(store, [row(fold=0), row(fold=1)])
    with open(store.path, "rb+") as stream:
        stream.truncate(store.path.stat().st_size - n_bytes)
    assert [found["fold"] for found in store.rows()] == [0]
    fill(store, [row(fold=2)])
    assert [found["fold"] for found in store.rows()] == [0, 2]
    assert all(json.loads(line) for line in store.path.read_text().splitlines())


def test_a_file_of_one_torn_line_is_empty(store):
    store.path.parent.mkdir()
    store.path.write_bytes(b'{"data": "dig')
    assert store.rows() == []
    fill(store, [row(fold=3)])
    assert [found["fold"] for found in store.rows()] == [3]


@pytest.mark.parametrize("line", [b"not json\n", b"[1, 2]\n", b"{}\n", b"\n"])
def test_a_foreign_line_is_named(store, line):
    fill(store, [row(fold=0)])
    with open(store.path, "ab") as stream:
        stream.write(line)
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2 is not a result .*delete that line"):
        store.rows()


def test_one_writer_at_a_time(store):
    with store.writing(), pytest.raises(ValueError, match="another run is writing"), store.writing():
        pass
    fill(store, [row()])  # free again


def test_nan_is_refused(store):
    with store.writing() as append, pytest.raises(ValueError, match="JSON"):
        append([row(value=np.nan)])
    assert store.rows() == []


def test_remove(store):
    fill(store, [row(fold=k, method=name) for k in range(3) for name in ("a", "b")])
    assert store.remove(lambda found: found["method"] == "a") == 3
    assert {found["method"] for found in store.rows()} == {"b"}
    assert store.remove(lambda found: False) == 0

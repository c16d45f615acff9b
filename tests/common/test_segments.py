"""Offset arithmetic against plain loops, empty segments included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.common.segments import (
    check_index,
    lengths,
    offsets,
    segment_argmax,
    segment_ids,
    segment_log_mean_exp,
    segment_max,
    segment_sum,
    take_segments,
)

sizes = st.lists(st.integers(0, 4), min_size=1, max_size=6)


@given(sizes=sizes, seed=st.integers(0, 99))
def test_sum_and_max(sizes, seed):
    ptr = offsets(np.array(sizes))
    values = np.random.default_rng(seed).normal(size=(ptr[-1], 2))
    parts = [values[a:b] for a, b in zip(ptr[:-1], ptr[1:], strict=True)]
    np.testing.assert_allclose(segment_sum(values, ptr), [part.sum(0) for part in parts])
    np.testing.assert_array_equal(segment_max(values, ptr), [part.max(0, initial=-np.inf) for part in parts])


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_argmax_and_soft_maximum(sizes, seed):
    ptr = offsets(np.array(sizes))
    values = np.random.default_rng(seed).integers(0, 3, size=(ptr[-1], 2)).astype(float)
    parts = [values[a:b] for a, b in zip(ptr[:-1], ptr[1:], strict=True)]
    np.testing.assert_array_equal(
        segment_argmax(values, ptr), [a + p.argmax(0) for a, p in zip(ptr, parts, strict=False)]
    )
    for temperature in (0.0, 0.01, 1.0, 1e6):
        soft, weights = segment_log_mean_exp(values, ptr, temperature)
        np.testing.assert_allclose(segment_sum(weights, ptr), 1)
        assert (soft <= segment_max(values, ptr) + 1e-9).all()
        for part, value, weight in zip(parts, soft, np.split(weights, ptr[1:-1]), strict=True):
            powers = np.exp((part - part.max(0)) / temperature) if temperature else part == part.max(0)
            expected = temperature * np.log(powers.mean(0)) if temperature else 0.0
            np.testing.assert_allclose(value, part.max(0) + expected, atol=1e-9)
            if temperature:
                np.testing.assert_allclose(weight, powers / powers.sum(0))
            else:  # all of it on the first maximum
                np.testing.assert_array_equal(weight.argmax(0), part.argmax(0))
                np.testing.assert_array_equal(np.sort(weight, axis=0)[:-1], 0)
    np.testing.assert_allclose(soft, [part.mean(0) for part in parts], atol=1e-5)


def test_a_hot_soft_maximum_keeps_its_digits():
    """t log mean exp(v / t) = mean + variance / (2 t) + ..., with all digits where exp(v / t) is 1 but for the last."""
    values = np.array([0.0, 1.0, 5.0])
    soft, _ = segment_log_mean_exp(values, np.array([0, 3]), 1e9)
    assert soft[0] == pytest.approx(2 + values.var() / 2e9, abs=1e-14)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_rows_of_any_shape(shape):
    ptr = np.array([0, 1, 4])
    values = np.random.default_rng(0).normal(size=(4, *shape))
    rows = segment_argmax(values, ptr)
    np.testing.assert_array_equal(rows, [np.zeros(shape), 1 + values[1:].argmax(0)])
    soft, weights = segment_log_mean_exp(values, ptr, 0.5)
    np.testing.assert_allclose(soft, [values[0], 0.5 * np.log(np.exp(values[1:] / 0.5).mean(0))])
    assert weights.shape == values.shape


@given(sizes=sizes, seed=st.integers(0, 99))
def test_selection_is_that_of_lists(sizes, seed):
    ptr = offsets(np.array(sizes))
    rows = [list(range(a, b)) for a, b in zip(ptr[:-1], ptr[1:], strict=True)]
    assert lengths(ptr).tolist() == [len(part) for part in rows]
    assert segment_ids(ptr).tolist() == [k for k, part in enumerate(rows) for _ in part]
    index = np.random.default_rng(seed).integers(len(sizes), size=4)
    taken, new = take_segments(ptr, index)
    assert taken.tolist() == [row for k in index for row in rows[k]]
    assert new.tolist() == np.cumsum([0, *(len(rows[k]) for k in index)]).tolist()


@pytest.mark.parametrize("reduce", [segment_sum, segment_max])
def test_no_segments_and_empty_ones_have_a_shape_and_a_type(reduce):
    none = np.zeros((0, 3), dtype=np.float32)
    assert reduce(none, np.array([0])).shape == (0, 3)
    empty = reduce(none, np.array([0, 0, 0]))
    np.testing.assert_array_equal(empty, np.full((2, 3), 0 if reduce is segment_sum else -np.inf))
    assert empty.dtype == np.float32


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (slice(1, None, 2), [1, 3]),
        ([True, False, False, True], [0, 3]),
        ([], []),
        (2, [2]),
        (np.int32(-4), [0]),
        ([3, -1, 0, 3], [3, 3, 0, 3]),
    ],
    ids=str,
)
def test_an_index_is_row_numbers(index, rows):
    found = check_index(index, 4, "bags")
    assert found.tolist() == rows
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([True, False], r"a mask over bags must have shape \(4,\), got \(2,\)"),
        ([[True, False, True, True]], r"a mask over bags must have shape \(4,\), got \(1, 4\)"),
        ([1.0, 2.0], "bags are selected by an int, a slice, a mask or a list of ints, got"),
        ([[0, 1]], "bags are selected by"),
        ([0, 4], "index 4 is out of range for 4 bags"),
        ([3, -5, 9], "index -5 is out of range for 4 bags"),
        ([-4, 5], "index 5 is out of range for 4 bags"),
        (-5, "index -5 is out of range for 4 bags"),
    ],
    ids=str,
)
def test_a_bad_index_says_so(index, message):
    with pytest.raises(IndexError, match=message):
        check_index(index, 4, "bags")

"""Offset arithmetic against plain loops, empty segments included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cfmgml._segments import offsets, segment_argmax, segment_log_mean_exp, segment_max, segment_sum

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
    np.testing.assert_allclose(soft, [part.mean(0) for part in parts], atol=1e-5)

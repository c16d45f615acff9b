"""Tests against scipy's, and published values."""

import numpy as np
import pytest
from scipy import stats

from cfmgml.evaluation.statistics import compare_ranks, corrected_paired_test, critical_difference


def test_without_correction_it_is_the_paired_t_test(rng):
    a, b = rng.normal(size=(2, 10))
    assert corrected_paired_test(a, b, 0.0) == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_the_correction_makes_it_careful(rng):
    a = rng.normal(size=10)
    b = a + 0.5 + 0.3 * rng.normal(size=10)
    assert corrected_paired_test(a, b, 1 / 9) > corrected_paired_test(a, b, 0.0)
    assert corrected_paired_test(a, b, 1 / 9) == pytest.approx(corrected_paired_test(b, a, 1 / 9))


def test_differences_without_spread():
    a = np.array([0.5, 0.6, 0.7])
    assert corrected_paired_test(a, a, 0.5) == 1.0
    assert corrected_paired_test(a, a + 0.1, 0.5) == 0.0
    assert corrected_paired_test(a[:1], a[:1] + 1, 0.5) == 1.0  # one fold says nothing


def test_friedman_is_scipys(rng):
    values = rng.random((7, 4))
    found = compare_ranks(list("abcd"), list("1234567"), values, True)
    expected = stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_friedman_with_ties_is_scipys(rng):
    values = rng.integers(3, size=(8, 4)).astype(float)
    assert compare_ranks(list("abcd"), list("12345678"), values, False).statistic == pytest.approx(
        stats.friedmanchisquare(*values.T).statistic
    )
    assert compare_ranks(["a", "b"], ["1"], np.ones((1, 2)), True).p_value == 1.0


def test_ranks_follow_the_measure():
    values = np.array([[0.1, 0.9], [0.2, 0.8]])
    assert compare_ranks(["a", "b"], ["1", "2"], values, True).ranks.tolist() == [2, 1]
    assert compare_ranks(["a", "b"], ["1", "2"], values, False).ranks.tolist() == [1, 2]


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_nemenyi_has_demsars_constants(k, q):
    n = 20
    assert critical_difference(k, n) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), abs=1e-3)

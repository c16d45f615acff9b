"""Which differences count: a paired test corrected for shared training bags, and ranks over data sets.

Folds of one data set train on nearly the same bags, so their differences are not independent. Nadeau & Bengio (Machine
Learning 52, 2003) correct the paired t-test for it: the variance of the mean is (1/k + n_test/n_train) s^2. Over
several data sets methods are compared by their ranks, with the tests of Friedman and Nemenyi (Demsar, JMLR 7, 2006).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from cfmgml.common.typing import FloatArray

LEVEL = 0.05


def corrected_paired_test(first: FloatArray, second: FloatArray, test_share: float) -> float:
    """Two-sided p-value that two methods have the same mean over folds.

    Parameters
    ----------
    first, second
        A value a fold, (n_folds,).
    test_share
        Test bags for each training bag: 1/9 for ten folds.

    Examples
    --------
    >>> a = np.array([.90, .91, .92, .90, .89])
    >>> round(corrected_paired_test(a, a - .02 + np.array([.01, -.01, .01, -.01, 0]), 1 / 4), 3)
    0.041
    >>> corrected_paired_test(a, a, 1 / 4)
    1.0
    """
    difference = np.asarray(first) - np.asarray(second)
    n = len(difference)
    spread = float(difference.var(ddof=1)) if n > 1 else math.nan
    if not spread > 1e-24:  # the same difference in every fold: none at all, or a sure one
        return 1.0 if abs(difference.mean()) < 1e-12 or n < 2 else 0.0
    t = float(difference.mean()) / math.sqrt((1 / n + test_share) * spread)
    return float(2 * stats.t.sf(abs(t), n - 1))


def corrected_interval(mean: float, variance: float, n_folds: int, test_share: float) -> tuple[float, float]:
    """Where a mean over folds lies with 95 % confidence, by the same correction; ``variance`` is of one fold's value.

    >>> low, high = corrected_interval(0.02, 0.01**2, 10, 1 / 9)
    >>> round(low, 3), round(high, 3)
    (0.01, 0.03)
    """
    half = float(stats.t.ppf(1 - LEVEL / 2, n_folds - 1)) * math.sqrt((1 / n_folds + test_share) * variance)
    return mean - half, mean + half


class RankTest(NamedTuple):
    """Average ranks of methods over data sets (1 is best), and whether they differ."""

    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    ranks: FloatArray  # (n_methods,)
    statistic: float  # Friedman's chi-squared
    p_value: float
    critical_difference: float  # Nemenyi's: ranks further apart differ


def compare_ranks(methods: list[str], data_sets: list[str], values: FloatArray, higher_is_better: bool) -> RankTest:
    """Friedman's and Nemenyi's tests on a table of values, (n_data_sets, n_methods); ties share their ranks.

    Examples
    --------
    >>> values = np.array([[3., 2, 1], [3, 1, 2], [3, 2, 1], [3, 2, 1]])
    >>> test = compare_ranks(["a", "b", "c"], list("1234"), values, higher_is_better=True)
    >>> test.ranks.tolist(), round(test.p_value, 3), round(test.critical_difference, 2)
    ([1.0, 2.25, 2.75], 0.039, 1.66)
    """
    n, k = values.shape
    ranks = stats.rankdata(-values if higher_is_better else values, axis=1)
    mean, spread = ranks.mean(axis=0), ranks.var()
    statistic = n * (k - 1) * float(mean.var() / spread) if spread else 0.0
    p_value = float(stats.chi2.sf(statistic, k - 1))
    return RankTest(tuple(methods), tuple(data_sets), mean, statistic, p_value, critical_difference(k, n))


def critical_difference(n_methods: int, n_data_sets: int, level: float = LEVEL) -> float:
    """How far apart average ranks must be (Nemenyi).

    >>> round(critical_difference(4, 14), 2)  # q = 2.569 in Demsar's table 5
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets))

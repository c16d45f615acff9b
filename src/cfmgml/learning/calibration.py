"""Probabilities at both levels from scores of bags that a model has not seen.

A graph has label c with probability 1 / (1 + exp(-(a_c f + b_c))), and a bag has it unless none of its graphs does:
P(bag) = 1 - prod (1 - P(graph)). The numbers a_c > 0 and b_c are the most likely ones for the labels of held-out bags,
so no graph label is needed. Slopes are drawn towards a common one, which is all that a rare label has to go by.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import expit

from cfmgml.common.segments import segment_sum
from cfmgml.common.typing import BoolArray, FloatArray, IntArray

SLOPE_PRIOR = 1.0  # standard deviation, in log units, of a label's slope around the common one
OFFSET_PRIOR = 10.0


@dataclass(frozen=True)
class Calibration:
    """From scores to probabilities."""

    slope: FloatArray  # (n_labels,)
    offset: FloatArray  # (n_labels,)

    def graphs(self, scores: FloatArray) -> FloatArray:
        """Probabilities of shape (n_graphs, n_labels)."""
        return np.asarray(expit(self.slope * scores + self.offset))

    def bags(self, scores: FloatArray, bag_ptr: IntArray) -> FloatArray:
        """Probabilities of shape (n_bags, n_labels) from scores of the bags' graphs."""
        return -np.expm1(_log_none(self.slope * scores + self.offset, bag_ptr))


def calibrate(scores: FloatArray, bag_ptr: IntArray, Y: BoolArray, known: BoolArray) -> Calibration:
    """Fit slopes and offsets to held-out graph scores (n_graphs, n_labels) and bag labels (n_bags, n_labels)."""
    n_labels = Y.shape[1]

    def negative_log_posterior(theta: FloatArray) -> tuple[float, FloatArray]:
        logs, offset = theta[:n_labels], theta[n_labels:]
        slope, common = np.exp(logs), logs.mean()
        margins = slope * scores + offset
        value, to_margins = _negative_log_likelihood(margins, bag_ptr, Y, known)
        pull = (logs - common) / SLOPE_PRIOR**2
        value += 0.5 * float(pull @ (logs - common)) + 0.5 * float(offset @ offset) / OFFSET_PRIOR**2
        to_slope = slope * (to_margins * scores).sum(0) + pull
        return value, np.concatenate([to_slope, to_margins.sum(0) + offset / OFFSET_PRIOR**2])

    start = np.zeros(2 * n_labels)
    bounds = [(-7.0, 7.0)] * n_labels + [(None, None)] * n_labels
    fitted = optimize.minimize(negative_log_posterior, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return Calibration(np.exp(fitted.x[:n_labels]), fitted.x[n_labels:])


def _log_none(margins: FloatArray, bag_ptr: IntArray) -> FloatArray:
    """log of the probability that no graph of a bag has the label."""
    return segment_sum(-np.logaddexp(0, margins), bag_ptr)


def _negative_log_likelihood(
    margins: FloatArray, bag_ptr: IntArray, Y: BoolArray, known: BoolArray
) -> tuple[float, FloatArray]:
    none = np.minimum(_log_none(margins, bag_ptr), -1e-12)
    some = np.log(-np.expm1(none))
    value = -float(np.where(known, np.where(Y, some, none), 0).sum())
    # d none / d margin = -expit(margin); d some = -exp(none) / (1 - exp(none)) d none
    to_none = np.where(known, np.where(Y, np.exp(none - some), -1.0), 0.0)
    return value, -np.repeat(to_none, np.diff(bag_ptr), axis=0) * expit(margins)

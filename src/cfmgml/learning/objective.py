"""The thresholded rank loss of cfMGML, its gradient with respect to scores, and its smooth form.

With F_p and F_q the scores of a bag for its relevant and irrelevant labels and h(z) = max(z, 0), the loss of a bag is

    1/|Y+|^2 sum_p h(1 - F_p)  +  1/|Y-|^2 sum_q h(1 + F_q)  +  1/(|Y+||Y-|) sum_pq h(2 + F_q - F_p)

(Wang et al., equation 5); an empty Y+ or Y- drops the terms that divide by it. The loss of a data set is the mean over
its bags. This module knows bags and labels and nothing of graphs: it takes scores of shape (n_graphs, n_labels) and
returns a value and a gradient of that shape. Being a sum over bags, it can be computed in parts and added up.

What is smoothed, so that L-BFGS converges
-------------------------------------------
``rounding``
    The corner of h is rounded over this width: h(z) = z^2 / (2 width) for 0 < z < width.
``temperature``
    A relevant label's bag score is t log mean exp(f / t): the maximum as t -> 0, the mean as t -> infinity. It is
    convex in f, so its linearisation lies below it and the loss with the linearisation lies above the true one:
    minimising the latter can only lower the former (CCCP).
``sharpness``
    An irrelevant label's bag score is s log sum exp(f / s), which lies above the maximum by at most s log n.

All three are 0 in `RankLoss.plain`, the paper's own objective.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cfmgml.common.compiled import compiled
from cfmgml.common.segments import lengths, offsets, segment_log_mean_exp
from cfmgml.common.typing import BoolArray, FloatArray, IntArray

LOSSES = ("rank", "hamming")
TERM_WEIGHTS = {"paper": 2, "mean": 1, "sum": 0}  # the power of |Y+| or |Y-| that a threshold term is divided by
IRRELEVANT = ("max", "all")


class Linearisation(NamedTuple):
    """A relevant label's bag score around given scores: ``constant + sum over the bag of weights * f``."""

    weights: FloatArray  # (n_graphs, n_labels); they add up to 1 in each bag
    constant: FloatArray  # (n_bags, n_labels)


@dataclass(frozen=True, eq=False)
class RankLoss:
    """The loss of scores for given bags and labels.

    Parameters
    ----------
    bag_ptr
        Offsets of the bags, (n_bags + 1,).
    relevant, irrelevant
        Shape (n_bags, n_labels); an entry that is in neither is unknown and drops out.
    label_weights
        Shape (n_labels,): multiplies the terms in which a label is the relevant one.
    loss
        ``"rank"``, or ``"hamming"`` to leave the pairs out (HLK).
    term_weights
        ``"paper"`` divides by |Y+|^2 and |Y-|^2 as printed, ``"mean"`` by |Y+| and |Y-|, ``"sum"`` by nothing.
    irrelevant_graphs
        ``"max"``: an irrelevant label counts once, with the bag's best graph. ``"all"``: with each of its graphs.
    temperature, sharpness, rounding
        See the module's docstring.
    """

    bag_ptr: IntArray
    relevant: BoolArray
    irrelevant: BoolArray
    label_weights: FloatArray
    loss: str = "rank"
    term_weights: str = "paper"
    irrelevant_graphs: str = "max"
    temperature: float = 0.3
    sharpness: float = 0.02
    rounding: float = 0.1

    def __post_init__(self) -> None:
        for name, value, known in (
            ("loss", self.loss, LOSSES),
            ("term_weights", self.term_weights, tuple(TERM_WEIGHTS)),
            ("irrelevant", self.irrelevant_graphs, IRRELEVANT),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {known}, got {value!r}.")
        if min(self.temperature, self.sharpness, self.rounding) < 0:
            raise ValueError("temperature, sharpness and rounding must not be negative.")

    @property
    def n_bags(self) -> int:
        return len(self.bag_ptr) - 1

    def of_bags(self, bags: IntArray) -> "RankLoss":
        """The loss of some of the bags, in this order."""
        ptr = offsets(lengths(self.bag_ptr)[bags])
        return replace(self, bag_ptr=ptr, relevant=self.relevant[bags], irrelevant=self.irrelevant[bags])

    @property
    def plain(self) -> "RankLoss":
        """The paper's objective: nothing smoothed."""
        return replace(self, temperature=0.0, sharpness=0.0, rounding=0.0)

    def coefficients(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What each bag's three terms are multiplied by, with the 1/n of the mean; 0 where a term drops out."""
        plus, minus = self.relevant.sum(1), self.irrelevant.sum(1)
        power = TERM_WEIGHTS[self.term_weights]
        pairs = _inverse(plus * minus) if self.loss == "rank" else np.zeros(self.n_bags)
        return _inverse(plus**power) / self.n_bags, _inverse(minus**power) / self.n_bags, pairs / self.n_bags

    @property
    def weight(self) -> float:
        """Of all terms of all bags together."""
        plus, minus = self.relevant.sum(1), self.irrelevant.sum(1)
        own, other, pair = self.coefficients()
        return float(own @ plus + other @ minus + pair @ (plus * minus))

    # -- bag scores --------------------------------------------------------------------------

    def linearise(self, scores: FloatArray) -> Linearisation:
        """The relevant labels' bag scores around these graph scores, exactly: value and slope agree there."""
        value, weights = segment_log_mean_exp(scores, self.bag_ptr, self.temperature)
        constant = value - np.add.reduceat(weights * scores, self.bag_ptr[:-1], axis=0)
        return Linearisation(weights, constant)

    def _irrelevant_scores(self, scores: FloatArray) -> tuple[FloatArray, FloatArray | None, IntArray]:
        """Scores that count against a bag, their slopes, and which rows are a bag's."""
        if self.irrelevant_graphs == "all":
            return scores, None, self.bag_ptr
        mean, slopes = segment_log_mean_exp(scores, self.bag_ptr, self.sharpness)
        to_sum = self.sharpness * np.log(lengths(self.bag_ptr))[:, None]  # log sum exp, not log mean exp
        return mean + to_sum, slopes, np.arange(self.n_bags + 1)

    # -- value and gradient ------------------------------------------------------------------

    def value_and_gradient(self, scores: FloatArray, around: Linearisation | None = None) -> tuple[float, FloatArray]:
        """The loss at scores (n_graphs, n_labels) and its gradient; with ``around``, the convex bound of the loss."""
        weights, constant = self.linearise(scores) if around is None else around
        wanted = constant + np.add.reduceat(weights * scores, self.bag_ptr[:-1], axis=0)
        unwanted, slopes, rows = self._irrelevant_scores(scores)
        value, to_wanted, to_unwanted = self._terms(wanted, unwanted, rows)
        sizes = lengths(self.bag_ptr)
        gradient = weights * np.repeat(to_wanted, sizes, axis=0)
        gradient += to_unwanted if slopes is None else slopes * np.repeat(to_unwanted, sizes, axis=0)
        return value, gradient

    def value(self, scores: FloatArray) -> float:
        return self.value_and_gradient(scores)[0]

    def bag_value_and_gradient(self, bag_scores: FloatArray) -> tuple[float, FloatArray]:
        """The same for scores of bags, (n_bags, n_labels): for a solver that has chosen each bag's graphs itself."""
        value, to_wanted, to_unwanted = self._terms(bag_scores, bag_scores, np.arange(self.n_bags + 1))
        return value, to_wanted + to_unwanted

    def values_and_gradients_by_label(
        self, scores: FloatArray, labels: IntArray, around: Linearisation
    ) -> tuple[FloatArray, FloatArray]:
        """Of a loss without pairs, the part of each of some labels, and its gradient.

        Everything is a row a label here: ``scores``, of these labels, and ``around``, of all.
        """
        if self.loss != "hamming":
            raise ValueError(f"loss={self.loss!r} compares labels with one another: it has no part of one label.")
        values, slopes = np.zeros(len(labels)), np.zeros_like(scores)
        parts = self.bag_ptr, *(np.ascontiguousarray(part.T) for part in (self.relevant, self.irrelevant))
        factors = self.label_weights, *self.coefficients()[:2]
        how = self.irrelevant_graphs == "all", float(self.sharpness), float(self.rounding)
        _label_losses((labels, scores, *around), parts, factors, how, values, slopes)
        return values, slopes

    def _terms(self, wanted: FloatArray, unwanted: FloatArray, rows: IntArray) -> tuple[float, FloatArray, FloatArray]:
        """The loss, and its gradient with respect to both kinds of scores."""
        slopes = np.zeros_like(wanted), np.zeros_like(unwanted)
        labels = self.relevant, self.irrelevant, self.label_weights
        how = *labels, *self.coefficients(), float(self.rounding)
        return float(_bag_losses((wanted, np.ascontiguousarray(unwanted)), rows, how, slopes)), *slopes


def _inverse(counts: IntArray) -> FloatArray:
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)


@compiled
def _bag_losses(scores, rows, how, slopes):  # type: ignore[no-untyped-def]
    (wanted, unwanted), (to_wanted, to_unwanted) = scores, slopes
    relevant, irrelevant, weights, plus, minus, pair, width = how
    # A pair's term is linear wherever 2 + F_q - F_p >= width. With the relevant scores sorted, each irrelevant score
    # meets a prefix of them in that part, so running sums do for all of the prefix: O(C log C) a bag, not O(C^2).
    n_bags, n_labels = wanted.shape
    total = 0.0
    values = np.empty(n_labels)
    labels = np.empty(n_labels, dtype=np.int64)
    sum_weight = np.zeros(n_labels + 1)
    sum_value = np.zeros(n_labels + 1)
    hits = np.zeros(n_labels + 1)
    pulls = np.zeros(n_labels)
    for bag in range(n_bags):
        n_plus = 0
        for label in range(n_labels):
            if not relevant[bag, label]:
                continue
            score, weight = wanted[bag, label], weights[label] * plus[bag]
            values[n_plus] = score
            labels[n_plus] = label
            n_plus += 1
            gap = 1.0 - score
            if gap >= width:
                total += weight * (gap - width / 2)
                to_wanted[bag, label] -= weight
            elif gap > 0.0:
                total += weight * gap * gap / (2 * width)
                to_wanted[bag, label] -= weight * gap / width
        order = np.argsort(values[:n_plus])
        for place in range(n_plus):
            weight = weights[labels[order[place]]] * pair[bag]
            sum_weight[place + 1] = sum_weight[place] + weight
            sum_value[place + 1] = sum_value[place] + weight * values[order[place]]
            hits[place + 1] = 0.0
            pulls[place] = 0.0
        for row in range(rows[bag], rows[bag + 1]):
            for label in range(n_labels):
                if not irrelevant[bag, label]:
                    continue
                score = unwanted[row, label]
                gap = 1.0 + score
                if gap >= width:
                    total += minus[bag] * (gap - width / 2)
                    to_unwanted[row, label] += minus[bag]
                elif gap > 0.0:
                    total += minus[bag] * gap * gap / (2 * width)
                    to_unwanted[row, label] += minus[bag] * gap / width
                if pair[bag] == 0.0:
                    continue
                reach = 2.0 + score
                low, high = 0, n_plus
                while low < high:
                    middle = (low + high) // 2
                    if values[order[middle]] <= reach - width:
                        low = middle + 1
                    else:
                        high = middle
                total += (reach - width / 2) * sum_weight[low] - sum_value[low]
                to_unwanted[row, label] += sum_weight[low]
                hits[low] += 1.0
                place = low
                while place < n_plus and values[order[place]] < reach:
                    gap = reach - values[order[place]]
                    weight = sum_weight[place + 1] - sum_weight[place]
                    total += weight * gap * gap / (2 * width)
                    to_unwanted[row, label] += weight * gap / width
                    pulls[place] += gap / width
                    place += 1
        count = 0.0
        for place in range(n_plus - 1, -1, -1):
            count += hits[place + 1]
            label = labels[order[place]]
            to_wanted[bag, label] -= weights[label] * pair[bag] * (count + pulls[place])
    return total


@compiled
def _label_losses(given, parts, factors, how, values, slopes):  # type: ignore[no-untyped-def]
    labels, scores, weights, constant = given
    bag_ptr, relevant, irrelevant = parts
    label_weights, plus, minus = factors
    every, sharpness, width = how
    for row in range(len(labels)):
        label = labels[row]
        own, slope, weight = scores[row], slopes[row], weights[label]
        total = 0.0
        for bag in range(len(bag_ptr) - 1):
            start, stop = bag_ptr[bag], bag_ptr[bag + 1]
            if relevant[label, bag]:
                factor = label_weights[label] * plus[bag]
                gap = 1.0 - constant[label, bag]
                for graph in range(start, stop):
                    gap -= weight[graph] * own[graph]
                if gap > 0.0:
                    steep = factor * min(gap / width, 1.0) if width > 0.0 else factor
                    total += factor * (gap - width / 2) if gap >= width else steep * gap / 2
                    for graph in range(start, stop):
                        slope[graph] -= steep * weight[graph]
            if not irrelevant[label, bag]:
                continue
            factor = minus[bag]
            if every:
                for graph in range(start, stop):
                    gap = 1.0 + own[graph]
                    if gap > 0.0:
                        steep = factor * min(gap / width, 1.0) if width > 0.0 else factor
                        total += factor * (gap - width / 2) if gap >= width else steep * gap / 2
                        slope[graph] += steep
                continue
            best = start
            for graph in range(start + 1, stop):
                if own[graph] > own[best]:
                    best = graph
            if 1.0 + own[best] + sharpness * (stop - start - 1) <= 0.0:  # more than the sum of exponentials adds
                continue
            powers = 1.0
            if sharpness > 0.0:
                powers = 0.0
                for graph in range(start, stop):
                    powers += np.exp((own[graph] - own[best]) / sharpness)
            gap = 1.0 + own[best] + sharpness * np.log(powers)
            if gap <= 0.0:
                continue
            steep = factor * min(gap / width, 1.0) if width > 0.0 else factor
            total += factor * (gap - width / 2) if gap >= width else steep * gap / 2
            if sharpness > 0.0:
                for graph in range(start, stop):
                    slope[graph] += steep * np.exp((own[graph] - own[best]) / sharpness) / powers
            else:
                slope[best] += steep
        values[row] = total

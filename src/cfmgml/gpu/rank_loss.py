"""`cfmgml.learning.objective.RankLoss` in torch: the same numbers, all bags and labels at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cfmgml.common.typing import Array
from cfmgml.gpu.node_blocks import as_tensor

if TYPE_CHECKING:
    import torch
    from torch import Tensor

PAIRS = 1 << 26  # most comparisons of two labels' scores that are made at a time


class Linear(NamedTuple):
    """A relevant label's bag score around given scores: ``constant + sum over the bag of weights * f``."""

    weights: Tensor  # (n_graphs, n_labels)
    constant: Tensor  # (n_bags, n_labels)


class TorchRankLoss:
    """The loss of a `RankLoss` on a device, in float64.

    Relevant labels are few in most bags, so their scores are gathered, (n_bags, most relevant labels), and every
    irrelevant score is compared with those: n_graphs x that many x n_labels numbers, in parts if they are too many.
    """

    def __init__(self, loss: Any, device: torch.device) -> None:
        import torch

        self.loss = loss
        sizes = np.diff(loss.bag_ptr)
        plus, minus, pair = loss.coefficients()
        relevant, irrelevant = np.asarray(loss.relevant), np.asarray(loss.irrelevant)
        few = np.argsort(~relevant, axis=1, kind="stable")[:, : max(int(relevant.sum(1).max(initial=0)), 1)]
        there = np.take_along_axis(relevant, few, axis=1)

        def on_device(array: Array) -> Tensor:
            return as_tensor(array, torch.float64 if array.dtype.kind == "f" else torch.int64, device)

        self.sizes = on_device(sizes)
        self.bag = on_device(np.repeat(np.arange(len(sizes)), sizes))
        self.alone = on_device(relevant * loss.label_weights * plus[:, None])
        self.against = on_device(irrelevant * minus[:, None])
        self.few = on_device(few)
        self.few_weights = on_device(there * loss.label_weights[few] * pair[:, None])
        self.irrelevant = on_device(irrelevant.astype(np.float64))

    # -- bags --------------------------------------------------------------------------------

    def bag_sums(self, values: Tensor) -> Tensor:
        import torch

        return torch.segment_reduce(values, "sum", lengths=self.sizes, axis=0)

    def _log_mean_exp(self, scores: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
        """As `segments.segment_log_mean_exp`; temperature 0 is the maximum, with the first one's slope."""
        import torch

        best = torch.segment_reduce(scores, "max", lengths=self.sizes, axis=0)
        gaps = scores - best[self.bag]
        if temperature == 0:
            n = len(scores)
            rows = torch.arange(n, device=scores.device, dtype=torch.float64)[:, None]
            first = -torch.segment_reduce(torch.where(gaps == 0, -rows, -float(n)), "max", lengths=self.sizes, axis=0)
            return best, (rows == first[self.bag]).to(scores.dtype)
        powers = torch.exp(gaps / temperature)
        weights = powers / self.bag_sums(powers)[self.bag]
        less = self.bag_sums(torch.expm1(gaps / temperature)) / self.sizes[:, None]
        return best + temperature * torch.log1p(less), weights

    def linearise(self, scores: Tensor) -> Linear:
        value, weights = self._log_mean_exp(scores, self.loss.temperature)
        return Linear(weights, value - self.bag_sums(weights * scores))

    # -- value and gradient ------------------------------------------------------------------

    def value_and_gradient(self, scores: Tensor, around: Linear | None = None) -> tuple[Tensor, Tensor]:
        """The loss at scores (n_graphs, n_labels), a tensor of one number, and its gradient."""
        weights, constant = self.linearise(scores) if around is None else around
        wanted = constant + self.bag_sums(weights * scores)
        value, slope = self._hinge(1.0 - wanted, self.alone)
        to_wanted = -slope
        if self.loss.irrelevant_graphs == "all":
            added, to_unwanted = self._irrelevant(scores, self.bag, wanted, to_wanted)
            return value + added, weights * to_wanted[self.bag] + to_unwanted
        sharp = self.loss.sharpness
        unwanted, slopes = self._log_mean_exp(scores, sharp)
        if sharp > 0:
            unwanted = unwanted + sharp * self.sizes.double().log()[:, None]
        added, to_unwanted = self._irrelevant(unwanted, None, wanted, to_wanted)
        return value + added, weights * to_wanted[self.bag] + slopes * to_unwanted[self.bag]

    def _hinge(self, gaps: Tensor, coefficients: Tensor) -> tuple[Tensor, Tensor]:
        """Sum of coefficients times max(gap, 0), its corner rounded, and the slope at each gap."""
        width = self.loss.rounding
        slope = (gaps > 0).to(gaps.dtype) if width == 0 else (gaps / width).clamp(0, 1)
        return (coefficients * slope * (gaps - width / 2 * slope)).sum(), coefficients * slope

    def _irrelevant(
        self, scores: Tensor, bag: Tensor | None, wanted: Tensor, to_wanted: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What irrelevant labels add, alone and against relevant ones; what they do to those goes into `to_wanted`."""
        import torch

        against, irrelevant = (x if bag is None else x[bag] for x in (self.against, self.irrelevant))
        value, to_unwanted = self._hinge(1.0 + scores, against)
        few = torch.gather(wanted, 1, self.few)
        pulls = torch.zeros_like(few)
        step = max(1, PAIRS // (few.shape[1] * scores.shape[1]))
        for start in range(0, len(scores), step):
            rows = slice(start, start + step)
            of = torch.arange(len(scores), device=scores.device)[rows] if bag is None else bag[rows]
            gaps = 2.0 + scores[rows, None, :] - few[of][:, :, None]
            added, slope = self._hinge(gaps, self.few_weights[of][:, :, None] * irrelevant[rows, None, :])
            value = value + added
            to_unwanted[rows] += slope.sum(1)
            pulls.index_add_(0, of, slope.sum(2))
        to_wanted.scatter_add_(1, self.few, -pulls)
        return value, to_unwanted

"""`cfmgml.kernels.context` on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfmgml.common.segments import lengths, segment_ids
from cfmgml.common.typing import IntArray

if TYPE_CHECKING:
    from torch import Tensor


def context_gram(K: Tensor, bag_ptr: IntArray, share: float) -> Tensor:
    """(1 - share) K + share times the mean of K over the pairs of two graphs' bags; K is written over."""
    import torch

    bag = torch.as_tensor(segment_ids(bag_ptr), device=K.device)
    sizes = torch.as_tensor(lengths(bag_ptr), device=K.device, dtype=K.dtype)
    rows = K.new_zeros(len(sizes), len(K)).index_add_(0, bag, K) / sizes[:, None]
    between = K.new_zeros(len(sizes), len(sizes)).index_add_(1, bag, rows) / sizes
    K *= 1 - share
    for start in range(0, len(K), 4096):
        part = bag[start : start + 4096]
        K[start : start + 4096] += share * between[part].index_select(1, bag)
    return K

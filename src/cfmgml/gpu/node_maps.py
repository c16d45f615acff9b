"""The map of nodes through landmarks, summed by graph, on a device: what ``rank="auto"`` learns from there."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.gpu.node_blocks import GraphNodes, as_tensor

if TYPE_CHECKING:
    import torch
    from torch import Tensor

CPU_ENTRIES = 1 << 22  # kernel values of nodes with landmarks that are held at a time on torch's CPU
CARD_ENTRIES = 1 << 28  # most of them on a card
SHARE = 0.1  # of a card's free memory that they may take


def summed_map(
    graphs: GraphNodes,
    centre: FloatArray,
    landmarks: FloatArray,
    basis: FloatArray,
    gamma: float,
    precision: str,
    device: torch.device,
    limit: float = np.inf,
) -> Tensor:
    """(sum of widths, n_vector): k(v, landmarks) @ basis summed over each graph's nodes, a row a column of weights.

    Landmarks are given less the centre. Where half the squared length of a point is above ``limit``, nodes are
    computed in float64 whatever was asked for.
    """
    import torch

    numbers = torch.float64 if precision == "float64" else torch.float32
    scale = float(np.sqrt(2 * gamma))
    middle = as_tensor(centre, torch.float64, device)
    to = as_tensor(landmarks, torch.float64, device) * scale
    to_squares, finish = (to * to).sum(1) / 2, as_tensor(basis, numbers, device)
    row_ptr, sizes = np.concatenate([[0], np.cumsum(graphs.widths)]), np.diff(graphs.node_ptr)
    value_ptr = np.concatenate([[0], np.cumsum(sizes * graphs.widths)])
    out = torch.empty(int(row_ptr[-1]), basis.shape[1], dtype=numbers, device=device)
    for start, stop in _runs(graphs.node_ptr, _entries(out) // max(len(landmarks), 1)):
        rows = graphs.attributes[graphs.node_ptr[start] : graphs.node_ptr[stop]]
        points = (as_tensor(rows, torch.float64, device) - middle) * scale
        squares = (points * points).sum(1) / 2
        exact = numbers == torch.float64 or max(_largest(squares), _largest(to_squares)) > limit
        dtype = torch.float64 if exact else torch.float32
        values = points.to(dtype) @ to.to(dtype).T
        values -= squares.to(dtype)[:, None]
        values -= to_squares.to(dtype)
        values.clamp_(max=0).exp_()
        weights = as_tensor(graphs.values[value_ptr[start] : value_ptr[stop]], dtype, device)
        sums = _adder(sizes[start:stop], graphs.widths[start:stop], weights) @ values
        out[row_ptr[start] : row_ptr[stop]] = sums.to(numbers) @ finish
        del values
    return out


def _largest(squares: Tensor) -> float:
    return float(squares.max()) if len(squares) else 0.0


def _entries(out: Tensor) -> int:
    if out.device.type == "cpu":
        return CPU_ENTRIES
    import torch

    free, _ = torch.cuda.mem_get_info(out.device)
    return int(min(CARD_ENTRIES, SHARE * free / (3 * out.element_size())))


def _runs(node_ptr: IntArray, most: int) -> list[tuple[int, int]]:
    """Runs of graphs with about ``most`` nodes.

    >>> _runs(np.array([0, 3, 6, 9, 18, 19]), 6)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    edges, n_graphs = [0], len(node_ptr) - 1
    while edges[-1] < n_graphs:
        last = int(np.searchsorted(node_ptr, node_ptr[edges[-1]] + most, side="right")) - 1
        edges.append(min(max(last, edges[-1] + 1), n_graphs))
    return list(zip(edges[:-1], edges[1:], strict=True))


def _adder(sizes: IntArray, widths: IntArray, weights: Tensor) -> Tensor:
    """The sparse matrix (sum of widths, n_nodes) that sums nodes, each row one column of one graph's weights."""
    import torch

    n, width = (as_tensor(x, torch.int64, weights.device) for x in (sizes, widths))
    graph = torch.repeat_interleave(width)  # of each row
    ends = torch.cumsum(n[graph], 0)
    row = torch.repeat_interleave(n[graph])  # of each entry
    within = torch.arange(len(row), device=n.device) - (ends - n[graph])[row]  # which of its graph's nodes
    first_node, first_row = torch.cumsum(n, 0) - n, torch.cumsum(width, 0) - width
    first_value = torch.cumsum(n * width, 0) - n * width
    of = graph[row]
    read = first_value[of] + within * width[of] + row - first_row[of]
    with warnings.catch_warnings():  # torch says that sparse rows are new to it
        warnings.simplefilter("ignore", UserWarning)
        row_ptr, shape = torch.cat([ends.new_zeros(1), ends]), (len(graph), int(sizes.sum()))
        return torch.sparse_csr_tensor(row_ptr, first_node[of] + within, weights[read], size=shape)

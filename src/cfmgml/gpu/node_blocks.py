"""Nodes of graphs on a device, in blocks: points, half squared lengths, weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.typing import Array, FloatArray, IntArray
from cfmgml.gpu.layout import BLOCK, Layout, make_layout

if TYPE_CHECKING:
    import torch
    from torch import Tensor


ROWS = 1 << 18  # nodes that are prepared at a time
NOWHERE = 1e30  # half the squared length of a place without a node: exp(-NOWHERE) is 0
HALF_SCALE = 64.0  # points are this much larger in float16, away from its smallest numbers
MULTIPLE = 64  # attributes are filled up to a multiple of this


@dataclass(frozen=True)
class GraphNodes:
    """Attributes and weights of the nodes of graphs, as numpy has them."""

    attributes: FloatArray  # (n_nodes, n_attributes)
    node_ptr: IntArray  # (n_graphs + 1,)
    widths: IntArray  # (n_graphs,): columns of weights that a graph has
    values: FloatArray  # weights, graph after graph, node after node

    @property
    def is_plain(self) -> bool:
        """Whether every node counts once."""
        return bool((self.widths == 1).all() and (self.values == 1).all())

    def one(self, graph: int) -> GraphNodes:
        """A graph of them."""
        nodes = slice(*self.node_ptr[graph : graph + 2])
        start = int((np.diff(self.node_ptr) * self.widths)[:graph].sum())
        width = self.widths[graph : graph + 1]
        values = self.values[start : start + (nodes.stop - nodes.start) * int(width[0])]
        return GraphNodes(self.attributes[nodes], np.array([0, nodes.stop - nodes.start]), width, values)


@dataclass(frozen=True)
class NodeBlocks:
    """`GraphNodes` on a device, place by place of a `Layout`."""

    layout: Layout
    points: Tensor  # (n_places, n_columns), or twice as many columns: the leading bits, then the next
    n_columns: int
    squares: Tensor  # (n_places,): half of |x|^2; NOWHERE for an empty place
    weights: Tensor | None  # flat: block after block, (BLOCK, width) each; None where every node counts once
    weight_ptr: IntArray  # (n_blocks + 1,)

    def largest_square(self) -> float:
        """Half the largest squared length; not a number where points were too large to be held."""
        return float(self.squares[self.squares != NOWHERE].max()) if len(self.squares) else 0.0

    def table(self, start: int, stop: int) -> Tensor:
        """Weights of blocks of one width, (n_places, width)."""
        assert self.weights is not None
        flat = self.weights[int(self.weight_ptr[start]) : int(self.weight_ptr[stop])]
        return flat.reshape((stop - start) * BLOCK, -1)

    def runs(self, most: int) -> Iterator[tuple[int, int]]:
        """Runs of at most ``most`` blocks of one width."""
        edges = np.flatnonzero(np.diff(self.layout.widths)) + 1
        for first, last in zip([0, *edges.tolist()], [*edges.tolist(), self.layout.n_blocks], strict=True):
            for start in range(first, last, most):
                yield start, min(start + most, last)


def place_nodes(
    graphs: GraphNodes,
    centre: FloatArray,
    gamma: float,
    precision: str,
    device: torch.device,
    plain: bool,
    halves: bool,
) -> NodeBlocks:
    """Nodes on a device.

    ``precision`` is ``"float64"``, ``"float32"``, or ``"tf32"``, which keeps 11 bits of each coordinate. With
    ``halves``, points are float16 numbers, two for each coordinate in ``"float32"``: the leading 11 bits and the next.
    Half squared lengths are those of the points as rounded, so the result is the exact kernel of points nearby.
    """
    import torch

    layout = make_layout(graphs.node_ptr, graphs.widths)
    exact = torch.float64 if precision == "float64" else torch.float32
    n_columns = -(-graphs.attributes.shape[1] // MULTIPLE) * MULTIPLE if halves else graphs.attributes.shape[1]
    n_parts = 2 if halves and precision == "float32" else 1
    dtype = torch.float16 if halves else exact
    points = torch.zeros(len(layout.nodes), n_parts * n_columns, dtype=dtype, device=device)
    squares = torch.full((len(layout.nodes),), NOWHERE, dtype=exact, device=device)
    attributes = as_tensor(graphs.attributes, exact, device)
    middle, scale = as_tensor(centre, exact, device), float(np.sqrt(2 * gamma))
    nodes = as_tensor(layout.nodes, torch.int64, device)
    for start in range(0, len(nodes), ROWS):
        chosen = nodes[start : start + ROWS]
        there = start + torch.nonzero(chosen >= 0)[:, 0]
        parts, rounded = _rounded((attributes[nodes[there]] - middle) * scale, precision, halves)
        for k, part in enumerate(parts):
            points[there, k * n_columns : k * n_columns + part.shape[1]] = part
        squares[there] = (rounded.double() ** 2).sum(1).to(exact) / 2
    weights, weight_ptr = None, np.zeros(layout.n_blocks + 1, dtype=np.int64)
    if not plain:
        weights, weight_ptr = place_weights(graphs, layout, exact, device)
    return NodeBlocks(layout, points, n_columns, squares, weights, weight_ptr)


def _rounded(exact: Tensor, precision: str, halves: bool) -> tuple[list[Tensor], Tensor]:
    """What is stored of points, and what it stands for."""
    if precision == "tf32" or halves:
        large = exact * HALF_SCALE
        leading = large.half()
        if precision == "tf32":
            kept = leading.to(exact.dtype) / HALF_SCALE
            return [leading if halves else kept], kept
        rest = (large - leading).half()
        return [leading, rest], (leading.double() + rest.double()) / HALF_SCALE
    return [exact], exact


def place_weights(
    graphs: GraphNodes, layout: Layout, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, IntArray]:
    """Weights in the order of the layout, each block as wide as the layout says, and where each block starts."""
    import torch

    weight_ptr = np.concatenate([[0], np.cumsum(layout.widths * BLOCK)])
    sizes = np.diff(graphs.node_ptr)
    node_graph = np.repeat(np.arange(len(sizes)), sizes)
    graph_ptr = np.concatenate([[0], np.cumsum(sizes * graphs.widths)])
    width = graphs.widths[node_graph]
    read = graph_ptr[node_graph] + (np.arange(len(node_graph)) - graphs.node_ptr[node_graph]) * width
    places = np.flatnonzero(layout.nodes >= 0)
    node, block = layout.nodes[places], places // BLOCK
    write = weight_ptr[block] + places % BLOCK * layout.widths[block]
    n, start, to = (as_tensor(x, torch.int64, device) for x in (width[node], read[node], write))
    first = torch.cumsum(n, 0) - n
    within = torch.arange(int(n.sum()), device=device)
    out = torch.zeros(int(weight_ptr[-1]), dtype=dtype, device=device)
    values = as_tensor(graphs.values, dtype, device)
    out[torch.repeat_interleave(to - first, n) + within] = values[torch.repeat_interleave(start - first, n) + within]
    return out, weight_ptr


def as_tensor(array: Array, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A copy on the device."""
    import torch

    if device.type == "cpu":
        return torch.tensor(array, dtype=dtype)
    with warnings.catch_warnings():  # of arrays that must not be written to: nobody does
        warnings.simplefilter("ignore", UserWarning)
        shared = torch.from_numpy(np.ascontiguousarray(array))
    return shared.to(device).to(dtype)

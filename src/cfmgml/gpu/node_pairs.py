"""Sums of exp(-gamma |x - y|^2) over pairs of nodes, weighted, for all pairs of graphs: the Gram matrix on a device.

In float32 and tf32 a card uses one fused Triton kernel (`cfmgml.gpu.fused`); everywhere else these are a few calls of
torch on tiles as large as the device has room for.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.gpu.layout import BLOCK
from cfmgml.gpu.node_blocks import GraphNodes, NodeBlocks, as_tensor, place_nodes

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    Pair = tuple[Tensor, Tensor]  # of the rows, and of the columns

PRECISIONS = ("float64", "float32", "tf32")
CPU_TILE = 1 << 22  # pairs of nodes in a tile on torch's CPU
CARD_TILE = 1 << 30  # most of them on a card
SHARE = 0.1  # of a card's free memory that a tile may take


def pair_gram(
    left: GraphNodes,
    right: GraphNodes | None,
    centre: FloatArray,
    gamma: float,
    precision: str,
    device: torch.device,
    fused: bool | None = None,
    limit: float = np.inf,
) -> Tensor:
    """A tensor (n_left, n_right) of kernel values, not normalised; without ``right``, of left with itself.

    ``fused`` says whether to use the Triton kernel; None where it can be. Where half the squared length of a point is
    above ``limit``, distances are computed in float64 whatever was asked for.
    """
    import torch

    if fused is None:
        fused = device.type == "cuda" and precision != "float64" and importlib.util.find_spec("triton") is not None
    plain = left.is_plain and (right is None or right.is_plain)
    sides = [place_nodes(s, centre, gamma, precision, device, plain, fused) for s in (left, right) if s is not None]
    if precision != "float64" and not all(side.largest_square() <= limit for side in sides):
        del sides
        return pair_gram(left, right, centre, gamma, "float64", device, False).float()
    a, b = sides[0], sides[-1]
    dtype = torch.float64 if precision == "float64" else torch.float32
    out = torch.zeros(a.layout.n_graphs, b.layout.n_graphs, dtype=dtype, device=device)
    if fused:
        from cfmgml.gpu.fused import add_tiles

        add_tiles(a, b, right is None, out)
    else:
        _add_tiles(a, b, right is None, out)
    return out


def pair_diagonal(
    graphs: GraphNodes, centre: FloatArray, gamma: float, precision: str, device: torch.device, limit: float = np.inf
) -> Tensor:
    """K(g, g) of every graph, a tensor (n_graphs,): only pairs of nodes of the same graph are looked at."""
    import torch

    side = place_nodes(graphs, centre, gamma, precision, device, graphs.is_plain, halves=False)
    if precision != "float64" and not side.largest_square() <= limit:
        return pair_diagonal(graphs, centre, gamma, "float64", device)
    out = torch.zeros(side.layout.n_graphs, dtype=side.squares.dtype, device=device)
    for blocks in side.runs(max(1, _tile_pairs(out) // BLOCK**2)):
        at, n = slice(blocks[0] * BLOCK, blocks[1] * BLOCK), blocks[1] - blocks[0]
        points, squares = side.points[at].reshape(n, BLOCK, -1), side.squares[at].reshape(n, BLOCK)
        values = torch.bmm(points, points.transpose(1, 2)) - squares[:, :, None] - squares[:, None, :]
        values.clamp_(max=0).exp_()
        if side.weights is not None:
            table = side.table(*blocks).reshape(n, BLOCK, -1)
            values *= torch.bmm(table, table.transpose(1, 2))
        members = _membership(side, blocks)
        sums = torch.bmm(torch.bmm(members, values), members.transpose(1, 2)).diagonal(dim1=1, dim2=2)
        _, graph, slot = _pieces(side, blocks)
        out.index_add_(0, graph, sums.reshape(-1)[slot])
    for large in np.flatnonzero(
        np.diff(graphs.node_ptr) > BLOCK
    ).tolist():  # in several pieces, which meet each other too
        out[large] = pair_gram(graphs.one(large), None, centre, gamma, precision, device)[0, 0]
    return out


def _add_tiles(a: NodeBlocks, b: NodeBlocks, symmetric: bool, out: Tensor) -> None:
    most = max(1, int(np.sqrt(_tile_pairs(out))) // BLOCK)
    for rows in a.runs(most):
        for first, last in b.runs(most):
            if not symmetric or last > rows[0]:
                columns = max(first, rows[0]) if symmetric else first, last
                _add(out, tile(a, rows, b, columns), a, rows, b, columns, symmetric)


def _tile_pairs(out: Tensor) -> int:
    if out.device.type == "cpu":
        return CPU_TILE
    import torch

    free, _ = torch.cuda.mem_get_info(out.device)
    return int(min(CARD_TILE, SHARE * free / (3 * out.element_size())))


def tile(a: NodeBlocks, rows: tuple[int, int], b: NodeBlocks, columns: tuple[int, int]) -> Tensor:
    """Kernel values of the pieces in runs of blocks, (n_row_slots, n_column_slots)."""
    at, to = slice(rows[0] * BLOCK, rows[1] * BLOCK), slice(columns[0] * BLOCK, columns[1] * BLOCK)
    weights = None if a.weights is None else (a.table(*rows), b.table(*columns))
    squares, members = (a.squares[at], b.squares[to]), (_membership(a, rows), _membership(b, columns))
    return summed(a.points[at] @ b.points[to].T, squares, weights, members)


def summed(product: Tensor, squares: Pair, weights: Pair | None, members: Pair) -> Tensor:
    """exp(product - squares), weighted, summed over the places of each slot on both sides."""
    import torch

    of_rows, of_columns = members
    values = (product - squares[0][:, None] - squares[1]).clamp_(max=0).exp_()
    if weights is not None:
        left, right = weights
        width = min(left.shape[1], right.shape[1])
        values = values * (left[:, :width] @ right[:, :width].T)
    by_row = torch.bmm(of_rows, values.reshape(len(of_rows), BLOCK, -1))
    by_row = by_row.reshape(-1, len(of_columns), BLOCK).transpose(0, 1)
    both = torch.bmm(by_row, of_columns.transpose(1, 2))
    return both.transpose(0, 1).reshape(by_row.shape[1], -1)


def _membership(side: NodeBlocks, blocks: tuple[int, int]) -> Tensor:
    """(n_blocks, n_slots, BLOCK): 1 where a place belongs to a slot."""
    import torch

    device = side.points.device
    slots = side.layout.slots[blocks[0] * BLOCK : blocks[1] * BLOCK].reshape(-1, 1, BLOCK)
    wanted = torch.arange(side.layout.n_slots, device=device)[None, :, None]
    return (as_tensor(slots, torch.int64, device) == wanted).to(side.squares.dtype)


def _add(
    out: Tensor,
    part: Tensor,
    a: NodeBlocks,
    rows: tuple[int, int],
    b: NodeBlocks,
    columns: tuple[int, int],
    symmetric: bool,
) -> None:
    """Add the pieces' values to their graphs'; a pair of blocks off the diagonal stands for its mirror image too."""
    (row_block, at, from_rows), (column_block, to, from_columns) = _pieces(a, rows), _pieces(b, columns)
    part = part[from_rows][:, from_columns]
    where, mirrored = at[:, None] * out.shape[1] + to, to * out.shape[1] + at[:, None]
    if symmetric:
        off = row_block[:, None] < column_block
        _add_at(out, mirrored, part * off)
        part = part * (row_block[:, None] <= column_block)
    _add_at(out, where, part)


def _pieces(side: NodeBlocks, blocks: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    """Block, graph and slot of every piece in a run of blocks."""
    import torch

    graphs = side.layout.graphs[slice(*blocks)].ravel()
    there = np.flatnonzero(graphs >= 0)
    pieces = blocks[0] + there // side.layout.n_slots, graphs[there], there
    block, graph, slot = (as_tensor(x, torch.int64, side.points.device) for x in pieces)
    return block, graph, slot


def _add_at(out: Tensor, where: Tensor, values: Tensor) -> None:
    out.view(-1).index_add_(0, where.reshape(-1), values.reshape(-1))

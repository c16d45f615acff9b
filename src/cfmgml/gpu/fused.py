"""One Triton kernel for a tile of the Gram matrix: matrix product, exponential, weights and both sums by graph.

A program takes one block of nodes on each side. The product runs on float16 tensor cores, over the leading 11 bits of
each coordinate (``tf32``) or over leading and next 11 bits in three products (``float32``; Ootomo & Yokota 2022). Its
entries never leave the chip: what is written is one number for each pair of graphs.
"""

import os
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from cfmgml.gpu.layout import BLOCK, STEP
from cfmgml.gpu.node_blocks import HALF_SCALE, NodeBlocks, as_tensor

LOG2_E = 1.4426950408889634
STRIP = 32  # blocks of rows that share a launch: what neighbours read stays in the second-level cache
BLOCK_K = 64
# Without and with the next bits. With 4 warps a thread needs more registers than it can have, some are kept in memory,
# and the assembler of Triton 3.6 (ptxas 12.8; 13.0 does not) then loses the address of a matrix in shared memory: with
# one step over K the third product reads elsewhere, which ends in an illegal access or, in silence, in wrong sums.
WARPS_AND_STAGES = {False: (8, 3), True: (8, 4)}
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # on a CPU, to test: it cannot multiply bfloat16
# A product of weights as a sum of products of their parts, leading bits first: which part on each side.
TERMS = (0, 0, 1), (0, 1, 0)
TERMS_SPLIT = (0, 0, 1, 1, 0, 2), (0, 1, 0, 1, 2, 0)


@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def _tile(  # type: ignore[no-untyped-def]
    a_points, b_points, a_squares, b_squares, a_weights, b_weights, a_starts, b_starts, a_widths, b_widths,
    a_slots, b_slots, a_graphs, b_graphs, out, n_out, first_row, first_column, scale, n_columns: tl.constexpr,
    SPLIT: tl.constexpr, SYMMETRIC: tl.constexpr, WEIGHTED: tl.constexpr, WHOLE: tl.constexpr,
    BLOCK: tl.constexpr, SLOTS: tl.constexpr, BLOCK_K: tl.constexpr, STEP: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    row_block = first_row + tl.program_id(0)
    column_block = first_column + tl.program_id(1)
    if SYMMETRIC and column_block < row_block:
        return
    within = tl.arange(0, BLOCK)
    rows = row_block.to(tl.int64) * BLOCK + within
    columns = column_block.to(tl.int64) * BLOCK + within
    parts: tl.constexpr = 2 if SPLIT else 1
    a_from = a_points + rows[:, None] * (n_columns * parts) + tl.arange(0, BLOCK_K)[None, :]
    b_from = b_points + columns[None, :] * (n_columns * parts) + tl.arange(0, BLOCK_K)[:, None]
    product = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    if SPLIT:  # small products first: they would be lost beside large ones
        for k in range(0, n_columns, BLOCK_K):
            product = tl.dot(tl.load(a_from + k), tl.load(b_from + n_columns + k), product)
        for k in range(0, n_columns, BLOCK_K):
            product = tl.dot(tl.load(a_from + n_columns + k), tl.load(b_from + k), product)
    for k in range(0, n_columns, BLOCK_K):
        product = tl.dot(tl.load(a_from + k), tl.load(b_from + k), product)
    exponents = product * scale - tl.load(a_squares + rows)[:, None] - tl.load(b_squares + columns)[None, :]
    values = tl.exp2(tl.minimum(exponents, 0.0))
    if WEIGHTED:
        a_width, b_width = tl.load(a_widths + row_block), tl.load(b_widths + column_block)
        a_at = a_weights + tl.load(a_starts + row_block) + within[:, None] * a_width + tl.arange(0, STEP)[None, :]
        b_at = b_weights + tl.load(b_starts + column_block) + within[None, :] * b_width + tl.arange(0, STEP)[:, None]
        together = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        for k in range(0, tl.minimum(a_width, b_width), STEP):
            together = tl.dot(tl.load(a_at + k), tl.load(b_at + k), together)
        values *= together
    # Sums over columns, then over rows, as products with 0 and 1. Each is exact but for what is left of the values
    # after two or three times 8 bits.
    slot = tl.arange(0, SLOTS)
    of_columns = (tl.load(b_slots + columns)[:, None] == slot[None, :]).to(PART)
    leading = values.to(PART)
    by_column = tl.dot(leading, of_columns)
    values -= leading.to(tl.float32)
    leading = values.to(PART)
    by_column = tl.dot(leading, of_columns, by_column)
    if SPLIT:
        values -= leading.to(tl.float32)
        by_column = tl.dot(values.to(PART), of_columns, by_column)
    of_rows = (tl.load(a_slots + rows)[None, :] == slot[:, None]).to(tl.float32)
    sums = tl.dot(of_rows, by_column, input_precision="tf32x3")
    at = tl.load(a_graphs + row_block * SLOTS + slot)
    to = tl.load(b_graphs + column_block * SLOTS + slot)
    there = (at >= 0)[:, None] & (to >= 0)[None, :]
    upper = out + at[:, None] * n_out + to[None, :]
    lower = out + to[None, :] * n_out + at[:, None]
    if WHOLE:
        tl.store(upper, sums, mask=there)
    else:
        tl.atomic_add(upper, sums, mask=there)
    if SYMMETRIC and column_block != row_block:
        if WHOLE:
            tl.store(lower, sums, mask=there)
        else:
            tl.atomic_add(lower, sums, mask=there)


def add_tiles(
    a: NodeBlocks,
    b: NodeBlocks,
    symmetric: bool,
    out: torch.Tensor,
    n_warps: int | None = None,
    n_stages: int | None = None,
    strip: int = STRIP,
) -> Any:
    """Fill ``out`` (n_left, n_right), which is zero, with kernel values; the compiled kernel, to look at."""
    n_slots = max(a.layout.n_slots, b.layout.n_slots)
    sides = [_arguments(side, n_slots, right) for side, right in ((a, False), (b, True))]
    both = [x for pair in zip(*sides, strict=True) for x in pair]
    split = a.points.shape[1] > a.n_columns
    usual = WARPS_AND_STAGES[split]
    options = {
        "SPLIT": split,
        "SYMMETRIC": symmetric,
        "WEIGHTED": a.weights is not None,
        "WHOLE": a.layout.is_whole and b.layout.is_whole,
        "BLOCK": BLOCK,
        "SLOTS": n_slots,
        "BLOCK_K": BLOCK_K,
        "STEP": STEP,
        "PART": tl.float32 if INTERPRETED else tl.bfloat16,
        "num_warps": n_warps or usual[0],
        "num_stages": n_stages or usual[1],
    }
    launched = None
    for first in range(0, a.layout.n_blocks, strip):
        start = first if symmetric else 0
        grid = (min(strip, a.layout.n_blocks - first), b.layout.n_blocks - start)
        numbers = out.shape[1], first, start, LOG2_E / HALF_SCALE**2, a.n_columns
        launched = _tile[grid](*both, out, *numbers, **options)
    return launched


def _arguments(side: NodeBlocks, n_slots: int, right: bool) -> list[torch.Tensor]:
    """Tensors in the order in which the kernel takes them."""
    device, layout = side.points.device, side.layout
    graphs = np.full((layout.n_blocks, n_slots), -1)
    graphs[:, : layout.n_slots] = layout.graphs
    split = side.points.shape[1] > side.n_columns
    terms = (TERMS_SPLIT if split else TERMS)[int(right)]
    weights = side.squares if side.weights is None else _in_terms(side, terms)  # not read if there are none
    whole = [side.weight_ptr[:-1] * len(terms), layout.widths * len(terms), layout.slots, graphs]
    return [
        side.points, side.squares * LOG2_E, weights, *(as_tensor(x, torch.int64, device) for x in whole),
    ]  # fmt: skip


def _in_terms(side: NodeBlocks, terms: tuple[int, ...]) -> torch.Tensor:
    """Weights as bfloat16 numbers, 8 bits each: for every STEP columns, one run of STEP numbers for each term."""
    done = []
    for start, stop in side.runs(side.layout.n_blocks):
        rest = side.table(start, stop)
        parts = []
        for _ in range(max(terms) + 1):
            parts.append(rest if INTERPRETED else rest.bfloat16())
            rest = rest - parts[-1].to(rest.dtype)
        table = torch.stack([parts[k].reshape(len(rest), -1, STEP) for k in terms], dim=2)
        done.append(table.reshape(-1))
    return torch.cat(done)

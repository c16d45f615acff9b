"""Nodes in blocks of equal size, whole graphs in a block where they fit: what a card's tiles are made of.

A graph of more nodes than a block is cut into pieces. Pieces are packed so that blocks are nearly full, graphs with
weights of about the same width together, so that one graph with a long path widens no other's tiles.
"""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from cfmgml.common.typing import IntArray

BLOCK = 128  # nodes in a block
STEP = 16  # widths of weights are rounded up to a multiple of this
FEWEST_SLOTS, SLACK = 16, 1.5  # a block has room for this many pieces at least, and for so many times the usual number
MOST_SLOTS = 64  # with more the fused kernel needs more registers than there are


@dataclass(frozen=True)
class Layout:
    """Where every node stands."""

    nodes: IntArray  # (n_blocks * BLOCK,): the node in each place, -1 for none
    slots: IntArray  # (n_blocks * BLOCK,): which piece of its block a place belongs to
    graphs: IntArray  # (n_blocks, n_slots): the graph of each piece, -1 for none
    widths: IntArray  # (n_blocks,): columns of weights, a multiple of STEP, growing
    n_graphs: int

    @property
    def n_blocks(self) -> int:
        return len(self.widths)

    @property
    def n_slots(self) -> int:
        return int(self.graphs.shape[1])

    @property
    def is_whole(self) -> bool:
        """Whether every graph is in one piece."""
        return int((self.graphs >= 0).sum()) == self.n_graphs


def make_layout(node_ptr: IntArray, widths: IntArray) -> Layout:
    """Pack graphs of these offsets and widths of weights into blocks.

    >>> layout = make_layout(np.array([0, 100, 130, 160]), np.array([1, 1, 1]))
    >>> layout.n_blocks, layout.graphs[:, :3].tolist()
    (2, [[0, -1, -1], [1, 2, -1]])
    """
    sizes = np.diff(node_ptr)
    n_pieces = -(-sizes // BLOCK)
    graph = np.repeat(np.arange(len(sizes)), n_pieces)
    within = np.arange(len(graph)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    size = np.minimum(sizes[graph] - within * BLOCK, BLOCK)
    width = -(-widths[graph] // STEP) * STEP
    n_slots = _slots_for(size)
    order, counts = _pack(size, width, n_slots)
    return _laid_out(order, counts, graph, node_ptr[graph] + within * BLOCK, size, width, n_slots, len(sizes))


def _slots_for(size: IntArray) -> int:
    wanted = min(SLACK * BLOCK / max(float(size.mean()), 1.0), MOST_SLOTS) if len(size) else 1
    return int(max(FEWEST_SLOTS, 2 ** int(np.ceil(np.log2(wanted)))))


def _pack(size: IntArray, width: IntArray, n_slots: int) -> tuple[IntArray, IntArray]:
    """The pieces block after block, and how many a block has: the largest that still fits comes next."""
    order: list[int] = []
    counts: list[int] = []
    for same in np.unique(width):
        chosen = np.flatnonzero(width == same)
        left = {int(s): chosen[size[chosen] == s].tolist()[::-1] for s in np.unique(size[chosen])}
        available = sorted(left)
        while available:
            room, n = BLOCK, 0
            while n < n_slots and (k := bisect_right(available, room) - 1) >= 0:
                order.append(left[available[k]].pop())
                room, n = room - available[k], n + 1
                if not left[available[k]]:
                    del available[k]
            counts.append(n)
    return np.array(order, dtype=np.int64), np.array(counts, dtype=np.int64)


def _laid_out(
    order: IntArray,
    counts: IntArray,
    graph: IntArray,
    first: IntArray,
    size: IntArray,
    width: IntArray,
    n_slots: int,
    n_graphs: int,
) -> Layout:
    graph, first, size, width = graph[order], first[order], size[order], width[order]
    block = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    slot = np.arange(len(order)) - starts[block]
    before = np.cumsum(size) - size
    place = block * BLOCK + before - before[starts][block]
    within = np.arange(int(size.sum())) - np.repeat(before, size)
    nodes, slots = np.full(len(counts) * BLOCK, -1), np.zeros(len(counts) * BLOCK, dtype=np.int64)
    to = np.repeat(place, size) + within
    nodes[to], slots[to] = np.repeat(first, size) + within, np.repeat(slot, size)
    graphs = np.full((len(counts), n_slots), -1)
    graphs[block, slot] = graph
    return Layout(nodes, slots, graphs, width[starts], n_graphs)

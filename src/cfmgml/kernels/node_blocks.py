"""phi(G) = sum over v of M(v) (x) x_v: the explicit map of a kernel that sums over pairs of nodes, block by block.

Block j holds the sums weighted by column j of M, for the graphs wide enough to have that column.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from cfmgml._segments import lengths, offsets, segment_ids, take_segments
from cfmgml._typing import FloatArray, IntArray
from cfmgml.kernels.base import Rows, row_norms
from cfmgml.kernels.path_counts import NodeWeights


def feature_blocks(vectors: Rows, weights: NodeWeights) -> Iterator[tuple[IntArray, Rows]]:
    """For each column of weights: the graphs that have it, and the weighted sums of their nodes' vectors."""
    for column in range(int(weights.widths.max(initial=1))):
        graphs = np.flatnonzero(weights.widths > column)
        nodes, node_ptr = take_segments(weights.node_ptr, graphs)
        values = _weight_column(weights, graphs, column)
        rows = segment_ids(node_ptr)
        adder = sparse.csr_array((values, (rows, np.arange(len(nodes)))), shape=(len(graphs), len(nodes)))
        yield graphs, adder @ vectors[nodes]


def _weight_column(weights: NodeWeights, graphs: IntArray, column: int) -> FloatArray:
    sizes = lengths(weights.node_ptr)[graphs]
    first = offsets(sizes)
    within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    return weights.values[
        np.repeat(weights.graph_ptr[graphs] + column, sizes) + within * np.repeat(weights.widths[graphs], sizes)
    ]


def join_blocks(vectors: Rows, weights: NodeWeights, width: int) -> Rows:
    """phi(G), of shape (n_graphs, width * n_vector): dense if most of it is filled, else sparse."""
    n_graphs, n_vector = len(weights.widths), vectors.shape[1]
    filled = np.minimum(weights.widths, width).sum() / max(n_graphs * width, 1)
    blocks = (found for _, found in zip(range(width), feature_blocks(vectors, weights), strict=False))
    if not sparse.issparse(vectors) and filled > 0.5:
        out = np.zeros((n_graphs, width, n_vector))
        for column, (graphs, block) in enumerate(blocks):
            out[graphs, column] = block
        return out.reshape(n_graphs, -1)
    pieces = []
    for graphs, block in blocks:
        place = sparse.csr_array(
            (np.ones(len(graphs)), (graphs, np.arange(len(graphs)))), shape=(n_graphs, len(graphs))
        )
        pieces.append(place @ sparse.csr_array(block))
    missing = width - len(pieces)
    pieces += [sparse.csr_array((n_graphs, n_vector))] * missing
    return sparse.csr_array(sparse.hstack(pieces, format="csr"))


def block_norms(vectors: Rows, weights: NodeWeights) -> FloatArray:
    """|phi(G)|^2 over all blocks, (n_graphs,)."""
    out = np.zeros(len(weights.widths))
    for graphs, block in feature_blocks(vectors, weights):
        out[graphs] += row_norms(block)
    return out

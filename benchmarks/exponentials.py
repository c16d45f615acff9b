"""How long does a pair of nodes take in float32? The one pass of `node_tiles` against product, exp and sums by turns.

    python benchmarks/exponentials.py

A tile of 1,000 by 1,000 nodes, 25 a graph, both ways in turns in one process, the least CPU time of 40; what comes
before it is computed by what float64 still uses: numpy's product and exp, then a compiled pass of weights and sums.
Weights are one a node, as in a node sum, or 8 or 20, as many as GraphHopper's on long paths. Errors are the largest
relative ones of sums of a pair of graphs, against float64.
"""

import time
from collections.abc import Callable

import numpy as np

from cfmgml import GraphBatch, NodeSum
from cfmgml.common.typing import FloatArray
from cfmgml.kernels.node_tiles import RUN, NodeOperand, NodeSpace, _sum_pairs, node_tile, similarities
from cfmgml.kernels.path_counts import NodeWeights

GRAPHS, NODES, REPEATS = 40, 25, 40


def operand(n_attributes: int, width: int, dtype: str) -> NodeOperand:
    rng = np.random.default_rng(0)
    node_ptr, edge_ptr = np.arange(GRAPHS + 1) * NODES, np.zeros(GRAPHS + 1, dtype=int)
    values = rng.normal(size=(GRAPHS * NODES, n_attributes))
    graphs = GraphBatch(node_ptr, edge_ptr, np.empty((2, 0), dtype=int), node_attributes=values)
    gamma = min(NodeSum().resolve(graphs).gamma_, 25 / (values**2).sum(1).max())  # float32 does not cancel
    every, none = np.ones(n_attributes, dtype=bool), np.zeros(n_attributes, dtype=bool)
    space = NodeSpace(values, np.zeros(n_attributes), np.sqrt(2 * gamma), every, none)
    weights = np.ones(GRAPHS * NODES) if width == 1 else rng.integers(1, 9, GRAPHS * NODES * width).astype(float)
    made = NodeWeights(node_ptr, np.full(GRAPHS, width), weights).astype(dtype)
    return NodeOperand(space, np.arange(len(values)), made, np.dtype(dtype))


def in_passes(left: NodeOperand, right: NodeOperand) -> FloatArray:
    out = np.zeros((GRAPHS, GRAPHS))
    weights = left.left_weights, left.weights.node_ptr, right.right_weights, right.weights.node_ptr
    _sum_pairs(similarities(left, right), *weights, RUN, out)
    return out


def main() -> None:
    print("| attributes | weights | in passes, ns | in one, ns | times faster | errors |\n|---|---|---|---|---|---|")
    for width in (1, 8, 20):
        for n_attributes in (1, 3, 8, 16, 32, 64, 200):
            nodes, truth = operand(n_attributes, width, "float32"), in_passes(*2 * [operand(n_attributes, width, "f8")])
            ways: tuple[Callable[[NodeOperand, NodeOperand], FloatArray], ...] = (in_passes, node_tile)
            errors = [np.abs(way(nodes, nodes) / truth - 1).max() for way in ways]
            least = [np.inf, np.inf]
            for _ in range(REPEATS):
                for k, way in enumerate(ways):
                    start = time.process_time()
                    way(nodes, nodes)
                    least[k] = min(least[k], 1e9 * (time.process_time() - start) / (GRAPHS * NODES) ** 2)
            told = f"{least[0]:.2f} | {least[1]:.2f} | {least[0] / least[1]:.1f} | {errors[0]:.0e}, {errors[1]:.0e}"
            print(f"| {n_attributes} | {width} | {told} |", flush=True)


if __name__ == "__main__":
    main()

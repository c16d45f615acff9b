"""How often a node stands in each position of shortest paths: the weights of the GraphHopper kernel.

M(v)[a, L] is the number of shortest paths of length L that have v in position a, both directions and length 0
included. In an undirected graph M(v)[a, L] = M(v)[L - a, L], so only a <= L / 2 is stored, times sqrt(2) where
a < L / 2: then a plain dot product of two stored rows equals the one of the full matrices.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.compiled import compiled
from cfmgml.common.memory import physical_gib
from cfmgml.common.segments import lengths, offsets, take_segments
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch


@dataclass(frozen=True)
class NodeWeights:
    """One row of weights a node, as wide as its graph needs: no other graph pays for one long path.

    Column j means the same in all graphs.
    """

    node_ptr: IntArray  # (n_graphs + 1,)
    widths: IntArray  # (n_graphs,)
    values: FloatArray  # graph after graph, node after node

    def take(self, graphs: IntArray) -> "NodeWeights":
        rows, _ = take_segments(offsets(lengths(self.node_ptr) * self.widths), graphs)
        return NodeWeights(offsets(lengths(self.node_ptr)[graphs]), self.widths[graphs], self.values[rows])

    def astype(self, dtype: DTypeLike) -> "NodeWeights":
        return NodeWeights(self.node_ptr, self.widths, self.values.astype(dtype, copy=False))

    def dense(self, width: int) -> FloatArray:
        """The first ``width`` columns, (n_nodes, width), filled with 0 where a graph has fewer."""
        n_nodes = int(self.node_ptr[-1])
        if (self.widths == self.widths[:1]).all():
            table = self.values.reshape(n_nodes, -1)[:, :width]
            return table if table.shape[1] == width else np.pad(table, ((0, 0), (0, width - table.shape[1])))
        out = np.zeros((n_nodes, width), dtype=self.values.dtype)
        _spread(self.values, self.node_ptr, self.widths, out)
        return out


def unit_weights(graphs: GraphBatch) -> NodeWeights:
    """One weight of 1 a node."""
    return NodeWeights(graphs.node_ptr, np.ones(graphs.n_graphs, dtype=np.int64), np.ones(graphs.n_nodes))


def path_counts(graphs: GraphBatch) -> NodeWeights:
    """M(v) of every node, halved by symmetry.

    >>> path = GraphBatch(node_ptr=[0, 3], edge_ptr=[0, 2], edges=[[0, 1], [1, 2]])
    >>> (path_counts(path).dense(4) ** 2 / [1, 2, 2, 1]).round(9)  # columns (0,0), (0,1), (0,2), (1,2)
    array([[1., 1., 1., 0.],
           [1., 4., 0., 4.],
           [1., 1., 1., 0.]])
    """
    ptr, neighbours = graphs.adjacency
    diameters = np.zeros(graphs.n_graphs, dtype=np.int64)
    _diameters(graphs.node_ptr, ptr, neighbours, diameters)
    widths = n_columns(diameters)
    _check_size(lengths(graphs.node_ptr), widths, diameters)
    values = np.zeros(int((lengths(graphs.node_ptr) * widths).sum()))
    _count_paths(graphs.node_ptr, ptr, neighbours, diameters, widths, values)
    return NodeWeights(graphs.node_ptr, widths, values)


def _check_size(sizes: IntArray, widths: IntArray, diameters: IntArray) -> None:
    """Refuse, before they are made, path counts that cannot fit: a path of n nodes alone needs about 2 n^3 bytes."""
    gib, worst = 8.0 * (sizes * widths).sum() / 2**30, int((sizes * widths).argmax())
    if gib > physical_gib():
        raise MemoryError(
            f"GraphHopper needs about {gib:,.1f} GiB for path counts, and this machine has {physical_gib():,.1f}; "
            f"most of it for graph {worst}, with {sizes[worst]:,} nodes and diameter {diameters[worst]:,}. "
            f"Leave such graphs out, or use NodeSum or WeisfeilerLehman."
        )


def n_columns(diameters: IntArray) -> IntArray:
    """Pairs (a, L) with a <= L / 2 and L <= diameter: the sum of L // 2 + 1.

    >>> n_columns(np.array([0, 1, 2, 3]))
    array([1, 2, 4, 6])
    """
    half = (diameters + 2) // 2
    return half * (diameters + 2 - half)


@compiled
def _spread(values, node_ptr, widths, out):  # type: ignore[no-untyped-def]
    read = 0
    for graph in range(len(widths)):
        keep = min(widths[graph], out.shape[1])
        for node in range(node_ptr[graph], node_ptr[graph + 1]):
            out[node, :keep] = values[read : read + keep]
            read += widths[graph]


@compiled
def _diameters(node_ptr, ptr, neighbours, diameters):  # type: ignore[no-untyped-def]
    distance = np.full(node_ptr[-1], -1)
    queue = np.empty(node_ptr[-1], dtype=np.int64)
    for graph in range(len(diameters)):
        for root in range(node_ptr[graph], node_ptr[graph + 1]):
            distance[node_ptr[graph] : node_ptr[graph + 1]] = -1
            distance[root] = 0
            queue[0] = root
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                for k in range(ptr[node], ptr[node + 1]):
                    if distance[neighbours[k]] < 0:
                        distance[neighbours[k]] = distance[node] + 1
                        queue[tail] = neighbours[k]
                        tail += 1
            diameters[graph] = max(diameters[graph], distance[queue[tail - 1]])


@compiled
def _count_paths(node_ptr, ptr, neighbours, diameters, widths, values):  # type: ignore[no-untyped-def]
    # From every root: breadth-first search counts the shortest paths that reach a node; backwards through the search
    # order, `below[v, k]` counts those that go on from v for k more steps. Their product is the paths through v.
    largest = 0
    for graph in range(len(widths)):
        largest = max(largest, node_ptr[graph + 1] - node_ptr[graph])
    distance = np.empty(largest, dtype=np.int64)
    queue = np.empty(largest, dtype=np.int64)
    reach = np.empty(largest)
    written = 0
    for graph in range(len(widths)):
        first = node_ptr[graph]
        n_nodes = node_ptr[graph + 1] - first
        depth = diameters[graph] + 1
        below = np.empty((n_nodes, depth))
        for root in range(n_nodes):
            distance[:n_nodes] = -1
            reach[:n_nodes] = 0.0
            distance[root] = 0
            reach[root] = 1.0
            queue[0] = root
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                for k in range(ptr[first + node], ptr[first + node + 1]):
                    other = neighbours[k] - first
                    if distance[other] < 0:
                        distance[other] = distance[node] + 1
                        queue[tail] = other
                        tail += 1
                    if distance[other] == distance[node] + 1:
                        reach[other] += reach[node]
            farthest = distance[queue[tail - 1]]
            for place in range(tail - 1, -1, -1):
                node = queue[place]
                position = distance[node]
                steps = farthest - position
                below[node, 0] = 1.0
                below[node, 1 : steps + 1] = 0.0
                for k in range(ptr[first + node], ptr[first + node + 1]):
                    other = neighbours[k] - first
                    if distance[other] == position + 1:
                        for more in range(steps):
                            below[node, more + 1] += below[other, more]
                row = written + node * widths[graph]
                for more in range(position, steps + 1):  # the path's length is position + more, so a <= L / 2
                    length = position + more
                    half = (length + 1) // 2
                    column = half * (length + 1 - half) + position
                    count = reach[node] * below[node, more]
                    values[row + column] += count if position == more else count * np.sqrt(2.0)
        written += n_nodes * widths[graph]

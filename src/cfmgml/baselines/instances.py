"""Graphs as vectors, for methods that know no graphs: the bag-of-instances form of the paper's tables."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from cfmgml.common.digests import short_digest
from cfmgml.common.segments import lengths, segment_ids, segment_sum
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import dense
from cfmgml.kernels.node_blocks import sum_nodes
from cfmgml.kernels.node_maps import one_hot
from cfmgml.kernels.path_counts import unit_weights

MAX_LABELS = 1000  # columns of graphs that have labels only


@dataclass(frozen=True)
class MeanVectors:
    """Describe a graph by the mean of its node attributes; a graph of one node is that node's vector.

    Graphs with labels only are described by the share of their nodes that has each label, for the 1,000 labels that
    occur in most training graphs.

    >>> graphs = GraphBatch(node_ptr=[0, 1, 3], edge_ptr=[0, 0, 0], edges=[[], []], node_attributes=[[5.], [1.], [2.]])
    >>> MeanVectors.of(graphs)(graphs)
    array([[5. ],
           [1.5]])
    """

    n_attributes: int
    vocabulary: IntArray | None = None

    @classmethod
    def of(cls, graphs: GraphBatch) -> Self:
        if graphs.node_attributes is not None:
            return cls(graphs.n_attributes)
        if graphs.node_labels is None:
            raise ValueError("these graphs have neither node_attributes nor node_labels to make vectors of.")
        seen = np.unique(np.stack([graphs.node_labels, segment_ids(graphs.node_ptr)]), axis=1)[0]
        labels, counts = np.unique(seen, return_counts=True)
        return cls(0, np.sort(labels[np.argsort(-counts, kind="stable")[:MAX_LABELS]]))

    def __call__(self, graphs: GraphBatch) -> FloatArray:
        sizes = lengths(graphs.node_ptr)[:, None]
        if self.vocabulary is None:
            if graphs.node_attributes is None or graphs.n_attributes != self.n_attributes:
                raise ValueError(f"graphs must have {self.n_attributes} attributes a node, got {graphs.n_attributes}.")
            return segment_sum(graphs.node_attributes.astype(np.float64, copy=False), graphs.node_ptr) / sizes
        if graphs.node_labels is None:
            raise ValueError("the model was fitted on node_labels, and these graphs have none.")
        counts = sum_nodes(one_hot(graphs.node_labels, self.vocabulary), unit_weights(graphs)).rows
        return dense(counts) / sizes


def one_node_graphs(vectors: FloatArray, graph_ids: IntArray) -> GraphBatch:
    """Vectors as graphs of one node, for kernels."""
    ptr = np.arange(len(vectors) + 1)
    return GraphBatch(ptr, 0 * ptr, np.zeros((2, 0), dtype=np.int64), node_attributes=vectors, graph_ids=graph_ids)


def canonical_order(contents: Iterable[bytes]) -> IntArray:
    """An order of the bags that depends on what is in them only, so that a seeded run does not see their order.

    >>> canonical_order([b"two", b"one", b"three"]).tolist(), canonical_order([b"three", b"two", b"one"]).tolist()
    ([1, 0, 2], [2, 1, 0])
    """
    digests = [short_digest(content) for content in contents]
    return np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)


def bag_contents(graphs: FloatArray | list[bytes], labels: BoolArray, bag_ptr: IntArray) -> Iterator[bytes]:
    """What is in each bag, for `canonical_order`: its graphs, as vectors or bytes, and its labels."""
    for start, stop, row in zip(bag_ptr[:-1], bag_ptr[1:], labels, strict=True):
        yield b"".join(graphs[start:stop]) + row.tobytes()

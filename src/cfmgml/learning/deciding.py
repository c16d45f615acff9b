"""The nodes that speak loudest for a graph's best label, by name."""

import numpy as np

from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch

MOST_WORDS = 5


def deciding_words(graphs: GraphBatch, adds: FloatArray, label: IntArray) -> list[list[str]]:
    """For every graph the names of up to five nodes that add most to the score of its ``label``, the loudest first.

    >>> graphs = GraphBatch([0, 2, 3], [0, 0, 0], [[], []], node_labels=[1, 2, 3], node_names=["not", "good", "bad"])
    >>> deciding_words(graphs, np.array([[-0.1], [0.4], [0.3]]), np.array([0, 0]))
    [['good'], ['bad']]
    """
    if graphs.node_names is None:
        return [[] for _ in range(graphs.n_graphs)]
    words = []
    for graph, (start, stop) in enumerate(zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True)):
        values = adds[start:stop, label[graph]]
        loudest = np.argsort(-values, kind="stable")[:MOST_WORDS]
        words.append([str(graphs.node_names[start + node]) for node in loudest if values[node] > 0])
    return words

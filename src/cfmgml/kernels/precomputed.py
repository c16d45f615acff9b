"""A Gram matrix computed elsewhere."""

from typing import Any

import numpy as np

from cfmgml.graphs import GraphBatch
from cfmgml.kernels.function import BatchKernel


class Precomputed(BatchKernel):
    """Look kernel values up in a matrix, by the graphs' ``graph_ids``.

    ``graph_ids`` count from 0 when a batch is made and selection keeps them, so folds of a data set find their rows.

    Parameters
    ----------
    K
        Symmetric matrix of shape (n, n) over all graphs that will be asked for.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 1, 2], edge_ptr=[0, 0, 0], edges=[[], []])
    >>> Precomputed(np.array([[1., .5], [.5, 1.]])).block(graphs[1], graphs)
    array([[0.5, 1. ]])
    """

    tile_size = 4096

    def __init__(self, K: Any) -> None:
        self.K = K

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        shape = np.shape(self.K)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {shape}.")
        if graphs.n_graphs and not 0 <= graphs.graph_ids.min() <= graphs.graph_ids.max() < shape[0]:
            raise ValueError(f"graph_ids must be rows of K, 0 to {shape[0] - 1}, got up to {graphs.graph_ids.max()}.")

    def _values(self, a: GraphBatch, b: GraphBatch) -> Any:
        return self.K[np.ix_(a.graph_ids, b.graph_ids)]

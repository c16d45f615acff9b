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

    def __sklearn_clone__(self) -> "Precomputed":
        return type(self)(self.K)  # the matrix is large and never written to: clones share it

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        shape = np.shape(self.K)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"K must be a square matrix, got shape {shape}.")
        ids = graphs.graph_ids
        if graphs.n_graphs and not 0 <= ids.min() <= ids.max() < shape[0]:
            raise ValueError(f"graph_ids must be rows of K, 0 to {shape[0] - 1}, got {ids.min()} to {ids.max()}.")

    def _settle(self, graphs: GraphBatch) -> None:
        K = np.asarray(self.K)
        if not np.isfinite(K).all():
            raise ValueError("K must be finite.")
        if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * np.abs(K).max(initial=0)):
            raise ValueError("K must be symmetric.")

    def _values(self, a: GraphBatch, b: GraphBatch) -> Any:
        return np.asarray(self.K)[np.ix_(a.graph_ids, b.graph_ids)]

"""A Gram matrix computed elsewhere."""

from collections.abc import Iterator

import numpy as np

from cfmgml.common.typing import Array, ArrayLike, FloatArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.function import BatchKernel

STRIPE = 2048  # rows that are checked at a time


class Precomputed(BatchKernel):
    """Look kernel values up in a matrix, by the graphs' ``graph_ids``.

    ``graph_ids`` count from 0 when a batch is made and selection keeps them, so folds of a data set find their rows.

    Parameters
    ----------
    K
        Symmetric matrix of shape (n, n) over all graphs that will be asked for: an array, or a zarr array on disk
        (`gram_to_zarr`), of which only what is asked for is read.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 1, 2], edge_ptr=[0, 0, 0], edges=[[], []])
    >>> Precomputed(np.array([[1., .5], [.5, 1.]])).block(graphs[1], graphs)
    array([[0.5, 1. ]])
    """

    tile_size = 4096

    def __init__(self, K: Array) -> None:
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

    def tile_seconds(self, graphs: GraphBatch) -> float:
        return 1e-9 * float(graphs.n_graphs) ** 2

    def _settle(self, graphs: GraphBatch) -> None:
        largest = max((np.abs(rows).max(initial=0) for rows, _ in self._stripes()), default=0.0)
        if not np.isfinite(largest):
            raise ValueError("K must be finite.")
        if not all(np.allclose(rows, across.T, rtol=1e-4, atol=1e-6 * largest) for rows, across in self._stripes()):
            raise ValueError("K must be symmetric.")

    def _stripes(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """The matrix by runs of rows, and the same runs of columns: what is on disk may not fit in memory."""
        K = self.K if hasattr(self.K, "oindex") else np.asarray(self.K)
        for start in range(0, K.shape[0], STRIPE):
            yield np.asarray(K[start : start + STRIPE]), np.asarray(K[:, start : start + STRIPE])

    def _values(self, a: GraphBatch, b: GraphBatch) -> ArrayLike:
        if hasattr(self.K, "oindex"):
            return self.K.oindex[a.graph_ids, b.graph_ids]
        return np.asarray(self.K)[np.ix_(a.graph_ids, b.graph_ids)]

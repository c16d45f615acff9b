"""Any kernel of the GraKeL library."""

from typing import TYPE_CHECKING

from sklearn.base import clone

from cfmgml.common.extras import install_command
from cfmgml.common.typing import FloatArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.function import BatchKernel

if TYPE_CHECKING:
    import grakel


class GrakelKernel(BatchKernel):
    """A GraKeL kernel object, called through our interface.

    GraKeL sees the simple undirected graph with node labels, or attributes where there are no labels; no edge labels.
    Its own ``normalize`` must be off: `gram_matrix` normalises.

    Parameters
    ----------
    kernel
        For example ``grakel.ShortestPath(normalize=False)``.
    """

    ignores_edge_labels = True
    tile_size = 10**9  # GraKeL fits itself to the right side of every tile: one tile, then

    def __init__(self, kernel: "grakel.Kernel") -> None:
        self.kernel = kernel

    def check_graphs(self, graphs: GraphBatch) -> None:
        super().check_graphs(graphs)
        try:
            import grakel  # noqa: F401
        except ImportError as error:
            wanted = f"GrakelKernel needs GraKeL: {install_command('grakel')} (Python below 3.13)."
            raise ImportError(wanted) from error
        if getattr(self.kernel, "normalize", False):
            raise ValueError("GrakelKernel needs a kernel with normalize=False; gram_matrix normalises.")

    def _values(self, a: GraphBatch, b: GraphBatch) -> FloatArray:
        kernel = clone(self.kernel)
        return kernel.fit(to_grakel(b)).transform(to_grakel(a))


def to_grakel(graphs: GraphBatch) -> "list[grakel.Graph]":
    """A list of ``grakel.Graph``."""
    from grakel import Graph

    ptr, neighbours = graphs.adjacency
    values = graphs.node_attributes if graphs.node_labels is None else graphs.node_labels
    made = []
    for start, stop in zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True):
        edges = {
            v - start: {u - start: 1.0 for u in neighbours[ptr[v] : ptr[v + 1]].tolist()} for v in range(start, stop)
        }
        labels = None if values is None else dict(enumerate(values[start:stop].tolist()))
        made.append(Graph(edges, node_labels=labels, graph_format="dictionary"))
    return made

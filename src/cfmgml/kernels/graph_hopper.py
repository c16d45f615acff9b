"""The GraphHopper kernel (Feragen et al., NeurIPS 2013)."""

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.node_pairs import NodePairKernel
from cfmgml.kernels.path_counts import NodeWeights, path_counts


class GraphHopper(NodePairKernel):
    """Compare graphs by the nodes met along shortest paths of equal length.

    K(G, G') is the sum, over all pairs of shortest paths with equally many nodes, of the node kernel at each position.
    Paths of one node are included, so a graph without edges is compared by its nodes; nodes in different
    components have no path between them. Edge weights and labels are ignored: every edge has length 1.

    The parameters are those of `NodePairKernel`: ``node_kernel``, ``gamma`` and, for an explicit map of the rbf
    kernel, ``approximation``, ``n_components`` and ``random_state``.

    Examples
    --------
    >>> path = GraphBatch(node_ptr=[0, 2], edge_ptr=[0, 1], edges=[[0], [1]], node_labels=[1, 2])
    >>> GraphHopper("delta").block(path, path)
    array([[6.]])
    """

    def node_weights(self, graphs: GraphBatch) -> NodeWeights:
        return path_counts(graphs)

"""The plain sum of node kernels."""

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.node_pairs import NodePairKernel
from cfmgml.kernels.path_counts import NodeWeights, unit_weights


class NodeSum(NodePairKernel):
    """Compare graphs by all pairs of their nodes, whatever the edges and their labels.

    K(G, G') is the sum of the node kernel over all pairs of nodes. For bags of one-node graphs it is the node
    kernel itself, so a bag of vectors is a bag of graphs too.

    The parameters are those of `NodePairKernel`: ``node_kernel``, ``gamma`` and, for an explicit map of the rbf
    kernel, ``approximation``, ``n_components`` and ``random_state``.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3], edge_ptr=[0, 0, 0], edges=[[], []], node_attributes=[[0.], [0.], [1.]])
    >>> NodeSum(gamma=1.).block(graphs, graphs).round(3)
    array([[1.   , 1.368],
           [1.368, 2.736]])
    """

    def node_weights(self, graphs: GraphBatch) -> NodeWeights:
        return unit_weights(graphs)

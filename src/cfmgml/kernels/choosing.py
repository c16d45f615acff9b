"""A kernel where none was given."""

from typing import Any

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.function import as_kernel
from cfmgml.kernels.node_sum import NodeSum
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman


def choose_kernel(kernel: Any, graphs: GraphBatch) -> Kernel:
    """The kernel given; for None, `NodeSum` where there are attributes and `WeisfeilerLehman` for labels only."""
    if kernel is not None:
        return as_kernel(kernel)
    if graphs.node_attributes is not None:
        return NodeSum()
    if graphs.node_labels is not None:
        return WeisfeilerLehman()
    raise ValueError("these graphs have neither node_attributes nor node_labels: give them either, or choose a kernel.")

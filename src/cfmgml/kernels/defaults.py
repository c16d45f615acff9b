"""A kernel where none was given."""

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.function import KernelLike, as_kernel
from cfmgml.kernels.node_sum import NodeSum
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman


def default_kernel(graphs: GraphBatch) -> type[Kernel]:
    """`NodeSum` where there are attributes, `WeisfeilerLehman` for labels only."""
    if graphs.node_attributes is not None:
        return NodeSum
    if graphs.node_labels is not None:
        return WeisfeilerLehman
    raise ValueError("these graphs have neither node_attributes nor node_labels: give them either, or choose a kernel.")


def choose_kernel(kernel: KernelLike | None, graphs: GraphBatch) -> Kernel:
    """The kernel given; for None, `default_kernel`."""
    return default_kernel(graphs)() if kernel is None else as_kernel(kernel)

"""Graph kernels: one a file, all with the interface of `Kernel`; this file is the register of them."""

from collections.abc import Callable, Mapping

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.compose import ProductKernel, SumKernel
from cfmgml.kernels.function import FunctionKernel, KernelLike, as_kernel
from cfmgml.kernels.grakel import GrakelKernel
from cfmgml.kernels.graph_hopper import GraphHopper
from cfmgml.kernels.hashed import HashedWL
from cfmgml.kernels.node_sum import NodeSum
from cfmgml.kernels.precomputed import Precomputed
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman

__all__ = [
    "FunctionKernel", "GrakelKernel", "GraphHopper", "HashedWL", "Kernel", "NodeSum", "Precomputed", "ProductKernel",
    "SumKernel", "WeisfeilerLehman", "as_kernel", "choose_kernel",
]  # fmt: skip

# Classes that a file may name; those that hold code are not among them.
SAVED_KERNELS: dict[str, type[Kernel]] = {
    kernel.__name__: kernel
    for kernel in (GraphHopper, HashedWL, NodeSum, Precomputed, ProductKernel, SumKernel, WeisfeilerLehman)
}


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


# What `--kernel` takes: a short name, and what makes the kernel for graphs and settings (`Kernel.suited_to`).
NAMED_KERNELS: dict[str, Callable[[GraphBatch, Mapping[str, object]], Kernel]] = {
    "auto": lambda graphs, settings: default_kernel(graphs).suited_to(graphs, settings),
    "nodes": NodeSum.suited_to,
    "hopper": GraphHopper.suited_to,
    "wl": WeisfeilerLehman.suited_to,
    "both": lambda graphs, settings: SumKernel(
        [kernel.suited_to(graphs, settings) for kernel in (GraphHopper, NodeSum)]
    ),
}

"""Graph kernels: one a file, all with the interface of `Kernel`; this file is the register of them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.compose import ProductKernel, SumKernel
from cfmgml.kernels.function import FunctionKernel, KernelLike, as_kernel
from cfmgml.kernels.grakel import GrakelKernel
from cfmgml.kernels.graph_hopper import GraphHopper
from cfmgml.kernels.hashed import HashedWL
from cfmgml.kernels.min_max import MinMaxWL
from cfmgml.kernels.node_sum import NodeSum
from cfmgml.kernels.precomputed import Precomputed
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman

__all__ = [
    "FunctionKernel", "GrakelKernel", "GraphHopper", "HashedWL", "Kernel", "MinMaxWL", "NodeSum", "Precomputed",
    "ProductKernel", "SumKernel", "WeisfeilerLehman", "as_kernel", "choose_kernel",
]  # fmt: skip

# Classes that a file may name; those that hold code are not among them.
SAVED_KERNELS: dict[str, type[Kernel]] = {
    kernel.__name__: kernel
    for kernel in (GraphHopper, HashedWL, MinMaxWL, NodeSum, Precomputed, ProductKernel, SumKernel, WeisfeilerLehman)
}


def default_kernel(graphs: GraphBatch, settings: Mapping[str, object] = MappingProxyType({})) -> Kernel:
    """`NodeSum` for attributes, `WeisfeilerLehman` for labels; for both, where there are edges, their sum.

    Attributes alone are compared by `NodeSum`, which sees no edges: `GraphHopper` does, and takes longer. Labels of
    edges are ignored unless the settings say otherwise.

    >>> graphs = GraphBatch([0, 2], [0, 1], [[0], [1]], node_labels=[1, 2], node_attributes=[[0.5], [0.7]])
    >>> default_kernel(graphs)
    SumKernel(kernels=[NodeSum(), WeisfeilerLehman()])
    """
    kinds: list[type[Kernel]] = [] if graphs.node_attributes is None else [NodeSum]
    if graphs.node_labels is not None and (graphs.n_edges or not kinds):
        kinds.append(WeisfeilerLehman)
    if not kinds:
        raise ValueError(
            "these graphs have neither node_attributes nor node_labels: give them either. Where all nodes are alike, "
            "their numbers of neighbours are labels: GraphBatch.with_degrees(), or cfmgml build graphs --degrees."
        )
    parts = [kind.suited_to(graphs, settings) for kind in kinds]
    return parts[0] if len(parts) == 1 else SumKernel(parts)


def choose_kernel(kernel: KernelLike | None, graphs: GraphBatch) -> Kernel:
    """The kernel given; for None, `default_kernel`."""
    return default_kernel(graphs) if kernel is None else as_kernel(kernel)


# What `--kernel` takes: a short name, and what makes the kernel for graphs and settings (`Kernel.suited_to`).
NAMED_KERNELS: dict[str, Callable[[GraphBatch, Mapping[str, object]], Kernel]] = {
    "auto": default_kernel,
    "nodes": NodeSum.suited_to,
    "hopper": GraphHopper.suited_to,
    "wl": WeisfeilerLehman.suited_to,
    "minmax": MinMaxWL.suited_to,
    "both": lambda graphs, settings: SumKernel(
        [kernel.suited_to(graphs, settings) for kernel in (GraphHopper, NodeSum)]
    ),
}

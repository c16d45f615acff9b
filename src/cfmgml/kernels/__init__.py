"""Graph kernels: one a file, all with the interface of `Kernel`."""

from cfmgml.kernels.base import Kernel
from cfmgml.kernels.choosing import choose_kernel
from cfmgml.kernels.compose import ProductKernel, SumKernel
from cfmgml.kernels.function import FunctionKernel, as_kernel
from cfmgml.kernels.grakel import GrakelKernel
from cfmgml.kernels.graph_hopper import GraphHopper
from cfmgml.kernels.hashed import HashedWL
from cfmgml.kernels.node_sum import NodeSum
from cfmgml.kernels.precomputed import Precomputed
from cfmgml.kernels.weisfeiler_lehman import WeisfeilerLehman

__all__ = [
    "FunctionKernel",
    "GrakelKernel",
    "GraphHopper",
    "HashedWL",
    "Kernel",
    "NodeSum",
    "Precomputed",
    "ProductKernel",
    "SumKernel",
    "WeisfeilerLehman",
    "as_kernel",
    "choose_kernel",
]

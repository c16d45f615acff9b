"""Learn from bags of graphs with several labels; predict labels for the bag and for every graph in it."""

from cfmgml.bags import BagDataset
from cfmgml.gram import gram_matrix
from cfmgml.graphs import GraphBatch
from cfmgml.kernels import (
    GrakelKernel,
    GraphHopper,
    NodeSum,
    Precomputed,
    ProductKernel,
    SumKernel,
    WeisfeilerLehman,
)
from cfmgml.model import CfMGML

__version__ = "0.1.0"
__all__ = [
    "BagDataset",
    "CfMGML",
    "GrakelKernel",
    "GraphBatch",
    "GraphHopper",
    "NodeSum",
    "Precomputed",
    "ProductKernel",
    "SumKernel",
    "WeisfeilerLehman",
    "gram_matrix",
]

"""Learn from bags of graphs with several labels; predict labels for the bag and for every graph in it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.data.graphs import GraphBatch
    from cfmgml.kernels import (
        GrakelKernel,
        GraphHopper,
        MinMaxWL,
        NodeSum,
        Precomputed,
        ProductKernel,
        SumKernel,
        WeisfeilerLehman,
    )
    from cfmgml.kernels.gram import gram_matrix
    from cfmgml.model.cfmgml import CfMGML

__version__ = "0.2.0"
__all__ = [
    "BagDataset",
    "CfMGML",
    "GrakelKernel",
    "GraphBatch",
    "GraphHopper",
    "MinMaxWL",
    "NodeSum",
    "Precomputed",
    "ProductKernel",
    "SumKernel",
    "WeisfeilerLehman",
    "gram_matrix",
]
# Names are looked up where they live when they are first used: a program that needs graphs only, or the card's code
# on a machine without scipy, does not wait for the rest.
_HOMES = {"BagDataset": "data.bags", "CfMGML": "model", "GraphBatch": "data.graphs", "gram_matrix": "kernels.gram"}
_ROOMS = ("baselines", "builders", "checks", "data", "datasets", "kernels", "metrics", "model", "plots")


def __getattr__(name: str) -> object:
    if name in __all__:
        globals()[name] = getattr(import_module(f"cfmgml.{_HOMES.get(name, 'kernels')}"), name)
        return globals()[name]
    if name in _ROOMS:
        return import_module(f"cfmgml.{name}")
    raise AttributeError(f"module 'cfmgml' has no attribute {name!r}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})

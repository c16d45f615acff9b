"""Descriptions of a picture's nodes: one a file, called as in ``features=``.

A module of this folder has a ``DESCRIPTION``, and so is known.

>>> description_names()
['hellinger', 'paper', 'rich']
>>> find_description("hellinger").columns
{'rgb_histogram': (0, 729), 'hog': (729, 873)}
"""

import functools
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module

import numpy as np

from cfmgml.builders.pictures.node_features import NodeFeatures
from cfmgml.common.typing import FloatArray


class NodeDescription(ABC):
    """What nodes know of their pixels, as numbers."""

    version: int = 1  # raise it when the same pixels give other numbers
    gamma: float = 1.0  # of exp(-gamma |x - y|^2) between nodes
    widths: Mapping[str, int]  # columns of each part
    in_workers: bool = True  # else in the parent process, many pictures at a time, where a device is

    @abstractmethod
    def describe(self, pictures: Sequence[NodeFeatures], device: str = "cpu") -> list[FloatArray]:
        """For each picture an array (n_nodes, n_columns) in float32."""

    @property
    def columns(self) -> dict[str, tuple[int, int]]:
        """First and last-but-one column of every part."""
        stops = np.cumsum(list(self.widths.values())).tolist()
        return {name: (stop - width, stop) for (name, width), stop in zip(self.widths.items(), stops, strict=True)}


def side_by_side(*parts: FloatArray) -> FloatArray:
    return np.concatenate(parts, axis=1).astype(np.float32)


@functools.cache
def description_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_description(name: str) -> NodeDescription:
    """The description of this name; only files of this folder are looked up."""
    if name not in description_names():
        raise ValueError(f"features must be one of {', '.join(description_names())}, got {name!r}.")
    description: NodeDescription = import_module(f"{__name__}.{name}").DESCRIPTION
    return description

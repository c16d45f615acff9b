"""Descriptions of a picture's nodes: one a file, called as in ``features=``.

A module of this folder has a ``DESCRIPTION``, and so is known; others are known once they were registered, in this
process.

>>> description_names()
['deep', 'deep_lite2', 'hellinger', 'paper', 'rich']
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
    """What nodes know of their pixels, as numbers.

    >>> class Counted(NodeDescription):
    ...     widths = {"one": 1}
    ...     def describe(self, pictures, device="cpu"):
    ...         return [np.ones((picture.n_nodes, 1), dtype=np.float32) for picture in pictures]
    >>> Counted().columns
    {'one': (0, 1)}
    """

    version: int = 1  # raise it when the same pixels give other numbers
    gamma: float = 1.0  # of exp(-gamma |x - y|^2) between nodes
    identity: str | None = None  # of the network that sees the pictures: its name and a digest of its weights
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


_registered: dict[str, NodeDescription] = {}


def description_names() -> list[str]:
    return sorted({*_of_this_folder(), *_registered})


@functools.cache
def _of_this_folder() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]


def register_description(description: NodeDescription, name: str) -> str:
    """Make a description known in this process by a name, which it returns; a name of this folder cannot be taken.

    >>> register_description(find_description("rich"), "rich")
    'rich'
    """
    if not isinstance(description, NodeDescription):
        raise TypeError(
            f"features must be the name of a description ({', '.join(description_names())}) or a NodeDescription, such "
            f"as EncodedNodes(encoder), got {type(description).__name__}."
        )
    if name in _of_this_folder() and description is not find_description(name):
        raise ValueError(f"there is a description called {name!r} already; give this one another name.")
    _registered[name] = description
    return name


def find_description(name: str) -> NodeDescription:
    """The description of this name; only files of this folder and what was registered are looked up."""
    if name in _registered:
        return _registered[name]
    if name not in _of_this_folder():
        raise ValueError(
            f"features must be one of {', '.join(description_names())}, got {name!r}; one's own is known once it was "
            "passed to bags_from_images(features=...) or register_description in this process."
        )
    description: NodeDescription = import_module(f"{__name__}.{name}").DESCRIPTION
    return description

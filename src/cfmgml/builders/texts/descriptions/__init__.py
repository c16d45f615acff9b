"""Descriptions of words by vectors: one a file, called as in ``features=``.

A module of this folder has a ``DESCRIPTION``, and so is known.

>>> description_names()
['letters']
"""

import functools
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module

from cfmgml.common.typing import FloatArray


class WordDescription(ABC):
    """What nodes know of their word, as numbers."""

    version: int = 1  # raise it when the same word gives other numbers
    gamma: float = 1.0  # of exp(-gamma |x - y|^2) between nodes
    n_columns: int

    @abstractmethod
    def describe(self, words: Sequence[str]) -> FloatArray:
        """An array (n_words, n_columns) in float32."""


@functools.cache
def description_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_description(name: str) -> WordDescription:
    """The description of this name; only files of this folder are looked up."""
    if name not in description_names():
        raise ValueError(f"features must be None or one of {', '.join(description_names())}, got {name!r}.")
    description: WordDescription = import_module(f"{__name__}.{name}").DESCRIPTION
    return description

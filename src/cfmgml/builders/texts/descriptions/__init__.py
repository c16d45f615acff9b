"""Descriptions of words by vectors: one a file, called as in ``features=``.

A module of this folder has a ``DESCRIPTION``, and so is known; others (`EncodedWords`) are known once they were
registered, in this process.

>>> find_description("letters").n_columns
256
"""

import functools
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from importlib import import_module

from cfmgml.common.typing import FloatArray, Json


class WordDescription(ABC):
    """What nodes know of their word, as numbers."""

    name: str = ""  # of one that is not a file of this folder
    version: int = 1  # raise it when the same word gives other numbers
    gamma: float = 1.0  # of exp(-gamma |x - y|^2) between nodes
    node_kernel: str = "rbf"  # between nodes
    sees: str = "keys"  # words as they count, as they are "spellings", or "whole", the texts of their graphs
    learns: bool = False  # from the texts that are built, before it can describe
    n_columns: int

    @abstractmethod
    def describe(self, words: Sequence[str]) -> FloatArray:
        """An array (n_words, n_columns) in float32."""

    def learn(self, texts: Iterable[Sequence[str]]) -> Json:
        """What it learns from the words of texts, for files to keep."""
        raise TypeError(f"{type(self).__name__} learns nothing.")

    def recalling(self, learned: Json) -> "WordDescription":
        """The description with what it learned."""
        raise TypeError(f"{type(self).__name__} learns nothing.")

    def identity(self) -> Json | None:
        """Of an encoder that comes from outside, for files to keep."""
        return None

    def is_like(self, identity: Json) -> bool:
        """Whether it is the one that had this identity."""
        return self.identity() == identity


_registered: dict[str, WordDescription] = {}


def description_names() -> list[str]:
    return sorted({*_of_this_folder(), *_registered})


@functools.cache
def _of_this_folder() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]


def register_description(description: WordDescription) -> str:
    """Make a description known in this process by its name, which it returns; names of this folder cannot be taken."""
    if not isinstance(description, WordDescription):
        raise TypeError(
            f"features must be None, the name of a description ({', '.join(description_names())}) or a "
            f"WordDescription, such as EncodedWords(encode, name), got {type(description).__name__}."
        )
    if description.name in _of_this_folder():
        raise ValueError(f"there is a description called {description.name!r} already; give this one another name.")
    _registered[description.name] = description
    return description.name


def find_description(name: str) -> WordDescription:
    """The description of this name; only files of this folder and what was registered are looked up."""
    if name in _registered:
        return _registered[name]
    if name not in _of_this_folder():
        raise ValueError(
            f"features must be None or one of {', '.join(description_names())}, got {name!r}; one's own is known once "
            "it was passed to bags_from_texts(features=...) or register_description in this process."
        )
    description: WordDescription = import_module(f"{__name__}.{name}").DESCRIPTION
    return description

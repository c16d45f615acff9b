"""Kinds of input: each knows how its raw things become bags, and how such a bag is drawn.

`Builder` is what a kind is made from; `cfmgml.data.builder` has the contract and the registry.
"""

from cfmgml.builders.base import Builder
from cfmgml.data.builder import FileOptions, find_kind, parameter, register
from cfmgml.data.questions import Form

__all__ = ["Builder", "FileOptions", "Form", "find_kind", "parameter", "register"]

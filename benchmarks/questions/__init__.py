"""One question a file: what is measured, at which sizes, by which libraries."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Contender:
    """A library's way to do the work of a question."""

    prepare: Callable[[int], Any]  # what is given: not measured
    run: Callable[[Any], Any]  # the work; returns what can be compared, an array or None
    package: str = "cfmgml"
    largest: int = 10**9  # sizes above take this library too long

    @property
    def version(self) -> str:
        return version(self.package)


@dataclass(frozen=True)
class Question:
    """Contenders do the same work at growing sizes; `reference` says whose values the others' are compared with."""

    title: str
    unit: str  # what a size counts
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    contenders: dict[str, Contender]
    reference: str | None = None
    exponent: float | None = None  # our growth must not be above
    goals: tuple["Goal", ...] = ()
    warm_up: int = 8  # a size that compiles everything
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """One contender against another at a size: so many times less CPU time or memory."""

    ours: str
    peer: str
    size: int
    at_least: float
    of: str = "cpu"  # or "memory"

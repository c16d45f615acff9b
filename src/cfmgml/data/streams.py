"""Bags that come a few at a time: `BagStream`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset

Piece = tuple[BagDataset, IntArray]  # bags, and the number of the input that each was built from


class BagStream(ABC):
    """Input that becomes bags a few at a time; inputs are counted from 0, and one may give no bag.

    A builder makes one of files (`cfmgml.builders.Builder.stream`), and `cfmgml.stores.build_store` writes it:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.builders import find_kind
    >>> from cfmgml.data.builder import FileInput
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "note.txt").write_text("Drums play. A violin, too.")
    ...     stream = find_kind("texts")().stream(FileInput([f"{folder}/note.txt"], labels=False))
    ...     [(bags.n_graphs, inputs.tolist()) for bags, inputs in stream.pieces(0)]
    [(2, [0])]
    """

    @property
    @abstractmethod
    def key(self) -> Any:
        """All that the bags depend on, as JSON can hold it."""

    def settle(self, settled: Any) -> Any:
        """Look at all input for what every bag depends on, unless it was ``settled`` before; returns that, for JSON."""
        return None

    @abstractmethod
    def pieces(self, start: int) -> Iterator[Piece]:
        """The bags of the inputs from this one on, in order; each piece small beside a partition."""

    def report(self, start: int, stop: int) -> Any:
        """What ``info`` will say of these inputs, once they are built."""
        return None

    def recall(self, report: Any, n_bags: int) -> None:  # noqa: B027  # most report nothing
        """Take over what an earlier run of the same build has reported, of so many bags."""

    @abstractmethod
    def info(self) -> Mapping[str, Any]:
        """The ``info`` of all bags, when they are built."""

"""Networks that look at a whole picture and give maps of it: what `Encoder` asks of them.

An encoder is any object with this protocol; `TorchEncoder` makes one of a torch module, and `efficientnet_lite` those
that come with the extra ``deep``.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from cfmgml.builders.pictures.image_files import ByteArray
from cfmgml.common.typing import FloatArray

Maps = list[FloatArray]  # of one picture: (rows, columns, channels) each, over the whole picture


@runtime_checkable
class Encoder(Protocol):
    """What gives maps of pictures, with the same numbers for the same pictures.

    >>> class Halves:
    ...     name, digest, widths = "halves", "1", {"brightness": 1}
    ...     def maps(self, pictures, device="cpu"):
    ...         return [[one.mean(axis=2, keepdims=True)[::2, ::2]] for one in pictures]
    >>> isinstance(Halves(), Encoder)
    True
    """

    @property
    def name(self) -> str:
        """For people and files: which network, such as ``"efficientnet-lite0"``."""

    @property
    def digest(self) -> str:
        """Of its weights, and of how it prepares pictures: another digest is another encoder."""

    @property
    def widths(self) -> Mapping[str, int]:
        """The name and the channels of every map."""

    def maps(self, pictures: Sequence[ByteArray], device: str = "cpu") -> list[Maps]:
        """The maps of pictures (height, width, 3) of any size, in the order of ``widths``."""

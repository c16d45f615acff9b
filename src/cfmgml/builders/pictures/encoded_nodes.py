"""Nodes described by an encoder's maps: `EncodedNodes`, for `features="deep"` and for encoders of one's own."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from cfmgml.builders.pictures.descriptions import NodeDescription, side_by_side
from cfmgml.builders.pictures.encoders import Encoder
from cfmgml.builders.pictures.node_features import PLACE_WIDTHS, NodeFeatures, place
from cfmgml.builders.pictures.pooling import pool
from cfmgml.common.typing import FloatArray

PLACE_WEIGHT = 0.5


class EncodedNodes(NodeDescription):
    """Each map of an encoder, averaged over the superpixel and scaled to length 1, side by side, then place and region.

    Coarse maps know what is in a picture, fine ones where it is.

    Parameters
    ----------
    encoder
        An `Encoder`, or a function that gives one when it is first needed.
    name
        As in ``features=``; by default the encoder's.
    rooted
        Maps whose values are square-rooted first, which evens out large ones; for maps without negative values.
    place_weight
        Of the superpixel's place in the picture and in its region, and of the region's shape and size, beside the maps.

    Examples
    --------
    >>> class Halves:
    ...     name, digest, widths = "halves", "1", {"brightness": 1}
    ...     def maps(self, pictures, device="cpu"):
    ...         return [[one.mean(axis=2, keepdims=True)[::2, ::2]] for one in pictures]
    >>> description = EncodedNodes(Halves())  # for bags_from_images(features=description)
    >>> description.name, description.columns["brightness"]
    ('halves', (0, 1))
    """

    in_workers = False
    gamma = 0.25  # set with PLACE_WEIGHT after a look at one fold: docs/results/pictures.md

    def __init__(
        self,
        encoder: Encoder | Callable[[], Encoder],
        name: str | None = None,
        *,
        rooted: Sequence[str] = (),
        place_weight: float = PLACE_WEIGHT,
    ) -> None:
        self._given, self._name = encoder, name
        self.rooted, self.place_weight = tuple(rooted), place_weight

    @cached_property
    def encoder(self) -> Encoder:
        return self._given if isinstance(self._given, Encoder) else self._given()

    @property
    def name(self) -> str:
        return self.encoder.name if self._name is None else self._name

    @property
    def identity(self) -> str:  # type: ignore[override]
        return f"{self.encoder.name} {self.encoder.digest[:16]}"

    @cached_property
    def widths(self) -> Mapping[str, int]:  # type: ignore[override]
        return {**self.encoder.widths, **PLACE_WIDTHS}

    def describe(self, pictures: Sequence[NodeFeatures], device: str = "cpu") -> list[FloatArray]:
        maps = self.encoder.maps([nodes.pixels for nodes in pictures], device)
        return [self._rows(nodes, of_picture) for nodes, of_picture in zip(pictures, maps, strict=True)]

    def _rows(self, nodes: NodeFeatures, maps: list[FloatArray]) -> FloatArray:
        pooled = pool(maps, nodes.superpixels.numbers, nodes.superpixels.n_nodes)
        scaled = [
            _unit_rows(np.sqrt(np.maximum(rows, 0)) if name in self.rooted else rows)
            for name, rows in zip(self.encoder.widths, pooled, strict=True)
        ]
        return side_by_side(*scaled, self.place_weight * place(nodes))


def _unit_rows(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))

"""The paper's: a relative 9 x 9 x 9 RGB histogram, and gradients of the 32 x 32 patch around the centre."""

from collections.abc import Sequence

from cfmgml.builders.pictures.descriptions import NodeDescription, side_by_side
from cfmgml.builders.pictures.node_features import WIDTHS, NodeFeatures, colours, gradients
from cfmgml.common.typing import FloatArray


class Paper(NodeDescription):
    widths = WIDTHS

    def describe(self, pictures: Sequence[NodeFeatures], device: str = "cpu") -> list[FloatArray]:
        return [side_by_side(colours(nodes), gradients(nodes)) for nodes in pictures]


DESCRIPTION = Paper()

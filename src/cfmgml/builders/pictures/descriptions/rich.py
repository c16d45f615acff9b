"""Square-rooted histograms, gradients, local binary patterns, the place in the picture, and the region's shape."""

from collections.abc import Sequence

import numpy as np

from cfmgml.builders.pictures.descriptions import NodeDescription, side_by_side
from cfmgml.builders.pictures.node_features import RICH_WIDTHS, NodeFeatures, colours, gradients, place, texture
from cfmgml.common.typing import FloatArray


class Rich(NodeDescription):
    gamma = 0.7  # chosen on MSRC v2
    widths = RICH_WIDTHS

    def describe(self, pictures: Sequence[NodeFeatures], device: str = "cpu") -> list[FloatArray]:
        return [
            side_by_side(np.sqrt(colours(nodes)), gradients(nodes), texture(nodes), place(nodes)) for nodes in pictures
        ]


DESCRIPTION = Rich()

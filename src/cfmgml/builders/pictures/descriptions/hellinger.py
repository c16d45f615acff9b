"""The paper's with square-rooted histograms, whose distances are Hellinger's."""

from collections.abc import Sequence

import numpy as np

from cfmgml.builders.pictures.descriptions import NodeDescription, side_by_side
from cfmgml.builders.pictures.node_features import WIDTHS, NodeFeatures, colours, gradients
from cfmgml.common.typing import FloatArray


class Hellinger(NodeDescription):
    widths = WIDTHS

    def describe(self, pictures: Sequence[NodeFeatures], device: str = "cpu") -> list[FloatArray]:
        return [side_by_side(np.sqrt(colours(nodes)), gradients(nodes)) for nodes in pictures]


DESCRIPTION = Hellinger()

"""Painted nodes as painted pixels."""

from typing import Any

import numpy as np

from cfmgml.common.typing import ArrayLike, NumberArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.plots.shown import painted_nodes


def label_map(bags: BagDataset, painted: ArrayLike, bag: int = 0, **content: Any) -> NumberArray:
    """The label of every pixel of what one bag was built from, (height, width); -1 where there is none.

    ``painted`` is what ``model.paint(bags)`` gives; ``content`` is what the builder's ``node_map`` takes: for pictures
    `cfmgml.builders.pictures.masks.node_map`.

    >>> from cfmgml.datasets import bags_from_images
    >>> photo = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> bags = bags_from_images([photo])
    >>> label_map(bags, np.full(bags.graphs.n_nodes, 7), image=photo)[0, :3]
    array([7, 7, 7], dtype=int32)
    """
    # the last is for pixels of no node, which have -1
    of_node = np.append(painted_nodes(bags, bag, painted), -1).astype(np.int32)
    return of_node[known_builder(bags.builder).node_map(bags, bag, **content)]

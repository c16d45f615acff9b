"""A label for every node, from what nodes add to their graphs' scores."""

import numpy as np

from cfmgml.common.segments import lengths, segment_ids, segment_max, segment_sum
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset

OWN = 0.5  # how much a node speaks for itself; the rest is its graph's mean
BACKGROUND = 0.5  # of the loudest node of a bag: what is quieter is background
COVERED = 0.75  # if so many training graphs have one of their bag's labels, labels leave nothing out


def paint(
    contributions: FloatArray,
    length: FloatArray,
    bags: BagDataset,
    allowed: BoolArray,
    background: float | None = BACKGROUND,
) -> IntArray:
    """The best of its bag's allowed labels for each node, (n_nodes,), -1 for none.

    How loudly a node speaks for a label is its contribution before the graph's score was divided by the graph's length,
    so that it does not depend on how large its graph is; and to one half the mean of its graph. Where labels do not
    cover everything, a node gets a label if it speaks at least half as loudly for it as any node of its bag does.

    Parameters
    ----------
    contributions
        Shape (n_nodes, n_labels), as `CfMGML.explain` gives them.
    length
        Shape (n_graphs,): the square root of each graph's kernel value with itself.
    bags
        The nodes' graphs, and the graphs' bags.
    allowed
        Shape (n_bags, n_labels): the labels that nodes of a bag may get.
    background
        Which share of the bag's loudest node a node must reach; None: every node of a bag with labels gets one.

    Examples
    --------
    >>> from cfmgml import GraphBatch
    >>> bags = BagDataset(GraphBatch([0, 2, 3], [0, 0, 0], [[], []], [0, 0, 0]), [0, 1, 2])
    >>> contributions = np.array([[.9, .1], [-.4, .3], [.1, .9]])
    >>> allowed = np.array([[True, True], [True, False]])
    >>> paint(contributions, np.ones(2), bags, allowed, background=None)
    array([0, 1, 0])
    """
    of_graph, of_bag = segment_ids(bags.graphs.node_ptr), segment_ids(bags.graphs.node_ptr[bags.bag_ptr])
    own = contributions * length[of_graph, None]
    mean = segment_sum(own, bags.graphs.node_ptr) / lengths(bags.graphs.node_ptr)[:, None]
    loud = np.where(allowed[of_bag], OWN * own + (1 - OWN) * mean[of_graph], -np.inf)
    return loudest_labels(loud, bags.graphs.node_ptr[bags.bag_ptr], background)


def loudest_labels(loud: FloatArray, ptr: IntArray, background: float | None) -> IntArray:
    """The label that each node speaks for most, of those whose value is not -inf, -1 for none; ``ptr`` are the bags'
    nodes, and ``background`` is as in `paint`."""
    if background is None:
        return np.where(loud.max(axis=1) > -np.inf, loud.argmax(axis=1), -1)
    loudest = np.asarray(segment_max(loud, ptr))
    share = np.where(loud > 0, loud, 0) / np.where(loudest > 0, loudest, 1)[segment_ids(ptr)]
    return np.where(share.max(axis=1) >= background, share.argmax(axis=1), -1)


def share_covered(scores: FloatArray, bag_ptr: IntArray, relevant: BoolArray) -> float | None:
    """How many of the graphs whose bags have labels score above 0 for one of these; None if no bag has any.

    Near one, whatever is in a bag has a label, as in photos all of whose parts are named; well below, much is in them
    that no label names.
    """
    of_bag = relevant[segment_ids(bag_ptr)]
    n_labelled = int(np.count_nonzero(of_bag.any(axis=1)))
    return int(np.count_nonzero((of_bag & (scores > 0)).any(axis=1))) / n_labelled if n_labelled else None

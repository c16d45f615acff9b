"""Which graph of a bag carries which of the bag's known labels."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from cfmgml.common.typing import BoolArray, FloatArray, IntArray


def annotate(scores: FloatArray, bag_ptr: IntArray, Y: BoolArray) -> BoolArray:
    """Give every graph one of its bag's labels so that no label of the bag is left out.

    Among all ways to do so, the one with the largest sum of scores. Where a bag has more labels than graphs, each
    graph first gets a label of its own and each label left over goes to the graph that scores highest for it. Graphs
    of a bag without labels get none.

    >>> scores = np.array([[.9, .8], [.7, .1]])
    >>> annotate(scores, np.array([0, 2]), np.array([[True, True]]))
    array([[False,  True],
           [ True, False]])
    """
    out = np.zeros(scores.shape, dtype=bool)
    for start, stop, relevant in zip(bag_ptr[:-1], bag_ptr[1:], Y, strict=True):
        labels = np.flatnonzero(relevant)
        if len(labels):
            out[start:stop, labels] = _assign(scores[start:stop, labels])
    return out


def _assign(scores: FloatArray) -> BoolArray:
    """One bag: (n_graphs, n_labels of the bag)."""
    n_graphs, n_labels = scores.shape
    out = np.zeros(scores.shape, dtype=bool)
    if n_graphs >= n_labels:
        # A graph that is not needed to cover a label takes its best one; needed, it loses the difference.
        loss = scores.max(axis=1, keepdims=True) - scores
        chosen, given = linear_sum_assignment(loss)
        out[np.arange(n_graphs), scores.argmax(axis=1)] = True
        out[chosen] = False
        out[chosen, given] = True
    else:
        loss = scores.max(axis=0) - scores
        chosen, given = linear_sum_assignment(loss)
        out[chosen, given] = True
        left = np.setdiff1d(np.arange(n_labels), given)
        out[scores[:, left].argmax(axis=0), left] = True
    return out

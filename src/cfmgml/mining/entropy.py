"""How much a subgraph says about labels."""

import numpy as np
from scipy import sparse

from cfmgml.common.typing import BoolArray, FloatArray, IntArray


def label_entropy(contained: BoolArray | sparse.csr_array, bag_ids: IntArray, Y: BoolArray) -> FloatArray:
    """Mean over labels of the binary entropy of a label among the bags with a graph that contains the pattern.

    Zhu & Zhao (Entropy 2018), in bits: 0 where the pattern settles every label, 1 where it says nothing of any. A bag
    counts once, however many of its graphs contain the pattern. A pattern in no bag gets 1.

    Parameters
    ----------
    contained
        Shape (n_graphs, n_patterns).
    bag_ids
        Shape (n_graphs,): the bag each graph is in.
    Y
        Shape (n_bags, n_labels).

    Examples
    --------
    >>> contained = np.array([[1, 1], [1, 0], [1, 1]], dtype=bool)
    >>> label_entropy(contained, np.array([0, 0, 1]), np.array([[1, 0], [0, 0]], dtype=bool))
    array([0.5, 0.5])
    """
    n_graphs = len(bag_ids)
    to_bags = sparse.csr_array((np.ones(n_graphs), (bag_ids, np.arange(n_graphs))), shape=(len(Y), n_graphs))
    in_bag = (to_bags @ sparse.csr_array(contained).astype(np.float64)) > 0
    with_label = np.asarray(in_bag.T.astype(np.float64) @ Y.astype(np.float64))
    n_bags = np.asarray(in_bag.sum(axis=0)).ravel()
    share = with_label / np.maximum(n_bags, 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.nan_to_num(-share * np.log2(share)) + np.nan_to_num(-(1 - share) * np.log2(1 - share))
    return np.where(n_bags > 0, terms.mean(axis=1), 1.0)

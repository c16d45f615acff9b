"""A graph seen together with its bag: what else is there helps to say what it is.

With a share s above 0, a graph's score has a second part that all graphs of a bag have in common, from the mean of
their feature vectors: f_c(g) = sqrt(1 - s) <w_c, phi(g)> + sqrt(s) <v_c, mean of phi over g's bag>. That is the kernel
(1 - s) K(g, h) + s * (mean of K over the pairs of g's and h's bags), and costs hardly more than K: both parts of a new
graph's score come from the same comparisons with training graphs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy import sparse

from cfmgml.common.segments import lengths, segment_ids, segment_sum
from cfmgml.common.typing import FloatArray, IntArray, Rows

if TYPE_CHECKING:
    from torch import Tensor

Gram = TypeVar("Gram", FloatArray, "Tensor")


@dataclass(frozen=True)
class Context:
    """The bags that training graphs are in, and how much they count.

    ``share`` 0 leaves everything as it is, and then every method gives back what it was given.
    """

    bag_ptr: IntArray
    share: float

    def of_gram(self, K: Gram) -> Gram:
        """The kernel above from a Gram matrix of all graphs, as an array or a tensor."""
        if not self.share:
            return K
        if not isinstance(K, np.ndarray):
            from cfmgml.gpu.context import context_gram

            return context_gram(K, self.bag_ptr, self.share)
        between = bag_means(bag_means(K, self.bag_ptr).T, self.bag_ptr).T
        bag = segment_ids(self.bag_ptr)
        out = K * K.dtype.type(1 - self.share)
        for row, g in zip(out, bag, strict=True):  # not all at once: a third matrix of that size
            row += K.dtype.type(self.share) * between[g, bag]
        return out

    def of_rows(self, rows: Rows) -> Rows:
        """Rows whose products are that kernel: twice as wide, the bag's mean beside each graph's own."""
        if not self.share:
            return rows
        own, around = np.sqrt(1 - self.share), np.sqrt(self.share)
        bag, sizes = segment_ids(self.bag_ptr), lengths(self.bag_ptr)
        if not sparse.issparse(rows):
            return np.hstack([own * rows, around * bag_means(rows, self.bag_ptr)[bag]])
        mean = sparse.csr_array((1 / sizes[bag], (bag, np.arange(len(bag)))), shape=(len(sizes), len(bag))) @ rows
        return sparse.hstack([own * rows, around * mean[bag]], format="csr")

    def split_weights(self, weights: FloatArray) -> FloatArray:
        """From weights of `of_rows`, (2 d, n_labels), those of a graph's two parts side by side, (d, 2 n_labels)."""
        if not self.share:
            return weights
        own, around = np.split(weights, 2)
        return np.hstack([np.sqrt(1 - self.share) * own, np.sqrt(self.share) * around])

    def split_duals(self, duals: FloatArray) -> FloatArray:
        """Likewise from one coefficient for each training graph under `of_gram`, (n, n_labels) to (n, 2 n_labels)."""
        if not self.share:
            return duals
        around = bag_means(duals, self.bag_ptr)[segment_ids(self.bag_ptr)]
        return np.hstack([(1 - self.share) * duals, self.share * around])


def bag_means(values: FloatArray, bag_ptr: IntArray) -> FloatArray:
    """Mean of the rows of each bag.

    >>> bag_means(np.array([[1.0], [3.0], [5.0]]), np.array([0, 2, 3]))
    array([[2.],
           [5.]])
    """
    return segment_sum(values, bag_ptr) / lengths(bag_ptr)[:, None].astype(values.dtype)


def join_parts(parts: FloatArray, bag_ptr: IntArray) -> FloatArray:
    """Scores (n_graphs, n_labels) from both parts (n_graphs, 2 n_labels): a graph's own, and the mean over its bag."""
    own, around = np.split(parts, 2, axis=1)
    return own + bag_means(around, bag_ptr)[segment_ids(bag_ptr)]


def join_node_parts(parts: FloatArray, node_ptr: IntArray, bag_ptr: IntArray) -> FloatArray:
    """What nodes add to their own graph's score: their own part, and their share of the bag's."""
    own, around = np.split(parts, 2, axis=1)
    bag_sizes = lengths(bag_ptr)[segment_ids(bag_ptr)]
    return own + around / bag_sizes[segment_ids(node_ptr), None]

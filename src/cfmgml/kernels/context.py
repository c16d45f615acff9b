"""A graph seen together with its bag: what else is there helps to say what it is.

With a share s above 0, a graph's score has a second part that all graphs of a bag have in common, from the mean of
their feature vectors: f_c(g) = sqrt(1 - s) <w_c, phi(g)> + sqrt(s) <v_c, mean of phi over g's bag>. That is the kernel
(1 - s) K(g, h) + s * (mean of K over the pairs of g's and h's bags), and costs hardly more than K: both parts of a new
graph's score come from the same comparisons with training graphs.

The mean of n vectors that have little in common has a length of about 1 / sqrt(n), so a bag of many different graphs
speaks softly. With the scale ``"unit"`` the mean is divided by its length, as graphs' own vectors are: then a document
speaks as loudly as a sentence, however many it has. What is not seen in a bag, its length 0, stays 0.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy import sparse

from cfmgml.common.compute import Compute
from cfmgml.common.segments import lengths, segment_ids, segment_sum
from cfmgml.common.typing import FloatArray, IntArray, Rows
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.compose import scale_rows
from cfmgml.kernels.context_rows import ContextRows
from cfmgml.kernels.gram import compute_gram

if TYPE_CHECKING:
    from torch import Tensor

Gram = TypeVar("Gram", FloatArray, "Tensor")
GRAPHS_AT_ONCE = 256
NOTHING = 1e-9  # a mean that is shorter is one of graphs without features
SCALES = ("mean", "unit")  # of a bag's vector


@dataclass(frozen=True)
class Context:
    """The bags that training graphs are in, and how much they count.

    ``share`` 0 leaves everything as it is, and then every method gives back what it was given. With the scale "unit",
    the bags' lengths must be settled first (`settled`).
    """

    bag_ptr: IntArray
    share: float
    scale: str = "mean"
    bag_lengths: FloatArray | None = None  # what bags' means are divided by; None: nothing

    def settled(self, kernel: Kernel, graphs: GraphBatch, compute: Compute) -> "Context":
        """With the lengths of these graphs' bags, if they are divided by them."""
        if not self.share or self.scale == "mean":
            return self
        return replace(self, bag_lengths=bag_lengths(kernel, graphs, self.bag_ptr, compute))

    def of_gram(self, K: Gram) -> Gram:
        """The kernel above from a Gram matrix of all graphs, as an array or a tensor."""
        if not self.share:
            return K
        bag = segment_ids(self.bag_ptr)
        if not isinstance(K, np.ndarray):
            return self._of_tensor(K, bag)
        between = bag_means(bag_means(K, self.bag_ptr).T, self.bag_ptr).T
        if self.bag_lengths is not None:
            louder = inverse(self.bag_lengths).astype(K.dtype)
            between *= louder[:, None] * louder
        out = K * K.dtype.type(1 - self.share)
        for row, g in zip(out, bag, strict=True):  # not all at once: a third matrix of that size
            row += K.dtype.type(self.share) * between[g, bag]
        return out

    def _of_tensor(self, K: "Tensor", bag: IntArray) -> "Tensor":
        from cfmgml.gpu.context import context_gram

        if self.bag_lengths is None:
            return context_gram(K, self.bag_ptr, self.share)
        between = context_gram(K.clone(), self.bag_ptr, 1.0)
        louder = K.new_tensor(inverse(self.bag_lengths)[bag])
        return (1 - self.share) * K + self.share * between * louder[:, None] * louder

    def of_rows(self, rows: Rows) -> Rows:
        """Rows whose products are that kernel: twice as wide, the bag's vector beside each graph's own."""
        if not self.share:
            return rows
        own, around = np.sqrt(1 - self.share), np.sqrt(self.share)
        means = bag_rows(rows, self.bag_ptr)
        if self.bag_lengths is not None:
            means = scale_rows(means, inverse(self.bag_lengths))
        if not sparse.issparse(rows):
            return np.hstack([own * rows, around * means[segment_ids(self.bag_ptr)]])
        return ContextRows(own * rows, around * means, self.bag_ptr)

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
        means = bag_means(duals, self.bag_ptr)
        if self.bag_lengths is not None:
            means *= inverse(self.bag_lengths)[:, None]
        around = means[segment_ids(self.bag_ptr)]
        return np.hstack([(1 - self.share) * duals, self.share * around])


def bag_means(values: FloatArray, bag_ptr: IntArray) -> FloatArray:
    """Mean of the rows of each bag.

    >>> bag_means(np.array([[1.0], [3.0], [5.0]]), np.array([0, 2, 3]))
    array([[2.],
           [5.]])
    """
    return segment_sum(values, bag_ptr) / lengths(bag_ptr)[:, None].astype(values.dtype)


def bag_rows(rows: Rows, bag_ptr: IntArray) -> Rows:
    """`bag_means` of dense or sparse rows."""
    if not sparse.issparse(rows):
        return bag_means(rows, bag_ptr)
    bag, sizes = segment_ids(bag_ptr), lengths(bag_ptr)
    return sparse.csr_array((1 / sizes[bag], (bag, np.arange(len(bag)))), shape=(len(sizes), len(bag))) @ rows


def bag_lengths(kernel: Kernel, graphs: GraphBatch, bag_ptr: IntArray, compute: Compute) -> FloatArray:
    """The length of each bag's mean under a resolved kernel, from the kernel values of its graphs."""
    squares = np.empty(len(bag_ptr) - 1)
    runs = np.unique(bag_ptr[:-1] // GRAPHS_AT_ONCE, return_index=True)[1].tolist()
    for start, stop in zip(runs, [*runs[1:], len(squares)], strict=True):  # bags, so many that a Gram matrix is small
        first = bag_ptr[start]
        K = compute_gram(kernel, graphs[first : bag_ptr[stop]], compute.quiet)
        for bag in range(start, stop):
            own = slice(bag_ptr[bag] - first, bag_ptr[bag + 1] - first)
            squares[bag] = K[own, own].mean()
    return np.sqrt(np.maximum(squares, 0.0))


def inverse(bag_lengths: FloatArray) -> FloatArray:
    """What bags' means are multiplied by; 0 for a bag in which nothing is seen."""
    return np.where(bag_lengths > NOTHING, 1 / np.maximum(bag_lengths, NOTHING), 0.0)


def join_parts(parts: FloatArray, bag_ptr: IntArray, bag_lengths: FloatArray | None = None) -> FloatArray:
    """Scores (n_graphs, n_labels) from both parts (n_graphs, 2 n_labels): a graph's own, and the mean over its bag,
    divided by the lengths given."""
    own, around = np.split(parts, 2, axis=1)
    means = bag_means(around, bag_ptr)
    if bag_lengths is not None:
        means *= inverse(bag_lengths)[:, None]
    return own + means[segment_ids(bag_ptr)]


def join_node_parts(
    parts: FloatArray, node_ptr: IntArray, bag_ptr: IntArray, bag_lengths: FloatArray | None = None
) -> FloatArray:
    """What nodes add to their own graph's score: their own part, and their share of the bag's."""
    own, around = np.split(parts, 2, axis=1)
    share = 1 / lengths(bag_ptr)
    if bag_lengths is not None:
        share = share * inverse(bag_lengths)
    return own + around * share[segment_ids(bag_ptr)][segment_ids(node_ptr), None]

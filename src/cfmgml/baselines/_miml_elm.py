"""MIML-ELM (Yin et al., Applied Sciences 2016): bags as distances to medoid bags, then extreme learning machines.

Bags are clustered by k-medoids under the Hausdorff distance, with k chosen by Akaike's criterion; a bag is described by
its distances to the k medoids; and an extreme learning machine a label (one hidden layer of random weights, output
weights by least squares) scores that description.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit

from cfmgml.common.segments import segment_max
from cfmgml.common.typing import BoolArray, FloatArray, IntArray

CHUNK_GRAPHS = 1024  # rows of instance distances held at a time
MAX_ROUNDS = 100  # of k-medoids; it settles after a handful


def hausdorff_distances(a: sparse.csr_array, a_ptr: IntArray, b: sparse.csr_array, b_ptr: IntArray) -> FloatArray:
    """(n_a, n_b) Hausdorff distances of bags of 0/1 vectors.

    That is the largest Euclidean distance of an instance of either bag to the nearest one of the other.

    >>> rows = sparse.csr_array(np.array([[1., 0.], [0., 1.], [1., 1.]]))
    >>> hausdorff_distances(rows, np.array([0, 2, 3]), rows, np.array([0, 2, 3]))
    array([[0., 1.],
           [1., 0.]])
    """
    forth = np.empty((len(a_ptr) - 1, len(b_ptr) - 1))
    back = np.full((len(b_ptr) - 1, len(a_ptr) - 1), 0.0)
    first = 0
    while first < len(a_ptr) - 1:
        last = max(first + 1, int(np.searchsorted(a_ptr, a_ptr[first] + CHUNK_GRAPHS, side="right")) - 1)
        ptr = a_ptr[first : last + 1]
        distances = _euclidean(a[ptr[0] : ptr[-1]], b)
        nearest_b = -segment_max(-distances.T, b_ptr).T  # (graphs of a, bags of b)
        nearest_a = -segment_max(-distances, ptr - ptr[0]).T  # (graphs of b, bags of a)
        forth[first:last] = segment_max(nearest_b, ptr - ptr[0])
        back[:, first:last] = segment_max(nearest_a, b_ptr)
        first = last
    return np.maximum(forth, back.T)


def _euclidean(a: sparse.csr_array, b: sparse.csr_array) -> FloatArray:
    """Distances of 0/1 rows: the root of how many columns differ."""
    common = np.asarray((a @ b.T).todense())
    return np.sqrt(np.asarray(a.sum(axis=1)).reshape(-1, 1) + np.asarray(b.sum(axis=1)).reshape(1, -1) - 2 * common)


def k_medoids(distances: FloatArray, first: IntArray) -> tuple[IntArray, float]:
    """Medoids reached from those given, and the sum of squared distances to them.

    Each object joins its nearest medoid, then each cluster takes the object with the least sum of distances within,
    until nothing changes. Ties go to the lower number.

    >>> points = np.array([0., 1., 2., 10., 11.])
    >>> k_medoids(np.abs(points[:, None] - points), np.array([0, 1]))
    (array([1, 3]), 3.0)
    """
    medoids = np.sort(first)
    for _ in range(MAX_ROUNDS):
        cluster = distances[:, medoids].argmin(axis=1)
        cluster[medoids] = np.arange(len(medoids))  # equal objects must not empty a cluster
        members = [np.flatnonzero(cluster == k) for k in range(len(medoids))]
        new = np.sort([rows[distances[np.ix_(rows, rows)].sum(axis=1).argmin()] for rows in members])
        if np.array_equal(new, medoids):
            break
        medoids = new
    return medoids, float((distances[:, medoids].min(axis=1) ** 2).sum())


def akaike(spread: float, n: int, k: int) -> float:
    """n log(spread / n) + 2 k, spread being the sum of squared distances to medoids; minus infinity at 0."""
    return n * float(np.log(spread / n)) + 2 * k if spread > 0 else -np.inf


def choose_medoids(distances: FloatArray, n_clusters: int | None, rng: np.random.Generator) -> IntArray:
    """Medoids of ``n_clusters`` clusters, or of the number of least `akaike` among a dozen up to 40 % of the bags."""
    n = len(distances)
    if n_clusters is not None:
        return k_medoids(distances, rng.permutation(n)[: min(n_clusters, n)])[0]
    sizes = np.unique(np.geomspace(min(2, n), max(2, 0.4 * n), 12).round().astype(int))
    order = rng.permutation(n)
    tried = [(k, *k_medoids(distances, order[:k])) for k in sizes.tolist() if k <= n]
    return min(tried, key=lambda one: (akaike(one[2], n, one[0]), one[0]))[1]


@dataclass(frozen=True)
class ExtremeLearningMachines:
    """One machine a label: scores are sigmoid(x W + b) B."""

    W: FloatArray  # (n_labels, n_inputs, n_hidden)
    b: FloatArray  # (n_labels, n_hidden)
    B: FloatArray  # (n_labels, n_hidden)

    @classmethod
    def fit(
        cls, x: FloatArray, labels: BoolArray, known: BoolArray, n_hidden: int, ridge: float, rng: np.random.Generator
    ) -> Self:
        """Least squares to +1 and -1; a label of which nothing is known scores 0."""
        n_labels = labels.shape[1]
        W = rng.uniform(-1, 1, size=(n_labels, x.shape[1], n_hidden))
        b = rng.uniform(-1, 1, size=(n_labels, n_hidden))
        B = [
            _least_squares(expit(x[rows] @ W[c] + b[c]), np.where(labels[rows, c], 1.0, -1.0), ridge)
            for c, rows in enumerate(known.T)
        ]
        return cls(W, b, np.stack(B))

    def scores(self, x: FloatArray) -> FloatArray:
        """(n, n_labels)."""
        columns = [expit(x @ W + b) @ B for W, b, B in zip(self.W, self.b, self.B, strict=True)]
        return np.stack(columns, axis=1)


def _least_squares(H: FloatArray, target: FloatArray, ridge: float) -> FloatArray:
    """The shortest of the best output weights; with ``ridge`` above 0, their squares are penalised."""
    if not len(H):
        return np.zeros(H.shape[1])
    if ridge == 0:
        return np.asarray(linalg.lstsq(H, target)[0])
    return np.asarray(linalg.solve(H.T @ H + ridge * np.eye(H.shape[1]), H.T @ target, assume_a="pos"))

"""Similarities of two nodes, and maps that turn a node into a vector whose dot products they are.

========== ==================== ==================================================================
`rbf`      exp(-gamma |x-y|^2)  of node attributes; a map only approximately: random Fourier or Nystrom features
`linear`   <x, y>               of node attributes; the attributes are the map
`delta`    1 if x == y else 0   of node labels; the map is one column a label
========== ==================== ==================================================================
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.node_tiles import add_thin, entries_of, half_squares, subtract_squares

NODE_KERNELS = ("rbf", "linear", "delta")
APPROXIMATIONS = ("fourier", "nystrom")
SAMPLE = 1000
PER_LANDMARK = 16  # nodes that a landmark is the centre of, about, when landmarks are chosen
MOST_DRAWN = 20_000  # nodes to choose landmarks from
CHUNK = 2048


def sample_nodes(graphs: GraphBatch, n: int, seed: int, among: IntArray | None = None) -> FloatArray:
    """Attributes of up to ``n`` nodes drawn without replacement, ``among`` these of all; the same for the same seed."""
    assert graphs.node_attributes is not None
    chosen = np.random.default_rng(seed).permutation(graphs.n_nodes if among is None else among)[:n]
    return graphs.node_attributes[chosen].astype(np.float64)


def squared_distances(x: FloatArray, y: FloatArray) -> FloatArray:
    """(n_x, n_y) squared Euclidean distances."""
    product = x @ y.T
    distances = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * product
    return np.maximum(distances, 0)


def default_gamma(graphs: GraphBatch) -> float:
    """Two over the 10th percentile of squared distances between nodes.

    Near neighbours are then alike and most pairs are not: local where nodes fill a plane (pixels), and close to the
    usual median rule in high dimension, where distances hardly differ (docs/defaults.md has figures).
    Taken over 1,000 nodes drawn with a fixed seed.
    """
    nodes = sample_nodes(graphs, SAMPLE, seed=0)
    nodes = nodes - nodes.mean(0)
    above = squared_distances(nodes, nodes)[np.triu_indices(len(nodes), 1)]
    above = above[above > 1e-12 * above.max()] if len(above) else above
    return 2.0 / float(np.percentile(above, 10)) if len(above) else 1.0


def rbf(x: FloatArray, y: FloatArray, gamma: float) -> FloatArray:
    scale = np.sqrt(2 * gamma)
    x, y = x * scale, y * scale
    exponents = x @ y.T
    subtract_squares(exponents, half_squares(x), half_squares(y))
    return np.exp(exponents, out=exponents)


@dataclass(frozen=True)
class LandmarkMap:
    """exp(-gamma |x - y|^2) of nodes x with landmarks y; of columns that are mostly 0, only what is not."""

    landmarks: FloatArray  # (n_landmarks, n_attributes), less the centre
    centre: FloatArray
    thin: BoolArray
    gamma: float

    @cached_property
    def _ready(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Landmarks as points without thin columns, thin columns (n_thin, n_landmarks), half squared lengths."""
        scale = np.sqrt(2 * self.gamma)
        points = self.landmarks[:, ~self.thin] * scale
        table = np.ascontiguousarray((self.landmarks + self.centre)[:, self.thin].T * scale)
        return points, table, half_squares(points) + half_squares(table.T)

    def __call__(self, attributes: FloatArray) -> FloatArray:
        """(n_nodes, n_landmarks)."""
        (landmarks, table, squares), scale = self._ready, np.sqrt(2 * self.gamma)
        kept = attributes[:, ~self.thin] if len(table) else attributes
        points = (kept - self.centre[~self.thin]) * scale
        exponents, own = points @ landmarks.T, half_squares(points)
        if len(table):
            thin = attributes[:, self.thin] * scale
            add_thin(exponents, *entries_of(thin), table)
            own += half_squares(thin)
        subtract_squares(exponents, own, squares)
        return np.exp(exponents, out=exponents)


def fourier_frequencies(n_attributes: int, n_components: int, gamma: float, seed: int) -> FloatArray:
    """Of random Fourier features for the rbf kernel (Rahimi & Recht 2007), (n_attributes, n_components // 2)."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=np.sqrt(2 * gamma), size=(n_attributes, max(1, n_components // 2)))


def fourier_map(x: FloatArray, frequencies: FloatArray) -> FloatArray:
    """cos and sin of each frequency: the pair has no phase to draw and less variance than one with a phase."""
    waves = x @ frequencies
    return np.hstack([np.cos(waves), np.sin(waves)]) / np.sqrt(frequencies.shape[1])


def group_centres(nodes: FloatArray, n: int, steps: int = 3) -> FloatArray:
    """Centres of ``n`` groups of nodes, by a few steps of k-means from the first ``n``.

    As landmarks they cover nodes far better than nodes drawn at random (Zhang, Tsang & Kwok 2008).
    """
    centres = nodes[:n].copy()
    for _ in range(steps if len(nodes) > n else 0):
        halves = np.einsum("ij,ij->i", centres, centres) / 2
        parts = (nodes[start : start + CHUNK] for start in range(0, len(nodes), CHUNK))
        nearest = np.concatenate([(part @ centres.T - halves).argmax(axis=1) for part in parts])
        members = sparse.csr_array((np.ones(len(nodes)), (nearest, np.arange(len(nodes)))), shape=(n, len(nodes)))
        counts = np.bincount(nearest, minlength=n)[:, None]
        centres = np.where(counts > 0, members @ nodes / np.maximum(counts, 1), centres)
    return centres


def nystrom_basis(landmarks: FloatArray, gamma: float) -> FloatArray:
    """K(landmarks, landmarks)^(-1/2), without directions that rounding has swallowed."""
    values, vectors = linalg.eigh(rbf(landmarks, landmarks, gamma))
    keep = values > values[-1] * len(values) * np.finfo(float).eps
    return np.ascontiguousarray(vectors[:, keep] / np.sqrt(values[keep]))


def one_hot(labels: IntArray, vocabulary: IntArray) -> sparse.csr_array:
    """One column a label of the (sorted) vocabulary; labels outside it have none."""
    place = np.minimum(np.searchsorted(vocabulary, labels), len(vocabulary) - 1)
    known = vocabulary[place] == labels
    nodes = np.flatnonzero(known)
    shape = (len(labels), len(vocabulary))
    return sparse.csr_array((np.ones(len(nodes)), (nodes, place[known])), shape=shape)

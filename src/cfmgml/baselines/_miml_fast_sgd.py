"""The inner loop of MIMLfast: stochastic gradient steps on a shared space and the labels' sub-concepts."""

from dataclasses import dataclass

import numpy as np

from cfmgml.common.compiled import compiled
from cfmgml.common.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Weights:
    """Maps of vectors into the shared space and of sub-concepts into it."""

    V: FloatArray  # (n_features, n_components)
    W: FloatArray  # (n_labels + 1, n_subconcepts, n_components); the last label is the dummy

    def scores(self, vectors: FloatArray) -> FloatArray:
        """(n, n_labels + 1): a label scores as its best sub-concept."""
        n_labels, n_subconcepts, n_components = self.W.shape
        flat = vectors @ (self.V @ self.W.reshape(-1, n_components).T)
        return np.asarray(flat.reshape(len(vectors), n_labels, n_subconcepts).max(axis=2))


def first_weights(
    n_features: int, n_labels: int, n_subconcepts: int, n_components: int, norm: float, rng: np.random.Generator
) -> Weights:
    """Random directions of the given norm."""
    V = rng.normal(size=(n_features, n_components))
    W = rng.normal(size=(n_labels + 1, n_subconcepts, n_components))
    return Weights(*(norm * A / np.linalg.norm(A, axis=-1, keepdims=True) for A in (V, W)))


def relevant_pairs(labels: BoolArray) -> IntArray:
    """(n_pairs, 2): each bag with each of its labels, and with the dummy, numbered last."""
    with_dummy = np.hstack([labels, np.ones((len(labels), 1), dtype=bool)])
    return np.argwhere(with_dummy)


@compiled
def sgd_epoch(  # type: ignore[no-untyped-def]  # pragma: no cover
    bags, pairs, draws, weights, sums, n_steps, step, average_every
):
    """One pass over the pairs (bag, relevant label), in their order; changes weights V and W, and their sums.

    ``bags`` are vectors, offsets and irrelevant labels, ``step`` its size, decay and the largest norm. Returns the
    number of gradient steps so far and how often the weights were added to their sums.
    """
    X, bag_ptr, irrelevant = bags
    V, W = weights
    sum_V, sum_W = sums
    step_size, decay, max_norm = step
    n_components, n_subconcepts, dummy = V.shape[1], W.shape[1], W.shape[0] - 1
    n_averaged = 0
    candidates = np.empty(W.shape[0], np.int64)
    for i in range(len(pairs)):
        bag, label = pairs[i, 0], pairs[i, 1]
        n_irrelevant = 0
        for c in range(dummy):
            if irrelevant[bag, c]:
                candidates[n_irrelevant] = c
                n_irrelevant += 1
        if label != dummy:  # a bag's labels must beat the dummy, and the dummy what the bag has not
            candidates[n_irrelevant] = dummy
            n_irrelevant += 1
        start, stop = bag_ptr[bag], bag_ptr[bag + 1]
        Z = np.zeros((stop - start, n_components))
        for g in range(stop - start):
            for f in range(X.shape[1]):
                x = X[start + g, f]
                if x != 0.0:
                    for k in range(n_components):
                        Z[g, k] += x * V[f, k]
        score, graph, concept = -np.inf, 0, 0
        for s in range(n_subconcepts):
            for g in range(stop - start):
                value = 0.0
                for k in range(n_components):
                    value += W[label, s, k] * Z[g, k]
                if value > score:
                    score, graph, concept = value, g, s
        tries, other, other_score, other_graph, other_concept = 0, 0, -np.inf, 0, 0
        for j in range(n_irrelevant):
            tries = j + 1
            other = candidates[min(int(draws[i, j] * n_irrelevant), n_irrelevant - 1)]
            other_score = -np.inf
            for s in range(n_subconcepts):
                for g in range(stop - start):
                    value = 0.0
                    for k in range(n_components):
                        value += W[other, s, k] * Z[g, k]
                    if value > other_score:
                        other_score, other_graph, other_concept = value, g, s
            if other_score > score - 1:
                break
        if n_irrelevant > 0 and other_score > score - 1:
            weight = 0.0
            for r in range(n_irrelevant // tries):
                weight += 1.0 / (r + 1)
            length = weight * step_size / (1 + decay * n_steps * step_size)
            n_steps += 1
            w, u = W[label, concept], W[other, other_concept]
            for f in range(X.shape[1]):
                up, down = length * X[start + graph, f], length * X[start + other_graph, f]
                if up != 0.0 or down != 0.0:
                    norm = 0.0
                    for k in range(n_components):
                        V[f, k] += up * w[k] - down * u[k]
                        norm += V[f, k] ** 2
                    if norm > max_norm**2:
                        V[f] *= max_norm / np.sqrt(norm)
            norm_w, norm_u = 0.0, 0.0
            for k in range(n_components):
                w[k] += length * Z[graph, k]
                u[k] -= length * Z[other_graph, k]
                norm_w += w[k] ** 2
                norm_u += u[k] ** 2
            if norm_w > max_norm**2:
                w *= max_norm / np.sqrt(norm_w)
            if norm_u > max_norm**2:
                u *= max_norm / np.sqrt(norm_u)
        if n_steps > 0 and (i + 1) % average_every == 0:
            sum_V += V
            sum_W += W
            n_averaged += 1
    return n_steps, n_averaged

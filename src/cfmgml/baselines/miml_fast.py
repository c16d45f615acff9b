"""MIMLfast: a shared space, sub-concepts of labels, and a ranking loss by stochastic gradient descent."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from cfmgml.baselines._miml_fast_sgd import Weights, first_weights, relevant_pairs, sgd_epoch
from cfmgml.baselines.instances import MeanVectors, bag_contents, canonical_order
from cfmgml.baselines.method import Method
from cfmgml.common.numbers import check_number
from cfmgml.common.progress import progress
from cfmgml.common.segments import segment_max, take_segments
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, IntArray, Seed
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error


@dataclass(eq=False, repr=False)
class MIMLfast(BagEstimator):
    """Fast multi-instance multi-label learning (Huang, Gao & Zhou, TPAMI 2019), over vectors.

    A graph is an instance: a graph of one node is its node's vector, any other the mean of its node attributes (or,
    with node labels only, the share of nodes that has each label). Vectors are standardised on the training graphs
    and cut off at ``clip`` deviations, since single far values would steer the descent. An instance x scores max_k
    <w_ck, V x> for label c, and a bag as its best instance. For a bag and one of its labels, other labels are drawn
    until one violates the margin, at try v; the step has weight 1 + 1/2 + ... + 1/(n_irrelevant / v). A dummy label
    is ranked below a bag's labels and above all others.

    We follow the authors' program: sub-concepts by maximum, first weights in random directions, scores relative to the
    dummy label plus 1, and `predict` always gives the best label too. The defaults for epochs, norm and ``clip`` are
    ours, chosen on training folds of MSRC v2 as vectors. An unknown entry of Y is neither relevant nor irrelevant.

    Parameters
    ----------
    n_components
        Dimensions of the shared space.
    n_subconcepts
        Sub-concepts a label.
    n_epochs
        Passes over all pairs of a bag and one of its labels.
    step_size, decay
        The step at gradient step t is ``step_size / (1 + decay * step_size * t)``.
    max_norm
        Largest norm of the shared space's columns and of a sub-concept.
    clip
        Largest standardised value; None cuts nothing.
    average_every
        Pairs between two sets of weights that are averaged.
    random_state
        Seed of the first weights and of all draws. Bags are put in an order of their own first, so the order they are
        given in does not matter.
    verbose
        Show progress on stderr.

    Attributes
    ----------
    V_
        Shape (n_features, n_components).
    W_
        Shape (n_labels + 1, n_subconcepts, n_components); the last label is the dummy.
    n_iter_, mean_, scale_, label_names_, classes_
        Gradient steps taken, what vectors are standardised with, and the labels.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> MIMLfast(n_epochs=2, random_state=0).fit(bags).decision_function_graphs(bags).shape == bags.graph_Y.shape
    True
    """

    compared = (Method(
        "mimlfast", "MIMLfast", "on the mean node of each graph", "vectors", by_default=True, cost=2,
        quick_options={"n_epochs": 10},
    ),)  # fmt: skip

    n_components: int = 100
    n_subconcepts: int = 5
    n_epochs: int = 50
    step_size: float = 0.005
    decay: float = 1e-5
    max_norm: float = 2.0
    clip: float | None = 2.0
    average_every: int = 10
    random_state: Seed = None
    verbose: bool = False

    # -- learning ----------------------------------------------------------------------------

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags; ``Y`` (n_bags, n_labels) takes the place of ``X.Y``."""
        bags, labels, known = self._begin_fit(X, Y)
        self._check_params()
        self.vectors_ = MeanVectors.of(bags.graphs)
        vectors = self.vectors_(bags.graphs)
        order = canonical_order(bag_contents(vectors, labels & known, bags.bag_ptr))
        rows, bag_ptr = take_segments(bags.bag_ptr, order)
        vectors, labels, known = vectors[rows], labels[order], known[order]
        self.mean_, scale = vectors.mean(0), vectors.std(0)
        self.scale_ = np.where(scale > 1e-12 * np.abs(vectors).max(initial=0), scale, 1.0)
        weights = self._descend(self._standardised(vectors), bag_ptr, labels & known, ~labels & known)
        self.V_, self.W_ = weights.V, weights.W
        return self

    def _check_params(self) -> None:
        for name in ("n_components", "n_subconcepts", "n_epochs", "average_every"):
            check_number(getattr(self, name), name, at_least=1, whole=True)
        for name in ("step_size", "max_norm"):
            check_number(getattr(self, name), name, above=0)
        if self.clip is not None and not self.clip > 0:
            raise ValueError(f"clip must be above 0, or None, got {self.clip}.")
        check_number(self.decay, "decay", at_least=0)

    def _descend(self, vectors: FloatArray, bag_ptr: IntArray, relevant: BoolArray, irrelevant: BoolArray) -> Weights:
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n_labels = relevant.shape[1]
        shape = vectors.shape[1], n_labels, self.n_subconcepts, self.n_components
        now = first_weights(*shape, self.max_norm, rng)
        total = Weights(np.zeros_like(now.V), np.zeros_like(now.W))
        step = float(self.step_size), float(self.decay), float(self.max_norm)
        pairs, n_averaged, self.n_iter_ = relevant_pairs(relevant), 0, 0
        with progress("Training (MIMLfast)", self.n_epochs, self.verbose) as advance:
            for _ in range(self.n_epochs):
                order, draws = rng.permutation(pairs), rng.random((len(pairs), n_labels + 1))
                weights, sums = (now.V, now.W), (total.V, total.W)
                self.n_iter_, added = sgd_epoch(
                    (vectors, bag_ptr, irrelevant), order, draws, weights, sums, self.n_iter_, step, self.average_every
                )
                n_averaged += added
                advance(1)
        # with fewer pairs than average_every there is nothing to average
        return Weights(total.V / n_averaged, total.W / n_averaged) if n_averaged else now

    def _standardised(self, vectors: FloatArray) -> FloatArray:
        scaled = (vectors - self.mean_) / self.scale_
        return scaled if self.clip is None else np.clip(scaled, -self.clip, self.clip)

    # -- predicting --------------------------------------------------------------------------

    def _raw_scores(self, X: BagDataset, level: str) -> tuple[FloatArray, IntArray]:
        bags = self._check_predict(X, level)
        vectors = self._standardised(self.vectors_(bags.graphs))
        return Weights(self.V_, self.W_).scores(vectors), bags.bag_ptr

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels), less the dummy's plus 1."""
        return _above_dummy(self._raw_scores(X, "graph")[0])

    def predict_graphs(self, X: BagDataset) -> BoolArray:
        """Labels of every graph, (n_graphs, n_labels): the best one, and all above the dummy plus 1."""
        return _with_best(self.decision_function_graphs(X))

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels), less the dummy's plus 1; each from the bag's best graph."""
        return _above_dummy(segment_max(*self._raw_scores(X, "bag")))

    def predict(self, X: BagDataset) -> BoolArray:
        """Labels of every bag, (n_bags, n_labels): the best one, and all above the dummy plus 1."""
        return _with_best(self.decision_function(X))


def _above_dummy(raw: FloatArray) -> FloatArray:
    return raw[:, :-1] - raw[:, -1:] - 1


def _with_best(scores: FloatArray) -> BoolArray:
    best = np.zeros(scores.shape, dtype=bool)
    best[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return (scores > 0) | best

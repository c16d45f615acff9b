"""The most frequent label, whatever is asked: the floor of every table."""

from typing import TYPE_CHECKING, Self

import numpy as np

from cfmgml.baselines.method import Method
from cfmgml.common.typing import ArrayLike, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Dummy(BagEstimator):
    """Give every bag and every graph the label that most training bags have.

    Scores rank the labels by how often they occur; only the most frequent one is above 0. Unknown entries of Y count
    for nothing.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=20)
    >>> int(Dummy().fit(bags).predict(bags).sum())
    20
    """

    compared = (Method("dummy", "Dummy", "the most frequent label", "vectors", by_default=True, cost=0.01),)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        _, labels, known = self._begin_fit(X, Y)
        self.frequency_ = (labels & known).sum(0) / np.maximum(known.sum(0), 1)
        self.score_ = self.frequency_ - self.frequency_.max()
        self.score_[self.frequency_.argmax()] = 1.0
        return self

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels)."""
        bags = self._check_predict(X, "graph")
        return np.tile(self.score_, (bags.n_graphs, 1))

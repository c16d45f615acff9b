"""Tf-idf of whole documents and logistic regression: what most people would try first on texts."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from cfmgml.baselines.method import Method
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error

# A word is a run of letters and digits, or a character of Chinese or Japanese, which have no spaces.
WORD = r"(?u)[\u3041-\u309f\u3400-\u9fff]|[^\W_\u3041-\u309f\u3400-\u9fff]+"
NO_WORD = " "
C_VALUES, EITHER = (1.0, 10.0, 100.0), (0.0, 1.0)


@dataclass(eq=False, repr=False)
class TfIdf(BagEstimator):
    """Logistic regression, label by label, on tf-idf of the words of a bag's texts; it sees no graph.

    Counts are sublinear, and words of one training bag only are left out. A graph is scored by its own text alone, with
    what was learned from whole documents.

    Parameters
    ----------
    C
        Of the logistic regression.
    pairs
        Whether pairs of neighbouring words count, too.
    balanced
        Whether both answers weigh the same, however rare a label is.

    Examples
    --------
    >>> from cfmgml.datasets import bags_from_texts
    >>> texts = ["Genes mutate. Cells grow.", "Genes mutate fast.", "Queries run.", "Queries run fast."]
    >>> bags = bags_from_texts(texts, [[1], [1], [0], [0]])
    >>> TfIdf().fit(bags).predict_graphs(bags)[:, 0]
    array([ True,  True,  True, False, False])
    """

    compared = (Method(
        "tf-idf", "Tf-idf", "logistic regression on tf-idf of whole documents: words, or words and pairs of them",
        "raw", {"C": C_VALUES, "pairs": EITHER, "balanced": EITHER}, quick={"C": (10.0,)}, cost=0.3,
    ),)  # fmt: skip

    C: float = 10.0
    pairs: bool = False
    balanced: bool = True
    max_iter: int = 500

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Learn from bags and their labels; unknown ones are left out."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import, and seldom needed

        bags, labels, known = self._begin_fit(X, Y)
        documents = _documents(bags)
        common: dict[str, Any] = {"ngram_range": (1, 2 if self.pairs else 1), "sublinear_tf": True}
        self.vectorizer_ = TfidfVectorizer(token_pattern=WORD, min_df=min(2, len(documents)), **common)
        try:
            rows = self.vectorizer_.fit_transform(documents)
        except ValueError:  # no word is in two of them: nothing is seen, and a label is as likely as it is frequent
            self.vectorizer_ = TfidfVectorizer(token_pattern=WORD, vocabulary=[NO_WORD])
            rows = self.vectorizer_.fit_transform(documents)
        columns = [self._fit_label(rows[k], has[k]) for has, k in zip(labels.T, known.T, strict=True)]
        self.coef_ = np.stack([coef for coef, _ in columns], axis=1)
        self.intercept_ = np.array([intercept for _, intercept in columns])
        return self

    def _fit_label(self, rows: sparse.csr_array, has: BoolArray) -> tuple[FloatArray, float]:
        from sklearn.linear_model import LogisticRegression

        if has.all() or not has.any():
            return np.zeros(rows.shape[1]), 1.0 if len(has) and has.all() else -1.0
        weight = "balanced" if self.balanced else None
        fitted: Any = LogisticRegression(C=self.C, class_weight=weight, max_iter=self.max_iter).fit(rows, has)
        return fitted.coef_[0], float(fitted.intercept_[0])

    def _scores(self, texts: list[str]) -> FloatArray:
        return np.asarray(self.vectorizer_.transform(texts) @ self.coef_ + self.intercept_)

    def decision_function(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_bags, n_labels): of a bag's texts as one document."""
        return self._scores(_documents(self._check_predict(X, "bag")))

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels): of each graph's own text."""
        return self._scores(_texts(self._check_predict(X, "graph")))


def _texts(bags: BagDataset) -> list[str]:
    if bags.graph_texts is None:
        raise ValueError("TfIdf reads the texts that bags were built from, and these have none: build them with texts.")
    texts: list[str] = bags.graph_texts.tolist()
    return texts


def _documents(bags: BagDataset) -> list[str]:
    texts, ptr = _texts(bags), bags.bag_ptr.tolist()
    return ["\n".join(texts[start:stop]) for start, stop in zip(ptr[:-1], ptr[1:], strict=True)]

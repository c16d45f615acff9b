"""What a model remembers of the graphs it learned from, so that it can say how like them a new one is.

A model that keeps all its training graphs needs nothing more. One with explicit features, or one that compares graphs
with landmarks, which were chosen to be far from one another, remembers the rows of some training graphs, or how near
some were to their nearest landmark.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from cfmgml.common.typing import Array, Arrays, FloatArray, IntArray, Rows

REMEMBERED = 200  # rows of training graphs, and
NUMBERS = 2**21  # numbers in them, at most
FEWEST = 20  # of fewer it cannot be said what is usual
RARE = 0.01  # a graph is unlike training if it is further from it than all but this share of training itself


@dataclass(frozen=True, eq=False)
class Seen:
    """How near training graphs are to one another, and rows of some of them; none beside a scorer that has graphs."""

    usual: float  # normalised kernel value with the nearest other one, which all but `RARE` of training graphs reach
    rows: Rows | None = None

    @classmethod
    def of_rows(cls, features: Rows) -> Self | None:
        """Of normalised features of training graphs; None if too few can be remembered.

        >>> Seen.of_rows(np.eye(30)).usual, Seen.of_rows(np.eye(3))
        (0.0, None)
        """
        size = features.shape[1] if isinstance(features, np.ndarray) else features.nnz / features.shape[0]
        chosen = spread(features.shape[0], min(REMEMBERED, int(NUMBERS / max(size, 1))))
        if len(chosen) < FEWEST:
            return None
        rows = features[chosen].astype(np.float32)
        if sparse.issparse(rows):
            rows = sparse.csr_array(rows)
        near = products(rows, rows)
        np.fill_diagonal(near, -np.inf)  # a graph is not its own neighbour
        return cls(usual_of(near), rows)

    def and_rows(self, features: Rows) -> Self:
        """With more training graphs, of which as many are forgotten again as are too many."""
        assert self.rows is not None
        stack = sparse.vstack if sparse.issparse(self.rows) else np.vstack
        return type(self).of_rows(stack([self.rows, features.astype(np.float32)])) or self

    @classmethod
    def of_factor(cls, X: FloatArray, landmarks: IntArray) -> Self | None:
        """Of a factor of the Gram matrix from some of its columns: how near the other graphs are to these."""
        others = np.setdiff1d(np.arange(len(X)), landmarks, assume_unique=True)
        if len(others) < FEWEST:
            return None
        return cls(usual_of(X[others[spread(len(others), REMEMBERED)]] @ X[landmarks].T))

    def arrays(self) -> dict[str, Array]:
        """What a file keeps of the rows."""
        if self.rows is None:
            return {}
        if isinstance(self.rows, np.ndarray):
            return {"seen.rows": self.rows}
        entries = self.rows.tocoo()
        places = np.stack(entries.coords).astype(np.int32)
        return {"seen.places": places, "seen.values": entries.data, "seen.shape": np.array(self.rows.shape)}


def seen_of_file(usual: float, arrays: Arrays) -> Seen:
    """What `Seen.arrays` gave; that numbers are numbers has been looked at."""
    if "seen.values" not in arrays:
        return Seen(usual, arrays.get("seen.rows"))
    entries = arrays["seen.values"], tuple(arrays["seen.places"])
    n_rows, n_columns = arrays["seen.shape"].tolist()
    return Seen(usual, sparse.csr_array(entries, shape=(n_rows, n_columns)))


def products(left: Rows, right: Rows) -> FloatArray:
    """(n_left, n_right)."""
    found = left @ right.T
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float64)


def usual_of(near: FloatArray) -> float:
    """What all but `RARE` of the graphs have as their nearest: kernel values of graphs and others, (n, n_others)."""
    return float(np.quantile(near.max(axis=1), RARE))


def spread(n: int, most: int) -> IntArray:
    """At most so many of n numbers, evenly spaced.

    >>> spread(10, 4).tolist(), spread(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))

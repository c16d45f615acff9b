"""Who is trained on and who is tested: folds over bags, the same for every method.

Two schemes. ``"bags"`` is the paper's: folds drawn over bags. ``"disjoint"`` is for bags that share graphs (a cited
paper is in every bag that cites it): neighbours are put in one fold as far as possible, and training bags that share a
graph with a test bag are left out. So every bag is tested once and no test graph was seen in training; what it costs is
training bags, and `n_left_out` says how many.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset

SCHEMES = ("bags", "disjoint")


class Fold(NamedTuple):
    """Rows of bags to train on and to test on. ``inner`` numbers folds inside the training bags of ``outer``."""

    outer: int
    inner: int | None
    train: IntArray
    test: IntArray


class FoldPlan(NamedTuple):
    """How bags are split."""

    scheme: str = "bags"
    n_folds: int = 10
    n_inner: int = 3
    seed: int = 0


def make_folds(bags: BagDataset, plan: FoldPlan) -> list[Fold]:
    """All outer folds of a plan, and the inner folds of each outer one's training bags.

    >>> from cfmgml.datasets import load_digit_bags
    >>> folds = make_folds(load_digit_bags(n_bags=20), FoldPlan(n_folds=5, n_inner=2))
    >>> len(folds), [fold.inner for fold in folds[:3]], folds[0].test
    (15, [None, 0, 1], array([ 1,  8, 18, 19]))
    """
    if plan.scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {SCHEMES}, got {plan.scheme!r}.")
    if not 2 <= plan.n_folds <= bags.n_bags:
        raise ValueError(f"n_folds must be 2 to {bags.n_bags}, the number of bags, got {plan.n_folds}.")
    shares = share_matrix(bags) if plan.scheme == "disjoint" else None
    everything = np.arange(bags.n_bags)
    folds = []
    for outer, (train, test) in enumerate(_split(everything, shares, plan.n_folds, plan.seed)):
        folds.append(Fold(outer, None, train, test))
        if shares is None and len(train) <= plan.n_inner:
            raise ValueError(f"n_inner must be below {len(train)}, the bags that a fold trains on, got {plan.n_inner}.")
        if plan.n_inner and len(train) > plan.n_inner:
            within = _split(train, shares, plan.n_inner, plan.seed + 1)
            folds += [Fold(outer, inner, *split) for inner, split in enumerate(within)]
    return folds


def share_matrix(bags: BagDataset) -> sparse.csr_array:
    """(n_bags, n_bags): whether two bags have a graph of the same name.

    >>> from cfmgml.builders.texts.texts import bags_from_texts
    >>> bags = bags_from_texts([["Graph kernels."], ["Query plans."], ["Graph kernels."]], graph_names=["a", "b", "a"])
    >>> share_matrix(bags).astype(int).toarray()
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """
    if bags.graph_names is None:
        raise ValueError("bags must have graph_names, which tell the same graph in two bags; these have none.")
    names, graph = np.unique(bags.graph_names, return_inverse=True)
    has = sparse.csr_array((np.ones(len(graph)), (bags.bag_ids, graph)), shape=(bags.n_bags, len(names)))
    return sparse.csr_array(has @ has.T > 0)


def n_left_out(fold: Fold, n_bags: int) -> int:
    """Bags that are neither trained on nor tested, because they share a graph with a test bag."""
    return n_bags - len(fold.train) - len(fold.test)


def _split(rows: IntArray, shares: sparse.csr_array | None, n_folds: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    if shares is not None:
        return _disjoint(rows, shares, n_folds)
    from sklearn.model_selection import KFold

    splits = KFold(n_folds, shuffle=True, random_state=seed).split(rows)
    return [(rows[train], rows[test]) for train, test in splits]


def _disjoint(rows: IntArray, shares: sparse.csr_array, n_folds: int) -> list[tuple[IntArray, IntArray]]:
    """Runs of an order in which bags that share graphs are close (Cuthill & McKee 1969, reversed)."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    local = shares[rows][:, rows]
    order = reverse_cuthill_mckee(sparse.csr_matrix(local, dtype=np.int8), symmetric_mode=True)
    splits = []
    for part in np.array_split(order, n_folds):
        tested = np.zeros(len(rows))
        tested[part] = 1
        free = np.flatnonzero(local @ tested == 0)
        if not len(free):
            raise ValueError("all bags share graphs with one another: there are no folds that share none.")
        splits.append((rows[free], np.sort(rows[part])))
    return splits

"""Choosing alpha by inner cross-validation, on kernel values that are computed once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from sklearn.base import clone

from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, Precomputed, choose_kernel
from cfmgml.kernels.approximation import settle_rank
from cfmgml.kernels.gram import compute_gram
from cfmgml.learning.estimator import check_targets, label_names_of
from cfmgml.learning.thresholds import COUNTS, ZERO, f1_by_thresholds, thresholds_by_counts
from cfmgml.learning.training import Alpha, Training, told_alpha
from cfmgml.learning.ways import ONCE
from cfmgml.metrics import bag_report
from cfmgml.model.cfmgml import CfMGML

ALPHAS = ONCE
HeldOut = tuple[IntArray, list[FloatArray]]  # the bags of a fold, and their scores with each alpha


@dataclass(frozen=True)
class AlphaChoice:
    """The alpha chosen, and the mean average precision of held-out bags with each that was tried.

    ``macro_f1`` is that of held-out bags with the alpha chosen, with thresholds of 0 and with those by counts;
    ``thresholds`` are the latter, from all held-out bags, if they are better: `CfMGML` takes them as they are.

    >>> print(AlphaChoice(0.01, {0.1: 0.8, 0.01: 0.9}))
    alpha 0.01 (average precision of held-out bags by alpha: 0.1: 0.8000, 0.01: 0.9000)
    """

    alpha: Alpha
    scores: dict[Alpha, float]
    macro_f1: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] | None = None

    def __str__(self) -> str:
        tried = ", ".join(f"{told_alpha(alpha)}: {score:.4f}" for alpha, score in self.scores.items())
        return f"alpha {told_alpha(self.alpha)} (average precision of held-out bags by alpha: {tried})"


def choose_alpha(
    model: CfMGML,
    bags: BagDataset,
    alphas: Sequence[Alpha] = ALPHAS,
    *,
    n_folds: int = 3,
    n_measured: int | None = None,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> AlphaChoice:
    """Choose alpha by cross-validation over bags, by average precision at bag level; ties go to the larger, and to one
    rather than several.

    A kernel without explicit features has its Gram matrix computed once, on ``model.device``, over all bags, and shared
    by all fits: its default gamma then comes from all graphs, held-out ones included, but never from their labels.

    Parameters
    ----------
    model
        A `CfMGML` to take all other parameters from; it is not fitted.
    bags
        With labels. Bags whose labels are not all known are learned from, but not measured on.
    alphas
        To choose from. A tuple of several stands for the mean of the models for each of them.
    n_folds, random_state
        Of the folds, which are drawn at random.
    n_measured
        On how many of the folds is measured, the first ones; None for all.
    on_fold
        Called after each of the folds.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> choose_alpha(CfMGML(), load_digit_bags(n_bags=40), alphas=[1.0, 1e-4]).alpha
    0.0001
    """
    from sklearn.model_selection import KFold  # slow to import, and seldom needed

    if not alphas:
        raise ValueError("alphas must hold at least one value.")
    folds = min(n_folds, bags.n_bags)
    if folds < 2:
        raise ValueError(f"choosing alpha needs at least two bags, got {bags.n_bags}: give alpha a number.")
    numbered = replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))
    kernel = shared_kernel(choose_kernel(model.kernel, bags.graphs), numbered.graphs, model)
    one = clone(model).set_params(kernel=kernel, probability=False, thresholds=ZERO, verbose=False)
    tried: list[Alpha] = sorted((float(alpha) for alpha in alphas if not isinstance(alpha, tuple)), reverse=True)
    tried += [alpha for alpha in alphas if isinstance(alpha, tuple)]
    labels, known = check_targets(bags, None)
    measured, held_out = [], list[HeldOut]()
    splits = KFold(folds, shuffle=True, random_state=random_state).split(np.zeros(bags.n_bags))
    for train, test in islice(splits, n_measured):
        whole = known[test].all(axis=1)
        if whole.any():
            found = [fitted.decision_function(numbered[test]) for fitted in one.fit_path(numbered[train], tried)]
            truth = labels[test][whole]
            measured.append([bag_report(truth, scores[whole])["average_precision"] for scores in found])
            held_out.append((test, found))
        on_fold()
    if not measured:
        raise ValueError("choosing alpha needs bags whose labels are all known, and there is none; give it a number.")
    scores = dict(zip(tried, np.mean(measured, axis=0).tolist(), strict=True))
    alpha = max(scores, key=lambda alpha: scores[alpha])  # the first of equals
    judged = _judged_thresholds(held_out, tried.index(alpha), labels, known, label_names_of(bags, labels).tolist())
    return AlphaChoice(alpha, scores, *judged)


def fit_as_chosen(model: CfMGML, bags: BagDataset, choice: AlphaChoice) -> CfMGML:
    """A model like this one, fitted with the alpha chosen, as it was tried: down the path from the largest alpha.

    Begun at a small alpha the solver may end in a worse place: with deep nodes of MSRC v2 and alpha 1e-5 the objective
    was .0187 instead of .0073.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> fit_as_chosen(CfMGML(), bags, choose_alpha(CfMGML(), bags, alphas=[1.0, 1e-4])).alpha
    0.0001
    """
    least = min(choice.alpha) if isinstance(choice.alpha, tuple) else choice.alpha
    path = [alpha for alpha in choice.scores if not isinstance(alpha, tuple) and alpha >= least]
    return model.fit_path(bags, [*path, choice.alpha])[-1]


def can_choose(bags: BagDataset) -> bool:
    """Whether there are bags to measure on: at least two, and one of which all labels are known."""
    return bags.n_bags > 1 and (bags.Y_known is None or bool(bags.Y_known.all(axis=1).any()))


def sample_of(bags: BagDataset, n_graphs: int, random_state: int = 0) -> BagDataset:
    """Whole bags with about ``n_graphs`` graphs, drawn at random; all, in order, if there are no more than that."""
    if bags.n_graphs <= n_graphs:
        return bags
    n_bags = max(1, round(bags.n_bags * n_graphs / bags.n_graphs))
    return bags[np.sort(np.random.default_rng(random_state).permutation(bags.n_bags)[:n_bags])]


def _judged_thresholds(
    held_out: list[HeldOut], number: int, labels: BoolArray, known: BoolArray, names: list[str]
) -> tuple[dict[str, float], dict[str, float] | None]:
    """Macro-F1 with and without thresholds by counts, and those if they are better, with one of the alphas."""
    rows = np.concatenate([test for test, _ in held_out])
    fold = np.repeat(np.arange(len(held_out)), [len(test) for test, _ in held_out])
    scores = np.concatenate([found[number] for _, found in held_out])
    if len(held_out) < 2:  # none to judge the thresholds of another by
        return {}, None
    f1 = f1_by_thresholds(scores, labels[rows], known[rows], fold)
    if f1[COUNTS] <= f1[ZERO]:
        return f1, None
    return f1, dict(zip(names, thresholds_by_counts(scores, labels[rows], known[rows]).tolist(), strict=True))


def shared_kernel(kernel: Kernel, graphs: GraphBatch, model: CfMGML) -> Kernel:
    """The kernel with explicit features, its own or those that ``rank="auto"`` takes, else a matrix of its values."""
    training = Training.of(model)
    settled = settle_rank(kernel.resolve(graphs), graphs, training.rank, training.compute).kernel
    if settled.is_explicit:
        return kernel if kernel.is_explicit else clone(settled)
    check_pairwise_size("choosing alpha", graphs.n_graphs, "graphs", 2, "give alpha a number")
    return Precomputed(compute_gram(settled, graphs, training.compute))

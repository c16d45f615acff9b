"""Choosing a kernel by name, and alpha by inner cross-validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from cfmgml.common.memory import check_pairwise_size
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import NAMED_KERNELS, Kernel, Precomputed, choose_kernel
from cfmgml.kernels.gram import compute_gram
from cfmgml.learning.estimator import check_targets
from cfmgml.learning.training import Training
from cfmgml.model.cfmgml import CfMGML

ALPHAS = (1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 1e-6)


def kernel_named(name: str, bags: BagDataset, *, gamma: float | None = None, n_iter: int | None = None) -> Kernel:
    """A kernel that suits these bags, by a short name.

    Parameters
    ----------
    name
        ``"nodes"`` (`NodeSum`), ``"hopper"`` (`GraphHopper`), ``"both"`` (their sum), ``"wl"`` (`WeisfeilerLehman`), or
        ``"auto"``: nodes where there are attributes, else wl. Others are registered in `cfmgml.kernels`.
    bags
        What will be learned from: nodes with attributes are compared by the rbf kernel, others by their labels; for
        texts, wl weighs words by tf-idf.
    gamma
        Of the rbf kernel; by default the builder's (``bags.builder.gamma``), or the kernel's own choice.
    n_iter
        Refinements of wl; by default 1 for texts, as measured on Hallmarks of Cancer, else 5.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> kernel_named("both", load_digit_bags(n_bags=2), gamma=1.0)
    SumKernel(kernels=[GraphHopper(gamma=1.0), NodeSum(gamma=1.0)])
    """
    if name not in NAMED_KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(NAMED_KERNELS)}, got {name!r}.")
    builder = known_builder(bags.builder)
    settings: dict[str, object] = {"n_iter": 1, "tfidf": True} if builder.words else {}
    for given in ({"gamma": builder.gamma}, {"gamma": gamma, "n_iter": n_iter}):
        settings |= {key: value for key, value in given.items() if value is not None}
    return NAMED_KERNELS[name](bags.graphs, settings)


@dataclass(frozen=True)
class AlphaChoice:
    """The alpha chosen, and the mean average precision of held-out bags with each that was tried."""

    alpha: float
    scores: dict[float, float]

    def __str__(self) -> str:
        tried = ", ".join(f"{alpha:g}: {score:.4f}" for alpha, score in self.scores.items())
        return f"alpha {self.alpha:g} (average precision of held-out bags by alpha: {tried})"


def choose_alpha(
    model: CfMGML,
    bags: BagDataset,
    alphas: Sequence[float] = ALPHAS,
    *,
    n_folds: int = 3,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> AlphaChoice:
    """Choose alpha by cross-validation over bags, by average precision at bag level; ties go to the larger.

    A kernel without explicit features has its Gram matrix computed once, on ``model.device``, over all bags, and shared
    by all fits: its default gamma then comes from all graphs, held-out ones included, but never from their labels.

    Parameters
    ----------
    model
        A `CfMGML` to take all other parameters from; it is not fitted.
    bags
        With labels. Bags whose labels are not all known are learned from, but not measured on.
    alphas
        To choose from.
    n_folds, random_state
        Of the folds, which are drawn at random.
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
    kernel = _shared(choose_kernel(model.kernel, bags.graphs), numbered.graphs, model)
    one = clone(model).set_params(kernel=kernel, probability=False, verbose=False)
    tried = sorted(map(float, alphas), reverse=True)
    measured = []
    for train, test in KFold(folds, shuffle=True, random_state=random_state).split(np.zeros(bags.n_bags)):
        if check_targets(bags[test], None)[1].all(axis=1).any():
            models = one.fit_path(numbered[train], tried)
            measured.append([fitted.score(numbered[test]) for fitted in models])
        on_fold()
    if not measured:
        raise ValueError("choosing alpha needs bags whose labels are all known, and there is none; give it a number.")
    scores = dict(zip(tried, np.mean(measured, axis=0).tolist(), strict=True))
    return AlphaChoice(max(scores, key=lambda alpha: scores[alpha]), scores)  # the first of equals: the largest alpha


def _shared(kernel: Kernel, graphs: GraphBatch, model: CfMGML) -> Kernel:
    """The kernel itself if it has explicit features, else a matrix of its values."""
    compute = Training.of(model).compute
    resolved = kernel.resolve(graphs)
    if resolved.is_explicit:
        return kernel
    check_pairwise_size("choosing alpha", graphs.n_graphs, "graphs", 2, "give alpha a number")
    return Precomputed(compute_gram(resolved, graphs, compute))

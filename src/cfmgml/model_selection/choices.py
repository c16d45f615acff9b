"""Choosing a kernel, or a way to learn, each with the alpha that is best for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, Precomputed, SumKernel, choose_kernel
from cfmgml.kernels.gram import compute_gram
from cfmgml.learning.training import Alpha, Training, told_alpha
from cfmgml.learning.ways import Way
from cfmgml.model.cfmgml import CfMGML
from cfmgml.model_selection.alphas import ALPHAS, AlphaChoice, choose_alpha, shared_kernel

KERNEL_GRAPHS = 3000  # that kernels are chosen on: what it takes is bounded, however many there are


@dataclass(frozen=True)
class Choice:
    """The kernel or way to learn that was chosen, by name, and for each that was tried its alphas on held-out bags.

    >>> tried = {"nodes": AlphaChoice(0.1, {0.1: 0.8}), "wl": AlphaChoice(0.01, {0.01: 0.9})}
    >>> choice = Choice.best(tried, "kernel")
    >>> choice.name, choice.alpha
    ('wl', 0.01)
    """

    name: str
    tried: dict[str, AlphaChoice]
    what: str  # is chosen

    @classmethod
    def best(cls, tried: dict[str, AlphaChoice], what: str) -> "Choice":
        """The first of those with the highest average precision."""
        return cls(max(tried, key=lambda name: max(tried[name].scores.values())), tried, what)

    @property
    def alpha(self) -> Alpha:
        return self.tried[self.name].alpha

    def __str__(self) -> str:
        width = max(map(len, (self.what, *self.tried)))
        rows = [f"{self.what:{width}}  average precision of held-out bags  alpha"]
        for name, choice in self.tried.items():
            taken = "  taken" if name == self.name else ""
            rows.append(f"{name:{width}}  {choice.scores[choice.alpha]:<34.4f}  {told_alpha(choice.alpha)}{taken}")
        return "\n".join(rows)


def choose_kernel_and_alpha(
    model: CfMGML,
    bags: BagDataset,
    kernels: Mapping[str, Kernel],
    alphas: Sequence[float] = ALPHAS,
    *,
    n_folds: int = 3,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> Choice:
    """Choose one of several kernels, each with the best of the alphas for it, as `choose_alpha` does; ties go to the
    first.

    If one of them has no explicit features, the values of all are computed once, those of a sum from its parts', and
    shared by all fits.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.model_selection import candidate_kernels
    >>> bags = load_digit_bags(n_bags=30)
    >>> choice = choose_kernel_and_alpha(CfMGML(max_iter=20), bags, candidate_kernels(bags), [1e-2, 1e-4])
    >>> sorted(choice.tried) == sorted(candidate_kernels(bags)), choice.name in choice.tried
    (True, True)
    """
    shared = _all_shared(kernels, bags.graphs, model)
    tried = {
        name: choose_alpha(
            clone(model).set_params(kernel=kernel),
            bags,
            alphas,
            n_folds=n_folds,
            random_state=random_state,
            on_fold=on_fold,
        )
        for name, kernel in shared.items()
    }
    return Choice.best(tried, "kernel")


def choose_way(
    model: CfMGML,
    bags: BagDataset,
    ways: Mapping[str, Way],
    alphas: Sequence[Alpha] | None = None,
    *,
    n_folds: int = 3,
    n_measured: int | None = None,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> Choice:
    """Choose one of several ways to learn, each with the best of its alphas, or of those given, as `choose_alpha` does;
    ties go to the first. Kernel values are computed once.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.learning.ways import ways
    >>> choice = choose_way(CfMGML(max_iter=20), load_digit_bags(n_bags=30), ways(context=0.0), [1e-3])
    >>> list(choice.tried), choice.alpha
    (['once', 'once, balanced', 'again'], 0.001)
    """
    numbered = replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))
    shared = clone(model).set_params(
        kernel=shared_kernel(choose_kernel(model.kernel, bags.graphs), numbered.graphs, model)
    )
    how: dict[str, Any] = {"n_folds": n_folds, "n_measured": n_measured, "random_state": random_state}
    tried = {
        name: choose_alpha(
            clone(shared).set_params(**way.settings), numbered, alphas or way.alphas, on_fold=on_fold, **how
        )
        for name, way in ways.items()
    }
    return Choice.best(tried, "way to learn")


def _all_shared(kernels: Mapping[str, Kernel], graphs: GraphBatch, model: CfMGML) -> dict[str, Kernel]:
    """The kernels themselves if all have explicit features, else matrices of their values."""
    if all(kernel.is_explicit for kernel in kernels.values()):
        return dict(kernels)
    compute, values = Training.of(model).compute, dict[str, FloatArray]()
    check_pairwise_size("choosing a kernel", graphs.n_graphs, "graphs", 2 + len(kernels), "name one")
    for kernel in kernels.values():
        for part in _parts(kernel):
            if repr(part) not in values:
                values[repr(part)] = compute_gram(part.resolve(graphs), graphs, compute)
    return {
        name: Precomputed(
            kernel.combine([values[repr(part)] for part in _parts(kernel)])
            if isinstance(kernel, SumKernel)
            else values[repr(kernel)]
        )
        for name, kernel in kernels.items()
    }


def _parts(kernel: Kernel) -> list[Kernel]:
    return kernel.parts if isinstance(kernel, SumKernel) else [kernel]

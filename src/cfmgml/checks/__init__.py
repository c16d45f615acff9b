"""Hold a kernel or a method of one's own to the contract that those of cfmgml keep.

`check_kernel` and `check_bag_estimator` try every rule of the contract on small bags that are made here, or on bags of
one's own, and raise one `AssertionError` that names each broken rule and what was found. They need no test framework:
call them from any test. `KERNEL_RULES` and `ESTIMATOR_RULES` are the rules by name, each explained by its docstring.

Examples
--------
>>> from cfmgml import WeisfeilerLehman
>>> from cfmgml.baselines import Dummy
>>> check_kernel(WeisfeilerLehman(n_iter=2))
>>> check_bag_estimator(Dummy())
>>> def how_much_larger(a, b):
...     return np.diff(a.node_ptr)[:, None] - np.diff(b.node_ptr)
>>> check_kernel(how_much_larger, rules=["symmetric", "edge_labels"])  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
AssertionError: FunctionKernel(function=<function how_much_larger at ...>) breaks 1 of 2 rules:
- symmetric (K is symmetric): K[5, 10] is -7, expected 7 as its mirror image (112 of 144 differ).
"""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, clone

from cfmgml.checks.estimator_rules import ESTIMATOR_RULES, BagCase
from cfmgml.checks.kernel_rules import KERNEL_RULES
from cfmgml.checks.made import made_bags, made_graphs
from cfmgml.checks.verdict import broken_rules, chosen_rules, raise_verdict
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.function import KernelLike, as_kernel

__all__ = ["ESTIMATOR_RULES", "KERNEL_RULES", "check_bag_estimator", "check_kernel"]

LEAST_BAGS = 8


def check_kernel(kernel: KernelLike, graphs: GraphBatch | None = None, *, rules: Sequence[str] | None = None) -> None:
    """Raise an `AssertionError` that names every rule of `KERNEL_RULES` that a kernel breaks.

    Parameters
    ----------
    kernel
        A `cfmgml.kernels.Kernel`, or a function of two batches. It is cloned, never changed.
    graphs
        At least eight graphs that the kernel can compare; if left out, twelve small ones with labels and two attributes
        a node and labels of edges.
    rules
        Names of the rules to try; all if left out.
    """
    tried = chosen_rules(KERNEL_RULES, rules)
    subject = as_kernel(kernel)
    graphs = made_graphs(12, seed=3) if graphs is None else graphs
    if graphs.n_graphs < 8:
        raise ValueError(f"check_kernel needs at least 8 graphs to compare, got {graphs.n_graphs}.")
    raise_verdict(repr(subject), broken_rules(tried, lambda: (clone(subject), graphs)), len(tried))


def check_bag_estimator(
    estimator: BaseEstimator, bags: BagDataset | None = None, *, rules: Sequence[str] | None = None, atol: float = 1e-4
) -> None:
    """Raise an `AssertionError` that names every rule of `ESTIMATOR_RULES` that a method breaks.

    Parameters
    ----------
    estimator
        A method with the manners of `cfmgml.learning.estimator.BagEstimator`, made from it or not. It is cloned, never
        fitted itself. One whose scikit-learn tags say ``poor_score`` need not learn anything.
    bags
        At least eight labelled bags, of which the last quarter is predicted; if left out, 32 small ones with four
        labels, whose graphs have labels and two attributes a node and labels of edges.
    rules
        Names of the rules to try; all if left out.
    atol
        How far scores may differ that should be the same.
    """
    tried = chosen_rules(ESTIMATOR_RULES, rules)
    case = BagCase(estimator, *_learn_and_predict(bags), atol=atol)
    raise_verdict(repr(estimator), broken_rules(tried, lambda: (case,)), len(tried))


def _learn_and_predict(bags: BagDataset | None) -> tuple[BagDataset, BagDataset]:
    if bags is None:
        return made_bags(24, seed=5), made_bags(8, seed=77)
    if bags.Y is None or bags.n_bags < LEAST_BAGS:
        found = "no Y" if bags.Y is None else f"{bags.n_bags} bags"
        raise ValueError(f"check_bag_estimator needs at least {LEAST_BAGS} bags with labels, got {found}.")
    last = bags.n_bags - bags.n_bags // 4
    return bags[np.arange(last)], bags[np.arange(last, bags.n_bags)]

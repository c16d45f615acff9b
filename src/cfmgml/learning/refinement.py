"""Learning again from one's own annotation of the training graphs.

A first fit knows bags only. What it says of the training graphs, held against the labels that their bags are known to
have, is an annotation A: which graph carries which of its bag's labels. With it every graph can be learned from by
itself, as a bag of one. Rounds of annotating and learning lower one objective,

    J(W, b, A) = alpha / 2 |W|^2 + mean over graphs g of loss(f(g), A_g),

where A gives every label of a bag to one of its graphs at least: for a fixed A it is convex in W and b, and a new A is
taken only where it lowers the loss of the scores that are there. So J never goes up; it ends where A no longer changes.

Whether graphs may carry no label is taken from the training data: where the first fit finds a label in most graphs,
every graph gets one; elsewhere only each label's best graph and those that score above 0 do, and the mean of the first
fit and the last counts, since what is left out is not known to carry nothing.

Most graphs lack most labels, so that scores learned from graphs are low, and few bags would have a graph above 0. In
the end one number is added to all scores: the one with which as many labels are found in the training bags as they
have. No order of labels or of graphs changes by that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cfmgml.common.segments import segment_ids, segment_max
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.learning.annotation import annotate
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.painting import COVERED, share_covered
from cfmgml.learning.solvers.cccp import Problem, Solution

Solve = Callable[[Problem, Solution[Any] | None], tuple[Solution[Any], FloatArray]]  # with one nearby: weights, scores


@dataclass(frozen=True)
class Refined:
    """What the rounds ended with."""

    solution: Solution[Any]  # its objective is the one above, a value a round
    scores: FloatArray  # of all graphs
    last: Solution[Any] | None  # of the last round alone, for a problem nearby


def refine(
    problem: Problem, first: Solution[Any], scores: FloatArray, n_rounds: int, solve: Solve, near: Solution[Any] | None
) -> Refined:
    """Rounds of annotating and learning after a first solution, whose scores of all graphs are given."""
    loss = problem.loss
    covered = share_covered(scores, loss.bag_ptr, loss.relevant)
    every = covered is not None and covered >= COVERED
    begin = near or replace(first, trail=first.trail[-1:])  # convex: where it begins does not matter to where it ends
    last, graph_loss, own, objective = begin, None, scores, list[float]()
    for _ in range(n_rounds):
        new = loss_of_graphs(loss, carried_labels(own, loss.bag_ptr, loss.relevant, every))
        if graph_loss is not None and not new.value(own) < graph_loss.value(own):
            break
        solution, new_scores = solve(replace(problem, loss=new), last)
        if objective and not solution.objective[-1] < objective[-1]:  # rounding
            break
        last, graph_loss, own = solution, new, new_scores
        objective.append(solution.objective[-1])
    if graph_loss is None:
        return Refined(first, scores, near)
    found = replace(last, objective=objective, n_iter=first.n_iter + last.n_iter)
    if not every:
        coef, intercept, own = (first.coef + last.coef) / 2, (first.intercept + last.intercept) / 2, (scores + own) / 2
        found = replace(found, coef=coef, intercept=intercept)
    shift = shift_to_as_many(own, loss) if problem.fit_intercept else 0.0
    return Refined(replace(found, intercept=found.intercept + shift), own + shift, last)


def shift_to_as_many(scores: FloatArray, loss: RankLoss) -> float:
    """What to add to all scores so that as many labels of bags are above 0 as bags are known to have.

    >>> relevant = np.array([[True, False], [True, True]])
    >>> shift_to_as_many(np.array([[-1., -4.], [-2., -3.]]), RankLoss(np.arange(3), relevant, ~relevant, np.ones(2)))
    3.5
    """
    known, n_labels = loss.relevant | loss.irrelevant, int(loss.relevant.sum())
    ordered = np.sort(segment_max(scores, loss.bag_ptr)[known])[::-1]
    return -float(ordered[n_labels - 1 : n_labels + 1].mean()) if 0 < n_labels < len(ordered) else 0.0


def carried_labels(scores: FloatArray, bag_ptr: IntArray, relevant: BoolArray, every: bool) -> BoolArray:
    """The annotation: with a label for ``every`` graph of a bag that has any, or for those only that speak for one.

    >>> scores = np.array([[.9, -1.], [.7, -2.], [-.3, -3.]])
    >>> carried_labels(scores, np.array([0, 3]), np.array([[True, True]]), every=False)
    array([[ True,  True],
           [ True, False],
           [False, False]])
    """
    if every:
        return annotate(scores, bag_ptr, relevant)
    bag = segment_ids(bag_ptr)
    return relevant[bag] & ((scores > 0) | (scores >= segment_max(scores, bag_ptr)[bag]))


def loss_of_graphs(loss: RankLoss, carried: BoolArray) -> RankLoss:
    """The loss in which every graph is a bag of its own; labels that are unknown of a bag are unknown of its graphs."""
    known = (loss.relevant | loss.irrelevant)[segment_ids(loss.bag_ptr)]
    return replace(loss, bag_ptr=np.arange(len(carried) + 1), relevant=carried, irrelevant=known & ~carried)

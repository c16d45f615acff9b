"""Learning again from one's own annotation of the training graphs.

A first fit knows bags only. What it says of the training graphs, held against the labels that their bags are known to
have, is an annotation A: which graph carries which of its bag's labels. With it every graph can be learned from by
itself, as a bag of one. Rounds of annotating and learning lower one objective,

    J(W, b, A) = alpha / 2 |W|^2 + mean over graphs g of loss(f(g), A_g),

where A gives every label of a bag to one of its graphs at least: for a fixed A it is convex in W and b, and a new A is
taken only where it lowers the loss of the scores that are there. So J never goes up; it ends where A no longer changes.

The first annotation is half by scores learned from all bags, and half, where folds are held out, by scores learned from
other folds: a fit's own scores of the graphs that it was learned from agree with its mistakes, those of folds come from
fewer bags. Where every graph gets a label, they are a teacher's, in whose loss every label of every bag weighs the
same: above all with context, it tells the graphs of a bag apart better than the loss that ranks labels.

How many labels graphs carry is taken from the training data. Where a fit to bags, the teacher's or the problem's own,
finds a label in most graphs, every graph gets one. It gets all that score above 0 where bags with few graphs show that
one will not do, having more labels than graphs; where all bags have many graphs, if the fit finds `SEVERAL` on average.
Elsewhere only each label's best graph and those that score above 0 are annotated, and the mean of the first fit and the
last counts, since what is left out is not known to carry nothing.

Most graphs lack most labels, so that scores learned from graphs may be low, and few bags would have a graph above 0.
Then one number is added to all scores in the end: the one with which as many labels are found in the training bags as
they have. No order of labels or of graphs changes by that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from cfmgml.common.segments import lengths, segment_ids, segment_max, take_segments
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.learning.annotation import annotate
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.painting import COVERED, share_covered
from cfmgml.learning.solvers.cccp import Problem, Solution
from cfmgml.learning.solvers.on_device import scores_on_device

Solve = Callable[[Problem, Solution[Any] | None], tuple[Solution[Any], FloatArray]]  # with one nearby: weights, scores
SEVERAL = 1.6  # labels above 0 of graphs that have any: 1.3 where graphs have one (MSRC v2), 1.9 where two (DBLP)
CROWDED = 0.05  # of the bags that could, how many have more labels than graphs: none (MSRC v2, VOC), a third (DBLP)


@dataclass(frozen=True)
class Refined:
    """What the rounds ended with."""

    solution: Solution[Any]  # its objective is the one above, a value a round
    scores: FloatArray  # of all graphs
    last: Solution[Any] | None  # of the last round alone, for a problem nearby


def refine(
    problem: Problem,
    first: Solution[Any],
    scores: FloatArray,
    taught: FloatArray,
    carries: "Carries",
    n_rounds: int,
    solve: Solve,
    near: Solution[Any] | None,
) -> Refined:
    """Rounds of annotating and learning after a first solution; given are its scores of all graphs, and those that
    annotate in the first round."""
    loss = problem.loss
    # convex: where it begins does not matter to where it ends
    begin = replace(near or first, trail=near.trail if near else first.trail[-1:], space=first.space)
    last, graph_loss, own, objective = begin, None, taught, list[float]()
    for _ in range(n_rounds):
        new = loss_of_graphs(loss, carried_labels(own, loss.bag_ptr, loss.relevant, carries))
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
    if not carries.every:
        coef, intercept, own = (first.coef + last.coef) / 2, (first.intercept + last.intercept) / 2, (scores + own) / 2
        found = replace(found, coef=coef, intercept=intercept)
    shift = shift_to_as_many(own, loss) if problem.fit_intercept else 0.0
    return Refined(replace(found, intercept=found.intercept + shift), own + shift, last)


def teacher(problem: Problem) -> Problem:
    """The problem in which every label of every bag weighs the same; alpha grows with the weight of all terms."""
    own = problem.loss
    if (own.loss, own.term_weights) == ("hamming", "sum") or not own.weight:
        return problem
    loss = replace(own, loss="hamming", term_weights="sum")
    return replace(problem, loss=loss, alpha=problem.alpha * loss.weight / own.weight)


class First(NamedTuple):
    """The fit to bags that learning again begins with, and what it says of graphs."""

    problem: Problem
    solution: Solution[Any]
    scores: FloatArray
    carries: "Carries"


def first_fit(problem: Problem, solve: Solve, before: First | None) -> First:
    """A teacher's, where it finds a label in most graphs: then it annotates, and no other fit to bags is needed.

    Elsewhere the problem's own fit says whether every graph gets a label, and annotates where graphs may have none.
    ``before`` is what a problem nearby began with.
    """
    teaching = teacher(problem)

    def fit(chosen: Problem, near: Solution[Any] | None) -> First:
        solution, scores = solve(chosen, near)
        return First(chosen, solution, scores, Carries.by(scores, problem.loss.bag_ptr, problem.loss.relevant))

    near = before.solution if before else None
    if before is not None and not before.carries.every:  # most likely again: do not ask a teacher in vain
        own = fit(problem, near)
        taught = fit(teaching, replace(own.solution, trail=())) if own.carries.every else own
    else:
        taught = own = fit(teaching, near)
        if not taught.carries.every and teaching is not problem:
            own = fit(problem, replace(taught.solution, trail=()))
    return taught._replace(carries=own.carries) if own.carries.every else own


def taught_scores(first: First, n_folds: int, solve: Solve, is_gram: bool = False) -> FloatArray:
    """What annotates first: the mean of the first fit's scores and those of held-out bags."""
    return (first.scores + held_out_scores(first.problem, first.scores, n_folds, solve, is_gram)) / 2


def shift_to_as_many(scores: FloatArray, loss: RankLoss) -> float:
    """What to add to all scores so that no fewer labels of bags are above 0 than bags are known to have.

    Where there are more, nothing: of bags that were not learned from fewer will be, since scores of graphs that were
    are further from 0.

    >>> relevant = np.array([[True, False], [True, True]])
    >>> shift_to_as_many(np.array([[-1., -4.], [-2., -3.]]), RankLoss(np.arange(3), relevant, ~relevant, np.ones(2)))
    3.5
    """
    known, n_labels = loss.relevant | loss.irrelevant, int(loss.relevant.sum())
    ordered = np.sort(segment_max(scores, loss.bag_ptr)[known])[::-1]
    if not 0 < n_labels < len(ordered):
        return 0.0
    return max(0.0, -float(ordered[n_labels - 1 : n_labels + 1].mean()))


class Carries(NamedTuple):
    """How many labels graphs carry: whether ``every`` one has a label, and, if so, whether many have ``several``."""

    every: bool
    several: bool = False

    @classmethod
    def by(cls, scores: FloatArray, bag_ptr: IntArray, relevant: BoolArray) -> "Carries":
        """From scores of graphs for labels that their bags are known to have, and from how many those are."""
        covered = share_covered(scores, bag_ptr, relevant)
        if covered is None or covered < COVERED:
            return cls(every=False)
        n_graphs, n_labels = lengths(bag_ptr), relevant.sum(axis=1)
        could = n_graphs < n_labels.max()
        if could.any():
            return cls(every=True, several=bool((n_labels > n_graphs)[could].mean() >= CROWDED))
        found = (relevant[segment_ids(bag_ptr)] & (scores > 0)).sum(axis=1)
        return cls(every=True, several=bool(found[found > 0].mean() >= SEVERAL))


def carried_labels(scores: FloatArray, bag_ptr: IntArray, relevant: BoolArray, carries: Carries) -> BoolArray:
    """The annotation, of graphs that carry one label, several, or perhaps none.

    >>> scores = np.array([[.9, -1.], [.7, .2], [-.3, -3.]])
    >>> carried_labels(scores, np.array([0, 3]), np.array([[True, True]]), Carries(every=False))
    array([[ True, False],
           [ True,  True],
           [False, False]])
    >>> carried_labels(scores, np.array([0, 3]), np.array([[True, True]]), Carries(every=True))
    array([[ True, False],
           [False,  True],
           [ True, False]])
    """
    bag = segment_ids(bag_ptr)
    above = relevant[bag] & (scores > 0)
    if carries.every:
        one = annotate(scores, bag_ptr, relevant)
        return one | above if carries.several else one
    return above | (relevant[bag] & (scores >= segment_max(scores, bag_ptr)[bag]))


def loss_of_graphs(loss: RankLoss, carried: BoolArray) -> RankLoss:
    """The loss in which every graph is a bag of its own; labels that are unknown of a bag are unknown of its graphs."""
    known = (loss.relevant | loss.irrelevant)[segment_ids(loss.bag_ptr)]
    return replace(loss, bag_ptr=np.arange(len(carried) + 1), relevant=carried, irrelevant=known & ~carried)


def held_out_scores(
    problem: Problem, scores: FloatArray, n_folds: int, solve: Solve, is_gram: bool = False
) -> FloatArray:
    """Scores of all graphs, each from a fit to the bags of other folds; with no fold to hold out, those that are given.

    Where the rows are a Gram matrix on a device (``is_gram``), a fit sees the columns of its own graphs only.
    """
    loss, rows = problem.loss, cast(Any, problem.rows)  # indexed alike, wherever they are
    fold = deal_out(loss, scores, n_folds)
    if n_folds == 0 or not fold.any():
        return scores
    out = np.empty_like(scores)
    for k in range(fold.max() + 1):
        bags = np.flatnonzero(fold != k)
        graphs, held = (take_segments(loss.bag_ptr, which)[0] for which in (bags, np.flatnonzero(fold == k)))
        seen, unseen = rows[graphs], rows[held]
        if is_gram:
            seen, unseen = seen[:, graphs], unseen[:, graphs]
        solution, _ = solve(replace(problem, rows=seen, loss=loss.of_bags(bags)), None)
        values = scores_on_device(unseen, solution.coef) if is_gram else np.asarray(unseen @ solution.coef)
        out[held] = values + solution.intercept
    return out


def deal_out(loss: RankLoss, scores: FloatArray, n_folds: int) -> IntArray:
    """Each bag's fold. Bags with the same labels are dealt out in turn, so that folds are alike and no order of bags
    matters.

    >>> relevant = np.array([[True, False], [False, True]] * 2)
    >>> deal_out(RankLoss(np.arange(5), relevant, ~relevant, np.ones(2)), np.zeros((4, 2)), 2)
    array([0, 0, 1, 1])
    """
    sums = np.add.reduceat(scores.sum(axis=1), loss.bag_ptr[:-1])
    order = np.lexsort((sums, np.diff(loss.bag_ptr), *loss.relevant.T))
    fold = np.empty(loss.n_bags, dtype=np.int64)
    fold[order] = np.arange(loss.n_bags) % max(n_folds, 1)
    return fold

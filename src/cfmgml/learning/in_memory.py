"""Learning from bags in memory: rows for all graphs, a solver, and what it hands back."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from cfmgml.common.progress import progress
from cfmgml.common.segments import segment_argmax, segment_max, take_segments
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.kernels import choose_kernel
from cfmgml.kernels.context import Context
from cfmgml.learning.calibration import calibrate
from cfmgml.learning.estimator import check_bags, check_targets, label_names_of
from cfmgml.learning.learned import Learned
from cfmgml.learning.painting import share_covered
from cfmgml.learning.refinement import First, Refined, first_fit, refine, taught_scores
from cfmgml.learning.scoring import training_rows
from cfmgml.learning.solvers.cccp import Problem, Solution, solve_cccp
from cfmgml.learning.solvers.on_device import solve_cccp_on_device
from cfmgml.learning.solvers.on_gram import solve_cccp_on_gram
from cfmgml.learning.solvers.paper import solve_paper, solve_printed
from cfmgml.learning.thresholds import ZERO, thresholds_by_counts
from cfmgml.learning.training import Training


class Found(NamedTuple):
    """What a solver found for one alpha, of all training graphs."""

    solution: Solution[Any]
    scores: FloatArray

    @classmethod
    def mean(cls, all_found: "Sequence[Found]") -> "Found":
        """Scores are linear in rows, so the mean of coefficients scores as the mean; the rest is the last one's."""
        if len(all_found) == 1:
            return all_found[0]
        solutions, last = [one.solution for one in all_found], all_found[-1].solution
        coef = np.mean([one.coef for one in solutions], axis=0)
        intercept = np.mean([one.intercept for one in solutions], axis=0)
        n_iter = sum(one.n_iter for one in solutions)
        mean = replace(last, coef=coef, intercept=intercept, n_iter=n_iter)
        return cls(mean, np.mean([one.scores for one in all_found], axis=0))


def learn(path: Sequence[Training], X: BagDataset, Y: ArrayLike | None = None) -> list[Learned]:
    """What is learned by trainings that differ in alpha only.

    Kernel values are computed once. All alphas are gone through from the largest to the smallest, and each round of
    ``cccp`` starts where the same round ended before.
    """
    bags, how = check_bags(X), path[0]
    labels, known = check_targets(bags, Y)
    kernel = choose_kernel(how.kernel, bags.graphs).resolve(bags.graphs)  # anew, if it was resolved: on these
    context = Context(bags.bag_ptr, float(how.context), how.context_scale)
    train = training_rows(kernel, bags.graphs, context, how.compute, how.rank, gram_will_do=how.is_cccp)
    names, counts = label_names_of(bags, labels), (labels & known).sum(0).astype(np.float64)
    solution: Solution[Any] | None = None
    first: First | None = None
    refined: Refined | None = None
    held_out = _held_out(path, bags, labels, known) if how.holds_out else []
    all_found, representatives = dict[float, Found](), dict[float, IntArray]()
    for alpha in sorted({alpha for training in path for alpha in training.alphas}, reverse=True):
        training = next(one for one in path if alpha in one.alphas)
        seeds = np.random.default_rng(check_random_state(training.random_state).randint(2**31))
        weights = training.label_weights(counts, names.tolist())
        loss = training.rank_loss(bags.bag_ptr, labels & known, ~labels & known, weights)
        problem = Problem(train.rows, loss, alpha, training.has_intercept)
        if training.refine:
            again = partial(_solve_graphs, training, seeds, train.is_gram)
            first = first_fit(problem, again, first)
            representatives[alpha] = segment_argmax(first.scores, bags.bag_ptr)
            taught = taught_scores(first, training.refine_folds, again, train.is_gram)
            near = refined.last if refined else None
            refined = refine(problem, first.solution, first.scores, taught, first.carries, training.refine, again, near)
            final, scores = refined.solution, refined.scores
        else:
            solution, representatives[alpha], scores = _solve(training, problem, seeds, solution, train.is_gram)
            final = solution
        all_found[alpha] = Found(replace(final, trail=(), space=None), scores)
    all_learned = []
    for k, training in enumerate(path):
        final, scores = Found.mean([all_found[alpha] for alpha in sorted(training.alphas, reverse=True)])
        scorer = train.scorer(final.coef)
        thresholds = training.given_thresholds(names.tolist())
        own = representatives[min(training.alphas)]
        learned = Learned.of(bags, names, counts, scorer, final, own, thresholds)
        if training.probability:
            learned = replace(learned, calibration=calibrate(held_out[k], bags.bag_ptr, labels, known))
        if training.counts_for_thresholds and held_out:
            of_bags = segment_max(held_out[k], bags.bag_ptr)
            learned = replace(learned, thresholds=thresholds_by_counts(of_bags, labels, known))
        covered = share_covered(scores, bags.bag_ptr, labels & known)
        learned = replace(learned, covered=covered, context_scale=how.context_scale, seen=train.seen)
        all_learned.append(replace(learned, approximation_error=train.approximation_error))
    return all_learned


def _solve(
    training: Training, problem: Problem, seeds: np.random.Generator, last: Solution[Any] | None, is_gram: bool
) -> tuple[Solution[Any], IntArray, FloatArray]:
    """The weights, the graphs that stand for their bags, and the scores of all graphs."""
    rounds, steps = training.limits
    with progress(f"Training ({training.solver})", rounds, training.compute.verbose) as advance:

        def tell(done: int, value: float) -> None:
            advance(1)

        if not training.is_cccp:
            solve = solve_paper if training.solver == "paper" else solve_printed
            solved, representatives = solve(problem, rounds, steps, seeds, tell, training.compute.numbers)
            return solved, representatives, np.asarray(problem.rows @ solved.coef) + solved.intercept
        trail = () if last is None else last.trail
        solution: Solution[Any]
        limits = rounds, steps, training.tol
        if training.compute.on_numpy and is_gram:
            solution, scores = solve_cccp_on_gram(problem, *limits, tell, trail, None if last is None else last.space)
        elif training.compute.on_numpy:
            solution = solve_cccp(problem, *limits, tell, trail)
            scores = np.asarray(problem.rows @ solution.coef) + solution.intercept
        else:
            solution, scores = solve_cccp_on_device(problem, is_gram, *limits, training.compute.device, tell, trail)
        return solution, segment_argmax(scores, problem.loss.bag_ptr), scores


def _solve_graphs(
    training: Training, seeds: np.random.Generator, is_gram: bool, problem: Problem, last: Solution[Any] | None
) -> tuple[Solution[Any], FloatArray]:
    """The same for bags of one graph: weights and scores."""
    solution, _, scores = _solve(training, problem, seeds, last, is_gram)
    return solution, scores


def _held_out(path: Sequence[Training], bags: BagDataset, labels: BoolArray, known: BoolArray) -> list[FloatArray]:
    """Scores of every graph by models, one for each training, that have not seen its bag; none of a single bag's."""
    from sklearn.model_selection import KFold  # slow to import, and seldom needed

    n_folds = min(3, bags.n_bags)
    if n_folds < 2:
        if path[0].probability:
            raise ValueError("probability=True needs at least two bags: one must be held out.")
        return []
    seeds = np.random.default_rng(check_random_state(deepcopy(path[0].random_state)).randint(2**31))
    scores: list[FloatArray] = [np.empty((bags.n_graphs, labels.shape[1])) for _ in path]
    targets = np.where(known, labels, np.nan)
    folds = KFold(n_folds, shuffle=True, random_state=int(seeds.integers(2**31)))
    for train, test in folds.split(np.zeros(bags.n_bags)):
        alone = [
            replace(one, probability=False, thresholds=ZERO, random_state=deepcopy(one.random_state)) for one in path
        ]
        for own, learned in zip(scores, learn(alone, bags[train], targets[train]), strict=True):
            own[take_segments(bags.bag_ptr, test)[0]] = learned.graph_scores(bags[test])
    return scores

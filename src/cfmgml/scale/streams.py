"""Learning from a stream: each bag is seen once, in the order it comes."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cfmgml.common.typing import FloatArray, Rows
from cfmgml.data.bags import BagDataset
from cfmgml.kernels import Kernel, as_kernel
from cfmgml.learning.estimator import check_bags, check_targets, label_names_of, targets_in_order
from cfmgml.learning.learned import Learned, Learner, StepSizes
from cfmgml.learning.scoring import ExplicitScorer
from cfmgml.learning.seen import Seen
from cfmgml.learning.solvers.cccp import Problem, Solution
from cfmgml.learning.training import Training
from cfmgml.scale.maps import resolve_explicit
from cfmgml.scale.minibatches import BAGS, FITTED_STEPS, AdaGrad, batches
from cfmgml.stores import BagStore

Model = TypeVar("Model", bound=Learner)


def partial_fit(model: Model, X: BagDataset | BagStore, Y: ArrayLike | None = None) -> Model:
    """Go on learning from these bags, by mini-batches; ``CfMGML.partial_fit`` calls this.

    A model that has learned something goes on from there, with the kernel as it was settled then: weights of explicit
    features, or coefficients of the training graphs it keeps, to which the stream adds nothing but other coefficients.
    ``class_weight="balanced"`` counts the labels of all bags so far. After another `partial_fit`, in this process or
    before the model was saved, steps are as long as if there had been no break. After a fit they are short, as those of
    a stream that has seen the fit's bags and more. A model that has learned nothing settles its kernel on these bags.

    Raises, and changes nothing, if the model cannot go on: fitted with ``context``, with other labels or another
    kernel, or asked for ``probability``, which needs held-out bags.

    >>> from cfmgml import CfMGML, NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=200, random_state=0)
    >>> model = CfMGML(NodeSum(approximation="nystrom"))
    >>> for start in range(0, 200, 40):
    ...     model = partial_fit(model, bags[start : start + 40])
    >>> bool(model.objective_[-1] < 0.8 * model.objective_[0])
    True
    """
    training = Training.of(model)
    training.check_partwise("partial_fit needs solver='cccp'", ", which a stream has not: use fit, or False")
    if isinstance(X, BagStore) and Y is not None:
        raise ValueError("a store has its own labels: leave Y out.")
    learned: Learned | None = getattr(model, "learned_", None)
    if learned is not None:
        _check_goes_on(training, learned)
    for bags in X if isinstance(X, BagStore) else [check_bags(X)]:
        learned = _went_on(training, learned or _nothing_yet(training, bags, Y), bags, Y)
    if learned is not None:
        model.learned_ = learned
    return model


def _check_goes_on(training: Training, learned: Learned) -> None:
    """Refuse parameters that say something else than what was learned, instead of passing over them."""
    if learned.has_context:
        raise ValueError("this model was fitted with context, which a stream cannot learn: fit it with context=0.")
    if training.kernel is not None and not _same_kernel(as_kernel(training.kernel), learned.kernel):
        raise ValueError(f"the kernel is {training.kernel!r}, the model learned with {learned.kernel!r}: use fit.")
    if learned.intercept.any() and not training.fit_intercept:
        raise ValueError("this model learned an intercept, which fit_intercept=False would drop: use fit.")
    if (learned.thresholds != training.given_thresholds(learned.label_names.tolist())).any():
        raise ValueError("this model learned other thresholds than it is given now: use fit.")


def _same_kernel(given: Any, settled: Any) -> bool:
    """Whether two kernels, or parameters of them, are the same but for what one has settled."""
    if isinstance(given, Kernel) and type(given) is type(settled):
        mine, other = given.get_params(deep=False), settled.get_params(deep=False)
        return given is settled or all(_same_kernel(mine[name], other[name]) for name in mine)
    if isinstance(given, list | tuple) and isinstance(settled, list | tuple):
        return len(given) == len(settled) and all(map(_same_kernel, given, settled))
    return given is settled or bool(np.array_equal(given, settled))


def _nothing_yet(training: Training, bags: BagDataset, Y: ArrayLike | None) -> Learned:
    """Weights of 0 for a kernel that is settled on these bags."""
    labels, _ = check_targets(bags, Y)
    names = label_names_of(bags, labels)
    kernel = resolve_explicit(training.kernel, bags.graphs)
    n_features = kernel.features(bags.graphs[:1]).shape[1]
    zero = Solution[FloatArray](np.zeros((n_features, len(names))), np.zeros(len(names)), [], 0, float("nan"))
    no_bags, thresholds = np.zeros((0, len(names)), dtype=np.int64), training.given_thresholds(names.tolist())
    learned = Learned.of(
        bags, names, np.zeros(len(names)), ExplicitScorer(kernel, zero.coef), zero, no_bags, thresholds
    )
    return replace(learned, n_bags=0, steps=StepSizes(np.zeros((n_features + 1, len(names)))))


def _went_on(training: Training, learned: Learned, bags: BagDataset, Y: ArrayLike | None) -> Learned:
    """What a model that learned this knows after these bags."""
    labels, known = targets_in_order(bags, Y, learned.label_names)
    if learned.builder is not None:
        learned.builder.check_same(bags.builder)
    counts = learned.label_counts + (labels & known).sum(0)
    weights = training.label_weights(counts, learned.label_names.tolist())
    loss = training.rank_loss(bags.bag_ptr, labels & known, ~labels & known, weights)
    rows = learned.scorer.rows(bags.graphs)
    problem = Problem(rows, loss, 0.0, training.has_intercept)
    descent = _descent(learned, problem)
    values = [descent.step(batch, training.alphas[0]) for batch in batches(problem)]
    weights, intercept = problem.unpack(descent.theta)
    return replace(
        learned,
        label_counts=counts,
        n_bags=learned.n_bags + bags.n_bags,
        scorer=learned.scorer.with_weights(weights),
        intercept=intercept,
        objective=np.append(learned.objective, np.mean(values)),
        representatives=learned.representatives[:0],
        n_iter=learned.n_iter + len(values),
        gradient_norm=float("nan"),
        calibration=None,
        steps=_step_sizes(descent, problem),
        seen=_seen(learned, rows),
    )


def _seen(learned: Learned, rows: Rows) -> Seen | None:
    """Of what was remembered and what came now; of a model that never remembered anything it is too late for that."""
    if not isinstance(learned.scorer, ExplicitScorer) or (learned.seen is None and learned.n_bags):
        return learned.seen
    return Seen.of_rows(rows) if learned.seen is None else learned.seen.and_rows(rows)


def _descent(learned: Learned, problem: Problem) -> AdaGrad:
    """Steps from what was learned, as long as the last ones were or, if there were none, short."""
    n_rows = problem.rows.shape[1] + problem.fit_intercept
    theta = np.vstack([learned.scorer.weights, learned.intercept])[:n_rows].ravel()
    steps = learned.steps
    if steps is None or len(steps.squares) != problem.rows.shape[1] + 1:  # rounding elsewhere left other directions
        return AdaGrad.start(theta, FITTED_STEPS + learned.n_bags / BAGS)
    return AdaGrad(theta, steps.squares[:n_rows].flatten(), steps.rate)


def _step_sizes(descent: AdaGrad, problem: Problem) -> StepSizes | None:
    if descent.unseen:  # no label was known: nothing was learned of gradients
        return None
    squares = np.zeros((problem.rows.shape[1] + 1, problem.n_labels))
    squares.ravel()[: len(descent.squares)] = descent.squares
    return StepSizes(squares, descent.rate)

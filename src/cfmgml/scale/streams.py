"""Learning from a stream: each bag is seen once, in the order it comes."""

from dataclasses import replace
from typing import Any

import numpy as np

from cfmgml.bags import BagDataset
from cfmgml.scale.maps import resolve_explicit
from cfmgml.scale.minibatches import AdaGrad, batches
from cfmgml.scale.partitions import check_no_context, loss_of
from cfmgml.scoring import ExplicitScorer, normalised_features
from cfmgml.solvers.cccp import Problem
from cfmgml.stores import BagStore


def partial_fit(model: Any, X: BagDataset | BagStore, Y: Any = None) -> Any:
    """Go on learning from these bags, by mini-batches; ``CfMGML.partial_fit`` calls this.

    The kernel settles what depends on data on the bags of the first call, and ``class_weight="balanced"`` counts the
    labels seen so far.

    >>> from cfmgml import CfMGML, NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=200, random_state=0)
    >>> model = CfMGML(NodeSum(approximation="nystrom"))
    >>> for start in range(0, 200, 40):
    ...     model = partial_fit(model, bags[start : start + 40])
    >>> bool(model.objective_[-1] < 0.8 * model.objective_[0])
    True
    """
    if isinstance(X, BagStore):
        if Y is not None:
            raise ValueError("a store has its own labels: leave Y out.")
        for bags in X:
            partial_fit(model, bags)
        return model
    names = getattr(model, "label_names_", None) if hasattr(model, "stream_") else None
    model._check_params()
    if model.solver != "cccp":
        raise ValueError(f"partial_fit needs solver='cccp', got {model.solver!r}.")
    check_no_context(model)
    bags, labels, known = model._begin_fit(X, Y)
    if names is None:
        _begin(model, bags)
    elif not np.array_equal(names, model.label_names_):
        found, model.label_names_ = model.label_names_, names
        raise ValueError(f"these bags have the labels {found.tolist()}, the model learned {names.tolist()}.")
    relevant = labels & known
    model.label_counts_ = model.label_counts_ + relevant.sum(0)
    weights = model._label_weights(model.label_counts_, model.label_names_.tolist())
    loss = replace(
        loss_of(model, len(weights)),
        bag_ptr=bags.bag_ptr,
        relevant=relevant,
        irrelevant=~labels & known,
        label_weights=weights,
    )
    _learn(model, Problem(normalised_features(model.kernel_, bags.graphs), loss, 0.0, model._has_intercept))
    return model


def _begin(model: Any, bags: BagDataset) -> None:
    model.kernel_ = resolve_explicit(model.kernel, bags.graphs)
    n_labels = len(model.label_names_)
    n_features = model.kernel_.features(bags.graphs[:1]).shape[1]
    model.stream_ = AdaGrad.start(np.zeros((n_features + model._has_intercept) * n_labels))
    model.label_counts_ = np.zeros(n_labels)
    model.objective_, model.n_iter_, model.gradient_norm_ = np.zeros(0), 0, float("nan")
    model.representatives_ = np.zeros((0, n_labels), dtype=np.int64)
    model.fingerprint_, model.info_, model.calibration_ = bags.fingerprint(), dict(bags.info), None


def _learn(model: Any, problem: Problem) -> None:
    values = [model.stream_.step(batch, model.alpha) for batch in batches(problem)]
    coef, intercept = problem.unpack(model.stream_.theta.copy())
    model.scorer_, model.intercept_ = ExplicitScorer(model.kernel_, coef), intercept
    model.objective_ = np.append(model.objective_, np.mean(values))
    model.n_iter_ += len(values)

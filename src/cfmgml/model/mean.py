"""`mean_model`: one model for the mean of several models' scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from cfmgml.learning.scoring import ExplicitScorer
from cfmgml.model.cfmgml import CfMGML


def mean_model(models: Sequence[CfMGML]) -> CfMGML:
    """One model whose scores are the mean of those of several, which learned from the same bags.

    Scores are linear in the rows of graphs. So the mean of weights gives the mean of scores, and the model explains,
    paints and is saved like any other. Models for several alphas (`CfMGML.fit_path`), or with other losses, differ in
    their mistakes: where bags are few, the mean of three neighbouring alphas was better than the best of them on papers
    with references (``docs/results/texts.md``). Thresholds are the mean, too.

    Parameters
    ----------
    models
        Fitted on the same bags, with the same kernel, which has an explicit map, and context of one scale or none.

    Examples
    --------
    >>> from cfmgml import WeisfeilerLehman
    >>> from cfmgml.datasets import bags_from_texts
    >>> bags = bags_from_texts(["Genes mutate. Cells grow.", "Queries run."], [[1, 0], [0, 1]])
    >>> models = CfMGML(WeisfeilerLehman(0)).fit_path(bags, [1e-2, 1e-3])
    >>> means = np.mean([model.decision_function_graphs(bags) for model in models], axis=0)
    >>> np.allclose(mean_model(models).decision_function_graphs(bags), means)
    True
    """
    if not models:
        raise ValueError("mean_model needs at least one model.")
    all_learned = [model.learned_ for model in models]
    first = all_learned[0]
    for one in all_learned:
        if not isinstance(one.scorer, ExplicitScorer):
            raise TypeError(f"mean_model is for kernels with an explicit map, got {one.kernel!r}.")
        for name, own, other in (
            ("training bags", one.fingerprint, first.fingerprint),
            ("kernel", repr(one.kernel), repr(first.kernel)),
            ("context", (one.has_context, one.context_scale), (first.has_context, first.context_scale)),
        ):
            if own != other:
                raise ValueError(f"models of a mean must have the same {name}, got {other} and {own}.")
    made = clone(models[0])
    made.learned_ = replace(
        first,
        scorer=first.scorer.with_weights(np.mean([one.scorer.weights for one in all_learned], axis=0)),
        intercept=np.mean([one.intercept for one in all_learned], axis=0),
        thresholds=np.mean([one.thresholds for one in all_learned], axis=0),
        calibration=None,
        steps=None,
    )
    return made

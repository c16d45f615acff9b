"""The paper's own objective at what a solver found, so that solvers can be compared by what they claim to minimise."""

import numpy as np

from cfmgml.data.bags import BagDataset
from cfmgml.learning.estimator import BagEstimator
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.scoring import DualScorer
from cfmgml.model.cfmgml import CfMGML


def paper_objective(model: BagEstimator, train: BagDataset) -> float | None:
    """Equation 5 of the paper on the training bags: its weights, its maximum, nothing smoothed.

    None for other models, and for ones with ``context`` or of several alphas, which the paper does not have.

    The default solver minimises a smoothed relative of it (`cfmgml.learning.objective`) and has an intercept, `HLK`
    leaves out its third term; the value is that of the whole for all of them.

    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=30)
    >>> models = [CfMGML(alpha=1e-3, solver=solver, random_state=0).fit(bags) for solver in ("cccp", "printed")]
    >>> paper_objective(models[0], bags) < paper_objective(models[1], bags)
    True
    """
    if not isinstance(model, CfMGML) or model.context or isinstance(model.alpha, tuple):
        return None
    assert train.Y is not None
    known = np.ones(train.Y.shape, dtype=bool) if train.Y_known is None else train.Y_known
    loss = RankLoss(train.bag_ptr, train.Y & known, ~train.Y & known, np.ones(train.n_labels)).plain
    return loss.value(model.decision_function_graphs(train)) + float(model.alpha) / 2 * _squared_norm(model)


def _squared_norm(model: CfMGML) -> float:
    scorer = model.scorer_
    if isinstance(scorer, DualScorer):
        return float(np.vdot(scorer.dual_coef, scorer.scores(scorer.landmarks)))
    coef = scorer.arrays()["coef"]
    return float(np.vdot(coef, coef))

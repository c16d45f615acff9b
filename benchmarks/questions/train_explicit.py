"""Training on explicit Weisfeiler-Lehman features, graphs to model: linear in the number of bags?"""

import numpy as np

from made_graphs import as_batch, make_graphs
from questions import Contender, Question


def random_bags(n_bags):
    """Three graphs a bag; a bag has the label of each common node label that its graphs have often."""
    from cfmgml import BagDataset

    made = make_graphs(3 * n_bags, alphabet=200)
    graph = np.repeat(np.arange(made.n_graphs), np.diff(made.node_ptr))
    often = np.stack([np.bincount(graph, made.labels == k, made.n_graphs) >= 4 for k in range(10)], axis=1)
    labels = np.logical_or.reduceat(often, np.arange(0, made.n_graphs, 3), axis=0)
    return BagDataset(as_batch(made), np.arange(0, made.n_graphs + 1, 3), labels)


def fit(bags):
    from cfmgml import CfMGML, WeisfeilerLehman

    CfMGML(WeisfeilerLehman(2), alpha=1e-4, n_rounds=2, max_iter=20, tol=0.0).fit(bags)


QUESTION = Question(
    "Training on explicit features",
    "bags",
    sizes=(1000, 2000, 4000, 8000, 16000),
    quick=(100, 200, 400),
    contenders={"cfmgml cccp": Contender(random_bags, fit)},
    exponent=1.1,
    note="Two rounds of 20 steps at every size, so that time grows with the data only.",
)

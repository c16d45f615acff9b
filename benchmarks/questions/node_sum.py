"""The plain sum of rbf values over pairs of nodes, 873 attributes; by hand: scikit-learn's rbf kernel and sums."""

import numpy as np

from made_graphs import as_batch
from questions import Contender, Question
from questions.hopper_rbf import GAMMA, nodes


def ours(dtype):
    def run(made):
        from cfmgml import NodeSum, gram_matrix

        return gram_matrix(NodeSum(gamma=GAMMA), as_batch(made), normalize=False, dtype=dtype)

    return run


def by_hand(made):
    from sklearn.metrics.pairwise import rbf_kernel

    values = rbf_kernel(made.attributes, gamma=GAMMA)
    starts = made.node_ptr[:-1]
    return np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)


QUESTION = Question(
    "Node sum, rbf",
    "graphs",
    sizes=(250, 500, 1000),
    quick=(30, 60),
    contenders={
        "cfmgml float32": Contender(nodes, ours("float32")),
        "cfmgml float64": Contender(nodes, ours("float64")),
        "by hand (scikit-learn)": Contender(nodes, by_hand, "scikit-learn"),
    },
    reference="cfmgml float64",
    exponent=2.05,
)

"""How close do exact rbf tiles come to the matrix product that they contain?"""

import numpy as np

from made_graphs import MadeGraphs, as_batch, make_graphs
from questions import Contender, Question

N_ATTRIBUTES = 873


def dense_nodes(n):
    """Attributes without structure that could be used: every coordinate counts."""
    made = make_graphs(n)
    rng = np.random.default_rng(0)
    attributes = rng.normal(size=(len(made.labels), N_ATTRIBUTES)).astype(np.float32) / np.float32(
        np.sqrt(N_ATTRIBUTES)
    )
    return MadeGraphs(*made[:4], attributes)


def ours(made):
    from cfmgml import NodeSum, gram_matrix

    return gram_matrix(NodeSum(gamma=1.0), as_batch(made), normalize=False, dtype="float32")


def hopper(made):
    from cfmgml import GraphHopper, gram_matrix

    return gram_matrix(GraphHopper(gamma=1.0), as_batch(made), normalize=False, dtype="float32")


def product_alone(made):
    """Half of all pairs of nodes, as products of 2,048 x 2,048: what sgemm needs for the same distances."""
    n_nodes = len(made.labels)
    a, b = (np.ascontiguousarray(made.attributes[:2048]) for _ in range(2))
    for _ in range(round(n_nodes * (n_nodes + 1) / 2 / len(a) ** 2)):
        a @ b.T


QUESTION = Question(
    "Exact rbf tiles against sgemm",
    "graphs",
    sizes=(1000, 2000, 3000),
    quick=(100, 200),
    contenders={
        "sgemm alone": Contender(dense_nodes, product_alone, "numpy"),
        "node sum float32": Contender(dense_nodes, ours),
        "GraphHopper float32": Contender(dense_nodes, hopper),
    },
    note="The ratio of sgemm's CPU seconds to ours is the share of its peak that whole Gram matrices reach.",
)

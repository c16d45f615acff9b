"""How close do exact rbf tiles come to the matrix product that they contain?"""

import numpy as np

from made_graphs import MadeGraphs, as_batch, make_graphs
from questions import Contender, Goal, Question

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


def n_flops(made):
    """Of the inner products of half of all pairs of nodes."""
    n_nodes = len(made.labels)
    return n_nodes * (n_nodes + 1) * N_ATTRIBUTES


def product_alone(made):
    """The same products as blocks of 2,048 x 2,048. Two arrays: of an array with itself numpy computes half."""
    a, b = (np.array(made.attributes[rows]) for rows in (slice(2048), slice(-2048, None)))
    for _ in range(round(n_flops(made) / (2 * len(a) * len(b) * N_ATTRIBUTES))):
        a @ b.T


def peak(made):
    """As many operations in square products of 3,072: the machine's peak."""
    a, b = np.random.default_rng(0).random((2, 3072, 3072), dtype=np.float32)
    for _ in range(round(n_flops(made) / (2 * 3072**3))):
        a @ b


QUESTION = Question(
    "Exact rbf tiles against sgemm",
    "graphs",
    sizes=(1000, 2000, 3000),
    quick=(100, 200),
    contenders={
        "sgemm, square": Contender(dense_nodes, peak, "numpy"),
        "sgemm, same shape": Contender(dense_nodes, product_alone, "numpy"),
        "node sum float32": Contender(dense_nodes, ours),
        "GraphHopper float32": Contender(dense_nodes, hopper),
    },
    goals=tuple(
        Goal(f"{kernel} float32", "sgemm, square", size, 0.8)
        for kernel in ("node sum", "GraphHopper")
        for size in (2000, 3000)
    ),
    exponent=2.05,
    note="The ratio of sgemm's CPU seconds to ours is the share of its peak that whole Gram matrices reach.",
)

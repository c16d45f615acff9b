"""GraphHopper with the rbf node kernel, 873 attributes: the exact Gram matrix."""

from made_graphs import as_batch, as_grakel, make_graphs
from questions import Contender, Goal, Question

GAMMA, N_ATTRIBUTES = 1.0, 873


def ours(dtype):
    def run(made):
        from cfmgml import GraphHopper, gram_matrix

        return gram_matrix(GraphHopper(gamma=GAMMA), as_batch(made), normalize=False, dtype=dtype)

    return run


def grakel(graphs):
    from grakel import GraphHopper

    return GraphHopper(kernel_type=("gaussian", GAMMA)).fit_transform(graphs)


def nodes(n):
    return make_graphs(n, N_ATTRIBUTES)


QUESTION = Question(
    "GraphHopper, rbf, exact",
    "graphs",
    sizes=(125, 250, 500, 1000, 2000),
    quick=(30, 60),
    contenders={
        "cfmgml float32": Contender(nodes, ours("float32")),
        "cfmgml float64": Contender(nodes, ours("float64")),
        "GraKeL": Contender(lambda n: as_grakel(nodes(n), True), grakel, "grakel", largest=1000),
    },
    reference="GraKeL",
    exponent=2.05,
    goals=(Goal("cfmgml float32", "GraKeL", 500, 15), Goal("cfmgml float64", "GraKeL", 500, 8)),
)

"""GraphHopper with the linear node kernel, 873 attributes: the Gram matrix through the exact explicit map."""

from made_graphs import as_batch, as_grakel, make_graphs
from questions import Contender, Goal, Question

N_ATTRIBUTES = 873


def ours(made):
    from cfmgml import GraphHopper, gram_matrix

    return gram_matrix(GraphHopper("linear"), as_batch(made), normalize=False)


def grakel(graphs):
    from grakel import GraphHopper

    return GraphHopper(kernel_type="linear").fit_transform(graphs)


def nodes(n):
    return make_graphs(n, N_ATTRIBUTES)


QUESTION = Question(
    "GraphHopper, linear",
    "graphs",
    sizes=(125, 250, 500, 1000),
    quick=(30, 60),
    contenders={
        "cfmgml": Contender(nodes, ours),
        "GraKeL": Contender(lambda n: as_grakel(nodes(n), True), grakel, "grakel", largest=1000),
    },
    reference="GraKeL",
    goals=(Goal("cfmgml", "GraKeL", 500, 150),),
)

"""The path-count phase of GraphHopper alone: how often each node stands in each place of shortest paths."""

from made_graphs import as_batch, as_grakel, make_graphs
from questions import Contender, Goal, Question


def ours(made):
    from cfmgml.kernels.path_counts import path_counts

    path_counts(as_batch(made))


def grakel(graphs):
    from grakel import GraphHopper

    kernel = GraphHopper(kernel_type="linear")
    kernel.initialize()
    kernel._method_calling = 1  # as `fit` does before it reads graphs
    kernel.parse_input(graphs)


QUESTION = Question(
    "GraphHopper path counts",
    "graphs",
    sizes=(125, 250, 500, 1000),
    quick=(30, 60),
    contenders={
        "cfmgml": Contender(lambda n: make_graphs(n, 2), ours),
        "GraKeL": Contender(lambda n: as_grakel(make_graphs(n, 2), True), grakel, "grakel"),
    },
    exponent=1.05,
    goals=(Goal("cfmgml", "GraKeL", 500, 100),),
)

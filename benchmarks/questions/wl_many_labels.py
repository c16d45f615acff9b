"""Weisfeiler-Lehman, 5 refinements, an alphabet of 5,000 node labels: most colours are rare."""

from made_graphs import as_grakel, make_graphs
from questions import Contender, Goal, Question
from questions.wl import grakel, ours, ours_float32


def graphs(n):
    return make_graphs(n, alphabet=5000)


QUESTION = Question(
    "Weisfeiler-Lehman Gram matrix, 5,000 node labels",
    "graphs",
    sizes=(1000, 2000, 4000, 8000),
    quick=(200, 400),
    contenders={
        "cfmgml": Contender(graphs, ours),
        "cfmgml float32": Contender(graphs, ours_float32),
        "GraKeL": Contender(lambda n: as_grakel(graphs(n)), grakel, "grakel"),
    },
    reference="GraKeL",
    exponent=2.05,
    goals=tuple(
        Goal(ours, "GraKeL", 8000, at_least, of)
        for ours in ("cfmgml", "cfmgml float32")
        for at_least, of in ((25, "cpu"), (10, "memory"))
    ),
)

"""Explicit GraphHopper features (linear node kernel), from graphs to rows: linear in the number of graphs?"""

from made_graphs import as_batch, make_graphs
from questions import Contender, Question


def ours(made):
    from cfmgml import GraphHopper

    graphs = as_batch(made)
    GraphHopper("linear").resolve(graphs).features(graphs)


QUESTION = Question(
    "GraphHopper features, linear",
    "graphs",
    sizes=(1000, 2000, 4000, 8000, 16000),
    quick=(200, 400, 800),
    contenders={"cfmgml": Contender(lambda n: make_graphs(n, 100), ours)},
    exponent=1.05,
)

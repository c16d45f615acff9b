"""Weisfeiler-Lehman features, from graphs to the sparse matrix: linear in the number of graphs?"""

from made_graphs import as_batch, make_graphs
from questions import Contender, Question


def ours(made):
    from cfmgml import WeisfeilerLehman

    graphs = as_batch(made)
    WeisfeilerLehman(5).resolve(graphs).features(graphs)


QUESTION = Question(
    "Weisfeiler-Lehman features",
    "graphs",
    sizes=(2000, 4000, 8000, 16000, 32000),
    quick=(500, 1000, 2000),
    contenders={"cfmgml": Contender(lambda n: make_graphs(n, alphabet=5000), ours)},
    exponent=1.05,
)

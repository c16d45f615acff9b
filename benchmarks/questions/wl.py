"""Weisfeiler-Lehman, 5 refinements: the Gram matrix of labelled graphs, not normalised."""

from made_graphs import as_batch, as_grakel, as_networkx, make_graphs
from questions import Contender, Goal, Question


def ours(made):
    from cfmgml import WeisfeilerLehman, gram_matrix

    return gram_matrix(WeisfeilerLehman(5), as_batch(made), normalize=False)


def ours_float32(made):
    from cfmgml import WeisfeilerLehman, gram_matrix

    return gram_matrix(WeisfeilerLehman(5), as_batch(made), normalize=False, dtype="float32")


def grakel(graphs):
    from grakel import VertexHistogram, WeisfeilerLehman

    return WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram).fit_transform(graphs)


def graphkit(graphs):
    from gklearn.kernels import WLSubtree

    kernel = WLSubtree(node_labels=["label"], edge_labels=[], ds_infos={"directed": False}, height=5)
    return kernel.compute(graphs, parallel=None, n_jobs=1, normalize=False, verbose=0)[0]


QUESTION = Question(
    "Weisfeiler-Lehman Gram matrix",
    "graphs",
    sizes=(500, 1000, 2000, 3000, 4000, 8000),
    quick=(200, 400),
    contenders={
        "cfmgml": Contender(make_graphs, ours),
        "cfmgml float32": Contender(make_graphs, ours_float32),
        "GraKeL": Contender(lambda n: as_grakel(make_graphs(n)), grakel, "grakel"),
        "graphkit-learn": Contender(lambda n: as_networkx(make_graphs(n)), graphkit, "graphkit-learn", largest=500),
    },
    reference="GraKeL",
    exponent=2.05,
    goals=(
        Goal("cfmgml", "GraKeL", 3000, 30),
        Goal("cfmgml float32", "GraKeL", 3000, 30),
        Goal("cfmgml", "GraKeL", 8000, 45),
        Goal("cfmgml float32", "GraKeL", 8000, 45),
        Goal("cfmgml", "GraKeL", 8000, 10, "memory"),
        Goal("cfmgml float32", "GraKeL", 8000, 10, "memory"),
    ),
    warm_up=60,  # few graphs have no rare colours, which are added by a loop of their own
    note="Counts are whole numbers below 2^24, so float32 holds them exactly.",
)

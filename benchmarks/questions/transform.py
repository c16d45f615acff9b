"""Kernel values of new graphs against fitted ones, a quarter as many: Weisfeiler-Lehman, and GraphHopper rbf."""

from made_graphs import as_batch, as_grakel, make_graphs
from questions import Contender, Question
from questions.hopper_rbf import GAMMA


def both(n, **options):
    return make_graphs(n, **options), make_graphs(max(n // 4, 2), seed=1, **options)


def ours_wl(sides):
    from cfmgml import WeisfeilerLehman, gram_matrix

    fitted, new = map(as_batch, sides)
    return gram_matrix(WeisfeilerLehman(5), new, fitted, normalize=False)


def grakel_wl(sides):
    from grakel import VertexHistogram, WeisfeilerLehman

    return WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram).fit(sides[0]).transform(sides[1])


def ours_hopper(sides):
    from cfmgml import GraphHopper, gram_matrix

    fitted, new = map(as_batch, sides)
    return gram_matrix(GraphHopper(gamma=GAMMA), new, fitted, normalize=False)


def grakel_hopper(sides):
    from grakel import GraphHopper

    return GraphHopper(kernel_type=("gaussian", GAMMA)).fit(sides[0]).transform(sides[1])


def grakel_input(n, attributes):
    return [as_grakel(side, attributes > 0) for side in both(n, n_attributes=attributes)]


QUESTION = Question(
    "New graphs against fitted ones",
    "fitted graphs",
    sizes=(250, 500, 1000),
    quick=(40, 80),
    contenders={
        "cfmgml WL": Contender(both, ours_wl),
        "GraKeL WL": Contender(lambda n: grakel_input(n, 0), grakel_wl, "grakel"),
        "cfmgml GraphHopper": Contender(lambda n: both(n, n_attributes=100), ours_hopper),
        "GraKeL GraphHopper": Contender(lambda n: grakel_input(n, 100), grakel_hopper, "grakel"),
    },
    note="GraphHopper with 100 attributes; GraKeL's time includes fitting, as ours includes reading the fitted graphs.",
)

"""GraphHopper, rbf, through a Nystrom map of the nodes: at most 1 % of relative Frobenius error."""

from made_graphs import as_batch, as_grakel
from questions import Contender, Goal, Question
from questions.hopper_rbf import GAMMA, grakel, nodes, ours

N_COMPONENTS = 256


def nystrom(made):
    from cfmgml import GraphHopper, gram_matrix

    kernel = GraphHopper(gamma=GAMMA, approximation="nystrom", n_components=N_COMPONENTS)
    return gram_matrix(kernel, as_batch(made), normalize=False, dtype="float32")


QUESTION = Question(
    "GraphHopper, rbf, approximate",
    "graphs",
    sizes=(500, 1000, 2000),
    quick=(30, 60),
    contenders={
        "cfmgml Nystrom": Contender(nodes, nystrom),
        "cfmgml exact float32": Contender(nodes, ours("float32")),
        "GraKeL": Contender(lambda n: as_grakel(nodes(n), True), grakel, "grakel"),
    },
    reference="cfmgml exact float32",
    goals=(Goal("cfmgml Nystrom", "GraKeL", 2000, 60),),
    note=f"{N_COMPONENTS} landmarks. The difference is relative, in the Frobenius norm.",
)

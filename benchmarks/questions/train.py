"""Training on bags of digits, Gram matrix given: `cccp`, the paper's algorithm, and MI-SVM."""

from functools import cache

from questions import Contender, Question


@cache
def bags_and_kernel(n):
    from cfmgml import NodeSum, Precomputed, gram_matrix
    from cfmgml.datasets import load_digit_bags

    bags = load_digit_bags(subset="train", n_bags=n, random_state=0)
    return bags, Precomputed(gram_matrix(NodeSum(), bags.graphs))


def fit(make):
    def run(given):
        bags, kernel = given
        make(kernel).fit(bags)

    return run


def cccp(kernel):
    from cfmgml import CfMGML

    return CfMGML(kernel, alpha=1e-5)


def paper(kernel):
    from cfmgml import CfMGML

    return CfMGML(kernel, alpha=1e-3, solver="paper", random_state=0)


def mi_svm(kernel):
    from cfmgml.baselines import MISVM

    return MISVM(kernel)


QUESTION = Question(
    "Training on digit bags, Gram matrix given",
    "bags",
    sizes=(75, 150, 300, 600),
    quick=(40, 80),
    contenders={
        "cccp": Contender(bags_and_kernel, fit(cccp)),
        "paper": Contender(bags_and_kernel, fit(paper)),
        "MI-SVM": Contender(bags_and_kernel, fit(mi_svm)),
    },
)

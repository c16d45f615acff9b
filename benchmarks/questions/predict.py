"""Prediction: one bag at a time, and many at once; a model of 1,000 bags compares with landmarks by default."""

from functools import cache

from questions import Contender, Question

KERNELS = {"node sum": 200, "node sum, landmarks": 1000, "Weisfeiler-Lehman": 200}  # bags to learn from


@cache
def model(name):
    from cfmgml import CfMGML, NodeSum, WeisfeilerLehman
    from cfmgml.datasets import load_digit_bags

    kernel = NodeSum() if name.startswith("node sum") else WeisfeilerLehman(2)
    fitted = CfMGML(kernel, n_rounds=1, max_iter=20).fit(load_digit_bags("train", KERNELS[name], random_state=0))
    assert fitted.kernel_.is_explicit == (name != "node sum")
    return fitted


def given(name):
    def prepare(n):
        from cfmgml.datasets import load_digit_bags

        return model(name), load_digit_bags(subset="test", n_bags=n, random_state=0)

    return prepare


def predict(pair):
    fitted, bags = pair
    return fitted.decision_function(bags)


QUESTION = Question(
    "Prediction, models of 200 bags and, through landmarks, of 1,000",
    "bags",
    sizes=(1, 10, 100, 1000, 10000),
    quick=(1, 10),
    contenders={name: Contender(given(name), predict) for name in KERNELS},
    warm_up=1,
    note="Size 1 is the latency of one bag; the largest, over its size, the throughput.",
)

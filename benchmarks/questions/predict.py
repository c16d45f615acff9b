"""Prediction with a model of 200 bags: one bag at a time, and many at once."""

from functools import cache

from questions import Contender, Question


@cache
def model(kernel_name):
    from cfmgml import CfMGML, NodeSum, WeisfeilerLehman
    from cfmgml.datasets import load_digit_bags

    kernel = NodeSum() if kernel_name == "node sum" else WeisfeilerLehman(2)
    return CfMGML(kernel, n_rounds=1, max_iter=20).fit(load_digit_bags(subset="train", n_bags=200, random_state=0))


def given(kernel_name):
    def prepare(n):
        from cfmgml.datasets import load_digit_bags

        return model(kernel_name), load_digit_bags(subset="test", n_bags=n, random_state=0)

    return prepare


def predict(pair):
    fitted, bags = pair
    return fitted.decision_function(bags)


QUESTION = Question(
    "Prediction, model of 200 bags",
    "bags",
    sizes=(1, 10, 100, 1000, 10000),
    quick=(1, 10),
    contenders={
        "node sum": Contender(given("node sum"), predict),
        "Weisfeiler-Lehman": Contender(given("wl"), predict),
    },
    warm_up=1,
    note="Size 1 is the latency of one bag; the largest, over its size, the throughput.",
)

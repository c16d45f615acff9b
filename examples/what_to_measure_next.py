"""
What to measure next
====================

Ask for the labels of the mixtures that the model is least sure of, and compare with chance. The mean over three starts,
in average precision on molecules that are never asked for.

    python examples/what_to_measure_next.py
"""

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures
from cfmgml.metrics import graph_report

pool, test = load_mixtures("train", n_bags=200), load_mixtures("test", n_bags=60)


def quality(chosen):
    model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(pool[chosen])
    return model, graph_report(test.graph_Y, model.decision_function_graphs(test))["average_precision"]


def least_sure(model, left):
    """Mixtures with a label whose score is nearest to 0."""
    return left[np.abs(model.decision_function(pool[left])).min(axis=1).argsort()[:10]]


def run(seed, by_uncertainty):
    rng = np.random.default_rng(seed)
    chosen, history = rng.permutation(pool.n_bags)[:20], []
    for _ in range(5):
        model, found = quality(chosen)
        history.append(found)
        left = np.setdiff1d(np.arange(pool.n_bags), chosen)
        more = least_sure(model, left) if by_uncertainty else rng.permutation(left)[:10]
        chosen = np.concatenate([chosen, more])
    return history


curves = {
    name: np.mean([run(seed, by_uncertainty) for seed in range(3)], axis=0)
    for name, by_uncertainty in (("least sure", True), ("at random", False))
}
print("measured   " + "  ".join(f"{20 + 10 * k:5}" for k in range(5)))
for name, curve in curves.items():
    print(f"{name:10} " + "  ".join(f"{value:.3f}" for value in curve))

# %%
# Is it worth asking?

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, curve in curves.items():
    axes.plot(20 + 10 * np.arange(5), curve, marker="o", label=name)
axes.set(xlabel="mixtures measured", ylabel="average precision of molecules")
axes.legend()

"""
Labels of a bag, handed to its graphs
=====================================

Often a bag's labels are known, and the question is which of its graphs carries which: an archive of pictures with
keywords, abstracts with topics. `CfMGML.annotate` answers it, so that every label goes to some graph and the sum of
scores is largest.

    python examples/annotate.py
"""

import matplotlib.pyplot as plt

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import graph_report

sizes = [25, 50, 100, 200]
test = load_digit_bags("test", n_bags=100)
truth = test.graph_Y.argmax(axis=1)
alone, given = [], []
for n_bags in sizes:
    model = CfMGML(NodeSum(), alpha=1e-4).fit(load_digit_bags("train", n_bags=n_bags))
    alone.append(graph_report(test.graph_Y, model.decision_function_graphs(test))["accuracy"])
    given.append((model.annotate(test).argmax(axis=1) == truth).mean())
    print(f"{n_bags:4} bags: {alone[-1]:.3f} of the digits named, {given[-1]:.3f} with their bag's labels given")

# %%
# With the labels of the bag at hand few bags are enough to learn from.

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(sizes, given, marker="o", label="bag's labels given: annotate")
axes.plot(sizes, alone, marker="o", label="nothing given: predict_graphs")
axes.set(xscale="log", xlabel="bags to learn from", ylabel="digits named rightly", xticks=sizes, xticklabels=sizes)
axes.minorticks_off()
axes.legend()

"""
Pixels that decide
==================

A score is a sum over nodes, so that it splits among them without any approximation: here a digit is asked what speaks
for it being a 3, and for it being an 8.

    python examples/deciding_pixels.py
"""

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import load_digit_bags

model = CfMGML(NodeSum(), alpha=1e-4).fit(load_digit_bags("train", n_bags=200))
test = load_digit_bags("test", n_bags=40)
added = model.explain(test)  # (n_nodes, n_labels)
scores = model.decision_function_graphs(test)

# %%
# What the pixels add is the score less the intercept, which is the same for all digits.

sums = np.add.reduceat(added, test.graphs.node_ptr[:-1])
rest = scores - sums
print("differences from the score that are not the intercept:", f"{np.ptp(rest, axis=0).max():.1e}")

# %%
# Red speaks for the label above, blue against it. Of all threes and eights, the ones that it is surest of.

three, eight = (int(np.where(test.graph_Y[:, digit], scores[:, digit], -np.inf).argmax()) for digit in (3, 8))
figure, rows = plt.subplots(2, 3, figsize=(7.5, 4.8), layout="constrained")
for number, row in zip((three, eight), rows, strict=True):
    nodes = slice(*test.graphs.node_ptr[number : number + 2])
    y, x, ink = test.graphs.node_attributes[nodes, :3].T
    row[0].scatter(x, -y, c=ink, cmap="Greys", vmin=0, s=110, marker="s")
    row[0].set_title(f"a {test.graph_Y[number].argmax()}")
    for label, axes in zip((3, 8), row[1:], strict=True):
        most = np.abs(added[nodes]).max()
        axes.scatter(x, -y, c=added[nodes, label], cmap="RdBu_r", vmin=-most, vmax=most, s=110, marker="s")
        axes.set_title(f"is it a {label}? {scores[number, label]:+.2f}")
    for axes in row:
        axes.set_aspect("equal")
        axes.axis("off")

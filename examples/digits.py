"""
Digits named from labels of bags
================================

Bags of 2 to 5 handwritten digits. What is known is which digits are somewhere in a bag, not which is which; the model
names every digit all the same.

    python examples/digits.py
"""

import matplotlib.pyplot as plt

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import bag_report, graph_report

train = load_digit_bags("train", n_bags=250)
test = load_digit_bags("test", n_bags=60)  # of other digits
model = CfMGML(NodeSum(), alpha=1e-4).fit(train)

scores = model.decision_function_graphs(test)
print(f"bags:   average precision {bag_report(test.Y, model.decision_function(test))['average_precision']:.3f}")
print(f"digits: accuracy {graph_report(test.graph_Y, scores)['accuracy']:.3f}, and no digit was ever named to it")

# %%
# Six bags that it has not seen. A digit is a graph of its inked pixels, which know their place and how dark they are.


def draw(axes, graph, title):
    y, x, ink = graph.node_attributes[:, :3].T
    axes.scatter(x, -y, c=ink, cmap="Greys", vmin=0, s=28, marker="s")
    axes.set_title(title, fontsize=15)
    axes.set_aspect("equal")
    axes.axis("off")


named, truth = model.label_names_[scores.argmax(axis=1)], test.graph_Y.argmax(axis=1).astype(str)
figure, rows = plt.subplots(6, 5, figsize=(5, 7), layout="constrained")
for row in rows.flat:
    row.axis("off")
for bag, row in enumerate(rows):
    for number, axes in zip(range(*test.bag_ptr[bag : bag + 2]), row, strict=False):
        draw(axes, test.graphs[number], named[number])
        axes.title.set_color("tab:green" if named[number] == truth[number] else "tab:red")

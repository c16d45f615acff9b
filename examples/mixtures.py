"""
Which molecule of a mixture
===========================

What is known is known of the mixture; the model says which molecule it is that carries it.

    python examples/mixtures.py
"""

import matplotlib.pyplot as plt

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures
from cfmgml.metrics import bag_report, graph_report

train, test = load_mixtures("train"), load_mixtures("test", n_bags=50)  # no molecule is in both
model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(train)  # sees no molecule's own labels

scores = model.decision_function_graphs(test)
print(f"mixtures:  average precision {bag_report(test.Y, model.decision_function(test))['average_precision']:.3f}")
print(f"molecules: average precision {graph_report(test.graph_Y, scores)['average_precision']:.3f}")

# %%
# The first mixture, molecule by molecule:

first = slice(*test.bag_ptr[:2])
for number in range(*test.bag_ptr[:2]):
    found = ", ".join(model.label_names_[scores[number] > 0]) or "none"
    truth = ", ".join(test.label_names[test.graph_Y[number]]) or "none"
    print(f"  {test.graph_names[number]:24} predicted {found:20} true {truth}")

# %%
# All scores of the mixture's molecules; a ring marks what is true, and nobody told the model.

figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
shown = axes.imshow(scores[first], cmap="RdBu_r", vmin=-2, vmax=2)
rows, columns = test.graph_Y[first].nonzero()
axes.scatter(columns, rows, s=220, facecolors="none", edgecolors="black")
axes.set_xticks(range(len(model.label_names_)), model.label_names_, rotation=45, ha="right")
axes.set_yticks(range(first.stop), test.graph_names[first])
figure.colorbar(shown, label="score")

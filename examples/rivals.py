"""
Rivals, side by side
====================

Every method keeps the same contract, so that comparing them is a loop. One alpha and one C each, those of the demo: a
picture of what there is to compare, not a ranking (`results <../results/index.html>`_ has those).

    python examples/rivals.py
"""

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.baselines import HLK, M3MIML, MISVM, Dummy, SgslSVM
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import bag_report, graph_report

train, test = load_digit_bags("train", n_bags=150), load_digit_bags("test", n_bags=80)
METHODS = {
    "Dummy: the most frequent label": Dummy(),
    "HLK: no comparison of labels": HLK(NodeSum(), alpha=2e-5),
    "M3MIML": M3MIML(NodeSum()),
    "MI-SVM": MISVM(NodeSum()),
    "CfMGML": CfMGML(NodeSum(), alpha=1e-4),
    "an SVM told every digit": SgslSVM(NodeSum()),
}

found = {}
for name, method in METHODS.items():
    method.fit(train)
    bags = bag_report(test.Y, method.decision_function(test))
    digits = graph_report(test.graph_Y, method.decision_function_graphs(test))
    found[name] = bags["average_precision"], bags["macro_f1"], digits["accuracy"]
    print(f"{name:32} bags {found[name][0]:.3f}, digits {found[name][2]:.3f}")

# %%
# The last one is told every digit's label, which the others never see: the ceiling.

titles = ("bags: average precision", "bags: macro-F1", "digits: accuracy")
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for values, title, marker in zip(np.transpose(list(found.values())), titles, "os^", strict=True):
    axes.scatter(values, range(len(found)), label=title, marker=marker, s=60, alpha=0.8)
axes.set_yticks(range(len(found)), found)
axes.grid(axis="y", alpha=0.3)
axes.legend(loc="upper left")

"""
Choosing alpha and a kernel
===========================

How strongly to hold the model back, and by what to compare graphs, is decided on bags that it did not learn from.
`choose_alpha` computes kernel values once for all folds and all alphas.

    python examples/choosing_alpha.py
"""

import matplotlib.pyplot as plt

from cfmgml import CfMGML, NodeSum, WeisfeilerLehman
from cfmgml.datasets import load_digit_bags
from cfmgml.metrics import bag_report
from cfmgml.model_selection import choose_alpha

train, test = load_digit_bags("train", n_bags=100), load_digit_bags("test", n_bags=60)
ALPHAS = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5]
KERNELS = {
    "pixels: NodeSum()": NodeSum(),
    "coarse places and neighbours: WeisfeilerLehman(1)": WeisfeilerLehman(1),
}

# %%
# The folds are over bags: graphs of one bag never are on both sides.

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for name, kernel in KERNELS.items():
    choice = choose_alpha(CfMGML(kernel), train, alphas=ALPHAS)
    model = CfMGML(kernel, alpha=choice.alpha).fit(train)
    kept = bag_report(test.Y, model.decision_function(test))["average_precision"]
    print(
        f"{name:50} alpha {choice.alpha:g}: {choice.scores[choice.alpha]:.3f} in folds, {kept:.3f} on bags kept aside"
    )
    (line,) = axes.plot(list(choice.scores), list(choice.scores.values()), marker="o", label=name)
    axes.axhline(kept, color=line.get_color(), linestyle=":")
axes.set(xscale="log", xlabel="alpha", ylabel="average precision of bags")
axes.legend(title="in folds; dotted: on bags kept aside")

"""
Sentences that carry a subject
==============================

Letters with subjects; which sentence is about what was never told. New letters are answered sentence by sentence, and
the words that decided are coloured.

    python examples/sentences.py
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML
from cfmgml.datasets import bags_from_texts
from cfmgml.model_selection import kernel_named
from cfmgml.plots import plot_bag

WORDS = {
    "music": ["melody", "rhythm", "orchestra", "violin", "concert", "singer", "harmony", "drums", "choir", "piano"],
    "sport": ["goal", "match", "referee", "player", "season", "trainer", "league", "stadium", "team", "penalty"],
    "cooking": ["recipe", "butter", "oven", "flour", "pepper", "kitchen", "dough", "garlic", "onion", "pan"],
}
rng = np.random.default_rng(0)


def letter(subjects):
    chosen = [rng.choice(WORDS[subject], 4, replace=False) for subject in subjects]
    return " ".join("The " + " and the ".join(words) + " were good." for words in chosen)


subjects = [rng.choice(list(WORDS), rng.integers(1, 3), replace=False).tolist() for _ in range(80)]
Y = [[subject in names for subject in WORDS] for names in subjects]
bags = bags_from_texts([letter(names) for names in subjects], Y, label_names=list(WORDS))
model = CfMGML(kernel_named("auto", bags), alpha=1e-3).fit(bags)

# %%
# A letter written by hand.

text = (
    "The violin was out of tune, but the choir saved the concert. "
    "Before that our team lost the match by a late penalty. "
    "At home there was garlic and butter in the pan."
)
new = model.builder_.rebuild([text])
scores = model.decision_function_graphs(new)
for sentence, best in zip(new.graph_texts, scores.argmax(axis=1), strict=True):
    print(f"{model.label_names_[best]:8} {sentence}")

# %%
# What spoke for music?

axes = plt.figure(figsize=(9, 3.6)).add_axes((0.02, 0.02, 0.96, 0.86))
named = replace(new, label_names=model.label_names_)
plot_bag(named, scores=scores, contributions=model.explain(new), label="music", ax=axes)

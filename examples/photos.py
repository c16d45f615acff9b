"""
Regions of photos
=================

Small crops of seven photos, with the names of what is somewhere in a crop: nobody says where. The whole photo is then
cut into regions, and each is named. The photos come with scikit-image and scikit-learn.

    python examples/photos.py
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.demo.models import load_photos, photo_bags
from cfmgml.plots import plot_bag

photos = load_photos()
crops = photo_bags(photos, n_crops=16, seed=0)  # 320 pixels wide at most, described by colours and gradients
print(crops)
model = CfMGML(NodeSum(gamma=crops.builder.gamma), alpha=1e-3).fit(crops)

# %%
# Three of the photos as a whole. They are the ones it saw crops of: see what it does, not how good it is.

shown = [photos[name][::2, ::2] for name in ("coffee", "china", "rocket")]
new = model.builder_.rebuild(shown)
new = replace(new, label_names=model.label_names_)
scores = model.decision_function_graphs(new)
figure, row = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for bag, axes in enumerate(row):
    plot_bag(new, bag, image=shown[bag], scores=scores, ax=axes)
    best = np.argsort(model.decision_function(new)[bag])[::-1][:3]
    print(", ".join(model.label_names_[best]))

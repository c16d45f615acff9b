"""
Painting a photo
================

Every pixel gets one of the labels, or none, by a model that was told only what is somewhere in a crop.

    python examples/painting.py
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.builders.painted import label_map
from cfmgml.demo.models import load_photos, photo_bags
from cfmgml.plots import plot_bag

photos = {name: photo for name, photo in load_photos().items() if name in ("chelsea", "coffee", "flower", "hubble")}
crops = photo_bags(photos, n_crops=16, seed=0)
model = CfMGML(NodeSum(gamma=crops.builder.gamma), alpha=1e-3).fit(crops)

# %%
# `paint` says for each superpixel which label it has, `label_map` for each pixel.

photo = photos["coffee"][::2, ::2]
bags = replace(model.builder_.rebuild([photo]), label_names=model.label_names_, bag_names=np.array(["coffee"]))
painted = model.paint(bags)
pixels = label_map(bags, painted, image=photo)
for label, name in enumerate(model.label_names_):
    if (share := (pixels == label).mean()) > 0.01:
        print(f"{name:8} {share:.0%} of the pixels")

# %%

plot_bag(bags, image=photo, painted=painted)
plt.gcf().set_size_inches(5, 5)

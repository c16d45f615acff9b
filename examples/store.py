"""
More bags than memory holds
===========================

Bags on disk, learned from partition by partition: memory holds one at a time. The features are hashed and need no
dictionary. Up to the solver's tolerance, the model is that of a fit in memory.

    python examples/store.py
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cfmgml import CfMGML
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels import HashedWL
from cfmgml.metrics import bag_report
from cfmgml.scale import fit_store, predict_store
from cfmgml.stores import BagStore

train, test = load_digit_bags("train", n_bags=300), load_digit_bags("test", n_bags=80)
folder = Path(tempfile.mkdtemp())
train.to_store(folder / "train", graphs_per_partition=200)
store = BagStore(folder / "train")
print(f"{store.n_bags} bags in {len(list((folder / 'train').glob('*.parquet')))} partitions")

# %%
# Learn from the store, and from memory, and compare. ``engine="joblib"`` uses local processes, ``"dask"`` a cluster.

settings = {"kernel": HashedWL(n_iter=1, n_bits=14), "alpha": 1e-3}
model = fit_store(CfMGML(**settings), store, engine="inline")
in_memory = CfMGML(**settings).fit(train)
scores, same = model.decision_function(test), in_memory.decision_function(test)
print(f"average precision {bag_report(test.Y, scores)['average_precision']:.3f}")
print(f"largest difference from a fit in memory: {np.abs(scores - same).max():.1e}")

# %%
# Predictions go to a folder as well, a file a partition.

predict_store(model, store, folder / "scores", level=("bag", "graph"))
print(sorted(path.name for path in (folder / "scores").iterdir()))

# %%
# Bags may also come as a stream: each is seen once, and the model is usable all the time.

stream, history = CfMGML(**settings), []
for start in range(0, 300, 30):
    stream.partial_fit(train[start : start + 30])
    history.append(bag_report(test.Y, stream.decision_function(test))["average_precision"])

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(range(30, 301, 30), history, marker="o", label="as bags come: partial_fit")
axes.axhline(bag_report(test.Y, scores)["average_precision"], color="tab:orange", label="all of the store: fit_store")
axes.set(xlabel="bags seen", ylabel="average precision of bags")
axes.legend()

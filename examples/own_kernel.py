"""
A kernel of your own
====================

Any function of two batches of graphs that gives their similarities is a kernel. Here graphs are compared by how many
nodes they have of each degree, and the library's own kernel is beside it.

    python examples/own_kernel.py
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from cfmgml import CfMGML, GraphBatch, WeisfeilerLehman, gram_matrix
from cfmgml.data.bags import BagDataset


def degrees(graphs):
    """Rows of (n_graphs, 6): how many nodes have 0, 1, 2, ... neighbours."""
    degree = np.minimum(np.bincount(graphs.edges.ravel(), minlength=graphs.n_nodes), 5)
    owner = np.repeat(np.arange(len(graphs)), np.diff(graphs.node_ptr))
    return np.bincount(6 * owner + degree, minlength=6 * len(graphs)).reshape(-1, 6).astype(float)


def same_degrees(a, b):
    """How alike two graphs' degrees are, for all pairs: (len(a), len(b))."""
    return degrees(a) @ degrees(b).T


# %%
# Rings and chains, whose nodes all have the same label: only how they hang together can tell them apart.

rng = np.random.default_rng(0)
is_ring = rng.random(80) < 0.5
graphs = [(nx.cycle_graph if ring else nx.path_graph)(int(rng.integers(4, 12))) for ring in is_ring]
for graph in graphs:
    nx.set_node_attributes(graph, 0, "label")
batch = GraphBatch.from_networkx(graphs, label="label")
pairs = is_ring.reshape(-1, 2)
bags = BagDataset(
    batch, np.arange(0, 81, 2), np.column_stack([~pairs.all(1), pairs.any(1)]), label_names=["chain", "ring"]
)

for name, kernel in (("degrees", same_degrees), ("Weisfeiler-Lehman", WeisfeilerLehman(2))):
    model = CfMGML(kernel, alpha=1e-3).fit(bags[:30])
    right = model.predict_graphs(bags[30:])[:, 1] == is_ring[60:]
    print(f"{name:18} {right.mean():.2f} of the new graphs")

# %%
# Both Gram matrices, rings first.

order = np.argsort(~is_ring, kind="stable")
figure, both = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for axes, kernel, title in zip(
    both, (same_degrees, WeisfeilerLehman(2)), ("degrees", "Weisfeiler-Lehman"), strict=True
):
    axes.imshow(gram_matrix(kernel, batch[order]), cmap="viridis", vmin=0, vmax=1)
    axes.set(title=title, xticks=[], yticks=[])

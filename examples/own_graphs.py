"""
Your own graphs, from networkx
==============================

Parts in drawings, calls in programs, rings and chains: whatever networkx holds, as lists of graphs with the names of
what is among them.

    python examples/own_graphs.py
"""

import networkx as nx
import numpy as np

from cfmgml import BagDataset, CfMGML, WeisfeilerLehman
from cfmgml.plots import plot_bag

MAKE = {"ring": nx.cycle_graph, "chain": nx.path_graph, "star": nx.star_graph, "tree": nx.full_rary_tree}
rng = np.random.default_rng(0)


def drawn(kind):
    size = int(rng.integers(6, 11))
    graph = MAKE[kind](2, size) if kind == "tree" else MAKE[kind](size)
    nx.set_node_attributes(graph, "o", "label")
    return graph


def bag():
    kinds = rng.choice(list(MAKE), size=rng.integers(1, 4), replace=False).tolist()
    return [drawn(kind) for kind in kinds], kinds


# %%
# Sixty bags to learn from: for each the graphs in it and the set of their kinds, in no order.

lists, kinds = zip(*(bag() for _ in range(60)), strict=True)
bags = BagDataset.from_graphs(lists, [set(names) for names in kinds], label_names=list(MAKE), label="label")
model = CfMGML(WeisfeilerLehman(n_iter=3), alpha=1e-3).fit(bags)

# %%
# New bags: each graph is named.

lists, kinds = zip(*(bag() for _ in range(30)), strict=True)
new = BagDataset.from_graphs(lists, [set(names) for names in kinds], label_names=list(MAKE), label="label")
scores = model.decision_function_graphs(new)
found = model.label_names_[scores.argmax(axis=1)]
print(f"{np.mean(found == [kind for names in kinds for kind in names]):.3f} of {new.n_graphs} graphs named rightly")

# %%
# One of them, its nodes coloured by what they say for the first of its labels.

largest = int(np.diff(new.bag_ptr).argmax())
plot_bag(new, largest, scores=scores, contributions=model.explain(new))

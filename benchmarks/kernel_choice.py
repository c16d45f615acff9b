"""What ``train --kernel auto`` takes and gains: graphs with attributes and labels, told apart by either.

    OMP_NUM_THREADS=1 python benchmarks/kernel_choice.py

For each data set: the kernel of attributes alone, which ``auto`` was before, and the choice among nodes,
Weisfeiler-Lehman and their sum, each with alpha by 3 inner folds and a fit on all training bags. Average precision is
of bags never seen; seconds are of the CPU.
"""

import time

import networkx as nx
import numpy as np

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.datasets import load_digit_bags
from cfmgml.model_selection import candidate_kernels, choose_alpha, choose_kernel_and_alpha

SHAPES = {"ring": nx.cycle_graph, "chain": nx.path_graph, "star": nx.star_graph}


def shapes(n_bags, seed):
    """Bags of one or two of a ring, a chain and a star; labels of nodes say little, attributes nothing."""
    rng = np.random.default_rng(seed)
    bags, labels = [], []
    for _ in range(n_bags):
        kinds = rng.choice(list(SHAPES), size=rng.integers(1, 3), replace=False).tolist()
        made = [SHAPES[kind](int(rng.integers(4, 8))) for kind in kinds]
        for graph in made:
            for node in graph:
                graph.nodes[node].update(label="N" if rng.random() < 0.1 else "C", attributes=rng.normal(size=2))
        bags.append(made)
        labels.append(kinds)
    return BagDataset.from_graphs(bags, labels)


def main():
    data = {
        "rings, chains, stars": (shapes(200, 0), shapes(200, 1)),
        "digits": (load_digit_bags("train", 300), load_digit_bags("test", 200)),
    }
    print("| data | kernel | average precision | CPU s |\n|---|---|---|---|")
    for name, (train, test) in data.items():
        CfMGML(NodeSum(), alpha=1e-2, max_iter=2).fit(train[:5])  # compiles
        start = time.process_time()
        alpha = choose_alpha(CfMGML(NodeSum()), train).alpha
        model = CfMGML(NodeSum(), alpha=alpha).fit(train)
        print(f"| {name} | nodes | {model.score(test):.3f} | {time.process_time() - start:.1f} |", flush=True)
        start, kernels = time.process_time(), candidate_kernels(train)
        choice = choose_kernel_and_alpha(CfMGML(), train, kernels)
        model = CfMGML(kernels[choice.name], alpha=choice.alpha).fit(train)
        taken = f"auto: {choice.name}"
        print(f"| {name} | {taken} | {model.score(test):.3f} | {time.process_time() - start:.1f} |", flush=True)


if __name__ == "__main__":
    main()

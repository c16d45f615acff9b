"""What weight place has beside a network's maps, and which gamma: chosen inside training photos.

    python benchmarks/deep_settings.py --path DATA

Of the training photos of the first of ten folds (seed 0), the bags' average precision and the accuracy of graphs in one
third that the other two did not see; MSRC v2 and VOC 2012, node sum by 600 Nystrom features, alpha 1e-4. The rule, set
before the run: the mean of the four figures decides, and the middle of the grid stays unless another is ahead by .003.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.builders.pictures.encoded_nodes import PLACE_WEIGHT
from cfmgml.datasets import load_msrc_v2, load_voc2012
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.metrics import bag_report, graph_report


def figures(bags, gamma, weight):
    start = bags.info["columns"]["centre_in_image"][0]
    rows = bags.graphs.node_attributes.copy()
    rows[:, start:] *= weight / PLACE_WEIGHT
    bags = replace(bags, graphs=replace(bags.graphs, node_attributes=rows))
    inner = next(fold for fold in make_folds(bags, FoldPlan()) if (fold.outer, fold.inner) == (0, 0))
    kernel = NodeSum(gamma=gamma, approximation="nystrom", n_components=600, random_state=0)
    model, test = CfMGML(kernel, alpha=1e-4).fit(bags[inner.train]), bags[inner.test]
    scores = model.decision_function_graphs(test)
    precision = bag_report(test.Y, model.decision_function(test))["average_precision"]
    return precision, graph_report(test.graph_Y, scores)["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True, help="the folder of data sets")
    path = parser.parse_args().path
    data = [
        load(path, features="deep", nodes="attributes", **more)
        for load, more in ((load_msrc_v2, {}), (load_voc2012, {"min_pixels": 20}))
    ]
    heads = [
        f"{name}: {measure}" for name in ("MSRC v2", "VOC 2012") for measure in ("avg. precision", "graph accuracy")
    ]
    print("|", " | ".join(["gamma", "weight of place", *heads, "mean"]), "|")
    print("|---|---|---|---|---|---|---|")
    for gamma, weight in [(0.25, 0.0), (0.25, 0.5), (0.25, 1.0), (0.125, 0.5), (0.5, 0.5)]:
        found = [value for bags in data for value in figures(bags, gamma, weight)]
        print(
            "|",
            " | ".join([str(gamma), str(weight), *(f"{value:.4f}" for value in [*found, np.mean(found)])]),
            "|",
            flush=True,
        )


if __name__ == "__main__":
    main()

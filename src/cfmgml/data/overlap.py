"""Graphs that are in several bags: a cited paper is in every bag that cites it.

Folds drawn over bags then put one graph on both sides, and a model is tested on what it has seen.
`shared_graph_groups` numbers the bags so that scikit-learn's ``GroupKFold`` keeps those together. Where nearly all bags
hang together, which citations do, that leaves no folds: measure the graphs that `seen_graphs` says are new instead.
"""

from typing import Any

import numpy as np
from scipy import sparse

from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import BoolArray, IntArray, NameArray
from cfmgml.data.bags import BagDataset


def shared_graph_groups(bags: BagDataset) -> IntArray:
    """A group number for each bag, (n_bags,): bags that share a graph, directly or through other bags, have the same.

    Graphs are the same if their ``graph_names`` are. Joined bags (``single_graph=True``) have no names of their parts:
    take the groups of the same bags not joined.

    >>> from cfmgml.builders.texts.texts import bags_from_texts
    >>> texts = {"a": "Graph kernels.", "b": "Query plans.", "c": "Text mining.", "d": "Face detection."}
    >>> papers = [["a", "b"], ["c"], ["b", "d"]]
    >>> bags = bags_from_texts([[texts[p] for p in paper] for paper in papers], graph_names=sum(papers, []))
    >>> shared_graph_groups(bags)
    array([0, 1, 0])
    """
    if bags.graph_names is None:
        raise ValueError("bags must have graph_names, which tell the same graph in two bags; these have none.")
    return name_groups(bags.graph_names, bags.bag_ptr)


def seen_graphs(train: BagDataset, test: BagDataset) -> BoolArray:
    """Whether each graph of ``test`` is also in ``train``, by name, (n_graphs,).

    >>> from cfmgml.builders.texts.texts import bags_from_texts
    >>> train = bags_from_texts([["Graph kernels.", "Query plans."]], graph_names=["a", "b"])
    >>> test = bags_from_texts([["Query plans.", "Face detection."]], graph_names=["b", "d"])
    >>> seen_graphs(train, test)
    array([ True, False])
    """
    for name, bags in (("train", train), ("test", test)):
        if bags.graph_names is None:
            raise ValueError(f"{name} must have graph_names, which tell the same graph in two bags; it has none.")
    return np.isin(test.graph_names, train.graph_names)  # type: ignore[arg-type]


def name_groups(names: NameArray | IntArray, bag_ptr: IntArray) -> IntArray:
    """Connected components of bags under "has a graph of the same name", numbered in the order of the bags."""
    distinct, graph = np.unique(names, return_inverse=True)
    bag = segment_ids(bag_ptr)
    n_bags = len(bag_ptr) - 1
    size = n_bags + len(distinct)
    links = sparse.coo_array((np.ones(len(bag), dtype=np.int8), (bag, n_bags + graph)), shape=(size, size))
    _, component = sparse.csgraph.connected_components(links, directed=False)
    _, first, group = np.unique(component[:n_bags], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[group]


def overlap_summary(names: NameArray | IntArray, bag_ptr: IntArray) -> dict[str, Any]:
    """How much bags share, for ``info["overlap"]``; ``names``, or numbers, tell which graphs are the same."""
    _, graph = np.unique(names, return_inverse=True)
    in_bags = np.unique(np.stack([graph, segment_ids(bag_ptr)]), axis=1)[0]  # a graph once a bag
    times = np.bincount(in_bags)
    group_sizes = np.bincount(name_groups(names, bag_ptr))
    return {
        "n_graphs": len(names),
        "n_distinct_graphs": len(times),
        "n_shared_graphs": int((times > 1).sum()),
        "n_groups": len(group_sizes),
        "largest_group": int(group_sizes.max()),
        "note": "Folds over bags put shared graphs on both sides; see shared_graph_groups and seen_graphs.",
    }

"""Data sets that methods are compared on: `own_data` makes one of anybody's bags.

A data set is read once and seen in several ways (`cfmgml.evaluation.representations`), all with the same bags in the
same order, so one set of folds serves all methods.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cfmgml.common.typing import BoolArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary
from cfmgml.kernels import Kernel
from cfmgml.reading.contents import same_graphs

Load = Callable[[Path | None], BagDataset]


@dataclass(frozen=True)
class DataSet:
    """A column of the tables."""

    key: str
    title: str
    about: str
    load: Load
    kernel: Kernel
    column: str | None = None  # what published tables call it
    load_single: Load | None = None  # each bag joined to one graph
    shared: bool = False  # bags share graphs
    apart: bool = True  # if they do, a second set of folds keeps them apart
    ranked: bool = False  # counts in the average ranks; one variant of each data set does
    stand_in: str | None = None  # what it stands in for
    has_graph_labels: bool = True
    methods: tuple[str, ...] | None = None  # those run unless others are asked for; None for the default ones
    n_graphs: int = 0  # about, for telling how long a run will take
    texts: bool = False  # bags have the texts that they were built from: compare with what people do with texts

    @property
    def mark(self) -> str:
        """The title as tables print it; a dagger marks what stands in for other data."""
        return f"{self.title}†" if self.stand_in else self.title


def own_data(bags: BagDataset, name: str, kernel: Kernel, apart: bool = False) -> DataSet:
    """Bags of one's own as a data set.

    Graphs that are the same by content are one graph, whatever they are called. With ``apart``, where bags share some,
    a second set of folds shares none.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.kernels import NodeSum
    >>> own_data(load_digit_bags(n_bags=20), "digits", NodeSum()).title
    'digits'
    """
    if bags.Y is None:
        raise ValueError("these bags have no labels (Y) to measure against.")
    numbers = same_graphs(bags)
    shared = overlap_summary(numbers, bags.bag_ptr)["n_shared_graphs"] > 0
    bags = replace(bags, graph_names=numbers.astype(np.str_))
    about = str(bags.info.get("description") or f"{bags.n_bags:,} bags")
    return DataSet(
        name, name, about.rstrip("."), lambda path: bags, kernel, load_single=lambda path: joined(bags), shared=shared,
        apart=apart, n_graphs=bags.n_graphs, texts=bags.graph_texts is not None,
    )  # fmt: skip


def joined(bags: BagDataset) -> BagDataset:
    """Each bag as one graph: its graphs side by side, with no edge between them.

    >>> from cfmgml.data.graphs import GraphBatch
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3, 4], edge_ptr=[0, 0, 1, 1], edges=[[1], [2]], node_labels=[5, 6, 7, 8])
    >>> joined(BagDataset(graphs, bag_ptr=[0, 2, 3], Y=[[1], [0]])).graphs.node_ptr
    array([0, 3, 4])
    """
    node_ptr, edge_ptr = bags.graphs.node_ptr[bags.bag_ptr], bags.graphs.edge_ptr[bags.bag_ptr]
    graphs = replace(bags.graphs, node_ptr=node_ptr, edge_ptr=edge_ptr, graph_ids=np.arange(bags.n_bags))
    bare = replace(bags, graph_Y=None, graph_names=None, graph_texts=None)  # of which there is one a graph
    return replace(bare, graphs=graphs, bag_ptr=np.arange(bags.n_bags + 1), graph_names=bags.bag_names)


def draw_bags(bags: BagDataset, n: int | None, seed: int) -> BoolArray:
    """Which bags a quick run takes: ``n`` of them, drawn by seed; all if there are no more."""
    chosen = np.zeros(bags.n_bags, dtype=bool)
    chosen[np.random.default_rng(seed).permutation(bags.n_bags)[:n]] = True
    return chosen

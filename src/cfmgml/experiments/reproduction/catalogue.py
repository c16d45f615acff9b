"""The data sets of the tables: the paper's, what stands in for those that are not public, and Hallmarks.

A data set is read once and seen in several forms (`Form`): its graphs under a kernel, joined to one graph a bag, as
vectors, with node labels only. All forms have the same bags in the same order, so one set of folds serves all methods.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.common.typing import BoolArray
from cfmgml.data.bags import BagDataset
from cfmgml.datasets import load_cora_topics, load_dblp, load_hallmarks, load_msrc_v2, load_scene, load_voc2012
from cfmgml.kernels import GraphHopper, Kernel, NodeSum, WeisfeilerLehman

Load = Callable[[Path | None], BagDataset]


@dataclass(frozen=True)
class DataSet:
    """A column of the tables."""

    key: str
    title: str
    about: str
    load: Load
    kernel: Kernel
    column: str | None = None  # of the paper's tables
    load_single: Load | None = None  # each bag joined to one graph
    shared: bool = False  # bags share graphs
    apart: bool = True  # if they do, a second set of folds keeps them apart
    ranked: bool = False  # counts in the average ranks; one variant of each data set does
    stand_in: str | None = None  # what it stands in for
    has_graph_labels: bool = True
    methods: tuple[str, ...] | None = None  # those run unless others are asked for; None for all
    n_graphs: int = 0  # about, for telling how long a run will take

    @property
    def mark(self) -> str:
        """The title as tables print it; a dagger marks what stands in for the paper's own data."""
        return f"{self.title}†" if self.stand_in else self.title


# -- variants of pictures --------------------------------------------------------------------


def with_features(bags: BagDataset, features: str) -> BagDataset:
    """Rich image nodes as the paper's or as Hellinger-scaled ones, which are the first columns of them.

    The paper's histograms are the squares of the square-rooted ones: the same as built anew, up to rounding.
    """
    if features == "rich":
        return bags
    attributes = bags.graphs.node_attributes
    assert attributes is not None
    (start, split), (_, stop) = bags.info["columns"]["rgb_histogram"], bags.info["columns"]["hog"]
    kept = attributes[:, start:stop]
    if features == "paper":
        kept = np.concatenate([kept[:, : split - start] ** 2, kept[:, split - start :]], axis=1)
    return replace(bags, graphs=replace(bags.graphs, node_attributes=kept))


def labels_only(bags: BagDataset) -> BagDataset:
    """The same graphs without node attributes: the paper's node-label variant."""
    return replace(bags, graphs=replace(bags.graphs, node_attributes=None))


def joined(bags: BagDataset) -> BagDataset:
    """Each bag as one graph: its graphs side by side, with no edge between them.

    >>> from cfmgml.data.graphs import GraphBatch
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3, 4], edge_ptr=[0, 0, 1, 1], edges=[[1], [2]], node_labels=[5, 6, 7, 8])
    >>> joined(BagDataset(graphs, bag_ptr=[0, 2, 3], Y=[[1], [0]])).graphs.node_ptr
    array([0, 3, 4])
    """
    graphs = replace(
        bags.graphs,
        node_ptr=bags.graphs.node_ptr[bags.bag_ptr],
        edge_ptr=bags.graphs.edge_ptr[bags.bag_ptr],
        graph_ids=np.arange(bags.n_bags),
    )
    return replace(bags, graphs=graphs, bag_ptr=np.arange(bags.n_bags + 1), graph_Y=None, graph_names=bags.bag_names)


def _variant(load: Callable[..., BagDataset], change: Callable[[BagDataset], BagDataset], **options: Any) -> Load:
    return lambda path: change(_read_once(load, path, tuple(options.items())))


@lru_cache(maxsize=2)
def _read_once(load: Callable[..., BagDataset], path: Path | None, options: tuple[tuple[str, Any], ...]) -> BagDataset:
    """The variants of a data set come one after the other and differ in what is made of one reading."""
    return load(path, **dict(options))


def _pictures(
    key: str, title: str, loader: Callable[..., BagDataset], n_graphs: int, features: str, kernel: Kernel, ranked: bool
) -> DataSet:
    name = {"paper": "the paper's nodes", "hellinger": "scaled nodes", "rich": "rich nodes", "labels": "node labels"}
    change = labels_only if features == "labels" else partial(with_features, features=features)
    column = f"{key} labels" if features == "labels" else key
    return DataSet(
        f"{key}-{features}", f"{title}, {name[features]}", ABOUT_NODES[features],
        _variant(loader, change), kernel, column, _variant(loader, change, single_graph=True),
        ranked=ranked, n_graphs=n_graphs,
        methods=SCALED_METHODS if features == "hellinger" else None,
    )  # fmt: skip


SCALED_METHODS = ("cfmgml", "paper", "misvm", "sgsl-svm", "dummy")  # enough to tell nodes and method apart
ABOUT_NODES = {
    "paper": "RGB histogram and HOG as the paper describes them, GraphHopper kernel as in the paper",
    "hellinger": "the paper's histograms square-rooted, node sum kernel",
    "rich": "with texture, position and area besides, node sum kernel",
    "labels": "the median colour bin of each superpixel, Weisfeiler-Lehman kernel",
}
TEXT = WeisfeilerLehman(n_iter=1, tfidf=True)
DBLP_NOTE = "the paper's {} bags, which are not public"


def _papers(field: str, n_graphs: int) -> DataSet:
    load, options = (load_cora_topics, {"n_labels": 13}) if field == "AI" else (load_dblp, {"field": field})
    source = (
        "Cora, title terms of a paper and its references"
        if field == "AI"
        else "abstracts of a paper and its references"
    )
    return DataSet(
        f"dblp_{field.lower()}", f"DBLP ({field})", f"{source}, Weisfeiler-Lehman kernel",
        _variant(load, _same, **options), TEXT, f"dblp_{field.lower()}",
        _variant(load, _same, single_graph=True, **options),
        shared=True, ranked=True, stand_in=DBLP_NOTE.format(f"DBLP ({field})"), n_graphs=n_graphs,
    )  # fmt: skip


def _same(bags: BagDataset) -> BagDataset:
    return bags


_NODES, _HOPPER = NodeSum(), GraphHopper()

DATA_SETS: dict[str, DataSet] = {
    data.key: data
    for data in (
        _pictures("msrc_v2", "MSRC v2", load_msrc_v2, 1871, "rich", _NODES, True),
        _pictures("msrc_v2", "MSRC v2", load_msrc_v2, 1871, "hellinger", _NODES, False),
        _pictures("msrc_v2", "MSRC v2", load_msrc_v2, 1871, "paper", _HOPPER, False),
        _pictures("msrc_v2", "MSRC v2", load_msrc_v2, 1871, "labels", TEXT, False),
        _papers("CV", 1485),
        _papers("DB", 2318),
        _papers("AI", 7143),
        DataSet(
            "hallmarks", "Hallmarks", "abstracts by sentence, with experts' labels; Weisfeiler-Lehman kernel",
            _variant(load_hallmarks, _same), TEXT, None, _variant(load_hallmarks, _same, single_graph=True),
            ranked=True, n_graphs=14919,
        ),
        _pictures("voc2012", "VOC 2012", load_voc2012, 4141, "rich", _NODES, True),
        _pictures("voc2012", "VOC 2012", load_voc2012, 4141, "labels", TEXT, False),
        DataSet(
            "scene", "Scene", "nine vectors a photo (there are no pixels), rbf kernel",
            _variant(load_scene, _same), NodeSum(approximation="nystrom", n_components=250), "scene",
            _variant(load_scene, joined), ranked=True,
            stand_in="the paper's Scene photos, whose pixels are not public", has_graph_labels=False, n_graphs=18000,
        ),
    )
}  # fmt: skip


def find_data_sets(names: list[str] | None) -> list[DataSet]:
    """The data sets named; a name may be a key or its beginning, such as ``msrc_v2`` for all its variants.

    >>> [data.key for data in find_data_sets(["dblp", "scene"])]
    ['dblp_cv', 'dblp_db', 'dblp_ai', 'scene']
    """
    if not names:
        return list(DATA_SETS.values())
    unknown = [name for name in names if not any(key.startswith(name) for key in DATA_SETS)]
    if unknown:
        raise ValueError(f"there is no data set {unknown[0]!r}; known: {', '.join(DATA_SETS)}.")
    return [data for key, data in DATA_SETS.items() if any(key.startswith(name) for name in names)]


def draw_bags(bags: BagDataset, n: int | None, seed: int) -> BoolArray:
    """Which bags a quick run takes: ``n`` of them, drawn by seed; all if there are no more."""
    chosen = np.zeros(bags.n_bags, dtype=bool)
    order = np.random.default_rng(seed).permutation(bags.n_bags)
    chosen[order if n is None else order[:n]] = True
    return chosen

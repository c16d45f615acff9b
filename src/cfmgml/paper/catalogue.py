"""The data sets of the tables: the paper's, what stands in for those that are not public, and Hallmarks."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from cfmgml.builders.texts.texts import KEYWORDS
from cfmgml.data.bags import BagDataset
from cfmgml.datasets import load_cora_topics, load_dblp, load_hallmarks, load_msrc_v2, load_scene, load_voc2012
from cfmgml.evaluation.data_sets import DataSet, Load, joined
from cfmgml.evaluation.methods import METHODS
from cfmgml.kernels import GraphHopper, Kernel, NodeSum, WeisfeilerLehman

Option = str | int | bool  # of a loader

# -- variants of pictures --------------------------------------------------------------------


def with_features(bags: BagDataset, features: str) -> BagDataset:
    """Rich image nodes as the paper's or as Hellinger-scaled ones, which are the first columns of them; or no nodes.

    The paper's histograms are the squares of the square-rooted ones: the same as built anew, up to rounding. Without
    attributes graphs have their node labels only: the paper's node-label variant.
    """
    if features == "rich":
        return bags
    if features == "labels":
        return replace(bags, graphs=replace(bags.graphs, node_attributes=None))
    attributes = bags.graphs.node_attributes
    assert attributes is not None
    (start, split), (_, stop) = bags.info["columns"]["rgb_histogram"], bags.info["columns"]["hog"]
    kept = attributes[:, start:stop]
    if features == "paper":
        kept = np.concatenate([kept[:, : split - start] ** 2, kept[:, split - start :]], axis=1)
    return replace(bags, graphs=replace(bags.graphs, node_attributes=kept))


def _variant(
    load: Callable[..., BagDataset], change: Callable[[BagDataset], BagDataset] = lambda bags: bags, **options: Option
) -> Load:
    return lambda path: change(_read_once(load, path, tuple(options.items())))


@lru_cache(maxsize=2)
def _read_once(
    load: Callable[..., BagDataset], path: Path | None, options: tuple[tuple[str, Option], ...]
) -> BagDataset:
    """The variants of a data set come one after the other and differ in what is made of one reading."""
    return load(path, **dict(options))


def _pictures(
    key: str, title: str, loader: Callable[..., BagDataset], n_graphs: int, features: str, kernel: Kernel, ranked: bool
) -> DataSet:
    name = {"paper": "the paper's nodes", "hellinger": "scaled nodes", "rich": "rich nodes", "labels": "node labels"}
    change = partial(with_features, features=features)
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
_TEXTS = {**KEYWORDS, "text": False}


def _papers(field: str, n_graphs: int) -> DataSet:
    load, options = (
        (load_cora_topics, {"n_labels": 13, "text": False})
        if field == "AI"
        else (load_dblp, {"field": field, **_TEXTS})
    )
    source = "Cora, title terms" if field == "AI" else "abstracts"
    key, title = f"dblp_{field.lower()}", f"DBLP ({field})"
    return DataSet(
        key, title, f"{source} of a paper and its references, Weisfeiler-Lehman kernel",
        _variant(load, **options), TEXT, key, _variant(load, single_graph=True, **options),
        shared=True, ranked=True, stand_in=f"the paper's {title} bags, which are not public", n_graphs=n_graphs,
    )  # fmt: skip


_NODES, _HOPPER = NodeSum(), GraphHopper()


def _planned(key: str) -> tuple[str, ...]:
    """All methods; the network, which takes hours, on one data set."""
    return tuple(method for method in METHODS if method != "gin" or key == "msrc_v2-rich")


DATA_SETS: dict[str, DataSet] = {
    data.key: data if data.methods else replace(data, methods=_planned(data.key))
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
            _variant(load_hallmarks, **_TEXTS), TEXT, None, _variant(load_hallmarks, single_graph=True, **_TEXTS),
            ranked=True, n_graphs=14919,
        ),
        _pictures("voc2012", "VOC 2012", load_voc2012, 4141, "rich", _NODES, True),
        _pictures("voc2012", "VOC 2012", load_voc2012, 4141, "labels", TEXT, False),
        DataSet(
            "scene", "Scene", "nine vectors a photo (there are no pixels), rbf kernel",
            _variant(load_scene), _NODES, "scene",
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

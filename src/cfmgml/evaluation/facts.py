"""What is known of a data set beside its rows, for tables and pages: kept in a file beside them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np

from cfmgml.baselines.method import Method
from cfmgml.common.files import atomic_write
from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary, seen_graphs
from cfmgml.evaluation.data_sets import DataSet
from cfmgml.evaluation.folds import Fold, make_folds, n_left_out
from cfmgml.evaluation.protocol import Protocol, not_planned, why_not
from cfmgml.evaluation.representations import LoadedData

OverlapFacts = dict[str, float]  # how much bags share; what is trained on and left out if folds are kept apart


class Facts(TypedDict):
    """A data set, how it was measured and what was left out."""

    key: str
    title: str
    mark: str
    about: str
    column: str | None
    ranked: bool
    stand_in: str | None
    n_bags: int
    subset: int
    n_graphs: int
    labels: list[str]
    labels_a_bag: float
    has_graph_labels: bool
    kernel: str
    protocol: dict[str, int]  # n_folds, n_inner, seed: what tells its rows from those of another
    n_inner_run: NotRequired[int]
    overlap: OverlapFacts | None
    fingerprints: dict[str, str]
    why_not: dict[str, str]
    not_planned: NotRequired[list[str]]
    short_grids: list[str]


def describe(loaded: LoadedData, methods: Sequence[Method], protocol: Protocol) -> Facts:
    """What tables must know of a data set beside its rows."""
    data, bags = loaded.data, loaded.bags
    assert bags.label_names is not None
    assert bags.Y is not None
    return {
        "key": data.key, "title": data.title, "mark": data.mark, "about": data.about,
        "column": data.column, "ranked": data.ranked, "stand_in": data.stand_in,
        "n_bags": bags.n_bags, "subset": loaded.subset, "n_graphs": bags.n_graphs,
        "labels": bags.label_names.tolist(),
        "labels_a_bag": round(float(bags.Y.sum(axis=1).mean()), 3),
        "has_graph_labels": bags.graph_Y is not None,
        "kernel": repr(data.kernel),
        "protocol": {"n_folds": protocol.n_folds, "n_inner": protocol.n_inner, "seed": protocol.seed},
        "n_inner_run": protocol.n_inner_run(data),
        "overlap": overlap_facts(loaded.bags, data, protocol) if data.shared else None,
        "fingerprints": {m.key: loaded.fingerprint(m.takes) for m in methods if not why_not(loaded, m)},
        "why_not": {m.key: why for m in methods if (why := why_not(loaded, m))},
        "not_planned": not_planned(data),
        "short_grids": sorted(m.key for m in methods if not protocol.quick and protocol.grid(m, data) is not m.grid),
    }  # fmt: skip


def overlap_facts(bags: BagDataset, data: DataSet, protocol: Protocol) -> OverlapFacts:
    """How much bags share, how much of it folds put on both sides, and what it costs to keep it apart."""
    assert bags.graph_names is not None
    summary = overlap_summary(bags.graph_names, bags.bag_ptr)
    facts: OverlapFacts = {name: value for name, value in summary.items() if name != "note"}
    seen = [seen_graphs(bags[fold.train], bags[fold.test]).mean() for fold in _outer(bags, protocol, "bags")]
    facts["seen_in_training"] = round(float(np.mean(seen)), 3)
    if data.apart:
        outer = _outer(bags, protocol, "disjoint")
        facts["mean_left_out"] = round(float(np.mean([n_left_out(fold, bags.n_bags) for fold in outer])), 1)
        facts["mean_trained"] = round(float(np.mean([len(fold.train) for fold in outer])), 1)
    return facts


def _outer(bags: BagDataset, protocol: Protocol, scheme: str) -> list[Fold]:
    return [fold for fold in make_folds(bags, protocol.fold_plan(scheme)) if fold.inner is None]


def write_facts(folder: Path, facts: Facts) -> None:
    """Keep the facts of a data set; those of methods not run this time stay as they were."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{facts['key']}.json"
    if path.exists():
        before: Facts = json.loads(path.read_text())
        if before["subset"] == facts["subset"] and before["protocol"] == facts["protocol"]:
            facts["fingerprints"] = {**before["fingerprints"], **facts["fingerprints"]}
            facts["why_not"] = {**before["why_not"], **facts["why_not"]}
            facts["short_grids"] = sorted({*before["short_grids"], *facts["short_grids"]})
    with atomic_write(path) as stream:
        stream.write(json.dumps(facts, indent=1, sort_keys=True).encode())


def read_facts(folder: Path, order: Sequence[str]) -> list[Facts]:
    """The facts of all data sets that were run, in the order of ``order``, others after them by name."""
    by_key: dict[str, Facts] = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    return [by_key[key] for key in dict.fromkeys((*order, *by_key)) if key in by_key]

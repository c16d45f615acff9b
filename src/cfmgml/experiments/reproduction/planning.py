"""What is to be measured: the protocol, its units of work, and what cannot be done and why."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.common.files import atomic_write
from cfmgml.common.segments import lengths
from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary, seen_graphs
from cfmgml.experiments.reproduction.catalogue import DataSet
from cfmgml.experiments.reproduction.folds import Fold, FoldPlan, make_folds, n_left_out
from cfmgml.experiments.reproduction.forms import LoadedData
from cfmgml.experiments.reproduction.methods import METHODS, Method, missing_library
from cfmgml.experiments.reproduction.running import Unit

MANY_GRAPHS, MOST_GRAPHS = 2000, 10_000  # from here on methods search their shorter and shortest grids
N_INNER_MANY = 1  # of the inner folds, those that settings are chosen on where there are many graphs
Facts = dict[str, Any]


@dataclass(frozen=True)
class Protocol:
    """How measurements are made.

    >>> Protocol().n_folds, Protocol.for_quick().n_folds
    (10, 2)
    """

    n_folds: int = 10
    n_inner: int = 3
    seed: int = 0
    n_bags: int | None = None  # of each data set; None for all
    quick: bool = False
    all_inner: bool = False  # choose settings on all inner folds, however many graphs there are

    @classmethod
    def for_quick(cls, seed: int = 0) -> "Protocol":
        """Fewer folds, parameters and bags: minutes, to see that all works; its figures mean little."""
        return cls(n_folds=2, n_inner=2, seed=seed, n_bags=60, quick=True)

    def fold_plan(self, scheme: str) -> FoldPlan:
        return FoldPlan(scheme, self.n_folds, self.n_inner, self.seed)

    def n_inner_run(self, data: DataSet) -> int:
        """On how many of the inner folds settings are chosen."""
        fewer = data.n_graphs > MANY_GRAPHS and not self.quick and not self.all_inner
        return N_INNER_MANY if fewer else self.n_inner

    def grid(self, method: Method, data: DataSet) -> Mapping[str, Sequence[Any]]:
        """What is searched for a method on a data set."""
        if self.quick and method.quick is not None:
            return method.quick
        if data.n_graphs > MOST_GRAPHS and method.shortest is not None:
            return method.shortest
        if data.n_graphs > MANY_GRAPHS and method.short is not None:
            return method.short
        return method.grid


def schemes(data: DataSet) -> tuple[str, ...]:
    return ("bags", "disjoint") if data.shared and data.apart else ("bags",)


def methods_for(data: DataSet, methods: Sequence[Method] | None) -> list[Method]:
    """The methods asked for; without, those of the data set."""
    if methods is not None:
        return list(methods)
    left_out = not_planned(data)
    return [method for key, method in METHODS.items() if key not in left_out]


def not_planned(data: DataSet) -> list[str]:
    """The methods that a run leaves out on a data set unless they are asked for.

    >>> from cfmgml.experiments.reproduction.catalogue import DATA_SETS
    >>> not_planned(DATA_SETS["voc2012-labels"])
    ['gin']
    """
    return [
        key
        for key, method in METHODS.items()
        if (data.methods is not None and key not in data.methods)
        or (method.where is not None and data.key not in method.where)
    ]


def why_not(loaded: LoadedData, method: Method) -> str | None:
    """Why a method cannot be run on a data set, if it cannot."""
    if method.sees_graph_labels and loaded.bags.graph_Y is None:
        return "no graph labels"
    if method.key == "m3miml" and loaded.has_vectors:
        return "same as on vectors"
    return loaded.why_not(method.form) or missing_library(method)


def plan_units(loaded: LoadedData, methods: Sequence[Method], protocol: Protocol) -> list[Unit]:
    """Every unit of work of a data set."""
    runnable = [method for method in methods if why_not(loaded, method) is None]
    sizes = lengths(loaded.bags.bag_ptr)
    units = []
    for scheme in schemes(loaded.data):
        plan = protocol.fold_plan(scheme)
        for fold in make_folds(loaded.bags, plan):
            if fold.inner is not None and fold.inner >= protocol.n_inner_run(loaded.data):
                continue
            units += [
                _unit(loaded, method, protocol, plan, fold, int(sizes[fold.train].sum()))
                for method in runnable
                if fold.inner is None or len(method.settings(protocol.grid(method, loaded.data))) > 1
            ]
    return units


def _unit(
    loaded: LoadedData, method: Method, protocol: Protocol, plan: FoldPlan, fold: Fold, n_train_graphs: int
) -> Unit:
    settings = tuple(method.settings(protocol.grid(method, loaded.data)))
    fixed = dict(method.quick_settings or {}) if protocol.quick else {}
    return Unit(
        loaded.data.key, loaded.fingerprint(method.form), loaded.subset, method.key, fixed, settings, plan, fold,
        loaded.data.shared, cost=method.cost * len(settings) * (n_train_graphs / 1000 + 0.1) ** 2,
    )  # fmt: skip


# -- facts about a data set, for tables and pages ----------------------------------------------


def describe(loaded: LoadedData, methods: Sequence[Method], protocol: Protocol) -> Facts:
    """What tables must know of a data set beside its rows."""
    data, bags = loaded.data, loaded.bags
    assert bags.label_names is not None
    assert bags.Y is not None
    return {
        "key": data.key,
        "title": data.title,
        "mark": data.mark,
        "about": data.about,
        "column": data.column,
        "ranked": data.ranked,
        "stand_in": data.stand_in,
        "n_bags": bags.n_bags,
        "subset": loaded.subset,
        "n_graphs": bags.n_graphs,
        "labels": bags.label_names.tolist(),
        "labels_a_bag": round(float(bags.Y.sum(axis=1).mean()), 3),
        "has_graph_labels": bags.graph_Y is not None,
        "kernel": repr(data.kernel),
        "protocol": {"n_folds": protocol.n_folds, "n_inner": protocol.n_inner, "seed": protocol.seed},
        "n_inner_run": protocol.n_inner_run(data),
        "overlap": overlap_facts(loaded.bags, data, protocol) if data.shared else None,
        "fingerprints": {
            method.key: loaded.fingerprint(method.form) for method in methods if not why_not(loaded, method)
        },
        "why_not": {method.key: why for method in methods if (why := why_not(loaded, method))},
        "not_planned": not_planned(data),
        "short_grids": sorted(
            method.key for method in methods if not protocol.quick and protocol.grid(method, data) is not method.grid
        ),
    }


def overlap_facts(bags: BagDataset, data: DataSet, protocol: Protocol) -> Facts:
    """How much bags share, how much of it folds put on both sides, and what it costs to keep it apart."""
    assert bags.graph_names is not None
    facts = overlap_summary(bags.graph_names, bags.bag_ptr)
    facts.pop("note")
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
        before = json.loads(path.read_text())
        if before["subset"] == facts["subset"] and before["protocol"] == facts["protocol"]:
            for name in ("fingerprints", "why_not"):
                facts[name] = {**before[name], **facts[name]}
            facts["short_grids"] = sorted({*before["short_grids"], *facts["short_grids"]})
    with atomic_write(path) as stream:
        stream.write(json.dumps(facts, indent=1, sort_keys=True).encode())


def read_facts(folder: Path, order: Sequence[str]) -> list[Facts]:
    """The facts of all data sets that were run, in the order of ``order``, others after them by name."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    known = [key for key in order if key in found]
    return [found[key] for key in [*known, *(key for key in found if key not in order)]]

"""What is to be measured: the protocol, its units of work, and what cannot be done and why."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from cfmgml.baselines.method import Grid, Method
from cfmgml.common.extras import missing_extra
from cfmgml.common.segments import lengths
from cfmgml.evaluation.data_sets import DataSet
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.representations import LoadedData
from cfmgml.evaluation.running import Unit

MANY_GRAPHS, MOST_GRAPHS = 2000, 10_000  # from here on methods search their shorter and shortest grids
N_INNER_MANY = 1  # of the inner folds, those that settings are chosen on where there are many graphs


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

    def grid(self, method: Method, data: DataSet) -> Grid:
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
    """The methods asked for; without, those of the data set, or the default ones."""
    left_out = not_planned(data)
    if methods is None:
        return [method for key, method in METHODS.items() if key not in left_out]
    return [*methods, *(METHODS[key] for key in _always(data) if METHODS[key] not in methods)]


def _always(data: DataSet) -> list[str]:
    """What nobody may leave out: on texts, what people would do without us."""
    return [key for key, method in METHODS.items() if method.takes == "raw" and data.texts]


def not_planned(data: DataSet) -> list[str]:
    """The methods that a run leaves out on a data set unless they are asked for.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.evaluation.data_sets import own_data
    >>> from cfmgml.kernels import NodeSum
    >>> not_planned(own_data(load_digit_bags(n_bags=20), "digits", NodeSum()))[:5]
    ['context', 'again-context', 'chosen', 'terms', 'paper']
    """
    default = (key for key, method in METHODS.items() if method.by_default)
    planned = {*(default if data.methods is None else data.methods), *_always(data)}
    return [key for key in METHODS if key not in planned]


def why_not(loaded: LoadedData, method: Method) -> str | None:
    """Why a method cannot be run on a data set, if it cannot."""
    if method.sees_graph_labels and loaded.bags.graph_Y is None:
        return "no graph labels"
    on_vectors = {other.estimator for other in METHODS.values() if other.takes == "vectors"}
    if method.takes == "kernel" and loaded.has_vectors and method.estimator in on_vectors:
        return "same as on vectors"
    if method.takes == "graphs" and importlib.util.find_spec("torch") is None:
        return missing_extra("needs PyTorch", "gpu").removesuffix(".")
    return loaded.why_not(method.takes)


def plan_units(loaded: LoadedData, methods: Sequence[Method], protocol: Protocol) -> list[Unit]:
    """Every unit of work of a data set."""
    data, sizes, units = loaded.data, lengths(loaded.bags.bag_ptr), []
    runnable = [method for method in methods if why_not(loaded, method) is None]
    settings = {method.key: tuple(method.settings(protocol.grid(method, data))) for method in runnable}
    for plan in map(protocol.fold_plan, schemes(data)):
        for fold in make_folds(loaded.bags, plan):
            if fold.inner is not None and fold.inner >= protocol.n_inner_run(data):
                continue
            work = (float(sizes[fold.train].sum()) / 1000 + 0.1) ** 2
            units += [
                Unit(
                    data.key, loaded.fingerprint(method.takes), loaded.subset, method.key,
                    method.quick_options if protocol.quick else {}, settings[method.key], plan, fold,
                    data.shared, cost=method.cost * len(settings[method.key]) * work,
                )
                for method in runnable
                if fold.inner is None or len(settings[method.key]) > 1
            ]  # fmt: skip
    return units

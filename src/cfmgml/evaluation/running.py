"""Running the measurements that are not there yet, in parallel, and keeping each as soon as it is done.

A `Unit` is one method on one fold with its whole grid: what one worker does in one go. Units know files and numbers
only, so any joblib backend can take them (``joblib.parallel_config``), and each computes with one thread.
"""

import contextlib
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from itertools import groupby

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from cfmgml.baselines.method import Method, Options, Settings
from cfmgml.data.bags import BagDataset
from cfmgml.datasets import seen_graphs
from cfmgml.evaluation.folds import Fold, FoldPlan
from cfmgml.evaluation.measures import measure_model
from cfmgml.evaluation.metering import Meter, metered
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.objectives import paper_objective
from cfmgml.evaluation.representations import RepresentationFiles
from cfmgml.evaluation.rows import Row
from cfmgml.kernels import Kernel, Precomputed
from cfmgml.learning.estimator import BagEstimator
from cfmgml.model.cfmgml import CfMGML


@dataclass(frozen=True)
class Unit:
    """One method on one fold, with every setting to try."""

    data: str
    fingerprint: str
    subset: int
    method: str
    fixed: Options  # settings that are not searched
    settings: tuple[Settings, ...]
    plan: FoldPlan
    fold: Fold
    shared: bool  # bags share graphs: measure those not seen in training too
    files: RepresentationFiles | None = None  # once they are written
    cost: float = 1.0

    def row_heads(self) -> list[Row]:
        """The columns that tell its rows from all others, a row a setting."""
        common = {
            "data": self.data, "fingerprint": self.fingerprint, "subset": self.subset, "method": self.method,
            "scheme": self.plan.scheme, "n_folds": self.plan.n_folds, "fold": self.fold.outer,
            "n_inner": self.plan.n_inner, "inner": self.fold.inner, "seed": self.plan.seed,
        }  # fmt: skip
        return [{**common, "params": params} for params in self.settings]


@dataclass(frozen=True)
class Outcome:
    """What became of a unit: its rows, or why there are none."""

    unit: Unit
    rows: tuple[Row, ...]
    failure: str | None = None


def run_units(
    units: Sequence[Unit], n_jobs: int | None = None, on_outcome: Callable[[Outcome], None] = lambda outcome: None
) -> list[str]:
    """Run units in any order; ``on_outcome`` gets each as it ends. Returns what failed, in words."""
    failures = []
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    with warnings.catch_warnings():
        # joblib replaces a worker that has grown, as ours do: they keep the matrices they opened last.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        for outcome in parallel(delayed(run_unit)(unit) for unit in units):
            on_outcome(outcome)
            if outcome.failure:
                failures.append(outcome.failure)
    return failures


def run_unit(unit: Unit) -> Outcome:
    """Fit and measure every setting. What goes wrong in one unit does not end the others."""
    try:
        return Outcome(unit, tuple(_rows(unit)))
    except Exception as error:
        where = f"{unit.data}, {unit.method}, fold {unit.fold.outer}"
        return Outcome(unit, (), f"{where}: {type(error).__name__}: {error}")


def _rows(unit: Unit) -> Iterator[Row]:
    assert unit.files is not None
    method = METHODS[unit.method]
    bags, kernel = unit.files.open()
    train, test = bags[unit.fold.train], bags[unit.fold.test]
    seen = seen_graphs(train, test) if unit.shared and "graph" in method.levels else None
    with _one_thread(method):
        for key, (model, meter) in zip(unit.row_heads(), _fits(unit, method, kernel, train), strict=True):
            measured: Row = dict(measure_model(model, test, method.levels, seen))
            if unit.fold.inner is None:
                measured["objective"] = [round(float(value), 6) for value in getattr(model, "objective_", ())]
                value = paper_objective(model, train)
                measured["paper_objective"] = None if value is None else round(value, 6)
            else:
                measured = {name: value for name, value in measured.items() if name.startswith(("bag.", "graph."))}
            yield {**key, **measured, "n_train": train.n_bags, "n_test": test.n_bags, **_costs(meter)}


def _fits(unit: Unit, method: Method, kernel: Kernel | None, train: BagDataset) -> Iterator[tuple[BagEstimator, Meter]]:
    """A fitted model for every setting, and what fitting it took.

    Settings that differ in alpha only are a path, fitted in one go, which is much quicker than one by one; each alpha
    then gets an equal share of the seconds.
    """
    for others, settings in groupby(unit.settings, lambda params: {k: v for k, v in params.items() if k != "alpha"}):
        path = [params["alpha"] for params in settings if "alpha" in params]
        model = method.make(kernel, unit.plan.seed, **unit.fixed, **others)
        if isinstance(model, CfMGML) and isinstance(kernel, Precomputed):
            model.set_params(dtype=str(kernel.K.dtype))  # as precise as the matrix
        if path:
            assert isinstance(model, CfMGML)
            with metered() as meter:
                models = model.fit_path(train, path)
            yield from ((model, meter.shared(len(models))) for model in models)
        else:
            with metered() as meter:
                model.fit(train)
            yield model, meter


def _costs(meter: Meter) -> Row:
    return {
        "cpu_seconds": round(meter.cpu_seconds, 3),
        "wall_seconds": round(meter.wall_seconds, 3),
        "peak_mib": round(meter.peak_mib),
        "added_mib": round(meter.added_mib),
        "versions": versions(),
    }


@lru_cache(maxsize=1)
def versions() -> str:
    """What computes, in one line."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("cfmgml", "numpy", "scipy", "scikit-learn"))
    return f"{packages}, Python {platform.python_version()}"


@contextlib.contextmanager
def _one_thread(method: Method) -> Iterator[None]:
    """Workers share the machine among them; sums are then taken in the same order on every machine, too."""
    with threadpool_limits(limits=1):
        if method.takes != "graphs":
            yield
            return
        import torch  # has threads of its own

        n_threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(n_threads)

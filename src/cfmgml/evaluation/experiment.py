"""A folder of measurements: `Experiment` runs what is missing and gives what is there as `Results`."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from joblib import effective_n_jobs

from cfmgml.baselines.method import Method
from cfmgml.evaluation.data_sets import DataSet
from cfmgml.evaluation.facts import Facts, describe, read_facts, write_facts
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.presentation import Presentation
from cfmgml.evaluation.protocol import Protocol, methods_for, plan_units
from cfmgml.evaluation.representations import LoadedData
from cfmgml.evaluation.rows import Append, ResultStore, Row, read_compact, row_key, work_key
from cfmgml.evaluation.running import Outcome, Unit, run_units
from cfmgml.evaluation.selection import Results


@dataclass(frozen=True)
class Reports:
    """Who hears of what goes on."""

    stage: Callable[[str], None] = lambda words: None
    planned: Callable[[float], None] = lambda cost: None  # the cost of all units to come
    done: Callable[[Outcome], None] = lambda outcome: None


class Experiment:
    """A folder of results: rows, facts about the data, and what workers need meanwhile.

    Parameters
    ----------
    out
        The folder. ``rows.jsonl`` holds the measurements, ``data/`` what is known of each data set, and ``work/`` Gram
        matrices that can be deleted when the run is over. A folder with ``rows.jsonl.gz`` and ``data/`` alone can be
        reported on, and gone on from.
    data_folder
        Where data sets are; None for what the environment's ``CFMGML_DATA`` names.
    dtype, device
        Of the Gram matrices, see `gram_matrix`.
    """

    def __init__(
        self, out: str | Path, data_folder: str | Path | None = None, dtype: str = "float32", device: str = "cpu"
    ) -> None:
        self.out, self.dtype, self.device = Path(out), dtype, device
        self.data_folder = None if data_folder is None else Path(data_folder)
        self.store = ResultStore(self.out / "rows.jsonl")

    def run(
        self,
        data_sets: Sequence[DataSet],
        methods: Sequence[Method] | None,
        protocol: Protocol,
        n_jobs: int | None = None,
        reports: Reports | None = None,
    ) -> list[str]:
        """Measure what is not measured yet. Returns what failed, in words; a later run tries that again.

        Without ``methods``, those of each data set are run. ``n_jobs`` is joblib's; ``joblib.parallel_config`` around
        this call chooses where the work is done.
        """
        reports = reports or Reports()
        start, failures = time.perf_counter(), list[str]()
        self._take_up_compact()
        with self.store.writing() as append:  # also keeps a second run away
            there = {row_key(row) for row in self.store.rows()}
            missing = {data.key: self._missing(data, methods, protocol, there, reports) for data in data_sets}
            reports.planned(sum(unit.cost for units in missing.values() for unit in units))
            sitting = {"sitting": uuid.uuid4().hex[:8], "workers": effective_n_jobs(n_jobs)}

            def keep(outcome: Outcome) -> None:
                told = {**sitting, "at": round(time.perf_counter() - start, 1)}
                append({**row, **told} for row in outcome.rows if row_key(row) not in there)
                reports.done(outcome)

            for data in data_sets:
                units = self._not_done_elsewhere(missing.pop(data.key), there, append, reports)
                if units:
                    units = self._written(data, units, protocol, n_jobs, reports)
                    reports.stage(f"{data.title}: {len(units)} units of work")
                    failures += run_units(units, n_jobs, keep)
        return failures

    def _missing(
        self, data: DataSet, methods: Sequence[Method] | None, protocol: Protocol, there: set[str], reports: Reports
    ) -> list[Unit]:
        """The units of a data set that have rows to add; what is known of the data is written down."""
        reports.stage(f"{data.title}: reading")
        loaded, methods = self._load(data, protocol), methods_for(data, methods)
        write_facts(self.out / "data", describe(loaded, methods, protocol))
        units = plan_units(loaded, methods, protocol)
        return [unit for unit in units if not all(row_key(key) in there for key in unit.row_heads())]

    def _not_done_elsewhere(self, units: list[Unit], there: set[str], append: Append, reports: Reports) -> list[Unit]:
        """The units to run; what was measured on another variant of the same data is taken from there."""
        if not units:
            return []
        rows, left = {work_key(row): row for row in self.store.rows()}, []
        for unit in units:
            elsewhere = [rows.get(work_key(head)) for head in unit.row_heads()]
            if None in elsewhere:
                left.append(unit)
                continue
            taken = [{**row, "data": unit.data, "taken_from": row["data"]} for row in elsewhere if row is not None]
            append(row for row in taken if row_key(row) not in there)
            reports.done(Outcome(unit, ()))
        return left

    def _written(
        self, data: DataSet, units: list[Unit], protocol: Protocol, n_jobs: int | None, reports: Reports
    ) -> list[Unit]:
        """The units with the files they need; the dearest first, so that no worker is left with one at the end."""
        loaded = self._load(data, protocol)
        needed = {unit.method: loaded.stand_for(METHODS[unit.method].takes) for unit in units}
        files = {}
        for name in dict.fromkeys(needed.values()):
            reports.stage(f"{data.title}: comparing graphs ({name})")
            files[name] = loaded.write(name, (self.out / "work").absolute(), n_jobs)  # workers may be elsewhere
        units = [replace(unit, files=files[needed[unit.method]]) for unit in units]
        return sorted(units, key=lambda unit: -unit.cost)

    def _load(self, data: DataSet, protocol: Protocol) -> LoadedData:
        return LoadedData(data, self.data_folder, protocol.n_bags, protocol.seed, self.dtype, self.device)

    def forget(self, data_sets: Sequence[DataSet], methods: Sequence[Method] | None) -> int:
        """Drop the rows of these data sets and methods, so that they are measured anew; returns how many.

        So are rows of other variants for the same work: they are the same measurement.
        """
        keys = {data.key for data in data_sets}
        names = None if methods is None else {method.key for method in methods}

        def unwanted(row: Row) -> bool:
            return row["data"] in keys and (names is None or row["method"] in names)

        self._take_up_compact()
        work = {work_key(row) for row in self.store.rows() if unwanted(row)}
        return self.store.remove(lambda row: work_key(row) in work)

    def _take_up_compact(self) -> None:
        """Where there are only the rows kept as ``rows.jsonl.gz``, of an earlier sitting perhaps, go on from those."""
        if not self.store.path.exists() and self.compact.exists():
            self.store.replace(read_compact(self.compact))

    def facts(self, order: Sequence[str] = ()) -> list[Facts]:
        return read_facts(self.out / "data", order)

    def results(self, presentation: Presentation | None = None) -> Results:
        """All rows, with what is known of the data and how it is to be presented."""
        presentation = presentation or Presentation()
        return Results(self.rows(), self.facts(presentation.order), presentation)

    def rows(self) -> list[Row]:
        """The rows of the store; where there is none, those kept as ``rows.jsonl.gz``."""
        return self.store.rows() if self.store.path.exists() else read_compact(self.compact)

    @property
    def compact(self) -> Path:
        return self.out / "rows.jsonl.gz"

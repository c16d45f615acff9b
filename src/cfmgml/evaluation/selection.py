"""From rows to cells: which setting of a method is reported, and its value in every fold.

Two selections. ``"reported"``: the setting that is best on average over the very folds that are reported, as the paper
does; that is optimistic. ``"nested"``: for every fold the setting that is best on average over folds inside its
training bags. Settings are chosen by average precision of bags; for graphs, "reported" takes the best graph accuracy,
and "nested" does so only for the method that is told graph labels: nobody else may look at them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.measures import CRITERIA
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.presentation import Presentation
from cfmgml.evaluation.rows import Row

SELECTIONS = ("reported", "nested")


@dataclass(frozen=True)
class Cell:
    """The folds of one measure, or why there are none."""

    values: FloatArray | None
    why: str = ""

    @property
    def mean(self) -> float:
        return float("nan") if self.values is None else float(self.values.mean())

    @property
    def deviation(self) -> float:
        return float("nan") if self.values is None else float(self.values.std())


class Results:
    """Rows and facts of a run, looked up by data set, method and scheme."""

    def __init__(self, rows: Iterable[Row], facts: Sequence[Facts], presentation: Presentation | None = None) -> None:
        self.facts = {fact["key"]: fact for fact in facts}
        self.presentation = presentation or Presentation()
        self._rows: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
        self._chosen: dict[tuple[str, str, str, str, str], list[Row]] = {}
        for row in rows:
            if self._belongs(row):
                self._rows[row["data"], row["method"], row["scheme"]].append(row)

    def _belongs(self, row: Row) -> bool:
        """Whether a row is of the data and the protocol that the facts describe; others are left alone."""
        fact = self.facts.get(row["data"])
        return (
            fact is not None
            and fact["fingerprints"].get(row["method"]) == row["fingerprint"]
            and all(row[name] == value for name, value in fact["protocol"].items())
        )

    @cached_property
    def methods(self) -> list[str]:
        """Methods with rows, in the order of the registry."""
        with_rows = {method for _, method, _ in self._rows}
        return [key for key in METHODS if key in with_rows]

    def all_rows(self) -> list[Row]:
        """Every row that belongs to the data and protocol at hand."""
        return [row for rows in self._rows.values() for row in rows]

    def rows(self, data: str, method: str, scheme: str = "bags") -> list[Row]:
        return self._rows.get((data, method, scheme), [])

    def reported(self, data: str, method: str, scheme: str = "bags") -> list[Row]:
        """The rows of the reported folds, with every setting."""
        return [row for row in self.rows(data, method, scheme) if row["inner"] is None]

    def cell(
        self, data: str, method: str, level: str, key: str, selection: str = "nested", scheme: str = "bags"
    ) -> Cell:
        """The values of a measure in all folds."""
        why = self._why_not(data, method, level)
        if why:
            return Cell(None, why)
        chosen = self.chosen(data, method, level, selection, scheme)
        n_folds = self.facts[data]["protocol"]["n_folds"]
        if len(chosen) < n_folds:
            return Cell(None, f"{len(chosen)} of {n_folds} folds" if chosen else self.why_not_run(data, method))
        values = [row.get(f"{level}.{key}") for row in chosen]
        if any(value is None for value in values):
            return Cell(None, "not defined")
        return Cell(np.array(values))

    def marks(self, data_sets: Iterable[str]) -> tuple[str, ...]:
        """Data sets as tables call them."""
        return tuple(self.facts[data]["mark"] for data in data_sets)

    def stand_in_notes(self, data_sets: Iterable[str]) -> tuple[str, ...]:
        """What to say under a table if one of these stands in for another."""
        return (self.presentation.stand_in_note,) if any(self.facts[data]["stand_in"] for data in data_sets) else ()

    def why_not_run(self, data: str, method: str) -> str:
        """Why there are no rows: it cannot be, is not planned, or was not done yet."""
        fact = self.facts[data]
        return fact["why_not"].get(method) or ("if asked for" if method in fact.get("not_planned", ()) else "not run")

    def _why_not(self, data: str, method: str, level: str) -> str | None:
        if level not in METHODS[method].levels:
            return "labels bags only"
        if level == "graph" and not self.facts[data]["has_graph_labels"]:
            return "no graph labels"
        return self.facts[data]["why_not"].get(method)

    def chosen(self, data: str, method: str, level: str, selection: str = "nested", scheme: str = "bags") -> list[Row]:
        """The reported row of each fold that has one, in the order of the folds."""
        wanted = data, method, level, selection, scheme
        if wanted not in self._chosen:
            self._chosen[wanted] = self._choose(*wanted)
        return self._chosen[wanted]

    def _choose(self, data: str, method: str, level: str, selection: str, scheme: str) -> list[Row]:
        outer, fact = self.reported(data, method, scheme), self.facts[data]
        own = selection == "reported" or METHODS[method].sees_graph_labels
        criterion = f"{level}.{CRITERIA[level]}" if own else f"bag.{CRITERIA['bag']}"
        if selection == "reported":
            best = _best_setting(outer, criterion, fact["protocol"]["n_folds"])
            by_fold = {row["fold"]: best for row in outer}
        else:
            n_inner = fact.get("n_inner_run", fact["protocol"]["n_inner"])
            by_fold = _choose_inside(self.rows(data, method, scheme), criterion, n_inner)
        chosen = (row for row in outer if by_fold[row["fold"]] == setting_name(row))
        return sorted(chosen, key=lambda row: row["fold"])


def common_alpha(results: Results, data: str, methods: Sequence[str], judge: str) -> float | None:
    """Of the alphas that all these methods were run with, the one at which ``judge`` ranks bags best; None without."""
    tried = [{row["params"].get("alpha") for row in results.reported(data, key)} for key in methods]
    shared = set.intersection(*tried) - {None}
    judged = [row for row in results.reported(data, judge) if row["params"].get("alpha") in shared]
    best = _best_setting(judged, f"bag.{CRITERIA['bag']}", results.facts[data]["protocol"]["n_folds"])
    return next((float(row["params"]["alpha"]) for row in judged if setting_name(row) == best), None)


def reported_at(results: Results, data: str, method: str, alpha: float) -> list[Row]:
    """The rows of the reported folds at one alpha."""
    return [row for row in results.reported(data, method) if row["params"].get("alpha") == alpha]


def _choose_inside(rows: list[Row], criterion: str, n_inner: int) -> dict[int, str | None]:
    """For every fold, the setting with the best mean over its first ``n_inner`` inner folds."""
    by_fold = {}
    for fold in {row["fold"] for row in rows}:
        own = [row for row in rows if row["fold"] == fold]
        inner = [row for row in own if row["inner"] is not None and row["inner"] < n_inner]
        settings = {setting_name(row) for row in own}
        by_fold[fold] = settings.pop() if len(settings) == 1 else _best_setting(inner, criterion, n_inner)
    return by_fold


def _best_setting(rows: list[Row], criterion: str, n_needed: int) -> str | None:
    """The setting with the best mean, of those that all ``n_needed`` folds have.

    Settings that are equally good are taken in the order of their names, not in that of arrival.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.get(criterion) is not None:
            values[setting_name(row)].append(row[criterion])
    whole = {name: float(np.mean(sorted(own))) for name, own in values.items() if len(own) == n_needed}
    return min(whole, key=lambda name: (-round(whole[name], 12), name)) if whole else None


def setting_name(row: Row) -> str:
    """A row's searched parameters, in words.

    >>> setting_name({"params": {"alpha": 1e-5}})
    'alpha=1e-05'
    """
    return ", ".join(f"{name}={value:g}" for name, value in sorted(row["params"].items())) or "its settings"

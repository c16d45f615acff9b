"""Ranks of methods over data sets."""

from collections.abc import Sequence

import numpy as np

from cfmgml.evaluation.measures import Measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.statistics import LEVEL, RankTest, compare_ranks
from cfmgml.evaluation.tables import Table, TableCell, TableRow

APART = "disjoint"


def rank_test(
    results: Results, measure: Measure, selection: str = "nested", apart: bool = False, where: str | None = None
) -> RankTest | None:
    """Average ranks over the data sets that count, of the methods that have a value on each; None with fewer than 2.

    With ``apart``, those whose bags share graphs count with folds that share none; the others stay as they are. With
    ``where``, a method, data sets count where that one has a value.
    """
    counted = [key for key, fact in results.facts.items() if fact["ranked"]]
    data_sets = [key for key in counted if measure.level == "bag" or results.facts[key]["has_graph_labels"]]
    schemes = {data: APART if apart and is_run_apart(results, data) else "bags" for data in data_sets}
    table = {
        key: [results.cell(data, key, *measure[:2], selection, schemes[data]).mean for data in data_sets]
        for key in results.methods
        if measure.level in METHODS[key].levels and not METHODS[key].sees_graph_labels
    }
    if where is not None:
        has = ~np.isnan(table.get(where, [np.nan] * len(data_sets)))
        data_sets = [data for data, there in zip(data_sets, has, strict=True) if there]
        table = {key: np.array(values)[has].tolist() for key, values in table.items()}
    whole = {key: values for key, values in table.items() if values and not np.isnan(values).any()}
    if len(whole) < 2 or len(data_sets) < 2 or not results.presentation.tells_best:
        return None
    return compare_ranks(list(whole), data_sets, np.array(list(whole.values())).T, measure.higher_is_better)


def is_run_apart(results: Results, data: str) -> bool:
    """Whether there are rows of a data set with folds that share no graph."""
    return any(results.rows(data, key, APART) for key in results.methods)


def rank_table(
    results: Results, measures: Sequence[Measure], apart: bool = False, where: str | None = None
) -> Table | None:
    """Average ranks of all methods, a column a measure; with ``apart``, None where no bags share graphs.

    With ``where``, over the data sets on which that method was run.
    """
    if apart and not any(is_run_apart(results, data) for data in results.facts):
        return None
    found = {measure: rank_test(results, measure, apart=apart, where=where) for measure in measures}
    tests = {measure: test for measure, test in found.items() if test is not None}
    shown = tests.values()
    in_any = [key for key in results.methods if any(key in test.methods for test in shown)]
    rows = [TableRow(METHODS[key].title, tuple(_rank_cell(test, key) for test in shown)) for key in in_any]
    rows.append(TableRow("Friedman’s p", tuple(TableCell(f"{test.p_value:.2g}") for test in shown)))
    rows.append(TableRow("critical difference", tuple(TableCell(f"{t.critical_difference:.2f}") for t in shown)))
    marks = ", ".join(results.marks(data for data in results.facts if any(data in test.data_sets for test in shown)))
    notes = (
        f"1 is best. Over {marks}; a method without a value on one of them has no rank. Bold: not told apart from the "
        f"best (ranks closer than Nemenyi’s critical difference, p > {LEVEL}).",
    )
    titles = tuple(f"{measure.title} {measure.arrow}" for measure in tests)
    name, how = ("ranks-apart", ", folds that share no graph") if apart else ("ranks", "")
    how += "" if where is None else f", where {METHODS[where].title} was run"
    return Table(name, f"Average ranks, parameters chosen in training folds{how}", titles, tuple(rows), notes, "method")


def _rank_cell(test: RankTest, key: str) -> TableCell:
    if key not in test.methods:
        return TableCell("", muted=True)
    rank = float(test.ranks[test.methods.index(key)])
    return TableCell(f"{rank:.2f}", rank - float(test.ranks.min()) < test.critical_difference)

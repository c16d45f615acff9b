"""Tables behind the tables: labels one by one, which are mistaken for which, overlap, and what it all costs."""

from collections.abc import Sequence

import numpy as np

from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.evaluation.comparison import cell_text, number
from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.folds import SCHEMES
from cfmgml.evaluation.measures import CRITERIA, find_measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.rows import Row
from cfmgml.evaluation.selection import SELECTIONS, Results
from cfmgml.evaluation.tables import Table, TableCell, TableRow

OWN = "cfmgml"
BESIDE = ("paper", "misvm", "sgsl-svm")  # methods whose accuracy stands beside ours, label by label


# -- labels ------------------------------------------------------------------------------------


def label_table(results: Results, data: str) -> Table | None:
    """Precision, recall and F1 of graphs, a row a label, over all test folds; None without labels of graphs."""
    counts = _label_counts(results, data, OWN)
    if counts is None:
        return None
    beside = {key: own for key in BESIDE if (own := _label_counts(results, data, key)) is not None}
    rows = []
    for c, label in enumerate(results.facts[data]["labels"]):
        graphs, predicted, right, best_right = counts[:, c]
        shares = [(right, predicted), (right, graphs), (2 * right, predicted + graphs), (best_right, graphs)]
        shares += [(own[3, c], own[0, c]) for own in beside.values()]
        rows.append(TableRow(label, (TableCell(f"{graphs:,.0f}"), *(_share(*share) for share in shares))))
    fact = results.facts[data]
    columns = ("graphs", "precision", "recall", "F1", "best label right", *(METHODS[key].title for key in beside))
    note = "CfMGML, chosen in training folds; the last columns: best label right, by other methods."
    notes = (note, *results.stand_in_notes([data]))
    return Table(f"labels-{data}", f"{fact['mark']}: graphs, label by label", columns, tuple(rows), notes, "label")


def _label_counts(results: Results, data: str, method: str) -> FloatArray | None:
    """(graphs, predicted, right, best label right) by label, summed over folds."""
    rows = _reported(results, data, method)
    if not rows or "labels.graphs" not in rows[0]:
        return None
    names = ("labels.graphs", "labels.predicted", "labels.right", "labels.best_right")
    return np.sum([[row[name] for name in names] for row in rows], axis=0).astype(np.float64)


def _reported(results: Results, data: str, method: str) -> list[Row]:
    rows = results.chosen(data, method, "graph")
    return rows if len(rows) == results.facts[data]["protocol"]["n_folds"] else []


def _share(part: float, whole: float) -> TableCell:
    return TableCell(number(part / whole)) if whole else TableCell("-", muted=True)


def confusion_matrix(results: Results, data: str, method: str = OWN) -> IntArray | None:
    """(n_labels, n_labels): graphs by true label (rows) and best label, over all test folds.

    None where graphs have several labels, or none.
    """
    rows = _reported(results, data, method)
    if not rows or "confusion" not in rows[0]:
        return None
    n = len(results.facts[data]["labels"])
    matrix = np.zeros((n, n), dtype=np.int64)
    for row in rows:
        truth, best, count = np.array(row["confusion"], dtype=np.int64).reshape(-1, 3).T
        np.add.at(matrix, (truth, best), count)
    return matrix


def confusion_rows(results: Results, data: str, matrix: IntArray) -> tuple[list[str], list[dict[str, object]]]:
    """Column names and rows of the matrix, for other programs."""
    labels = results.facts[data]["labels"]
    rows: list[dict[str, object]] = [
        {"true label": label, **dict(zip(labels, counts, strict=True))}
        for label, counts in zip(labels, matrix.tolist(), strict=True)
    ]
    return ["true label", *labels], rows


# -- bags that share graphs --------------------------------------------------------------------


def overlap_table(results: Results) -> Table | None:
    """Folds over bags beside folds that share no graph, for data whose bags share graphs."""
    shared = [data for data, fact in results.facts.items() if "mean_trained" in (fact["overlap"] or {})]
    if not shared:
        return None
    columns = [(key, scheme) for key in CRITERIA.items() for scheme in SCHEMES]
    rows = []
    for data in shared:
        rows.append(TableRow(results.facts[data]["mark"], group=True))
        for method in results.methods:
            cells = [cell_text(results.cell(data, method, *key, scheme=scheme)) for key, scheme in columns]
            cells.append(cell_text(results.cell(data, method, "graph", "new_accuracy")))
            if not all(cell.muted for cell in cells):
                rows.append(TableRow(METHODS[method].title, tuple(cells)))
    folds = {"bags": "folds over bags", "disjoint": "no graph shared"}
    titles = [f"{find_measure(*key).title}: {folds[scheme]}" for key, scheme in columns]
    notes = (*(_overlap_words(results.facts[data]) for data in shared), *results.stand_in_notes(shared))
    return Table("overlap", "Bags that share graphs", (*titles, "new graphs only"), tuple(rows), notes, "method")


def _overlap_words(fact: Facts) -> str:
    overlap = fact["overlap"]
    assert overlap is not None
    return (
        f"{fact['mark']}: {overlap['n_graphs']:,} graphs are {overlap['n_distinct_graphs']:,} different ones, and "
        f"{overlap['largest_group']:,} of {fact['n_bags']:,} bags hang together. With folds that share no graph, "
        f"{overlap['mean_trained']:,.0f} bags a fold are trained on and {overlap['mean_left_out']:,.0f} left out."
    )


# -- settings and cost -------------------------------------------------------------------------


def setting_table(results: Results, data_sets: Sequence[str]) -> Table:
    """Which settings were chosen: the one for all folds, and how often each in training folds."""
    rows = [
        TableRow(_searched(results, method), tuple(_settings(results, data, method) for data in data_sets))
        for method in results.methods
        if any(row["params"] for data in data_sets for row in results.rows(data, method))
    ]
    note = results.presentation.setting_note
    return Table("settings", "Settings chosen, for bags", results.marks(data_sets), tuple(rows), (note,), "method")


def _searched(results: Results, method: str) -> str:
    """A method's title; with the names of what is searched where that is more than one setting."""
    names = sorted({name for data in results.facts for row in results.rows(data, method) for name in row["params"]})
    return METHODS[method].title + (f" ({' / '.join(names)})" if len(names) > 1 else "")


def _settings(results: Results, data: str, method: str) -> TableCell:
    reported, nested = (results.chosen(data, method, "bag", selection) for selection in SELECTIONS)
    if not reported or not nested:
        return TableCell("")
    values, counts = np.unique([_value(row) for row in nested], return_counts=True)
    inside = ", ".join(f"{value} × {count}" for value, count in zip(values, counts, strict=True))
    return TableCell(f"{_value(reported[0])} ({inside})")


def _value(row: Row) -> str:
    return " / ".join(f"{value:g}" for _, value in sorted(row["params"].items())) or "-"


def cost_table(results: Results, data_sets: Sequence[str]) -> Table:
    """CPU seconds and peak memory of one fit, the median over reported folds and settings."""
    rows = []
    for method in results.methods:
        cells = []
        for data in data_sets:
            fits = results.reported(data, method)
            cells.append(TableCell(_cost(fits)) if fits else TableCell(results.why_not_run(data, method), muted=True))
        rows.append(TableRow(METHODS[method].title, tuple(cells)))
    return Table("costs", "Time and memory of a fit", results.marks(data_sets), tuple(rows), (
        "Median over folds and settings: CPU seconds with one thread, and the memory a fit adds to its worker at most. "
        "Gram matrices are made once for all methods and not counted.",
    ), "method")  # fmt: skip


def _cost(rows: list[Row]) -> str:
    seconds = float(np.median([row["cpu_seconds"] for row in rows]))
    mib = float(np.median([row["added_mib"] for row in rows]))
    return f"{seconds:.2g} s, {mib:,.0f} MiB" if seconds < 100 else f"{seconds:,.0f} s, {mib:,.0f} MiB"

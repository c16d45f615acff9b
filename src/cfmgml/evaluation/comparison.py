"""One measure as a table and as rows for programs: every method on every data set, under both selections."""

from collections.abc import Sequence

from cfmgml.evaluation.measures import Measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.selection import SELECTIONS, Cell, Results
from cfmgml.evaluation.statistics import LEVEL, corrected_paired_test
from cfmgml.evaluation.tables import Table, TableCell, TableRow

BEST_NOTE = (
    f"Bold: the best of the methods that learn from bag labels only, and those not told apart from it (paired t-test "
    f"over folds, corrected for shared training bags, p > {LEVEL})."
)

FLOOR = "dummy"


def number(value: float) -> str:
    """As tables print it, without the zero before the point.

    >>> number(.0712), number(1.25), number(-.5)
    ('.071', '1.250', '-.500')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def with_deviation(mean: float, deviation: float) -> str:
    return f"{number(mean)} ± {number(deviation)}"


def cell_text(cell: Cell, bold: bool = False) -> TableCell:
    if cell.values is None:
        return TableCell(cell.why, muted=True)
    return TableCell(with_deviation(cell.mean, cell.deviation), bold)


def mean_note(results: Results) -> str:
    """What the figures of a table are, and which are bold."""
    told = BEST_NOTE if results.presentation.tells_best else "Too little was run to call anything the best."
    return f"Mean ± standard deviation over folds. {told}"


# -- who is best -------------------------------------------------------------------------------


def best_and_ties(results: Results, data: str, measure: Measure, selection: str, scheme: str = "bags") -> set[str]:
    """The best method on a data set and those not told apart from it, among those that learn from bag labels only."""
    rivals = [key for key in results.methods if not METHODS[key].sees_graph_labels]
    cells = {key: results.cell(data, key, *measure[:2], selection, scheme) for key in rivals}
    values = {key: cell.values for key, cell in cells.items() if cell.values is not None}
    if not values:
        return set()
    sign = 1 if measure.higher_is_better else -1
    best = max(values, key=lambda key: sign * float(values[key].mean()))
    share = 1 / (len(values[best]) - 1)
    return {key for key in values if corrected_paired_test(values[best], values[key], share) > LEVEL} | {best}


def bold_methods(results: Results, data: str, measure: Measure, selection: str, scheme: str = "bags") -> set[str]:
    """The best and those not told apart from it; of these, who learns nothing only where nobody is better."""
    if not results.presentation.tells_best:
        return set()
    told = best_and_ties(results, data, measure, selection, scheme)
    if results.presentation.floor_is_rival or FLOOR not in told:
        return told
    sign = 1 if measure.higher_is_better else -1
    means = {key: sign * results.cell(data, key, *measure[:2], selection, scheme).mean for key in told}
    return told if means[FLOOR] == max(means.values()) else told - {FLOOR}


# -- a measure ---------------------------------------------------------------------------------


def measure_table(results: Results, data_sets: Sequence[str], measure: Measure) -> Table:
    """Data sets across; down, for each method, what is published of it and ours under both selections."""
    bold = {(data, how): bold_methods(results, data, measure, how) for data in data_sets for how in SELECTIONS}
    shown = [key for key in results.methods if measure.level in METHODS[key].levels]
    rows = [row for key in shown for row in _method_rows(results, data_sets, measure, key, bold)]
    notes = (mean_note(results), *results.stand_in_notes(data_sets))
    return Table(
        f"{measure.level}-{measure.key}",
        f"{measure.title[0].upper()}{measure.title[1:]} {measure.arrow}",
        results.marks(data_sets),
        tuple(rows),
        (*notes, *results.presentation.measure_notes(measure)),
        "method",
        tuple(results.facts[data]["about"] for data in data_sets),
    )


def method_title(key: str) -> str:
    """A method's title; what is told more than others says so."""
    return f"{METHODS[key].title} (sees graph labels)" if METHODS[key].sees_graph_labels else METHODS[key].title


def _method_rows(
    results: Results, data_sets: Sequence[str], measure: Measure, key: str, bold: dict[tuple[str, str], set[str]]
) -> list[TableRow]:
    presentation = results.presentation
    published = [presentation.published(results.facts[data], key, measure) for data in data_sets]
    rows = [TableRow(method_title(key), group=True)]
    if any(published):
        cells = tuple(TableCell("" if figure is None else with_deviation(*figure)) for figure in published)
        rows.append(TableRow(presentation.published_title(key), cells, of="theirs"))
    for selection, (_, words) in presentation.selections.items():
        cell_of = {data: results.cell(data, key, *measure[:2], selection) for data in data_sets}
        cells = tuple(cell_text(cell, key in bold[data, selection]) for data, cell in cell_of.items())
        rows.append(TableRow(words, cells, of=selection))
    return rows


def long_rows(results: Results, measures: Sequence[Measure]) -> tuple[list[str], list[dict[str, object]]]:
    """Column names, and every figure as a row, for other programs."""
    prefix = results.presentation.published_prefix
    published = [f"{prefix}mean", f"{prefix}deviation"] if prefix else []
    columns = ["data", "method", "level", "measure", "selection", "mean", "deviation", "folds", "best_or_tied"]
    rows: list[dict[str, object]] = []
    for measure in measures:
        for data in results.facts:
            ties = {selection: best_and_ties(results, data, measure, selection) for selection in SELECTIONS}
            for key in results.methods:
                figure = results.presentation.published(results.facts[data], key, measure)
                theirs = dict(zip(published, figure or (), strict=False))
                rows += [{**row, **theirs} for row in _long_rows(results, data, key, measure, ties)]
    return [*columns, *published, "why_empty"], rows


def _long_rows(
    results: Results, data: str, key: str, measure: Measure, ties: dict[str, set[str]]
) -> list[dict[str, object]]:
    rows = []
    for selection, (name, _) in results.presentation.selections.items():
        cell = results.cell(data, key, *measure[:2], selection)
        row: dict[str, object] = {
            "data": data, "method": key, "level": measure.level, "measure": measure.key, "selection": name,
            "why_empty": cell.why,
        }  # fmt: skip
        if cell.values is not None:
            row |= {"mean": f"{cell.mean:.6f}", "deviation": f"{cell.deviation:.6f}", "folds": len(cell.values)}
            row["best_or_tied"] = int(key in ties[selection])
        rows.append(row)
    return rows

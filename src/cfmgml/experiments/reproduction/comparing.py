"""The tables of the report: ours beside the paper's, ranks, labels, overlap, cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfmgml.experiments.demo import Measure
from cfmgml.experiments.reproduction.measures import MEASURES, find_measure
from cfmgml.experiments.reproduction.methods import METHODS
from cfmgml.experiments.reproduction.paper_figures import NOT_COMPARABLE, paper_figure
from cfmgml.experiments.reproduction.selecting import SELECTION_TITLES, Cell, Results
from cfmgml.experiments.reproduction.statistics import LEVEL, corrected_paired_test
from cfmgml.experiments.reproduction.tables import Table, TableCell, TableRow

BAG_MEASURES = tuple(measure for measure in MEASURES if measure.level == "bag")
STAND_IN_NOTE = "† stands in for data that is not public; it is not the paper’s data, and its figures are not its."
BEST_NOTE = (
    f"Bold: the best of the methods that learn from bag labels only, and those not told apart from it (paired t-test "
    f"over folds, corrected for shared training bags, p > {LEVEL})."
)


def number(value: float) -> str:
    """As tables print it, without the zero before the point.

    >>> number(.0712), number(1.25), number(-.5)
    ('.071', '1.250', '-.500')
    """
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def with_deviation(mean: float, deviation: float) -> str:
    return f"{number(mean)} ± {number(deviation)}"


def cell_text(cell: Cell) -> TableCell:
    if cell.values is None:
        return TableCell(cell.why, muted=True)
    return TableCell(with_deviation(cell.mean, cell.deviation))


# -- who is best -------------------------------------------------------------------------------


def best_and_ties(results: Results, data: str, measure: Measure, selection: str, scheme: str = "bags") -> set[str]:
    """The best method on a data set and those not told apart from it, among those that learn from bag labels only."""
    cells = {
        key: results.cell(data, key, measure.level, measure.key, selection, scheme)
        for key in results.methods
        if not METHODS[key].sees_graph_labels
    }
    values = {key: cell.values for key, cell in cells.items() if cell.values is not None}
    if not values:
        return set()
    sign = 1 if measure.higher_is_better else -1
    best = max(values, key=lambda key: sign * float(values[key].mean()))
    share = 1 / (len(values[best]) - 1)
    return {key for key in values if corrected_paired_test(values[best], values[key], share) > LEVEL} | {best}


# -- the paper's tables ------------------------------------------------------------------------


def measure_table(results: Results, data_sets: Sequence[str], measure: Measure) -> Table:
    """One measure: data sets across; down, for each method, the paper's figure and ours under both selections."""
    rows: list[TableRow] = []
    bold = {
        (data, selection): best_and_ties(results, data, measure, selection)
        for data in data_sets
        for selection in SELECTION_TITLES
    }
    for key in results.methods:
        if measure.level not in METHODS[key].levels:
            continue
        rows += _method_rows(results, data_sets, measure, key, bold)
    facts = [results.facts[data] for data in data_sets]
    return Table(
        f"{measure.level}-{measure.key}",
        f"{measure.title[0].upper()}{measure.title[1:]} {measure.arrow}",
        tuple(fact["mark"] for fact in facts),
        tuple(rows),
        _notes(results, data_sets, measure),
        "method",
        tuple(fact["about"] for fact in facts),
    )


def _method_rows(
    results: Results, data_sets: Sequence[str], measure: Measure, key: str, bold: dict[tuple[str, str], set[str]]
) -> list[TableRow]:
    method = METHODS[key]
    title = f"{method.title} (sees graph labels)" if method.sees_graph_labels else method.title
    printed = [
        paper_figure(results.facts[data]["column"], method.paper, measure.level, measure.key) for data in data_sets
    ]
    rows = [TableRow(title, group=True)]
    if any(printed):
        cells = tuple(TableCell("" if figure is None else with_deviation(*figure)) for figure in printed)
        rows.append(TableRow(f"the paper’s {method.paper}".replace("_", " "), cells, of="theirs"))
    for selection, words in SELECTION_TITLES.items():
        cells = tuple(
            _bold(
                cell_text(results.cell(data, key, measure.level, measure.key, selection)), key in bold[data, selection]
            )
            for data in data_sets
        )
        rows.append(TableRow(words, cells, of=selection))
    return rows


def _bold(cell: TableCell, bold: bool) -> TableCell:
    return TableCell(cell.text, bold and not cell.muted, cell.muted)


def _notes(results: Results, data_sets: Sequence[str], measure: Measure) -> tuple[str, ...]:
    notes = [f"Mean ± standard deviation over folds. {BEST_NOTE}"]
    if any(results.facts[data]["stand_in"] for data in data_sets):
        notes.append(STAND_IN_NOTE)
    if measure.level == "bag" and measure.key in NOT_COMPARABLE:
        notes.append(
            "The paper’s figures for this measure follow no definition we know: do not compare them with ours."
        )
    return tuple(notes)


def long_rows(results: Results, data_sets: Sequence[str], measures: Sequence[Measure]) -> list[dict[str, object]]:
    """Every figure as a row for other programs."""
    rows: list[dict[str, object]] = []
    for measure in measures:
        for data in data_sets:
            ties = {selection: best_and_ties(results, data, measure, selection) for selection in SELECTION_TITLES}
            for key in results.methods:
                rows += _long_rows(results, data, key, measure, ties)
    return rows


def _long_rows(
    results: Results, data: str, key: str, measure: Measure, ties: dict[str, set[str]]
) -> list[dict[str, object]]:
    printed = paper_figure(results.facts[data]["column"], METHODS[key].paper, measure.level, measure.key)
    common: dict[str, object] = {"data": data, "method": key, "level": measure.level, "measure": measure.key}
    rows = []
    for selection in SELECTION_TITLES:
        cell = results.cell(data, key, measure.level, measure.key, selection)
        found: dict[str, object] = {**common, "selection": selection, "why_empty": cell.why}
        if cell.values is not None:
            found |= {"mean": f"{cell.mean:.6f}", "deviation": f"{cell.deviation:.6f}", "folds": len(cell.values)}
            found["best_or_tied"] = int(key in ties[selection])
        if printed is not None:
            found |= {"paper_mean": printed.mean, "paper_deviation": printed.deviation}
        rows.append(found)
    return rows


LONG_COLUMNS = [
    "data", "method", "level", "measure", "selection", "mean", "deviation", "folds", "best_or_tied",
    "paper_mean", "paper_deviation", "why_empty",
]  # fmt: skip


# -- the short comparison ----------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """How far ours is ahead of one of the paper's figures; positive is better, whichever way the measure points."""

    data: str
    measure: Measure
    ours: float
    theirs: float

    @property
    def ahead(self) -> float:
        gain = self.ours - self.theirs
        return gain if self.measure.higher_is_better else -gain


COMPARED = (
    ("bag", "one_error"), ("bag", "ranking_loss"), ("bag", "average_precision"), ("bag", "macro_f1"),
    ("graph", "accuracy"),
)  # fmt: skip


def against_paper(results: Results, data: str, method: str, theirs: str, selection: str = "nested") -> list[Against]:
    """Our method beside one of the paper's on the measures that can be compared."""
    found = []
    for level, key in COMPARED:
        printed = paper_figure(results.facts[data]["column"], theirs, level, key)
        cell = results.cell(data, method, level, key, selection)
        if printed is not None and cell.values is not None:
            found.append(Against(data, find_measure(level, key), cell.mean, printed.mean))
    return found


def against_table(results: Results, data_sets: Sequence[str], theirs: str) -> Table:
    """CfMGML, chosen in training folds, less the paper's figures."""
    compared = [find_measure(*key) for key in COMPARED]
    rows = []
    for data in data_sets:
        found = {row.measure: row for row in against_paper(results, data, "cfmgml", theirs)}
        if found:
            cells = tuple(_against_cell(found[measure]) if measure in found else TableCell("") for measure in compared)
            rows.append(TableRow(results.facts[data]["mark"], cells))
    name = theirs.replace("_", " ")
    notes = [f"Ours, then how far it is ahead of the paper’s {name}: + is better, whichever way the measure points."]
    if any(results.facts[data]["stand_in"] for data in data_sets):
        notes.append(STAND_IN_NOTE)
    titles = tuple(f"{measure.title} {measure.arrow}" for measure in compared)
    return Table(
        f"against-{theirs.lower()}", f"CfMGML against the paper’s {name}", titles, tuple(rows), tuple(notes), "data"
    )


def _against_cell(row: Against) -> TableCell:
    sign = "+" if row.ahead >= 0 else "−"
    return TableCell(f"{number(row.ours)} ({sign}{number(abs(row.ahead))})", bold=row.ahead > 0)

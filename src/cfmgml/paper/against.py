"""CfMGML beside the figures that the paper prints, on the measures that can be compared."""

from dataclasses import dataclass

from cfmgml.evaluation.comparison import number
from cfmgml.evaluation.measures import Measure, find_measure
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, TableCell, TableRow
from cfmgml.paper.printed_figures import paper_figure

RIVALS = ("cfMGML", "SGSL_SVM")  # of the paper's methods, those that ours is held against


@dataclass(frozen=True)
class Against:
    """How far ours is ahead of one of the paper's figures; positive is better, whichever way the measure points."""

    measure: Measure
    ours: float
    theirs: float

    @property
    def ahead(self) -> float:
        gain = self.ours - self.theirs
        return gain if self.measure.higher_is_better else -gain


COMPARED = (
    *(find_measure("bag", key) for key in ("one_error", "ranking_loss", "average_precision", "macro_f1")),
    find_measure("graph", "accuracy"),
)


def against_paper(results: Results, data: str, method: str, theirs: str, selection: str = "nested") -> list[Against]:
    """Our method beside one of the paper's on the measures that can be compared."""
    compared = []
    for measure in COMPARED:
        printed = paper_figure(results.facts[data]["column"], theirs, *measure[:2])
        cell = results.cell(data, method, *measure[:2], selection)
        if printed is not None and cell.values is not None:
            compared.append(Against(measure, cell.mean, printed.mean))
    return compared


def against_tables(results: Results) -> list[Table]:
    """CfMGML held against each of `RIVALS`, where there is something to compare."""
    return [table for theirs in RIVALS if (table := _against_table(results, theirs)).rows]


def _against_table(results: Results, theirs: str) -> Table:
    """CfMGML, chosen in training folds, less the paper's figures."""
    rows, told = [], results.presentation.tells_best
    for data, fact in results.facts.items():
        ours = {row.measure: row for row in against_paper(results, data, "cfmgml", theirs)}
        if ours:
            rows.append(TableRow(fact["mark"], tuple(_against_cell(ours.get(measure), told) for measure in COMPARED)))
    name = theirs.replace("_", " ")
    note = f"Ours, then how far it is ahead of the paper’s {name}: + is better, whichever way the measure points."
    notes = (note, *results.stand_in_notes(results.facts))
    titles = tuple(f"{measure.title} {measure.arrow}" for measure in COMPARED)
    return Table(f"against-{theirs.lower()}", f"CfMGML against the paper’s {name}", titles, tuple(rows), notes, "data")


def _against_cell(row: Against | None, told: bool) -> TableCell:
    if row is None:
        return TableCell("")
    sign = "+" if row.ahead >= 0 else "−"
    return TableCell(f"{number(row.ours)} ({sign}{number(abs(row.ahead))})", bold=told and row.ahead > 0)

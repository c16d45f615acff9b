"""Writing tables, findings and the report from the rows that are there."""

from dataclasses import dataclass
from pathlib import Path

from cfmgml.common.files import atomic_write
from cfmgml.experiments.reproduction.comparing import (
    BAG_MEASURES,
    LONG_COLUMNS,
    against_table,
    long_rows,
    measure_table,
)
from cfmgml.experiments.reproduction.details import (
    confusion_matrix,
    confusion_rows,
    cost_table,
    label_table,
    overlap_table,
    setting_table,
)
from cfmgml.experiments.reproduction.findings import findings, markdown_findings
from cfmgml.experiments.reproduction.measures import MEASURES
from cfmgml.experiments.reproduction.page import GRAPH_MEASURES, About, page
from cfmgml.experiments.reproduction.ranking import rank_table
from cfmgml.experiments.reproduction.selecting import Results
from cfmgml.experiments.reproduction.tables import Table, comma_separated, latex, markdown


@dataclass(frozen=True)
class Rendered:
    """Where it was written."""

    report: Path
    tables: Path


def render(results: Results, out: Path, about: About | None = None) -> Rendered:
    """Write ``report.html`` and the folder ``tables``, each file in one step.

    The tables hold no times, so that they are the same whenever they are made; ``costs.md`` does.
    """
    folder = out / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in table_files(results).items():
        _write(folder / name, text)
    _write(out / "costs.md", markdown(cost_table(results, list(results.facts))))
    _write(out / "report.html", page(results, about or About()))
    return Rendered(out / "report.html", folder)


def table_files(results: Results) -> dict[str, str]:
    """Every table as Markdown, LaTeX and CSV, by file name."""
    data_sets = list(results.facts)
    labelled = [data for data in data_sets if results.facts[data]["has_graph_labels"]]
    groups: dict[str, list[Table]] = {
        "graphs": [measure_table(results, labelled, measure) for measure in GRAPH_MEASURES] if labelled else [],
        "bags": [measure_table(results, data_sets, measure) for measure in BAG_MEASURES],
        "against_paper": [against_table(results, data_sets, theirs) for theirs in ("cfMGML", "SGSL_SVM")],
        "ranks": [rank_table(results, BAG_MEASURES)],
        "settings": [setting_table(results, data_sets)],
        "overlap": [table for table in [overlap_table(results)] if table is not None],
        "labels": [table for data in labelled if (table := label_table(results, data)) is not None],
    }
    files = {"figures.csv": comma_separated(LONG_COLUMNS, long_rows(results, data_sets, MEASURES))}
    for name, tables in groups.items():
        shown = [table for table in tables if table.rows and table.columns]
        if shown:
            files[f"{name}.md"] = "\n".join(map(markdown, shown))
            files[f"{name}.tex"] = "\n\n".join(f"% {table.title}\n{latex(table)}" for table in shown) + "\n"
    for data in labelled:
        matrix = confusion_matrix(results, data)
        if matrix is not None:
            files[f"confusion-{data}.csv"] = comma_separated(*confusion_rows(results, data, matrix))
    return {**files, "findings.md": markdown_findings(findings(results))}


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as stream:
        stream.write(text.encode())

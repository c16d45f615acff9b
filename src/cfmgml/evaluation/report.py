"""Writing tables and the report from the rows that are there."""

from collections.abc import Sequence
from pathlib import Path

from cfmgml.common.files import atomic_write
from cfmgml.evaluation import details
from cfmgml.evaluation.comparison import long_rows, measure_table
from cfmgml.evaluation.measures import MEASURES, measures_of
from cfmgml.evaluation.page import GRAPH_MEASURES, About, page
from cfmgml.evaluation.ranking import rank_table
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, comma_separated, latex, markdown


def write_report(results: Results, out: Path, about: About, further: Sequence[Table] = ()) -> Path:
    """Write ``report.html``, whose path is returned, and the folder ``tables``, each file in one step.

    A table of ``further`` is a file of its name there.

    The tables hold no times, so that they are the same whenever they are made; ``costs.md`` does.
    """
    files = table_files(results)
    for table in further:
        files |= in_formats(table.name, [table])
    return write_files(results, out, files, page(results, about))


def write_files(results: Results, out: Path, files: dict[str, str], report: str) -> Path:
    """Write these tables and this page, and the table of costs."""
    (out / "tables").mkdir(parents=True, exist_ok=True)
    costs = markdown(details.cost_table(results, list(results.facts)))
    whole = {"costs.md": costs, "report.html": report, **{f"tables/{name}": text for name, text in files.items()}}
    for name, text in whole.items():
        with atomic_write(out / name) as stream:
            stream.write(text.encode())
    return out / "report.html"


def table_files(results: Results) -> dict[str, str]:
    """Every table as Markdown, LaTeX and CSV, by file name."""
    data_sets, bag_measures = list(results.facts), measures_of("bag")
    labelled = [data for data in data_sets if results.facts[data]["has_graph_labels"]]
    groups: dict[str, Sequence[Table | None]] = {
        "graphs": [measure_table(results, labelled, measure) for measure in GRAPH_MEASURES],
        "bags": [measure_table(results, data_sets, measure) for measure in bag_measures],
        "ranks": [rank_table(results, bag_measures, apart) for apart in (False, True)],
        "settings": [details.setting_table(results, data_sets)],
        "overlap": [details.overlap_table(results)],
        "labels": [details.label_table(results, data) for data in labelled],
    }
    files = {"figures.csv": comma_separated(*long_rows(results, MEASURES))}
    for name, tables in groups.items():
        files |= in_formats(name, tables)
    for data in labelled:
        matrix = details.confusion_matrix(results, data)
        if matrix is not None:
            files[f"confusion-{data}.csv"] = comma_separated(*details.confusion_rows(results, data, matrix))
    return files


def in_formats(name: str, tables: Sequence[Table | None]) -> dict[str, str]:
    """Those of the tables that have something in them, as a Markdown and a LaTeX file."""
    shown = [table for table in tables if table is not None and table.rows and table.columns]
    if not shown:
        return {}
    return {
        f"{name}.md": "\n".join(map(markdown, shown)),
        f"{name}.tex": "\n\n".join(f"% {table.title}\n{latex(table)}" for table in shown) + "\n",
    }

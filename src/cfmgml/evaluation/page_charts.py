"""The report's sections with charts: ranks, sensitivity to lambda, cost."""

from html import escape

import numpy as np

from cfmgml.evaluation.charts import critical_difference_diagram, curves, log_bars
from cfmgml.evaluation.details import cost_table
from cfmgml.evaluation.measures import Measure, find_measure, measures_of
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.ranking import rank_table, rank_test
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, html

SOLVERS = {
    "cfmgml": "cccp",
    "terms": "cccp, the paper’s terms",
    "paper": "Algorithm 1",
    "printed": "as printed",
    "hlk": "HLK",
}
N_OPEN = 6  # panels shown at once


def details(title: str, body: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{body}</details>" if body else ""


def figure(caption: str, chart: str) -> str:
    return f"<figure><figcaption><b>{escape(caption)}</b></figcaption>{chart}</figure>" if chart else ""


def plain(table: Table) -> str:
    return html(table).replace("<div class=wide", '<div class="wide plain"', 1)


def ranks_section(results: Results) -> str:
    table = rank_table(results, measures_of("bag"))
    if not table.columns:
        return ""
    titles = {key: method.title for key, method in METHODS.items()}
    figures = []
    for measure in (find_measure("bag", "average_precision"), find_measure("graph", "accuracy")):
        test = rank_test(results, measure)
        if test is not None:
            caption = f"{measure.title}, {len(test.data_sets)} data sets; Friedman’s p = {test.p_value:.2g}"
            figures.append(
                figure(caption, critical_difference_diagram(test, titles, f"average ranks by {measure.title}"))
            )
    return f"{''.join(figures)}<h3>{escape(table.title)}</h3>{plain(table)}"


def sensitivity_section(results: Results) -> str:
    panels = [
        panel
        for data in results.facts
        for measure in (find_measure("bag", "average_precision"), find_measure("graph", "accuracy"))
        if (panel := _sensitivity_panel(results, data, measure))
    ]
    if not panels:
        return ""
    first, rest = (f"<div class=panels>{''.join(part)}</div>" for part in (panels[:N_OPEN], panels[N_OPEN:]))
    more = details(f"{len(panels) - N_OPEN} more", rest) if len(panels) > N_OPEN else ""
    return f"<p class=muted>Means over the reported folds.</p>{first}{more}"


def _sensitivity_panel(results: Results, data: str, measure: Measure) -> str:
    column = f"{measure.level}.{measure.key}"
    drawn = {title: lambda_curve(results, data, method, column) for method, title in SOLVERS.items()}
    series = {title: points if len(points) > 1 else [] for title, points in drawn.items()}
    words = f"{results.facts[data]['mark']}: {measure.title}"
    return figure(words, curves(series, "lambda", words, log_x=True))


def lambda_curve(results: Results, data: str, method: str, column: str) -> list[tuple[float, float]]:
    """(lambda, mean over the reported folds), from the smallest lambda on."""
    values: dict[float, list[float]] = {}
    for row in results.rows(data, method):
        if row["inner"] is None and row.get(column) is not None and "alpha" in row["params"]:
            values.setdefault(row["params"]["alpha"], []).append(row[column])
    return [(alpha, float(np.mean(own))) for alpha, own in sorted(values.items())]


def cost_section(results: Results) -> str:
    figures = []
    for data, fact in results.facts.items():
        medians = {
            METHODS[key].title: float(np.median([row["cpu_seconds"] for row in rows]))
            for key in results.methods
            if (rows := [row for row in results.rows(data, key) if row["inner"] is None])
        }
        words = f"{fact['mark']}: CPU seconds of a fit"
        figures.append(figure(words, log_bars(medians, "s", words)))
    table = cost_table(results, list(results.facts))
    charts = f"<div class=panels>{''.join(figures)}</div>"
    return plain(table) + details("Seconds as charts", charts, len(figures) <= N_OPEN)

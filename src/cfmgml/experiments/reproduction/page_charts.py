"""The report's sections with charts: ranks, sensitivity to lambda, convergence, cost."""

from html import escape

import numpy as np

from cfmgml.experiments.demo import Measure
from cfmgml.experiments.reproduction.charts import critical_difference_diagram, curves, log_bars
from cfmgml.experiments.reproduction.comparing import BAG_MEASURES
from cfmgml.experiments.reproduction.details import cost_table
from cfmgml.experiments.reproduction.measures import find_measure
from cfmgml.experiments.reproduction.methods import METHODS
from cfmgml.experiments.reproduction.ranking import rank_table, rank_test
from cfmgml.experiments.reproduction.selecting import Results, common_alpha, reported_at
from cfmgml.experiments.reproduction.tables import Table, html
from cfmgml.experiments.svg import line_chart

SOLVERS = {
    "cfmgml": "cccp",
    "terms": "cccp, the paper’s terms",
    "paper": "Algorithm 1",
    "printed": "as printed",
    "hlk": "HLK",
}
N_OPEN = 6  # panels shown at once
CONVERGENCE = {
    "terms": "cccp: the paper’s terms, smoothed",
    "paper": "Algorithm 1, corrected",
    "printed": "Algorithm 1, as printed",
}


def details(title: str, body: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{body}</details>" if body else ""


def figure(caption: str, chart: str) -> str:
    return f"<figure><figcaption><b>{escape(caption)}</b></figcaption>{chart}</figure>" if chart else ""


def plain(table: Table) -> str:
    return html(table).replace("<div class=wide", '<div class="wide plain"', 1)


def ranks_section(results: Results) -> str:
    table = rank_table(results, BAG_MEASURES)
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
    found = {title: lambda_curve(results, data, method, column) for method, title in SOLVERS.items()}
    series = {title: points if len(points) > 1 else [] for title, points in found.items()}
    words = f"{results.facts[data]['mark']}: {measure.title}"
    return figure(words, curves(series, "lambda", words, log_x=True))


def lambda_curve(results: Results, data: str, method: str, column: str) -> list[tuple[float, float]]:
    """(lambda, mean over the reported folds), from the smallest lambda on."""
    values: dict[float, list[float]] = {}
    for row in results.rows(data, method):
        if row["inner"] is None and row.get(column) is not None and "alpha" in row["params"]:
            values.setdefault(row["params"]["alpha"], []).append(row[column])
    return [(alpha, float(np.mean(found))) for alpha, found in sorted(values.items())]


def convergence_section(results: Results) -> str:
    """Objectives by round on the first data set that has all three solvers, and where each ends by lambda."""
    alphas = {data: common_alpha(results, data, list(CONVERGENCE), "paper") for data in results.facts}
    data, alpha = next(((data, alpha) for data, alpha in alphas.items() if alpha is not None), ("", 0.0))
    if not data:
        return ""
    panels = "".join(
        figure(title, line_chart(_mean_objective(results, data, key, alpha), "round", "objective", title))
        for key, title in CONVERGENCE.items()
    )
    shown = ("cfmgml", *CONVERGENCE)
    ends = {SOLVERS[key]: lambda_curve(results, data, key, "paper_objective") for key in shown}
    last = "The paper’s objective at the end, on the training bags"
    panels += figure(last, curves(ends, "lambda", last, log_x=True, log_y=True))
    return (
        f"<p>{escape(results.facts[data]['mark'])}, lambda {alpha:g}, means over folds. The first panel is smoothed "
        "and never rises; the next two are the paper’s own objective. The last panel compares like with like: the "
        f"paper’s own objective at what each solver found.</p><div class=panels>{panels}</div>"
    )


def _mean_objective(results: Results, data: str, method: str, alpha: float) -> list[float]:
    runs = [row["objective"] for row in reported_at(results, data, method, alpha)]
    n = min(map(len, runs))  # a run may end early
    return np.mean([run[:n] for run in runs], axis=0).tolist()


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

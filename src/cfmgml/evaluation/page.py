"""The report: one HTML file that needs nothing but itself, made of rows and facts alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from cfmgml.evaluation.charts import confusion_chart, critical_difference_diagram, curves, log_bars
from cfmgml.evaluation.comparison import measure_table
from cfmgml.evaluation.details import confusion_matrix, cost_table, label_table, overlap_table, setting_table
from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.measures import CRITERIA, Measure, find_measure, measures_of
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.page_style import STYLE
from cfmgml.evaluation.protocol import MANY_GRAPHS
from cfmgml.evaluation.ranking import rank_table, rank_test
from cfmgml.evaluation.rows import PAUSE, wall_seconds
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, html

GRAPH_MEASURES = tuple(find_measure("graph", key) for key in ("accuracy", "annotated", "average_precision", "macro_f1"))
MAIN_MEASURES = tuple(find_measure(*key) for key in CRITERIA.items())
SOLVERS = {
    "cfmgml": "cccp", "terms": "cccp, the paper’s terms", "paper": "Algorithm 1", "printed": "as printed", "hlk": "HLK",
}  # fmt: skip
N_OPEN = 6  # panels shown at once
Section = tuple[str, str]  # title and body of a part of the page; without a body it is left out


@dataclass(frozen=True)
class About:
    """What the page says of its own making."""

    title: str
    command: str
    quick: bool = False
    failures: Sequence[str] = ()


def sections(results: Results, about_bags: str = "") -> dict[str, Section]:
    """The parts of the page by name, in their order; ``about_bags`` stands above the tables of bags."""
    return {
        "graphs": ("Graphs", _graphs(results)),
        "bags": ("Bags", about_bags + _bags(results)),
        "ranks": ("Ranks over data sets", _ranks(results)),
        "lambda": ("Sensitivity to alpha", _sensitivity(results)),
        "cost": ("Time and memory", _cost(results)),
        "labels": ("Label by label", _labels(results)),
        "overlap": ("Bags that share graphs", plain(overlap_table(results))),
        "data": ("Data and methods", _glossary(results)),
    }


def page(results: Results, about: About, parts: Mapping[str, Section] | None = None) -> str:
    """The whole page as a string, of these parts or of the usual ones."""
    there = [(name, title, text) for name, (title, text) in (parts or sections(results)).items() if text]
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title, _ in there)
    body = "\n".join(f"<section id={name}><h2>{title}</h2>{text}</section>" for name, title, text in there)
    text = f"{_heading(results, about)}<nav>{links}</nav>\n{body}{_footer(results, about)}"
    return whole_page(about.title, STYLE, text)


def whole_page(title: str, style: str, body: str) -> str:
    """An HTML file around a body, for light and dark screens."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>cfmgml: {escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


# -- parts -------------------------------------------------------------------------------------


def _heading(results: Results, about: About) -> str:
    protocol = next(iter(results.facts.values()))["protocol"]
    many = [f["mark"] for f in results.facts.values() if f.get("n_inner_run", 0) not in (0, f["protocol"]["n_inner"])]
    fewer = f"; on {escape(', '.join(many))}, which have many graphs, in the first of these" if many else ""
    text = (
        f"<header><h1>{escape(about.title)}</h1><p class=lead>{protocol['n_folds']}-fold cross-validation over bags, "
        f"the same folds for all methods. {results.presentation.lead} (in {protocol['n_inner']} folds inside each "
        f"training fold{fewer}).</p>"
    )
    if about.quick:
        sizes = sorted({fact["subset"] or fact["n_bags"] for fact in results.facts.values()})
        text += (
            f"<p class=warn><b>A quick run.</b> {' to '.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))} bags of "
            f"each data set, {protocol['n_folds']} folds, {protocol['n_inner']} inner folds, at most three parameters "
            "a method, short training of MIMLfast and the network. It shows that everything runs; its figures say "
            "nothing about the methods.</p>"
        )
    if about.failures:
        items = "".join(f"<li>{escape(words)}</li>" for words in about.failures)
        text += f"<div class=warn><b>What failed</b> (run the command again to retry):<ul>{items}</ul></div>"
    return text + "</header>"


def _graphs(results: Results) -> str:
    labelled = [data for data, fact in results.facts.items() if fact["has_graph_labels"]]
    if not labelled:
        return ""
    tables = [measure_table(results, labelled, measure) for measure in GRAPH_MEASURES]
    rest = "".join(details(table.title, html(table)) for table in tables[1:])
    return f"<p>{results.presentation.graphs_lead}</p>{html(tables[0])}{rest}"


def _bags(results: Results) -> str:
    data_sets = list(results.facts)
    tables = [measure_table(results, data_sets, measure) for measure in measures_of("bag")]
    opened = "".join(details(table.title, html(table), table.name == "bag-average_precision") for table in tables)
    settings = setting_table(results, data_sets)
    return f"<h3>Every measure, data set and method</h3>{opened}{details(settings.title, plain(settings))}"


def details(title: str, body: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{body}</details>" if body else ""


def figure(caption: str, chart: str) -> str:
    return f"<figure><figcaption><b>{escape(caption)}</b></figcaption>{chart}</figure>" if chart else ""


def plain(table: Table | None) -> str:
    return html(table, "plain") if table else ""


def _ranks(results: Results) -> str:
    tables = [rank_table(results, measures_of("bag"), apart) for apart in (False, True)]
    shown = [table for table in tables if table is not None and table.columns]
    if not shown:
        return ""
    titles = {key: method.title for key, method in METHODS.items()}
    figures = []
    for measure in MAIN_MEASURES:
        test = rank_test(results, measure)
        if test is not None:
            caption = f"{measure.title}, {len(test.data_sets)} data sets; Friedman’s p = {test.p_value:.2g}"
            chart = critical_difference_diagram(test, titles, f"average ranks by {measure.title}")
            figures.append(figure(caption, chart))
    return "".join([*figures, *(f"<h3>{escape(table.title)}</h3>{plain(table)}" for table in shown)])


def _sensitivity(results: Results) -> str:
    drawn = [_sensitivity_panel(results, data, measure) for data in results.facts for measure in MAIN_MEASURES]
    panels = list(filter(None, drawn))
    if not panels:
        return ""
    first, rest = (f"<div class=panels>{''.join(part)}</div>" for part in (panels[:N_OPEN], panels[N_OPEN:]))
    more = details(f"{len(panels) - N_OPEN} more", rest) if len(panels) > N_OPEN else ""
    return f"<p class=muted>Means over the reported folds.</p>{first}{more}"


def _sensitivity_panel(results: Results, data: str, measure: Measure) -> str:
    drawn = {title: lambda_curve(results, data, key, ".".join(measure[:2])) for key, title in SOLVERS.items()}
    series = {title: points if len(points) > 1 else [] for title, points in drawn.items()}
    words = f"{results.facts[data]['mark']}: {measure.title}"
    return figure(words, curves(series, "alpha", words, log_x=True))


def lambda_curve(results: Results, data: str, method: str, column: str) -> list[tuple[float, float]]:
    """(lambda, mean over the reported folds), from the smallest lambda on."""
    values: dict[float, list[float]] = {}
    for row in results.reported(data, method):
        if row.get(column) is not None and "alpha" in row["params"]:
            values.setdefault(row["params"]["alpha"], []).append(row[column])
    return [(alpha, float(np.mean(own))) for alpha, own in sorted(values.items())]


def _cost(results: Results) -> str:
    figures = []
    for data, fact in results.facts.items():
        medians = {
            METHODS[key].title: float(np.median([row["cpu_seconds"] for row in rows]))
            for key in results.methods
            if (rows := results.reported(data, key))
        }
        words = f"{fact['mark']}: CPU seconds of a fit"
        figures.append(figure(words, log_bars(medians, "s", words)))
    table = cost_table(results, list(results.facts))
    charts = f"<div class=panels>{''.join(figures)}</div>"
    return plain(table) + details("Seconds as charts", charts, len(figures) <= N_OPEN)


def _labels(results: Results) -> str:
    parts: list[str] = []
    for data, fact in results.facts.items():
        table, matrix = label_table(results, data), confusion_matrix(results, data)
        if table is None:
            continue
        title = f"{fact['mark']}: which labels are mistaken for which"
        chart = "" if matrix is None else confusion_chart(matrix, fact["labels"], title)
        words = "Rows: the true label; columns: the best label. Shade: share of the row."
        parts.append(details(fact["mark"], plain(table) + figure(words, chart), not parts))
    return "".join(parts)


def _glossary(results: Results) -> str:
    data = "".join(map(_data_words, results.facts.values()))
    told = [METHODS[key] for key in results.methods]
    methods = "".join(f"<dt>{escape(method.title)}</dt><dd>{escape(method.about)}.</dd>" for method in told)
    short = sorted({key for fact in results.facts.values() for key in fact["short_grids"]})
    names = escape(", ".join(METHODS[key].title for key in short if key in METHODS))
    words = f"On data sets of more than {MANY_GRAPHS:,} graphs these search fewer parameters: {names}."
    note = f"<p class=muted>{words}</p>" if short else ""
    return f"<h3>Data</h3><dl class=things>{data}</dl><h3>Methods</h3><dl class=things>{methods}</dl>{note}"


def _data_words(fact: Facts) -> str:
    stands = f" Stands in for {escape(fact['stand_in'])}." if fact["stand_in"] else ""
    return (
        f"<dt>{escape(fact['mark'])}</dt><dd>{fact['n_bags']:,} bags, {fact['n_graphs']:,} graphs, "
        f"{len(fact['labels'])} labels ({fact['labels_a_bag']:.2f} a bag); {escape(fact['about'])}.{stands}</dd>"
    )


def _footer(results: Results, about: About) -> str:
    rows = [row for row in results.all_rows() if "taken_from" not in row]
    sittings = {row["sitting"] for row in rows}
    workers = " or ".join(map(str, sorted({row["workers"] for row in rows})))
    made = "; ".join(sorted({row["versions"] for row in rows}))
    in_fits = _hours(sum(row["cpu_seconds"] for row in rows))
    parts = f"{len(sittings)} {'sitting' if len(sittings) == 1 else 'sittings'}, {workers} workers"
    return (
        f"<footer><p>Made by <code>{escape(about.command)}</code>: {len(rows):,} measurements in "
        f"{_hours(wall_seconds(rows))} of wall time ({parts}; a pause counts "
        f"{PAUSE / 60:.0f} minutes at most), {in_fits} of CPU time in fits. "
        f"{escape(made)}.</p></footer>"
    )


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"

"""The report: one HTML file that needs nothing but itself, made of rows and facts alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from cfmgml.evaluation.charts import confusion_chart
from cfmgml.evaluation.comparison import measure_table
from cfmgml.evaluation.details import confusion_matrix, label_table, overlap_table, setting_table
from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.measures import find_measure, measures_of
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.page_charts import cost_section, details, figure, plain, ranks_section, sensitivity_section
from cfmgml.evaluation.page_style import STYLE
from cfmgml.evaluation.protocol import MANY_GRAPHS
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import html

GRAPH_MEASURES = tuple(find_measure("graph", key) for key in ("accuracy", "annotated", "average_precision", "macro_f1"))


@dataclass(frozen=True)
class About:
    """What the page says of its own making."""

    title: str
    command: str
    quick: bool = False
    failures: Sequence[str] = ()


class Section(NamedTuple):
    """A part of the page; one without a body is left out."""

    name: str
    title: str
    body: str


def sections(results: Results, about_bags: str = "") -> dict[str, Section]:
    """The parts of the page by name, in their order; ``about_bags`` stands above the tables of bags."""
    parts = (
        Section("graphs", "Graphs", _graphs(results)),
        Section("bags", "Bags", about_bags + _bags(results)),
        Section("ranks", "Ranks over data sets", ranks_section(results)),
        Section("lambda", "Sensitivity to lambda", sensitivity_section(results)),
        Section("cost", "Time and memory", cost_section(results)),
        Section("labels", "Label by label", _labels(results)),
        Section("overlap", "Bags that share graphs", _overlap(results)),
        Section("data", "Data and methods", _glossary(results)),
    )
    return {section.name: section for section in parts}


def page(results: Results, about: About, parts: Iterable[Section] | None = None) -> str:
    """The whole page as a string, of these parts or of the usual ones."""
    there = [section for section in parts or sections(results).values() if section.body]
    links = "".join(f'<a href="#{section.name}">{section.title}</a>' for section in there)
    body = "\n".join(f"<section id={name}><h2>{title}</h2>{text}</section>" for name, title, text in there)
    return whole_page(
        about.title,
        STYLE,
        f"{_heading(results, about)}<nav>{links}</nav>\n{body}{_footer(results, about)}",
    )


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
    text = (
        f"<header><h1>{escape(about.title)}</h1><p class=lead>{protocol['n_folds']}-fold cross-validation over bags, "
        f"the same folds for all methods. {results.presentation.lead} (in {protocol['n_inner']} folds inside each "
        f"training fold{_fewer_inside(results)}).</p>"
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


def _fewer_inside(results: Results) -> str:
    """On which data sets not all inner folds are used."""
    marks = [f["mark"] for f in results.facts.values() if f.get("n_inner_run", 0) not in (0, f["protocol"]["n_inner"])]
    return f"; on {escape(', '.join(marks))}, which have many graphs, in the first of these" if marks else ""


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


def _labels(results: Results) -> str:
    parts: list[str] = []
    for data, fact in results.facts.items():
        table, matrix = label_table(results, data), confusion_matrix(results, data)
        if table is None:
            continue
        chart = ""
        if matrix is not None:
            words = "Rows: the true label; columns: the best label. Shade: share of the row."
            chart = figure(
                words, confusion_chart(matrix, fact["labels"], f"{fact['mark']}: which labels are mistaken for which")
            )
        parts.append(details(fact["mark"], plain(table) + chart, not parts))
    return "".join(parts)


def _overlap(results: Results) -> str:
    table = overlap_table(results)
    return "" if table is None else plain(table)


def _glossary(results: Results) -> str:
    data = "".join(map(_data_words, results.facts.values()))
    methods = "".join(
        f"<dt>{escape(METHODS[key].title)}</dt><dd>{escape(METHODS[key].about)}.</dd>" for key in results.methods
    )
    short = sorted({key for fact in results.facts.values() for key in fact["short_grids"]})
    note = ""
    if short:
        names = ", ".join(METHODS[key].title for key in short if key in METHODS)
        note = (
            f"<p class=muted>On data sets of more than {MANY_GRAPHS:,} graphs these search fewer parameters: "
            f"{escape(names)}.</p>"
        )
    return f"<h3>Data</h3><dl class=things>{data}</dl><h3>Methods</h3><dl class=things>{methods}</dl>{note}"


def _data_words(fact: Facts) -> str:
    stands = f" Stands in for {escape(fact['stand_in'])}." if fact["stand_in"] else ""
    return (
        f"<dt>{escape(fact['mark'])}</dt><dd>{fact['n_bags']:,} bags, {fact['n_graphs']:,} graphs, "
        f"{len(fact['labels'])} labels ({fact['labels_a_bag']:.2f} a bag); {escape(fact['about'])}.{stands}</dd>"
    )


def _footer(results: Results, about: About) -> str:
    rows = [row for row in results.all_rows() if "taken_from" not in row]
    sittings: dict[str, float] = {}
    for row in rows:
        sittings[row["sitting"]] = max(sittings.get(row["sitting"], 0.0), row["at"])
    workers = " or ".join(map(str, sorted({row["workers"] for row in rows})))
    made = "; ".join(sorted({row["versions"] for row in rows}))
    in_fits = _hours(sum(row["cpu_seconds"] for row in rows))
    parts = f"{len(sittings)} {'sitting' if len(sittings) == 1 else 'sittings'}, {workers} workers"
    return (
        f"<footer><p>Made by <code>{escape(about.command)}</code>: {len(rows):,} measurements in "
        f"{_hours(sum(sittings.values()))} of wall time ({parts}), {in_fits} of CPU time in fits. "
        f"{escape(made)}.</p></footer>"
    )


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.1f} minutes"

"""The report: one HTML file that needs nothing but itself, made of rows and facts alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from cfmgml.experiments.reproduction.charts import confusion_chart
from cfmgml.experiments.reproduction.comparing import BAG_MEASURES, against_table, measure_table
from cfmgml.experiments.reproduction.details import (
    confusion_matrix,
    label_table,
    overlap_table,
    setting_table,
)
from cfmgml.experiments.reproduction.findings import Finding, findings
from cfmgml.experiments.reproduction.measures import find_measure
from cfmgml.experiments.reproduction.methods import METHODS
from cfmgml.experiments.reproduction.page_charts import (
    convergence_section,
    cost_section,
    details,
    figure,
    plain,
    ranks_section,
    sensitivity_section,
)
from cfmgml.experiments.reproduction.page_style import STYLE
from cfmgml.experiments.reproduction.planning import MANY_GRAPHS, Facts
from cfmgml.experiments.reproduction.selecting import Results
from cfmgml.experiments.reproduction.tables import html

GRAPH_MEASURES = tuple(find_measure("graph", key) for key in ("accuracy", "annotated", "average_precision", "macro_f1"))


@dataclass(frozen=True)
class About:
    """What the page says of its own making."""

    title: str = "The paper’s experiments, run again"
    command: str = "cfmgml reproduce"
    quick: bool = False
    failures: Sequence[str] = ()
    samples: Mapping[str, str] = field(default_factory=dict)  # captions and pictures, as data URLs


def page(results: Results, about: About) -> str:
    """The whole page as a string."""
    sections = {
        "findings": _findings(findings(results)),
        "graphs": _graphs(results),
        "bags": _bags(results),
        "ranks": ranks_section(results),
        "lambda": sensitivity_section(results),
        "convergence": convergence_section(results),
        "cost": cost_section(results),
        "labels": _labels(results),
        "overlap": _overlap(results),
        "samples": _samples(about.samples),
        "data": _glossary(results),
    }
    there = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{name}">{TITLES[name]}</a>' for name in there)
    parts = [f"<section id={name}><h2>{TITLES[name]}</h2>{body}</section>" for name, body in there.items()]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>cfmgml: {escape(about.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{_heading(results, about)}<nav>{links}</nav>\n"
        + "\n".join(parts)
        + _footer(results, about)
        + "\n</main>\n</body>\n</html>\n"
    )


TITLES = {
    "findings": "Findings",
    "graphs": "Graphs",
    "bags": "Bags",
    "ranks": "Ranks over data sets",
    "lambda": "Sensitivity to lambda",
    "convergence": "Convergence",
    "cost": "Time and memory",
    "labels": "Label by label",
    "overlap": "Bags that share graphs",
    "samples": "Samples",
    "data": "Data and methods",
}


# -- parts -------------------------------------------------------------------------------------


def _heading(results: Results, about: About) -> str:
    protocol = (
        next(iter(results.facts.values()))["protocol"] if results.facts else {"n_folds": 0, "n_inner": 0, "seed": 0}
    )
    text = (
        f"<header><h1>{escape(about.title)}</h1><p class=lead>{protocol['n_folds']}-fold cross-validation over bags, "
        "the same folds for all methods. For each method stand the paper’s figure, where it has one; ours with the "
        "parameter chosen as the paper does (the best over the very folds that are reported); and ours with the "
        f"parameter chosen honestly (in {protocol['n_inner']} folds inside each training fold{_fewer_inside(results)})"
        ".</p>"
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


def _findings(found: Sequence[Finding]) -> str:
    kinds = {"holds": "holds", "does not hold": "not"}
    return "".join(
        f'<div class=finding><span class="verdict {kinds.get(finding.verdict, "part")}">{finding.verdict}</span>'
        f"<div><b>{escape(finding.claim)}.</b><p>{escape(finding.text)}</p></div></div>"
        for finding in found
    )


def _graphs(results: Results) -> str:
    labelled = [data for data, fact in results.facts.items() if fact["has_graph_labels"]]
    if not labelled:
        return ""
    tables = [measure_table(results, labelled, measure) for measure in GRAPH_MEASURES]
    rest = "".join(details(table.title, html(table)) for table in tables[1:])
    return (
        "<p>The share of graphs whose best label is a true one, learned from the labels of bags only: the paper’s "
        f"first table.</p>{html(tables[0])}{rest}"
    )


def _bags(results: Results) -> str:
    data_sets = list(results.facts)
    tables = [measure_table(results, data_sets, measure) for measure in BAG_MEASURES]
    beside = [against_table(results, data_sets, theirs) for theirs in ("cfMGML", "SGSL_SVM")]
    short = "".join(f"<h3>{escape(table.title)}</h3>{plain(table)}" for table in beside if table.rows)
    long = "".join(details(table.title, html(table), table.name == "bag-average_precision") for table in tables)
    settings = setting_table(results, data_sets)
    return f"{short}<h3>Every measure, data set and method</h3>{long}{details(settings.title, plain(settings))}"


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


def _samples(samples: Mapping[str, str]) -> str:
    figures = "".join(
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f'<img class=sample alt="{escape(caption)}" src="{source}"></figure>'
        for caption, source in samples.items()
    )
    warning = "<p class=muted>These pictures and texts are other people’s: for looking at, not for publishing.</p>"
    return warning + figures if figures else ""


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

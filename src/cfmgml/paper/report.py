"""The tables and the report on the paper's experiments: its figures beside ours, what holds and what does not."""

from html import escape
from pathlib import Path

import numpy as np

from cfmgml.evaluation import report
from cfmgml.evaluation.charts import curves
from cfmgml.evaluation.measures import measures_of
from cfmgml.evaluation.page import GRAPH_MEASURES, SOLVERS, About, figure, lambda_curve, page, plain, sections
from cfmgml.evaluation.ranking import rank_table
from cfmgml.evaluation.selection import Results, common_alpha, reported_at
from cfmgml.evaluation.svg import line_chart
from cfmgml.paper.against import against_tables
from cfmgml.paper.finding import html_findings, markdown_findings
from cfmgml.paper.findings import findings

EQUAL_TERMS = "misvm-context"  # the strongest rival, given what ours has: ranks beside those over all data sets
TITLE = "The paper’s experiments, run again"
SAMPLES_NOTE = "<p class=muted>These pictures and texts are other people’s: for looking at, not for publishing.</p>"
CONVERGENCE = {
    "terms": "cccp: the paper’s terms, smoothed",
    "paper": "Algorithm 1, corrected",
    "printed": "Algorithm 1, as printed",
}


def write_paper_report(results: Results, out: Path, about: About, samples: str = "") -> Path:
    """Write ``report.html``, with these samples, and the folder ``tables``."""
    files = table_files(results)
    if about.quick:  # its figures say nothing about the methods
        del files["findings.md"]
    return report.write_files(results, out, files, paper_page(results, about, samples))


def table_files(results: Results) -> dict[str, str]:
    """Every table as Markdown, LaTeX and CSV, by file name, and the findings."""
    files = report.table_files(results) | report.in_formats("against_paper", against_tables(results))
    measures = (*measures_of("bag"), *GRAPH_MEASURES)
    equal = [rank_table(results, measures, apart, where=EQUAL_TERMS) for apart in (False, True)]
    files |= report.in_formats("ranks-equal-terms", equal)
    return {**files, "findings.md": markdown_findings(findings(results))}


def paper_page(results: Results, about: About, samples: str = "") -> str:
    """The whole page; ``samples`` are figures as HTML (`held_out_samples`)."""
    beside = "".join(f"<h3>{escape(table.title)}</h3>{plain(table)}" for table in against_tables(results))
    parts = sections(results, beside)
    parts |= {
        "findings": ("Findings", "" if about.quick else html_findings(findings(results))),
        "convergence": ("Convergence", convergence_section(results)),
        "samples": ("Samples", SAMPLES_NOTE + samples if samples else ""),
    }
    return page(results, about, {name: parts[name] for name in ORDER})


ORDER = (
    "findings", "graphs", "bags", "ranks", "lambda", "convergence", "cost", "labels", "overlap", "samples", "data",
)  # fmt: skip


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

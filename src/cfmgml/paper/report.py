"""Writing the paper's tables, findings and report from the rows that are there."""

from collections.abc import Mapping
from pathlib import Path

from cfmgml.evaluation import report
from cfmgml.evaluation.page import About
from cfmgml.evaluation.selection import Results
from cfmgml.paper.against import against_tables
from cfmgml.paper.findings import findings, markdown_findings
from cfmgml.paper.page import paper_page

TITLE = "The paper’s experiments, run again"


def write_paper_report(results: Results, out: Path, about: About, samples: Mapping[str, str]) -> Path:
    """Write ``report.html``, with these captions and pictures, and the folder ``tables``."""
    return report.write_files(results, out, table_files(results), paper_page(results, about, samples))


def table_files(results: Results) -> dict[str, str]:
    """Every table as Markdown, LaTeX and CSV, by file name, and the findings."""
    files = report.table_files(results) | report.in_formats("against_paper", against_tables(results))
    return {**files, "findings.md": markdown_findings(findings(results))}

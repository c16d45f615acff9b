"""What a finding is: a claim, a verdict, a sentence, and differences with their intervals; as Markdown and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from cfmgml.evaluation.comparison import number
from cfmgml.evaluation.dot_plots import Dot, dot_plot
from cfmgml.evaluation.tables import Table, TableCell, TableRow, markdown

INTERVALS = (
    "Differences are means over folds; intervals are of 95 %, corrected for training bags that folds share, unless it "
    "is said otherwise (of the paper’s figures the means alone are known: there the interval is that of ours). Where "
    "all of an interval is on one side of 0, the sentences say surely."
)
KINDS = {"holds": "holds", "does not hold": "not"}  # classes of the style sheet; else "part"


class Compared(NamedTuple):
    """Two figures, and how far the first is ahead of the second, with an interval."""

    name: str
    first: float
    second: float
    ahead: float
    low: float
    high: float
    group: str = ""


@dataclass(frozen=True)
class Finding:
    """A claim, whether it holds in these results, and the figures behind that."""

    claim: str
    verdict: str  # "holds", "does not hold", "holds in part", "undecided": nothing is told apart
    sentence: str
    compared: tuple[Compared, ...]
    sides: tuple[str, str]  # what the first and the second figure are
    axis: str  # what the differences are
    as_ratio: bool = False  # differences are powers of ten
    interval: str = "95 % interval"


def markdown_findings(told: Sequence[Finding]) -> str:
    """The findings as a page.

    >>> row = Compared("Cows", 0.9, 0.8, 0.1, 0.05, 0.15)
    >>> print(markdown_findings([Finding("All is well", "holds", "It is.", (row,), ("ours", "theirs"), "ahead by")]))
    ... # doctest: +ELLIPSIS
    # Findings
    <BLANKLINE>
    Differences are means over folds; ...
    <BLANKLINE>
    ### All is well: holds
    <BLANKLINE>
    It is.
    <BLANKLINE>
    |  | ours | theirs | ahead by | 95 % interval |
    |---|---|---|---|---|
    | Cows | .900 | .800 | +.100 | +.050 to +.150 |
    <BLANKLINE>
    """
    parts = [f"### {finding.claim}: {finding.verdict}\n\n{finding.sentence}\n\n{_figures(finding)}" for finding in told]
    return "\n".join(["# Findings\n", f"{INTERVALS}\n", *parts])


def html_findings(told: Sequence[Finding]) -> str:
    """The findings as a part of the report: a picture each."""
    plots = "".join(
        f'<div class=finding><div><span class="verdict {KINDS.get(finding.verdict, "part")}">{finding.verdict}</span>'
        f"<p><b>{escape(finding.claim)}.</b> {escape(finding.sentence)}</p></div>{_plot(finding)}</div>"
        for finding in told
    )
    return f"<p class=muted>{INTERVALS} Such dots are filled.</p>{plots}" if told else ""


def _plot(finding: Finding) -> str:
    axis = finding.axis if finding.interval == "95 % interval" else f"{finding.axis} ({finding.interval})"
    dots = [Dot(one.name, one.ahead, one.low, one.high, one.group) for one in finding.compared]
    words = "; ".join(f"{_name(one)} {_ahead(finding, one.ahead)}" for one in finding.compared)
    return dot_plot(dots, axis, f"{finding.claim}: {finding.axis}. {words}", finding.as_ratio)


def _figures(finding: Finding) -> str:
    rows = [TableRow(_name(one), tuple(TableCell(text) for text in _cells(finding, one))) for one in finding.compared]
    table = Table("", "", (*finding.sides, finding.axis, finding.interval), tuple(rows))
    return markdown(table).partition("\n\n")[2]


def _name(one: Compared) -> str:
    return f"{one.group}: {one.name}" if one.group else one.name


def _cells(finding: Finding, one: Compared) -> tuple[str, ...]:
    low, high = _ahead(finding, one.low), _ahead(finding, one.high)
    return number(one.first), number(one.second), _ahead(finding, one.ahead), f"{low} to {high}"


def _ahead(finding: Finding, value: float) -> str:
    if finding.as_ratio:
        return f"× {10**value:.3g}"
    return f"{'−' if value < 0 else '+'}{number(abs(value))}"

"""A table as data, and the same table as Markdown, LaTeX, CSV and HTML."""

import csv
import io
import re
from dataclasses import dataclass, replace
from html import escape

PRINTED = 6  # columns that a sheet of paper has room for


@dataclass(frozen=True)
class TableCell:
    """What stands in a cell. ``bold``: the best, or tied with it; ``muted``: no value, but why there is none."""

    text: str
    bold: bool = False
    muted: bool = False


@dataclass(frozen=True)
class TableRow:
    """A row; a ``group`` row has a heading only. ``of`` names what it belongs to, for styles."""

    head: str
    cells: tuple[TableCell, ...] = ()
    group: bool = False
    of: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption and notes."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    corner: str = ""
    head_titles: tuple[str, ...] = ()  # longer names of the columns, for those who point at them


def markdown(table: Table) -> str:
    """GitHub's Markdown.

    >>> print(markdown(Table("t", "Two", ("x",), (TableRow("a", (TableCell(".5", bold=True),)),), ("A note.",))))
    ### Two
    <BLANKLINE>
    |  | x |
    |---|---|
    | a | **.5** |
    <BLANKLINE>
    A note.
    <BLANKLINE>
    """
    lines = [f"### {table.title}", "", _piped([table.corner, *table.columns]), "|---" * (len(table.columns) + 1) + "|"]
    for row in table.rows:
        head = f"**{row.head}**" if row.group else row.head
        cells = [f"**{cell.text}**" if cell.bold else cell.text for cell in row.cells]
        lines.append(_piped([head, *(cells or [""] * len(table.columns))]))
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes), ""])


def _piped(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def latex(table: Table) -> str:
    r"""A table for LaTeX with booktabs.

    >>> print(latex(Table("t", "Two", ("x_1",), (TableRow("a", (TableCell(".5±.1", bold=True),)),))))
    % needs \usepackage{booktabs}
    \begin{tabular}{lc}
    \toprule
     & x\_1 \\
    \midrule
    a & \textbf{.5$\pm$.1} \\
    \bottomrule
    \end{tabular}
    """
    width = len(table.columns)
    heads = " & ".join(map(_tex, [table.corner, *table.columns]))
    lines = ["% needs \\usepackage{booktabs}", f"\\begin{{tabular}}{{l{'c' * width}}}", "\\toprule"]
    lines += [f"{heads} \\\\", "\\midrule"]
    for row in table.rows:
        if row.group:
            lines.append(f"\\multicolumn{{{width + 1}}}{{l}}{{\\emph{{{_tex(row.head)}}}}} \\\\")
        else:
            cells = [f"\\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text) for cell in row.cells]
            lines.append(" & ".join([_tex(row.head), *cells]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", *(f"% {note}" for note in table.notes)])


_TEX = str.maketrans(
    {"±": r"$\pm$", "†": r"$^\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "−": "$-$", "→": r"$\to$", "’": "'"}
)


def _tex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text).translate(_TEX)


def html(table: Table, style: str = "") -> str:
    """A table in a box that scrolls sideways where it is wider than the page; the first column stays. ``style`` is a
    further class of the box.

    On paper nothing scrolls: a table of many columns is there as several, one below the other.
    """
    titles = table.head_titles or ("",) * len(table.columns)
    hints = [f' title="{escape(title)}"' if title else "" for title in titles]
    heads = "".join(f"<th scope=col{hint}>{escape(name)}</th>" for name, hint in zip(table.columns, hints, strict=True))
    notes = "".join(f"<p class=muted>{escape(note)}</p>" for note in table.notes)
    label = escape(table.title)
    on_screen, paper = ("screen", _on_paper(table, style)) if len(table.columns) > PRINTED else ("", "")
    box = " ".join(filter(None, ("wide", on_screen, style)))
    return (
        f'<div class="{box}" role=region tabindex=0 aria-label="{label}"><table id="table-{escape(table.name)}">'
        f"{_html_body(table, heads, slice(None))}</table></div>{paper}{notes}"
    )


def _on_paper(table: Table, style: str) -> str:
    parts = []
    for start in range(0, len(table.columns), PRINTED):
        chosen = slice(start, start + PRINTED)
        heads = "".join(f"<th scope=col>{escape(name)}</th>" for name in table.columns[chosen])
        parts.append(f"<table>{_html_body(table, heads, chosen)}</table>")
    box = " ".join(filter(None, ("wide paper", style)))
    return f'<div class="{box}">{"".join(parts)}</div>'


def _html_body(table: Table, heads: str, chosen: slice) -> str:
    width = len(table.columns[chosen])
    body = "".join(_html_row(replace(row, cells=row.cells[chosen]), width) for row in table.rows)
    return f"<thead><tr><th scope=col>{escape(table.corner)}</th>{heads}</tr></thead><tbody>{body}</tbody>"


def _html_row(row: TableRow, width: int) -> str:
    if row.group:
        return f'<tr class=group><th scope=row>{escape(row.head)}</th><td colspan="{width}"></td></tr>'
    cells = "".join(
        f"<td{' class=why' if cell.muted else ''}>"
        f"{f'<b>{escape(cell.text)}</b>' if cell.bold else escape(cell.text)}</td>"
        for cell in row.cells
    )
    style = f' class="{escape(row.of)}"' if row.of else ""
    return f"<tr{style}><th scope=row>{escape(row.head)}</th>{cells}</tr>"


def comma_separated(columns: list[str], rows: list[dict[str, object]]) -> str:
    """Rows for other programs; what a row does not have is left empty.

    >>> print(comma_separated(["a", "b"], [{"a": 1}]), end="")
    a,b
    1,
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()

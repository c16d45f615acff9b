"""What a notebook shows of graphs, bags and reports: a small table and a few drawings, as HTML that is bounded.

Names come from anywhere, so they are made `printable`, shortened and escaped; no script and no style leaves its place.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.layout import spring_layout, unit_square
from cfmgml.common.printable import printable
from cfmgml.common.typing import FloatArray

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.data.graphs import GraphBatch

MOST_DRAWN = 6  # graphs
MOST_NODES = 60  # of a graph that is drawn
MOST_LABELS = 12  # told of
MOST_LETTERS = 60  # of a name
SIZE = 90  # of a drawing
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1", "#edc948", "#9c755f")


def graphs_html(graphs: "GraphBatch") -> str:
    """A batch: what `repr` says, and its first graphs."""
    return _box(repr(graphs), [], _drawings(graphs, None))


def bags_html(bags: "BagDataset") -> str:
    """A data set: what `repr` says, how many bags have each label, and the graphs of its first bag."""
    rows = []
    if bags.Y is not None and bags.label_names is not None:
        counts = zip(bags.label_names.tolist(), bags.Y.sum(axis=0).tolist(), strict=True)
        rows = [(name, f"{count:,} bags") for _, (name, count) in zip(range(MOST_LABELS), counts, strict=False)]
        if bags.n_labels > MOST_LABELS:
            rows.append((f"and {bags.n_labels - MOST_LABELS:,} more", ""))
    first = bags[0]
    positions = None if bags.builder is None else bags.builder.positions(first.graphs)
    return _box(repr(bags), rows, _drawings(first.graphs, positions))


def report_html(report: Mapping[str, float]) -> str:
    """Measures and their values.

    >>> "<td>0.5000</td>" in report_html({"accuracy": 0.5})
    True
    """
    return _box("", [(name, f"{value:.4f}") for name, value in report.items()], "")


def _word(text: str) -> str:
    shown = printable(text)
    return escape(shown if len(shown) <= MOST_LETTERS else shown[: MOST_LETTERS - 1] + "…")


def _box(title: str, rows: Iterable[tuple[str, str]], drawings: str) -> str:
    cells = "".join(f"<tr><td>{_word(name)}</td><td>{_word(value)}</td></tr>" for name, value in rows)
    table = f"<table>{cells}</table>" if cells else ""
    head = f"<p><code>{escape(printable(title))}</code></p>" if title else ""
    return f"<div>{head}{table}{drawings}</div>"


def _drawings(graphs: "GraphBatch", positions: FloatArray | None) -> str:
    made = []
    for number in range(min(graphs.n_graphs, MOST_DRAWN)):
        nodes = slice(*graphs.node_ptr[number : number + 2].tolist())
        made.append(_svg(graphs[number], None if positions is None else positions[nodes]))
    return "".join(made)


def _svg(graph: "GraphBatch", positions: FloatArray | None) -> str:
    """One graph; nodes with one label have one colour. Of a large one the number of nodes is told."""
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}" viewBox="-1.2 -1.2 2.4 2.4">'
    if graph.n_nodes > MOST_NODES:
        return f'{begin}<text text-anchor="middle" font-size="0.3">{graph.n_nodes:,} nodes</text></svg>'
    places = spring_layout(graph.edges, graph.n_nodes) if positions is None else unit_square(positions)
    x, y = places[:, 0].round(3).tolist(), (-places[:, 1]).round(3).tolist()
    pairs = np.unique(np.sort(graph.edges, axis=0), axis=1).T.tolist()
    lines = "".join(f'<line x1="{x[a]}" y1="{y[a]}" x2="{x[b]}" y2="{y[b]}"/>' for a, b in pairs if a != b)
    kinds = np.zeros(graph.n_nodes, dtype=int)
    if graph.node_labels is not None:
        kinds = np.unique(graph.node_labels, return_inverse=True)[1]
    dots = "".join(
        f'<circle cx="{a}" cy="{b}" r="0.08" fill="{COLOURS[kind % len(COLOURS)]}"/>'
        for a, b, kind in zip(x, y, kinds.tolist(), strict=True)
    )
    return f'{begin}<g stroke="#999999" stroke-width="0.03">{lines}</g>{dots}</svg>'

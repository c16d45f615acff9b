"""Charts of the report as inline SVG: curves, bars, ranks with their critical difference, a confusion matrix.

Colours are CSS classes of the page around them (``s0`` to ``s7`` for series): one picture serves light and dark.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from cfmgml.common.typing import IntArray
from cfmgml.evaluation.statistics import RankTest
from cfmgml.evaluation.svg import frame, nice_step, svg_text

N_COLOURS = 8
WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 12, 44
Points = Sequence[tuple[float, float]]


def _line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


# -- curves ------------------------------------------------------------------------------------


def curves(series: Mapping[str, Points], x_title: str, title: str, log_x: bool = False, log_y: bool = False) -> str:
    """Lines with dots, one a series, and a legend below; the vertical axis spans the values.

    A series without points keeps its colour for charts beside this one, and is not in the legend. Values on a
    logarithmic axis must be above 0.

    >>> curves({"a": [(1e-1, .5), (1e-2, .7)], "b": [(1e-1, .4)]}, "lambda", "it rises", log_x=True).count("<circle")
    3
    """

    def scaled(own: Points) -> list[tuple[float, float]]:
        return [(math.log10(x) if log_x else x, math.log10(y) if log_y else y) for x, y in own]

    points = [point for own in series.values() for point in scaled(own)]
    if not points:
        return ""
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    ticks = (_powers if log_y else _ticks)(min(y for _, y in points), max(y for _, y in points))

    def at(x: float, y: float) -> tuple[float, float]:
        across = 0.5 if high_x == low_x else (x - low_x) / (high_x - low_x)
        up = (y - ticks[0]) / (ticks[-1] - ticks[0])
        return LEFT + 8 + across * (WIDTH - LEFT - RIGHT - 16), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [_level(_power(tick) if log_y else f"{tick:g}", at(low_x, tick)[1]) for tick in ticks]
    below = HEIGHT - BOTTOM + 16
    xs = sorted({x for x, _ in points})
    parts += [svg_text(at(x, ticks[0])[0], below, _power(x) if log_x else f"{x:g}") for x in xs]
    parts.append(svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title))
    shown = {name: (k, own) for k, (name, own) in enumerate(series.items()) if own}
    for k, own in shown.values():
        placed = [at(x, y) for x, y in scaled(own)]
        parts.append(_polyline(placed, f"curve s{k % N_COLOURS}"))
        parts += [f'<circle class="point s{k % N_COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in placed]
    return frame(WIDTH, HEIGHT, title, parts) + legend({name: k for name, (k, _) in shown.items()})


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from below the lowest to above the highest value."""
    step = nice_step(max(high - low, abs(high) * 1e-3, 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Whole exponents around those given."""
    first = math.floor(low + 1e-9)
    return [float(k) for k in range(first, max(math.ceil(high - 1e-9), first + 1) + 1)]


def _level(value: str, y: float) -> str:
    return _line(LEFT, y, WIDTH - RIGHT, y, "grid") + svg_text(LEFT - 7, y + 4, value, "end")


def _power(exponent: float) -> str:
    return f"1e{round(exponent):d}" if abs(exponent - round(exponent)) < 1e-9 else f"{10**exponent:.0e}"


def _polyline(points: Sequence[tuple[float, float]], name: str) -> str:
    return f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def legend(colours: Mapping[str, int]) -> str:
    """What the colours mean: the number of each name's."""
    keys = "".join(
        f'<span class="entry"><svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect class="bar s{k % N_COLOURS}" width="10" height="10" rx="2"/></svg>{escape(name)}</span>'
        for name, k in colours.items()
    )
    return f'<p class="legend">{keys}</p>'


# -- bars --------------------------------------------------------------------------------------


def log_bars(values: Mapping[str, float], unit: str, title: str) -> str:
    """Horizontal bars on a logarithmic axis, one a name, with their values written at the end.

    >>> log_bars({"a": .1, "b": 20.}, "s", "seconds").count("<rect")
    2
    """
    positive = {name: value for name, value in values.items() if value > 0}
    if not positive:
        return ""
    low = math.floor(math.log10(min(positive.values())) - 0.05)
    high = max(math.ceil(math.log10(max(positive.values()))), low + 1)
    left, right, height = 170, 70, 22

    def across(value: float) -> float:
        return left + (math.log10(value) - low) / (high - low) * (WIDTH + 100 - left - right)

    bottom = height * len(positive) + 8
    parts = [_line(across(10.0**k), 4, across(10.0**k), bottom, "grid") for k in range(low, high + 1)]
    parts += [svg_text(across(10.0**k), bottom + 16, f"{10.0**k:g} {unit}") for k in range(low, high + 1)]
    for row, (name, value) in enumerate(positive.items()):
        y = 8 + row * height
        parts.append(svg_text(left - 8, y + 12, name, "end", "name"))
        width = max(across(value) - left, 1.5)
        parts.append(f'<rect class="bar s0" x="{left}" y="{y}" width="{width:.1f}" height="{height - 7}" rx="2"/>')
        parts.append(
            svg_text(left + width + 6, y + 12, f"{value:.2g}" if value < 100 else f"{value:,.0f}", "start", "value")
        )
    return frame(WIDTH + 100, bottom + 24, title, parts, "chart bars")


# -- ranks -------------------------------------------------------------------------------------


def critical_difference_diagram(test: RankTest, titles: Mapping[str, str], title: str) -> str:
    """Methods on a line of average ranks, best on the left; a bar joins those that are not told apart.

    >>> test = RankTest(("a", "b", "c"), ("x", "y"), np.array([1., 1.5, 2.9]), 3., .2, .7)
    >>> critical_difference_diagram(test, {"a": "A", "b": "B", "c": "C"}, "ranks").count('class="clique"')
    2
    """
    order = np.argsort(test.ranks, kind="stable")
    ranks = test.ranks[order].tolist()
    names = [titles[test.methods[k]] for k in order]
    n, width, side = len(names), 760, 190
    low, high = math.floor(ranks[0]), max(math.ceil(ranks[-1]), math.floor(ranks[0]) + 1)

    def across(rank: float) -> float:
        return side + (rank - low) / (high - low) * (width - 2 * side)

    axis = 52.0
    parts = [_line(side, axis, width - side, axis, "axis")]
    for tick in range(low, high + 1):
        parts += [
            _line(across(tick), axis - 6, across(tick), axis, "axis"),
            svg_text(across(tick), axis - 11, str(tick)),
        ]
    shown = min(test.critical_difference, high - low)
    parts += [
        _line(side, 20, across(low + shown), 20, "clique"),
        svg_text(side, 13, f"critical difference {test.critical_difference:.2f}", "start"),
    ]
    cliques = _cliques(ranks, test.critical_difference)
    parts += [
        _line(across(ranks[a]) - 4, axis + 9 + 7 * k, across(ranks[b]) + 4, axis + 9 + 7 * k, "clique")
        for k, (a, b) in enumerate(cliques)
    ]
    first = axis + 22 + 7 * len(cliques)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_left = place < (n + 1) // 2
        y = first + 20 * (place if on_left else n - 1 - place)
        edge = side - 12 if on_left else width - side + 12
        parts.append(_polyline([(across(rank), axis), (across(rank), y), (edge, y)], "stem"))
        parts.append(
            svg_text(
                edge - 5 if on_left else edge + 5, y + 4, f"{name} {rank:.2f}", "end" if on_left else "start", "name"
            )
        )
    return frame(width, first + 20 * ((n + 1) // 2), title, parts, "chart ranks")


def _cliques(ranks: list[float], difference: float) -> list[tuple[int, int]]:
    """Longest runs of methods whose ranks are closer than the difference; runs inside others are left out."""
    runs: list[tuple[int, int]] = []
    for start in range(len(ranks)):
        stop = max(k for k in range(start, len(ranks)) if ranks[k] - ranks[start] < difference)
        if stop > start and (not runs or stop > runs[-1][1]):
            runs.append((start, stop))
    return runs


# -- which labels are mistaken for which ---------------------------------------------------------


def confusion_chart(matrix: IntArray, labels: Sequence[str], title: str) -> str:
    """Rows are true labels, columns the best label; the darker a cell, the larger the share of its row.

    >>> confusion_chart(np.array([[3, 1], [0, 2]]), ["cow", "sky"], "mistakes").count("<rect")
    3
    """
    side, left, top = 22, 110, 96
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    parts = []
    for k, label in enumerate(labels):
        y, x = top + k * side + side / 2 + 4, left + k * side + side / 2 + 4
        parts.append(svg_text(left - 7, y, label, "end", "name"))
        parts.append(f'<text class="name" transform="translate({x:.0f} {top - 7}) rotate(-60)">{escape(label)}</text>')
    for row, column in zip(*np.nonzero(matrix), strict=True):
        name = "right" if row == column else "wrong"
        x, y, share = left + column * side, top + row * side, shares[row, column]
        words = f"{labels[row]}, best label {labels[column]}: {matrix[row, column]} ({share:.0%})"
        parts.append(
            f'<rect class="cell {name}" x="{x}" y="{y}" width="{side - 1}" height="{side - 1}" '
            f'fill-opacity="{0.1 + 0.5 * share:.2f}"><title>{escape(words)}</title></rect>'
        )
        parts.append(svg_text(x + side / 2 - 0.5, y + side / 2 + 3.5, str(matrix[row, column]), name="count"))
    size = side * len(labels)
    return frame(left + size + 60, top + size + 4, title, parts, "chart confusion")

"""Charts of the report as inline SVG: curves, bars, ranks with their critical difference, a confusion matrix.

Colours are CSS classes of the page around them (``s0`` to ``s7`` for series): one picture serves light and dark.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from cfmgml.common.typing import IntArray
from cfmgml.evaluation.statistics import RankTest
from cfmgml.evaluation.svg import Points, frame, nice_step, polyline, svg_line, svg_text

N_COLOURS = 8
WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 12, 44


# -- curves ------------------------------------------------------------------------------------


def curves(series: Mapping[str, Points], x_title: str, title: str, log_x: bool = False, log_y: bool = False) -> str:
    """Lines with dots, one a series, and a legend below; the vertical axis spans the values, and a tenth of the largest
    at least: what hardly changes looks so.

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
    xs, ys = zip(*points, strict=True)
    low_x, high_x, low_y, high_y = min(xs), max(xs), min(ys), max(ys)
    if not log_y:
        low_y, high_y = _spread_out(low_y, high_y)
    step = 1.0 if log_y else nice_step(max(high_y - low_y, 1e-9))
    first, last = math.floor(low_y / step + 1e-9), math.ceil(high_y / step - 1e-9)
    ticks = [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]

    def at(x: float, y: float) -> tuple[float, float]:
        across = 0.5 if high_x == low_x else (x - low_x) / (high_x - low_x)
        up = (y - ticks[0]) / (ticks[-1] - ticks[0])
        return LEFT + 8 + across * (WIDTH - LEFT - RIGHT - 16), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title)]
    for tick in ticks:
        y = at(low_x, tick)[1]
        parts.append(svg_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        parts.append(svg_text(LEFT - 7, y + 4, _power(tick) if log_y else f"{tick:g}", "end"))
    below = HEIGHT - BOTTOM + 16
    parts += [svg_text(at(x, ticks[0])[0], below, _power(x) if log_x else f"{x:g}") for x in sorted(set(xs))]
    shown = {name: (k, own) for k, (name, own) in enumerate(series.items()) if own}
    for k, own in shown.values():
        placed = [at(x, y) for x, y in scaled(own)]
        parts.append(polyline(placed, f"curve s{k % N_COLOURS}", f"point s{k % N_COLOURS}"))
    return frame(WIDTH, HEIGHT, title, parts) + legend({name: k for name, (k, _) in shown.items()})


def _spread_out(low: float, high: float) -> tuple[float, float]:
    """At least a tenth of the larger apart; shares stay between 0 and 1.

    >>> _spread_out(0.5, 0.5), _spread_out(2.0, 9.0)
    ((0.475, 0.525), (2.0, 9.0))
    """
    lacking = max(0.0, 0.1 * max(abs(low), abs(high)) - (high - low)) / 2
    is_share = 0 <= low <= high <= 1
    return (max(0.0, low - lacking), min(1.0, high + lacking)) if is_share else (low - lacking, high + lacking)


def _power(exponent: float) -> str:
    return f"1e{round(exponent):d}" if abs(exponent - round(exponent)) < 1e-9 else f"{10**exponent:.0e}"


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
    parts = [svg_line(across(10.0**k), 4, across(10.0**k), bottom, "grid") for k in range(low, high + 1)]
    parts += [svg_text(across(10.0**k), bottom + 16, f"{10.0**k:g} {unit}") for k in range(low, high + 1)]
    for row, (name, value) in enumerate(positive.items()):
        y = 8 + row * height
        parts.append(svg_text(left - 8, y + 12, name, "end", "name"))
        width = max(across(value) - left, 1.5)
        parts.append(f'<rect class="bar s0" x="{left}" y="{y}" width="{width:.1f}" height="{height - 7}" rx="2"/>')
        said = f"{value:.2g}" if value < 100 else f"{value:,.0f}"
        parts.append(svg_text(left + width + 6, y + 12, said, "start", "value"))
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
    parts = [svg_line(side, axis, width - side, axis, "axis")]
    for tick in range(low, high + 1):
        parts.append(svg_line(across(tick), axis - 6, across(tick), axis, "axis"))
        parts.append(svg_text(across(tick), axis - 11, str(tick)))
    shown = min(test.critical_difference, high - low)
    parts.append(svg_line(side, 20, across(low + shown), 20, "clique"))
    parts.append(svg_text(side, 13, f"critical difference {test.critical_difference:.2f}", "start"))
    y = axis + 9
    for a, b in _cliques(ranks, test.critical_difference):
        parts.append(svg_line(across(ranks[a]) - 4, y, across(ranks[b]) + 4, y, "clique"))
        y += 7
    first = y + 13
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_left = place < (n + 1) // 2
        y = first + 20 * (place if on_left else n - 1 - place)
        edge, beyond, anchor = (side - 12, -5, "end") if on_left else (width - side + 12, 5, "start")
        parts.append(polyline([(across(rank), axis), (across(rank), y), (edge, y)], "stem"))
        parts.append(svg_text(edge + beyond, y + 4, f"{name} {rank:.2f}", anchor, "name"))
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

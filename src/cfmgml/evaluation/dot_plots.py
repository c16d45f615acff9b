"""Differences as dots on a line, each with its interval, as inline SVG: what is on which side of 0, and how surely."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from cfmgml.evaluation.svg import frame, nice_step, svg_line, svg_text

WIDTH, LEFT, ROW = 500, 182, 19


class Dot(NamedTuple):
    """A row of a dot plot; dots of one group stand under its name."""

    name: str
    value: float
    low: float
    high: float
    group: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether all of its interval is on one side of 0."""
        return not self.low <= 0 <= self.high


def dot_plot(dots: Sequence[Dot], x_title: str, title: str, log_x: bool = False) -> str:
    """A row a dot; 0 is always there. On a logarithmic axis values are powers of ten, and 0 is "as large".

    >>> plot = dot_plot([Dot("a", 0.1, 0.05, 0.15), Dot("b", 0.0, -0.1, 0.1)], "ahead by", "differences")
    >>> plot.count("<circle"), plot.count('"interval"'), plot.count("unsure")
    (2, 2, 1)
    >>> dot_plot([], "ahead by", "nothing")
    ''
    """
    if not dots:
        return ""
    low, high = min(0.0, *(dot.low for dot in dots)), max(0.0, *(dot.high for dot in dots))
    step = nice_step(max(high - low, 1e-6))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]
    rows, bottom = _rows(dots, ticks)
    parts = []
    for tick in ticks:
        x = _across(tick, ticks)
        words = f"× {10**tick:.3g}" if log_x else f"{tick:+g}" if tick else "0"
        parts += [svg_line(x, 2, x, bottom + 3, "grid" if tick else "axis"), svg_text(x, bottom + 17, words)]
    parts += [*rows, svg_text((LEFT + WIDTH) / 2, bottom + 35, x_title)]
    return frame(WIDTH, bottom + 42, title, parts, "chart dots")


def _across(value: float, ticks: Sequence[float]) -> float:
    return LEFT + 14 + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (WIDTH - LEFT - 36)


def _rows(dots: Sequence[Dot], ticks: Sequence[float]) -> tuple[list[str], float]:
    """What stands in the rows, and where they end."""
    parts, y, group = [], 4.0, ""
    for dot in dots:
        if dot.group != group:
            parts.append(svg_text(2, y + 13, dot.group, "start", "value"))
            y, group = y + ROW, dot.group
        place = _across(dot.value, ticks)
        parts.append(svg_text(LEFT, y + 13, dot.name, "end", "name"))
        parts.append(svg_line(_across(dot.low, ticks), y + 9, _across(dot.high, ticks), y + 9, "interval"))
        sure = "sure" if dot.is_sure else "unsure"
        parts.append(f'<circle class="estimate {sure}" cx="{place:.1f}" cy="{y + 9:.1f}" r="4"/>')
        y += ROW
    return parts, y

"""Drawing without a drawing library: pictures of cells and small line charts as inline SVG.

Colours are CSS classes and variables of the page around them, so that one picture serves a light and a dark page.
"""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from cfmgml.common.typing import FloatArray, IntArray

WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 40
Points = Sequence[tuple[float, float]]


def frame(width: float, height: float, title: str, parts: Sequence[str], name: str = "chart") -> str:
    """A picture of these parts, with a title for those who cannot see it."""
    text = escape(title)
    return (
        f'<svg class="{name}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{text}">'
        f"<title>{text}</title>{''.join(parts)}</svg>"
    )


def svg_text(x: float, y: float, text: str, anchor: str = "middle", name: str = "tick") -> str:
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def svg_line(x1: float, y1: float, x2: float, y2: float, name: str) -> str:
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def polyline(points: Points, name: str, dot: str = "") -> str:
    """A line through these points, with dots of that class on them."""
    line = f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
    return line + "".join(f'<circle class="{dot}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points if dot)


def picture(values: FloatArray, levels: IntArray, prefix: str, title: str) -> str:
    """An image of cells: those with a value are filled, with class ``prefix`` and their level; NaN stays empty.

    Cells of one level are one path, which keeps pages small.

    >>> print(picture(np.array([[1., np.nan]]), np.array([[3, 0]]), "ink", "a dot"))
    <svg class="cells" viewBox="0 0 2 1" role="img" aria-label="a dot"><title>a dot</title><path class="ink3"
    d="M0 0h1v1h-1z"/></svg>
    """
    height, width = values.shape
    paths = []
    for level in np.unique(levels[~np.isnan(values)]).tolist():
        rows, columns = np.nonzero((levels == level) & ~np.isnan(values))
        d = "".join(f"M{column} {row}h1v1h-1z" for row, column in zip(rows.tolist(), columns.tolist(), strict=True))
        paths.append(f'<path class="{prefix}{level}" d="{d}"/>')
    return frame(width, height, title, paths, "cells")


def line_chart(values: Sequence[float], x_title: str, y_title: str, title: str) -> str:
    """A line with a dot for each value, numbered from 1; the vertical axis begins at 0, and the last value is written.

    >>> line_chart([3., 2.], "round", "objective", "it falls").count("<circle")
    2
    """
    step = nice_step(max(*values, 0.0) or 1.0)
    ticks = [k * step for k in range(math.ceil(max(values) / step - 1e-9) + 1)]
    span = max(ticks[-1], step)
    x = np.linspace(LEFT + 10, WIDTH - RIGHT - 10, len(values)) if len(values) > 1 else np.array([LEFT + 10.0])
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * np.asarray(values) / span
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    parts = [svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title)]
    for tick in ticks:
        level = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * tick / span
        parts.append(svg_line(LEFT, level, WIDTH - RIGHT, level, "grid" if tick else "axis"))
        parts.append(svg_text(LEFT - 8, level + 4, f"{tick:.{digits}f}", "end"))
    parts += [svg_text(px, HEIGHT - BOTTOM + 16, str(k)) for k, (px, _) in enumerate(points, 1)]
    parts.append(polyline(points, "line", "dot"))
    parts.append(svg_text(points[-1][0] + 4, points[-1][1] - 9, f"{values[-1]:.3g}", "end", "value"))
    said = f"{title}: {y_title} by {x_title}, {', '.join(f'{value:.3g}' for value in values)}"
    return frame(WIDTH, HEIGHT, said, parts)


def nice_step(largest: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides 0 to ``largest`` into three to five parts or so.

    >>> nice_step(0.39), nice_step(13.9), nice_step(1.0)
    (0.1, 5.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(largest / 4))
    return next((round(k * power, 12) for k in (1, 2, 5) if largest / (k * power) <= 5), round(10 * power, 12))

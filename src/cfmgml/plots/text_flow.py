"""Running text on an Axes, with marked words.

A fixed-width font makes the place of every letter known beforehand, and letters drawn as outlines keep it whatever the
resolution (a font's hinting would not), so that a mark is one rectangle behind its word.
"""

import itertools
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT = "DejaVu Sans Mono"  # comes with matplotlib
LETTER_WIDTH = 0.602  # of the font's size
LINE_HEIGHT = 1.4
GAP = 0.5  # between blocks, in lines
SIZES = (9.0, 8.0, 7.0, 6.0, 5.0)
POINTS_PER_INCH = 72


class Mark(NamedTuple):
    """Letters of a text to put a colour behind."""

    start: int
    stop: int
    colour: Any


class Block(NamedTuple):
    """A coloured header, and a text with marks below it."""

    header: str
    header_colour: str
    text: str
    marks: list[Mark]


class Piece(NamedTuple):
    """Letters of a text that stand together in one line."""

    start: int
    stop: int
    line: int
    column: int


def flow(text: str, width: int) -> list[Piece]:
    """Break a text into lines of ``width`` letters, between words where possible.

    >>> flow("the cat sat", 7)
    [Piece(start=0, stop=3, line=0, column=0), Piece(start=4, stop=7, line=0, column=4),
     Piece(start=8, stop=11, line=1, column=0)]
    """
    pieces, line, column = [], 0, 0
    for chunk in re.finditer(r"\S+", text):
        for start in range(chunk.start(), chunk.end(), width):
            stop = min(start + width, chunk.end())
            if column and column + stop - start > width:
                line, column = line + 1, 0
            pieces.append(Piece(start, stop, line, column))
            column += stop - start + 1
    return pieces


def draw_blocks(ax: "Axes", blocks: list[Block]) -> None:
    """Write blocks from the top, in the largest size in which all fit; if none is small enough, the end is left out."""
    box = ax.get_window_extent()
    inch = ax.figure.dpi
    width, height = box.width / inch * POINTS_PER_INCH, box.height / inch * POINTS_PER_INCH
    for size in SIZES:
        columns, lines = max(int(width / (LETTER_WIDTH * size)), 8), height / (LINE_HEIGHT * size)
        if sum(_n_lines(block, columns) for block in blocks) <= lines:
            break
    ax.set(xlim=(0, width / (LETTER_WIDTH * size)), ylim=(lines, 0))
    ax.set_axis_off()
    top = 0.0
    for number, block in enumerate(blocks):
        if number and top + _n_lines(block, columns) > lines:
            _draw_block(ax, Block(f"... {len(blocks) - number} more", "#555555", "", []), columns, top)
            break
        top = _draw_block(ax, block, columns, top) + GAP


def _n_lines(block: Block, columns: int) -> float:
    return sum(_height(flow(part, columns)) for part in (block.header, block.text)) + GAP


def _draw_block(ax: "Axes", block: Block, columns: int, top: float) -> float:
    """Where the next block may begin."""
    from matplotlib.patches import Rectangle

    header = flow(block.header, columns)
    _write(ax, block.header, header, top, block.header_colour)
    top += _height(header)
    pieces = flow(block.text, columns)
    for piece, mark in itertools.product(pieces, block.marks):
        start, stop = max(piece.start, mark.start), min(piece.stop, mark.stop)
        if start < stop:
            corner = (piece.column + start - piece.start, top + piece.line)
            ax.add_patch(Rectangle(corner, stop - start, 1, facecolor=mark.colour, edgecolor="none"))
    _write(ax, block.text, pieces, top, "black")
    return top + _height(pieces)


def _height(pieces: list[Piece]) -> int:
    return pieces[-1].line + 1 if pieces else 0


def _write(ax: "Axes", text: str, pieces: list[Piece], top: float, colour: str) -> None:
    """One patch of all letters; a unit is a letter's width, or a line's height downwards."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    paths = []
    for piece in pieces:
        place = Affine2D().scale(1 / LETTER_WIDTH, -1 / LINE_HEIGHT).translate(piece.column, top + piece.line + 0.75)
        paths.append(_outline(drawable(text[piece.start : piece.stop])).transformed(place))
    if paths:
        ax.add_patch(PathPatch(Path.make_compound_path(*paths), facecolor=colour, edgecolor="none"))


@lru_cache(maxsize=4096)
def _outline(word: str) -> Any:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return TextPath((0, 0), word, size=1, prop=FontProperties(family=FONT), usetex=False)


def drawable(text: str) -> str:
    """The text with a box for each letter that the font does not have; matplotlib would warn of each."""
    return "".join(letter if letter == "\n" or _has_glyph(letter) else "□" for letter in text)


@lru_cache(maxsize=4096)
def _has_glyph(letter: str) -> bool:
    from matplotlib.font_manager import findfont, get_font

    return bool(get_font(findfont(FONT)).get_char_index(ord(letter)))

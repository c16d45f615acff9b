"""The kind ``digits``: pictures of handwritten digits, strips of squares, as the demo model reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.builders.base import Builder, part_names
from cfmgml.builders.pictures.answering import noise_file, picture_map, unusable
from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES, ByteArray, ImageError, read_image
from cfmgml.builders.pictures.uploads import decode_picture
from cfmgml.common.segments import offsets, segment_ids
from cfmgml.common.typing import ArrayLike, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.questions import Form, InputLimits, Question, Reply
from cfmgml.reading.paths import list_files

SIDE = 8
INK = 0.25  # a pixel at least this dark (of 1) is a node
MOST_DIGITS = 12
FAINT = 16  # less difference between paper and ink than this (of 255) is no writing


@dataclass(frozen=True)
class DigitBuilder(Builder):
    """Strips of digits as bags, each digit a graph of its inked pixels.

    >>> DigitBuilder().build(np.full((3, 8, 8), 0.5), sizes=[2, 1])
    BagDataset(2 bags, 3 graphs, 0 labels; no Y)
    """

    kind = "digits"
    nouns = "handwritten digits"
    part = "digit"
    suffixes = tuple(sorted(IMAGE_SUFFIXES))
    form = Form("image", "A row of digits", plain=True)
    help = (
        "Handwritten digits: a picture is a bag, a row of squares side by side with a digit in each, dark ink on light "
        "paper.\n\n\b\nExample:\n  cfmgml build digits strips --labels digits.csv -o strips.bags"
    )

    def build(  # type: ignore[override]  # its option is named
        self, sources: ArrayLike, labels: Any = None, sizes: Sequence[int] | None = None
    ) -> BagDataset:
        """Bags from digits of shape (n, 8, 8), with values from 0 (paper) to 1 (ink).

        ``sizes`` are the digits a bag; None puts all in one. ``labels`` is a matrix, a row a bag.
        """
        pixels = np.asarray(sources, dtype=np.float64)
        if pixels.ndim != 3 or pixels.shape[1:] != (SIDE, SIDE) or len(pixels) == 0:
            raise ValueError(f"digits must have shape (n, {SIDE}, {SIDE}), got {pixels.shape}.")
        if not (pixels.min() >= 0 and pixels.max() <= 1):  # NaN fails too
            raise ValueError(f"digits must hold 0 (paper) to 1 (ink), got {pixels.min():.4g} to {pixels.max():.4g}.")
        counts = np.array([len(pixels)] if sizes is None else sizes, dtype=np.int64)
        names = [f"bag{k}:{place}" for k, size in enumerate(counts.tolist()) for place in range(size)]
        return BagDataset(
            digit_graphs(pixels),
            offsets(counts),
            Y=labels,
            bag_names=np.array([f"bag{k}" for k in range(len(counts))]),
            graph_names=np.array(names) if len(names) == len(pixels) else None,
            builder=self,
        )

    def from_files(self, given: FileInput) -> BagDataset:
        self.check_version()
        files = list_files(given.paths, IMAGE_SUFFIXES, "picture")
        strips = [_strip(file) for file in files]
        bags = self.build(np.concatenate(strips), sizes=[len(strip) for strip in strips])
        names = [f"{file.name}#{k + 1}" for file, strip in zip(files, strips, strict=True) for k in range(len(strip))]
        return self.labelled(replace(bags, graph_names=np.array(names)), files, given)

    def ask(self, sent: Question, limits: InputLimits) -> Reply:
        assert isinstance(sent.content, bytes)
        pixels = decode_picture(sent.content, limits).pixels
        try:
            digits = digits_of_strip(pixels)
        except ImageError as error:
            raise unusable(error) from error
        bag = self.rebuild(digits)
        numbers = np.full((len(digits), SIDE, SIDE), -1, dtype=np.int64)
        numbers[_places(bag.graphs)] = np.arange(bag.graphs.n_nodes)
        region = np.tile(np.repeat(np.arange(len(digits)), SIDE), (SIDE, 1))
        entries = [
            {**entry, "at": [(k + 0.5) * SIDE, SIDE / 2], "share": 1 / len(digits)}
            for k, entry in enumerate(part_names(bag, self.part))
        ]
        shown = picture_map(numbers.transpose(1, 0, 2).reshape(SIDE, -1), region, pixels.shape)
        return Reply(bag, entries, {"picture": shown})

    def positions(self, graphs: GraphBatch) -> FloatArray | None:
        """Pixels lie where they were; an attribute more or less, and who knows what they are."""
        if graphs.node_attributes is None or graphs.n_attributes != 3:
            return None
        return np.asarray(graphs.node_attributes[:, 1::-1] * [1, -1])

    def example(self) -> Question | None:
        return Question(noise_file(SIDE))


def digit_graphs(images: FloatArray) -> GraphBatch:
    """Graphs of inked pixels from images of shape (n, 8, 8) with values from 0 to 1."""
    inked = images >= INK
    image, row, column = np.nonzero(inked)
    number = np.full(images.shape, -1)
    number[inked] = np.arange(len(image))
    edges = _neighbour_pairs(number)
    sizes = inked.sum(axis=(1, 2))
    dark = images[inked]
    return GraphBatch(
        node_ptr=offsets(sizes),
        edge_ptr=offsets(np.bincount(image[edges[0]], minlength=len(images))),
        edges=edges,
        node_labels=(row // 2) * 8 + (column // 2) * 2 + (dark >= 0.6),
        node_attributes=np.stack([row, column, 2 * dark], axis=1).astype(np.float64),
        node_names=np.char.add(np.char.add(row.astype(np.str_), ","), column.astype(np.str_)),
    )


def _neighbour_pairs(number: IntArray) -> IntArray:
    """Pairs of nodes in touching pixels, both ways, in the order of their first node; ``number`` is -1 where there is
    none."""
    padded = np.pad(number, ((0, 0), (1, 1), (1, 1)), constant_values=-1)
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    beside = np.stack([padded[:, 1 + r : 1 + r + SIDE, 1 + c : 1 + c + SIDE] for r, c in steps], axis=-1)
    here = np.broadcast_to(number[..., None], beside.shape)
    both = (here >= 0) & (beside >= 0)
    return np.stack([here[both], beside[both]])


def _places(graphs: GraphBatch) -> tuple[IntArray, IntArray, IntArray]:
    """The digit, the row and the column of every node."""
    assert graphs.node_attributes is not None
    row, column = graphs.node_attributes[:, :2].astype(np.int64).T
    return segment_ids(graphs.node_ptr), row, column


def digit_pictures(graphs: GraphBatch, values: FloatArray | None = None) -> FloatArray:
    """Images of shape (n_graphs, 8, 8) with ``values`` (n_nodes,), or the ink, at the nodes and NaN elsewhere."""
    assert graphs.node_attributes is not None
    out = np.full((graphs.n_graphs, SIDE, SIDE), np.nan)
    out[_places(graphs)] = graphs.node_attributes[:, 2] / 2 if values is None else values
    return out


def _strip(file: Path) -> FloatArray:
    try:
        return digits_of_strip(read_image(file).pixels)
    except ImageError as error:
        raise ImageError(f"{file.name}: {error}") from error


def digits_of_strip(pixels: ByteArray) -> FloatArray:
    """Ink of shape (n, 8, 8), from 0 to 1, from a row of n squares of shape (height, about n * height, 3).

    Dark on light or the reverse: the paper is the most frequent shade along the edges, full ink the one furthest from
    it.

    >>> strip = np.full((16, 32, 3), 255, dtype=np.uint8)
    >>> strip[4:12, 4:8] = strip[4:12, 20:24] = 0
    >>> digits = digits_of_strip(strip)
    >>> digits.shape, digits[1, :, 2].tolist()
    ((2, 8, 8), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    """
    height, width = pixels.shape[:2]
    n_digits = round(width / height)
    if not 1 <= n_digits <= MOST_DIGITS or abs(width / height - n_digits) > 0.25 or height < SIDE:
        raise ImageError(
            f"the image has {width} x {height} pixels; a strip of digits is a row of 1 to {MOST_DIGITS} squares, one "
            f"digit in each, so it must be n times as wide as high, and at least {SIDE} pixels high."
        )
    ink = _ink(pixels.mean(axis=2))
    rows, columns = _edges(height, SIDE), _edges(width, SIDE * n_digits)
    sums = np.add.reduceat(np.add.reduceat(ink, rows[:-1], axis=0), columns[:-1], axis=1)
    small = sums / (np.diff(rows)[:, None] * np.diff(columns))
    digits = np.clip(small.reshape(SIDE, n_digits, SIDE).transpose(1, 0, 2), 0.0, 1.0)
    empty = np.flatnonzero((digits < INK).all(axis=(1, 2)))
    if len(empty):
        raise ImageError(f"square {empty[0] + 1} of {n_digits} has no ink in it.")
    return digits


def _ink(grey: FloatArray) -> FloatArray:
    border = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    paper = float(np.bincount(border.astype(np.int64)).argmax())
    span = max(paper - float(grey.min()), float(grey.max()) - paper)
    if span < FAINT:
        raise ImageError("the image is all of one shade: there are no digits in it.")
    return np.abs(grey - paper) / span


def _edges(length: int, parts: int) -> IntArray:
    """Where ``parts`` equal parts of a length begin and end."""
    edges = np.round(np.linspace(0, length, parts + 1)).astype(np.int64)
    if length < parts:
        raise ImageError(f"the image is {length} pixels wide, too narrow for {parts // SIDE} digits.")
    return edges

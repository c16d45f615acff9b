"""Bags from pictures of handwritten digits: strips of squares, as the demo model reads them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES, ByteArray, ImageError, read_image
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.datasets.digits import INK, SIDE
from cfmgml.inputs.paths import list_files
from cfmgml.recipes import Recipe

MOST_DIGITS = 12
FAINT = 16  # less difference between paper and ink than this (of 255) is no writing


def digit_bags(sources: Sequence[str | Path], *, recipe: Recipe) -> BagDataset:
    """One bag of each picture: a strip of squares side by side, a digit in each, dark ink on light paper."""
    files = list_files(sources, IMAGE_SUFFIXES, "picture")
    strips = [_strip(file) for file in files]
    bags = recipe.build_digits(np.concatenate(strips), [len(strip) for strip in strips])
    graph_names = [f"{file.stem}#{k + 1}" for file, strip in zip(files, strips, strict=True) for k in range(len(strip))]
    return replace(bags, bag_names=np.array([file.stem for file in files]), graph_names=np.array(graph_names))


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

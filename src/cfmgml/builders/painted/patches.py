"""Label maps as polygons along the sides of pixels: who fills them has the map again, pixel for pixel.

A patch is a set of pixels of one label that hang together by their sides. Walking around it clockwise, with the patch
on the right, each side of a pixel is followed by one other, which the pixels ahead decide (`_after`). So every side
belongs to one ring; a patch has one outer ring, and one around each of its holes.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cfmgml.builders.pictures.label_maps import LabelMap
from cfmgml.common.typing import IntArray

AHEAD = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])  # along the top, right, bottom and left side: row, column
OUTSIDE = np.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
CORNER = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])  # of a pixel, where a side begins


class Outline(NamedTuple):
    """A patch of one label: rings of corners (n, 2), x and y, the last of which is not the first again.

    The area that a ring's coordinates enclose is positive for the outer one and negative for holes.

    >>> ring = outlines(np.array([[3, 3, 3], [3, -1, 3], [3, 3, 3]]))[0]
    >>> ring.label, ring.area, len(ring.outer), len(ring.holes)
    (3, 8, 4, 1)
    """

    label: int
    area: int  # pixels
    outer: IntArray
    holes: list[IntArray]


def outlines(labels: LabelMap) -> list[Outline]:
    """The patches of a label map (height, width), from its top to its bottom; negative labels have none.

    >>> [patch] = outlines(np.array([[-1, 4, 4], [-1, 4, -1]]))
    >>> patch.label, patch.area, patch.outer.tolist()
    (4, 3, [[1, 0], [3, 0], [3, 1], [2, 1], [2, 2], [1, 2]])
    """
    from skimage import measure

    number_patches: Callable[..., IntArray] = measure.label  # in the order of their first pixels
    patches = number_patches(np.maximum(labels, -1), background=-1, connectivity=1)
    label_of, areas = np.full(patches.max() + 1, -1), np.bincount(patches.ravel())
    label_of[patches] = labels
    rings: list[list[IntArray]] = [[] for _ in areas]
    framed = np.pad(patches, 1)
    sides, following = _sides(framed)
    for ring in _cycles(following):  # the outer one first: it has its patch's first side
        rings[framed[tuple(sides[ring[0], :2])]].append(_corners(sides[ring]))
    return [
        Outline(int(label_of[patch]), int(areas[patch]), rings[patch][0], rings[patch][1:])
        for patch in range(1, len(areas))
    ]


def _sides(framed: IntArray) -> tuple[IntArray, IntArray]:
    """The sides of patches, (n, 3): row, column, and which side; in this order. And which of them follows each."""
    height, width = framed.shape
    inside = framed[1:-1, 1:-1]
    there = np.zeros((height, width, 4), dtype=bool)
    for side, (down, right) in enumerate(OUTSIDE):
        beyond = framed[1 + down : height - 1 + down, 1 + right : width - 1 + right]
        there[1:-1, 1:-1, side] = (inside != beyond) & (inside > 0)
    sides = np.argwhere(there)
    number = np.zeros(there.shape, dtype=np.int64)
    number[there] = np.arange(len(sides))
    return sides, number[tuple(_after(sides, framed).T)]


def _after(sides: IntArray, framed: IntArray) -> IntArray:
    """Where the walk goes on after each side: around the same pixel, straight on, or around an inner corner."""
    pixel, side = sides[:, :2], sides[:, 2]
    ahead = pixel + AHEAD[side]
    beyond = ahead + OUTSIDE[side]
    patch = framed[tuple(pixel.T)]
    turns, goes_on = framed[tuple(ahead.T)] != patch, framed[tuple(beyond.T)] != patch
    pixels = np.where(turns[:, None], pixel, np.where(goes_on[:, None], ahead, beyond))
    return np.column_stack([pixels, (side + np.where(turns, 1, np.where(goes_on, 0, -1))) % 4])


def _cycles(following: IntArray) -> Iterator[list[int]]:
    """The cycles of a permutation, each from its smallest number."""
    after, seen = following.tolist(), bytearray(len(following))
    for start in range(len(after)):
        if not seen[start]:
            cycle, here = [], start
            while not seen[here]:
                seen[here] = 1
                cycle.append(here)
                here = after[here]
            yield cycle


def _corners(ring: IntArray) -> IntArray:
    """x and y of where a ring of sides turns; pixels are numbered with their frame."""
    turns = ring[:, 2] != np.roll(ring[:, 2], 1)
    return (ring[turns, :2] - 1 + CORNER[ring[turns, 2]])[:, ::-1]

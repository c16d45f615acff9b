"""Uniform local binary patterns (Ojala et al., PAMI 2002): the codes of scikit-image, in a tenth of its time."""

import numpy as np

from cfmgml.builders.pictures.image_files import ByteArray
from cfmgml.common.compiled import compiled_exactly
from cfmgml.common.typing import FloatArray, IntArray


def uniform_patterns(grey: ByteArray, n_points: int, radius: int) -> IntArray:
    """How many of the points on a circle around each pixel are at least as bright, if they follow on each other.

    Else ``n_points + 1``. Outside the picture it is black.

    >>> uniform_patterns(np.array([[1, 1, 9, 9]] * 3, dtype=np.uint8), 8, 1)[1].tolist()
    [5, 8, 5, 5]
    """
    angle = 2 * np.pi * np.arange(n_points) / n_points
    offsets = np.round(np.stack([-radius * np.sin(angle), radius * np.cos(angle)]), 5)
    moved = [offset[:, None] + np.arange(n) for n, offset in zip(grey.shape, offsets, strict=True)]
    down, right = (where - np.floor(where) for where in moved)  # beyond a whole pixel: rounding differs by row
    around = np.pad(grey.astype(np.float64), radius + 1)
    return _patterns(around, np.floor(offsets).astype(np.int64), down, right, radius + 1)


@compiled_exactly
def _patterns(around: FloatArray, whole: IntArray, down: FloatArray, right: FloatArray, margin: int) -> IntArray:
    """Values between pixels are interpolated along rows, then between the two rows; around is the picture, padded."""
    n_points, height, width = len(down), down.shape[1], right.shape[1]
    codes = np.empty((height, width), dtype=np.int64)
    for y in range(height):
        ones, changes = np.zeros(width, dtype=np.int32), np.zeros(width, dtype=np.int32)
        before = np.zeros(width, dtype=np.int32)
        centre = around[y + margin, margin : margin + width]
        for k in range(n_points):
            left = margin + whole[1, k]
            upper = around[y + margin + whole[0, k], left : left + width + 1]
            lower = around[y + margin + whole[0, k] + 1, left : left + width + 1]
            low, across = down[k, y], right[k]
            for x in range(width):
                top = (1 - across[x]) * upper[x] + across[x] * upper[x + 1]
                bottom = (1 - across[x]) * lower[x] + across[x] * lower[x + 1]
                bright = np.int32((1 - low) * top + low * bottom - centre[x] >= 0)
                ones[x] += bright
                changes[x] += bright ^ before[x]
                before[x] = bright
            if k == 0:
                changes[:] = 0
        for x in range(width):
            codes[y, x] = ones[x] if changes[x] <= 2 else n_points + 1
    return codes

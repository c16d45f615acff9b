"""Maps of a picture, averaged over its superpixels."""

import numpy as np

from cfmgml.builders.pictures.encoders import Maps
from cfmgml.common.compiled import compiled
from cfmgml.common.typing import FloatArray, IntArray


def pool(maps: Maps, numbers: IntArray, n_nodes: int) -> list[FloatArray]:
    """The mean of each map over each superpixel, (n_nodes, channels); ``numbers`` gives each pixel's superpixel, or -1.

    A map is taken as covering the whole picture, and read between its cells linearly, so that a superpixel smaller than
    a cell has values of its own.

    >>> slope = np.array([[[0.0], [1.0]]], dtype=np.float32)
    >>> pool([slope], np.array([[0, 0, 1, 1]]), 2)[0].ravel().tolist()
    [0.125, 0.875]
    """
    shares: dict[tuple[int, ...], FloatArray] = {}
    for one in maps:
        if one.shape[:2] not in shares:
            shares[one.shape[:2]] = _shares(numbers, n_nodes, *one.shape[:2])
    return [shares[one.shape[:2]] @ one.reshape(-1, one.shape[2]) for one in maps]


@compiled
def _shares(numbers: IntArray, n_nodes: int, n_rows: int, n_columns: int) -> FloatArray:
    """How much of each cell is in each superpixel's mean, (n_nodes, n_rows * n_columns)."""
    height, width = numbers.shape
    shares = np.zeros((n_nodes, n_rows * n_columns), dtype=np.float32)
    n_pixels = np.zeros(n_nodes, dtype=np.float32)
    for y in range(height):
        row = min(max((y + 0.5) / height * n_rows - 0.5, 0.0), n_rows - 1.0)
        above = int(row)
        below, down = min(above + 1, n_rows - 1), row - above
        for x in range(width):
            node = numbers[y, x]
            if node < 0:
                continue
            column = min(max((x + 0.5) / width * n_columns - 0.5, 0.0), n_columns - 1.0)
            left = int(column)
            right, across = min(left + 1, n_columns - 1), column - left
            n_pixels[node] += 1
            shares[node, above * n_columns + left] += (1 - down) * (1 - across)
            shares[node, above * n_columns + right] += (1 - down) * across
            shares[node, below * n_columns + left] += down * (1 - across)
            shares[node, below * n_columns + right] += down * across
    for node in range(n_nodes):
        shares[node] /= max(n_pixels[node], 1)
    return shares

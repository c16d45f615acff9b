"""Polygons as pixels again."""

import numpy as np


def fill(rings, shape):
    """Pixels whose centre is inside by the even-odd rule: to the left of it is an odd number of upright sides."""
    crossed = np.zeros((shape[0], shape[1] + 1), dtype=int)
    for ring in rings:
        for (x, y), (to_x, to_y) in zip(ring.tolist(), np.roll(ring, -1, axis=0).tolist(), strict=True):
            assert (x == to_x) != (y == to_y)  # along the sides of pixels, and never nowhere
            if x == to_x:
                crossed[min(y, to_y) : max(y, to_y), x] += 1
    return (np.cumsum(crossed, axis=1) % 2 == 1)[:, :-1]

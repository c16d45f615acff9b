"""Polygons around patches of a label map, filled again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.builders.painted import outlines
from filled import fill


def enclosed(ring):
    """The area of a ring by the shoelace formula."""
    x, y = ring.T
    return (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2


def check(labels):
    again = np.full(labels.shape, -1)
    for patch in outlines(labels):
        inside = fill([patch.outer, *patch.holes], labels.shape)
        assert (again[inside] == -1).all()  # patches do not overlap
        assert inside.sum() == patch.area
        again[inside] = patch.label
        assert enclosed(patch.outer) > 0
        assert all(enclosed(hole) < 0 for hole in patch.holes)
        assert enclosed(patch.outer) + sum(map(enclosed, patch.holes)) == patch.area
        for ring in (patch.outer, *patch.holes):
            steps = np.diff(ring, axis=0, append=ring[:1])
            assert ((steps[:, 0] == 0) != (np.roll(steps, 1, axis=0)[:, 0] == 0)).all()  # each corner is one
    np.testing.assert_array_equal(again, np.maximum(labels, -1))


@given(seed=st.integers(0, 10**6), height=st.integers(1, 8), width=st.integers(1, 8), n_labels=st.integers(1, 4))
def test_filled_again_it_is_the_same_map(seed, height, width, n_labels):
    check(np.random.default_rng(seed).integers(-1, n_labels, size=(height, width)))


def test_pixels_that_touch_at_a_corner_are_two_patches():
    patches = outlines(np.array([[3, -1], [-1, 3]]))
    assert [(patch.label, patch.area, len(patch.holes)) for patch in patches] == [(3, 1, 0), (3, 1, 0)]


def test_holes_inside_holes():
    labels = np.zeros((7, 7), dtype=int)
    labels[1:-1, 1:-1], labels[2:-2, 2:-2], labels[3, 3] = 1, -1, 0
    around, ring, dot = outlines(labels)
    assert [(p.label, p.area, len(p.holes)) for p in (around, ring, dot)] == [(0, 24, 1), (1, 16, 1), (0, 1, 0)]
    check(labels)


def test_a_large_map_and_an_empty_one():
    y, x = np.indices((120, 160))
    check(((x // 7 + y // 11) % 3 + (np.hypot(x - 80, y - 60) < 40) - 1).astype(np.int32))
    assert outlines(np.full((3, 4), -1)) == []

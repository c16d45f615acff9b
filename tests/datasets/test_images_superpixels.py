"""Superpixels and node features, against what they must be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from skimage import data, feature, measure

from cfmgml.builders.pictures.binary_patterns import uniform_patterns
from cfmgml.builders.pictures.descriptions import find_description
from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.builders.pictures.label_maps import innermost, renumbered, touching
from cfmgml.builders.pictures.node_features import NodeFeatures
from cfmgml.builders.pictures.slic import _equal_parts, _pieces, _rounds, slic
from cfmgml.builders.pictures.superpixels import find_superpixels

SIZES = {"pixels_per_node": 40, "min_nodes": 2, "max_nodes": 6}


def attributes(nodes, name):
    return find_description(name).describe([nodes])[0]


@st.composite
def masks(draw):
    height, width = draw(st.integers(1, 14)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    mask = rng.random((height, width)) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    mask[rng.integers(height), rng.integers(width)] = True
    return rng.random((height, width, 3)) * 100, mask


@given(masks(), st.integers(1, 12))
def test_slic_covers_the_mask(picture, wanted):
    lab, mask = picture
    n_pixels = np.count_nonzero(mask)
    numbers = slic(lab, mask, min(wanted, n_pixels))
    assert numbers.shape == (n_pixels,)
    assert set(numbers.tolist()) == set(range(numbers.max() + 1))
    assert numbers.max() < wanted


def test_slic_finds_the_edges_of_colours():
    lab = np.zeros((20, 40, 3))
    lab[:, 25:] = 60  # the even first guess cuts at column 20
    numbers = slic(lab, np.ones((20, 40), dtype=bool), 2).reshape(20, 40)
    assert numbers.max() == 1
    assert (numbers[:, :25] == numbers[0, 0]).all()
    assert (numbers[:, 25:] == numbers[0, 39]).all()


@given(masks(), st.integers(1, 12))
def test_slic_starts_from_equal_parts(picture, wanted):
    """Sorted and cut in two, again and again."""

    def parts_by_hand(points, n):
        if n == 1:
            return [points]
        along = int(np.ptp(points[:, 1]) > np.ptp(points[:, 0]))
        order = np.lexsort((points[:, 1 - along], points[:, along]))
        here, there = np.split(points[order], [len(points) * (n // 2) // n])
        return parts_by_hand(here, n // 2) + parts_by_hand(there, n - n // 2)

    mask = picture[1]
    points = np.argwhere(mask)
    expected = np.full(mask.shape, -1)
    for number, part in enumerate(parts_by_hand(points, min(wanted, len(points)))):
        expected[tuple(part.T)] = number
    found = _equal_parts(*np.nonzero(mask), min(wanted, len(points)))
    np.testing.assert_array_equal(found, expected[mask])


def test_slic_is_k_means_with_a_short_reach():
    rng = np.random.default_rng(0)
    lab, mask = rng.random((3, 18, 25)).astype(np.float32) * 30, rng.random((18, 25)) < 0.9
    numbers = np.full(mask.shape, -1, dtype=np.int32)
    numbers[mask] = _equal_parts(*np.nonzero(mask), 9)
    expected, step = numbers.copy(), np.sqrt(mask.sum() / 9)
    place = np.indices(mask.shape)
    for _ in range(4):
        distances = np.full((9, *mask.shape), np.inf)
        for k in range(9):
            centre = np.array([part[expected == k].mean() for part in (*place, *lab)])
            reached = (np.abs(place - centre[:2].astype(int)[:, None, None]) <= np.ceil(1.5 * step)).all(axis=0)
            away = ((place - centre[:2, None, None]) ** 2).sum(axis=0) * (20 / step) ** 2
            distances[k, reached] = (away + ((lab - centre[2:, None, None]) ** 2).sum(axis=0))[reached]
        expected[mask] = distances.argmin(axis=0)[mask]
    _rounds(lab, numbers, 9, step, 20.0, 4)
    np.testing.assert_array_equal(numbers, expected)


@given(st.integers(0, 2**16), st.integers(1, 12), st.integers(1, 12))
def test_pieces_are_those_of_scikit_image(seed, height, width):
    numbers = np.random.default_rng(seed).integers(-1, 2, size=(height, width)).astype(np.int32)
    numbers[0, 0] = 0
    pieces, size, owner = _pieces(numbers)
    np.testing.assert_array_equal(pieces, measure.label(numbers, background=-1, connectivity=1) - 1)
    np.testing.assert_array_equal(size, np.bincount(pieces[pieces >= 0]))
    np.testing.assert_array_equal(owner[pieces[pieces >= 0]], numbers[numbers >= 0])


def test_superpixels_are_connected_and_stay_in_their_region():
    photo = data.coffee()[:150, :200]
    regions = np.where(np.indices((150, 200))[1] < 90, 5, 2)
    regions[:10] = -1
    found = find_superpixels(photo, regions, pixels_per_node=400, min_nodes=2, max_nodes=30)
    np.testing.assert_array_equal(found.regions, [2, 5])
    assert (found.numbers >= 0).tolist() == (regions >= 0).tolist()
    for node in range(found.n_nodes):
        assert ndimage.label(found.numbers == node)[1] == 1
        assert len(np.unique(regions[found.numbers == node])) == 1
    assert (regions[found.numbers < found.node_ptr[1]][10 * 200 :] != 5).all()
    assert 0.8 * 30 <= np.diff(found.node_ptr).min() <= np.diff(found.node_ptr).max() <= 30


def test_edges_join_what_touches_inside_a_region():
    photo = np.random.default_rng(0).integers(256, size=(30, 40, 3), dtype=np.uint8)
    found = find_superpixels(photo, np.where(np.indices((30, 40))[0] < 15, 1, 2), **SIZES)
    edges, edge_ptr = found.edges()
    expected = set()
    for y in range(30):
        for x in range(40):
            for other in ((y + 1, x), (y, x + 1)):
                if other[0] < 30 and other[1] < 40 and (y < 15) == (other[0] < 15):
                    a, b = int(found.numbers[y, x]), int(found.numbers[other])
                    expected |= {(a, b), (b, a)} if a != b else set()
    assert len(expected) > 10
    assert sorted(zip(*edges.tolist(), strict=True)) == sorted(expected)
    assert edge_ptr.tolist() == [0, sum(a < found.node_ptr[1] for a, _ in expected), len(expected)]


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 9), (2, 2), (5, 1), (3, 3)])
def test_tiny_pictures(shape):
    pixels = np.random.default_rng(0).integers(256, size=(*shape, 3), dtype=np.uint8)
    found = find_superpixels(pixels, np.ones(shape, dtype=int), **SIZES)
    rows = attributes(NodeFeatures(pixels, found), "rich")
    assert rows.shape == (found.n_nodes, 907)
    assert np.isfinite(rows).all()


def test_void_picture_is_refused():
    with pytest.raises(ImageError, match="all its pixels are void"):
        find_superpixels(np.zeros((4, 4, 3), dtype=np.uint8), np.full((4, 4), -1), **SIZES)


@given(st.integers(0, 2**16), st.sampled_from([3, 2**21]))
def test_renumbered_is_unique(seed, largest):
    numbers = np.random.default_rng(seed).integers(-1, largest, size=(4, 5))
    found, index = renumbered(numbers)
    np.testing.assert_array_equal(found, np.unique(numbers))
    np.testing.assert_array_equal(found[index], numbers)


def test_touching_of_one_number():
    pairs, n_sides = touching(np.zeros((3, 3), dtype=int))
    assert pairs.shape == (2, 0)
    assert n_sides.shape == (0,)


@given(st.integers(0, 2**16), st.integers(1, 14), st.integers(1, 14))
def test_innermost_is_about_as_far_inside_as_can_be(seed, height, width):
    rng = np.random.default_rng(seed)
    numbers = renumbered(ndimage.zoom(rng.integers(0, 3, size=(3, 3)), 8, order=0)[:height, :width])[1]
    places = innermost(numbers, numbers.max() + 1)
    for number, (x, y) in enumerate(places):
        depth = ndimage.distance_transform_edt(np.pad(numbers == number, 1))[1:-1, 1:-1]
        assert depth[y, x] >= 0.9 * depth.max()


def test_innermost_leaves_out_what_is_in_no_region():
    numbers = np.full((9, 9), -1)
    numbers[2:7, 2:7] = 0
    assert innermost(numbers, 1) == [(4, 4)]


# -- features --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def described():
    photo = np.ascontiguousarray(data.coffee()[60:160, 100:260])
    regions = np.where(np.indices(photo.shape[:2])[1] < 50, 1, 2)
    found = find_superpixels(photo, regions, pixels_per_node=400, min_nodes=2, max_nodes=20)
    return photo, regions, found, NodeFeatures(photo, found)


def test_columns_fit_the_attributes(described):
    for kind, width in (("paper", 873), ("hellinger", 873), ("rich", 907)):
        assert attributes(described[3], kind).shape[1] == width
        spans = list(find_description(kind).columns.values())
        assert spans[0][0] == 0
        assert spans[-1][1] == width
        assert all(a[1] == b[0] for a, b in zip(spans, spans[1:], strict=False))


def test_colour_histogram_and_label_by_hand(described):
    photo, _, found, features = described
    paper, hellinger = attributes(features, "paper"), attributes(features, "hellinger")
    for node in (0, 5, found.n_nodes - 1):
        bins = (photo[found.numbers == node].astype(int) * 9 // 256) @ [81, 9, 1]
        expected = np.bincount(bins, minlength=729) / len(bins)
        np.testing.assert_allclose(paper[node, :729], expected, atol=1e-6)
        np.testing.assert_allclose(hellinger[node, :729], np.sqrt(expected), atol=1e-6)
        assert features.labels()[node] == np.sort(bins)[(len(bins) - 1) // 2]


def test_hog_by_hand(described):
    _photo, _, found, features = described
    grey = features.grey.astype(float)
    inner = [
        k for k in range(found.n_nodes) if (features.centre[k] > 17).all() and (features.centre[k] < [82, 142]).all()
    ]
    assert inner
    node = inner[0]
    y, x = np.rint(features.centre[node]).astype(int)
    hog = np.zeros((4, 4, 9))
    for row in range(32):
        for column in range(32):
            r, c = y - 16 + row, x - 16 + column
            down, right = grey[r + 1, c] - grey[r - 1, c], grey[r, c + 1] - grey[r, c - 1]
            angle = np.degrees(np.arctan2(down, right)) % 180
            hog[row // 8, column // 8, int(angle // 20) % 9] += np.hypot(down, right)
    expected = hog.ravel() / np.linalg.norm(hog)
    np.testing.assert_allclose(attributes(features, "paper")[node, 729:], expected, atol=1e-5)


@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 40), st.sampled_from([2, 256]))
def test_binary_patterns_are_those_of_scikit_image(seed, height, width, n_levels):
    grey = np.random.default_rng(seed).integers(n_levels, size=(height, width), dtype=np.uint8)
    for points, radius in ((8, 1), (16, 3)):
        expected = feature.local_binary_pattern(grey, points, radius, method="uniform")
        np.testing.assert_array_equal(uniform_patterns(grey, points, radius), expected)


def test_binary_patterns_of_a_photo_and_of_nothing():
    for grey in (np.ascontiguousarray(data.camera()[::2, ::2]), np.full((300, 20), 77, dtype=np.uint8)):
        expected = feature.local_binary_pattern(grey, 16, 3, method="uniform")
        np.testing.assert_array_equal(uniform_patterns(grey, 16, 3), expected)


def test_parts_have_length_one(described):
    rich = attributes(described[3], "rich")
    for name in ("rgb_histogram", "hog", "lbp_8_1", "lbp_16_3"):
        start, stop = find_description("rich").columns[name]
        np.testing.assert_allclose(np.linalg.norm(rich[:, start:stop], axis=1), 1, atol=1e-5)


def test_place_by_hand(described):
    _photo, regions, found, features = described
    rich = attributes(features, "rich")
    for node in (0, found.n_nodes - 1):
        ys, xs = np.nonzero(found.numbers == node)
        own = regions[ys[0], xs[0]]
        left, width = (0, 50) if own == 1 else (50, 110)
        y, x = ys.mean() + 0.5, xs.mean() + 0.5
        expected = [y / 100, x / 160, y / 100, (x - left) / width, 0.3 * np.log(width / 100), width / 160]
        np.testing.assert_allclose(rich[node, 901:], expected, atol=1e-5)


def test_flat_picture_has_no_gradients():
    photo = np.full((40, 40, 3), 77, dtype=np.uint8)
    found = find_superpixels(photo, np.ones((40, 40), dtype=int), **SIZES)
    start, stop = find_description("rich").columns["hog"]
    assert (attributes(NodeFeatures(photo, found), "rich")[:, start:stop] == 0).all()

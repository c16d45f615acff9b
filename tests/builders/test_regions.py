"""Regions found in photos without masks: merged superpixels, and the former way for bags and models from then."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from skimage import data

from cfmgml import BagDataset, CfMGML
from cfmgml.builders.pictures import superpixels
from cfmgml.builders.pictures.answering import answer_photo, noise_file
from cfmgml.builders.pictures.builder import PictureBuilder
from cfmgml.builders.pictures.felzenszwalb import felzenszwalb_regions
from cfmgml.builders.pictures.label_maps import touching
from cfmgml.builders.pictures.layout import cut_picture, lay_out, layout_of_bag, with_regions
from cfmgml.builders.pictures.merging import Bounds, merge_touching
from cfmgml.builders.pictures.slic import slic
from cfmgml.common.segments import segment_ids
from cfmgml.datasets import bags_from_images
from cfmgml.web.limits import Limits

BEFORE = Path(__file__).resolve().parents[1] / "fixtures" / "before_merging"
PHOTO = np.ascontiguousarray(data.coffee()[::2, ::2])


def old_photos():
    """Those that the files of ``BEFORE`` were built from."""
    return [np.ascontiguousarray(photo) for photo in (data.coffee()[::4, ::4], data.chelsea()[::3, ::3])] + [
        np.ascontiguousarray(data.astronaut()[::5, ::5])
    ]


# -- merging ---------------------------------------------------------------------------------


def merged_by_hand(rows, sizes, pairs, bounds):
    """Every pair is looked at before every merger."""
    pieces = {k: [k] for k in range(len(rows))}
    touch = set(map(tuple, pairs.T.tolist()))

    def cost(a, b):
        (one, m), (two, n) = ((rows[pieces[k]], sizes[pieces[k]]) for k in (a, b))
        apart = ((np.average(one, axis=0, weights=m) - np.average(two, axis=0, weights=n)) ** 2).sum()
        must = min(len(m), len(n)) < bounds.least_nodes or min(m.sum(), n.sum()) < bounds.least_size
        must = must or (bounds.alike is not None and apart <= bounds.alike**2)
        return not must, apart * m.sum() * n.sum() / (m.sum() + n.sum()), a, b

    while touch:
        optional, _, a, b = min(cost(*pair) for pair in touch)
        if optional and len(pieces) <= bounds.most:
            break
        pieces[a] += pieces.pop(b)
        moved = {tuple(sorted(a if k == b else k for k in pair)) for pair in touch}
        touch = {pair for pair in moved if pair[0] != pair[1]}
    return np.array([next(n for n, key in enumerate(sorted(pieces)) if k in pieces[key]) for k in range(len(rows))])


@st.composite
def touching_nodes(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    pairs, _ = touching(np.arange(height * width).reshape(height, width))
    pairs = pairs[:, rng.random(pairs.shape[1]) < draw(st.sampled_from([0.6, 1.0]))]
    n = height * width
    return rng.random((n, draw(st.integers(1, 5)))), rng.integers(1, 9, n), pairs


@given(touching_nodes(), st.integers(1, 6), st.integers(1, 4), st.sampled_from([0, 9.5]), st.sampled_from([None, 0.3]))
def test_the_two_most_alike_are_merged_first(nodes, most, least_nodes, least_size, alike):
    bounds = Bounds(most, least_nodes, least_size, alike)
    np.testing.assert_array_equal(merge_touching(*nodes, bounds), merged_by_hand(*nodes, bounds))


def test_equal_costs_are_merged_in_order():
    pairs, _ = touching(np.arange(6).reshape(1, 6))
    rows = np.array([[0.0], [1], [10], [11], [20], [21]])
    np.testing.assert_array_equal(merge_touching(rows, np.ones(6), pairs, Bounds(4)), [0, 0, 1, 1, 2, 3])


def test_merging_works_in_proportion_to_what_touches():
    pairs, _ = touching(np.arange(40_000).reshape(200, 200))  # every pair of all would be 800 million
    rows = np.random.default_rng(0).random((40_000, 2))
    assert merge_touching(rows, np.ones(40_000), pairs, Bounds(5, least_nodes=3)).max() == 4


# -- regions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3, 6, 8])
def test_regions_are_bounded_and_whole(most):
    layout = lay_out(PHOTO, None, PictureBuilder(max_regions=most))
    regions, ptr = layout.region_of_pixel, layout.superpixels.node_ptr
    assert set(np.unique(regions)) == set(range(most))
    assert layout.superpixels.regions.tolist() == list(range(1, most + 1))
    assert all(ndimage.label(regions == k)[1] == 1 for k in range(most))
    assert np.bincount(regions.ravel()).min() >= 0.005 * regions.size
    assert 2 <= np.diff(ptr).min() <= np.diff(ptr).max() <= 30
    numbers = layout.superpixels.numbers
    assert all(ndimage.label(numbers == k)[1] == 1 for k in range(ptr[-1]))
    np.testing.assert_array_equal(np.unique(numbers), np.arange(ptr[-1]))
    np.testing.assert_array_equal(segment_ids(ptr)[numbers], regions)


def test_sizes_are_obeyed():
    fine = lay_out(PHOTO, None, PictureBuilder(pixels_per_node=100, max_nodes=1000))
    coarse = lay_out(PHOTO, None, PictureBuilder(pixels_per_node=1000, min_nodes=5, max_nodes=1000))
    assert 0.8 < fine.superpixels.n_nodes / (PHOTO[:, :, 0].size / 100) <= 1
    assert 0.8 < coarse.superpixels.n_nodes / (PHOTO[:, :, 0].size / 1000) <= 1
    assert np.diff(coarse.superpixels.node_ptr).min() >= 5


def test_superpixels_of_the_cut_become_nodes():
    builder = PictureBuilder(max_nodes=10)
    cut = cut_picture(PHOTO, None, builder)
    layout = with_regions(cut, builder)
    assert cut.superpixels.n_nodes > layout.superpixels.n_nodes
    assert np.diff(layout.superpixels.node_ptr).max() == 10
    np.testing.assert_array_equal(layout.node_of[cut.superpixels.numbers], layout.superpixels.numbers)


def test_regions_can_be_found_by_any_rows():
    builder = PictureBuilder(max_regions=2)
    cut = cut_picture(PHOTO, None, builder)
    rows = np.zeros((cut.superpixels.n_nodes, 300), dtype=np.float32)
    half = np.arange(len(rows)) < len(rows) // 2  # numbers rise over the picture
    rows[half, 7] = 1
    layout = with_regions(cut, builder, rows)
    first = segment_ids(layout.superpixels.node_ptr)[layout.node_of] == 0
    assert first.tolist() == (half == half[0]).tolist()


def test_a_picture_is_cut_once(monkeypatch):
    """Regions, nodes and the server's answer share one cut: it is what takes the time."""
    cuts = []
    monkeypatch.setattr(superpixels, "slic", lambda *given: cuts.append(1) or slic(*given))
    bags = bags_from_images([PHOTO, PHOTO[:100]], n_jobs=1)
    assert bags.n_graphs > 2
    assert len(cuts) == 2
    answer = answer_photo(noise_file(120), bags.builder, Limits())
    assert len(cuts) == 3
    assert answer.shown["picture"]["width"] == 120
    layout_of_bag(bags[0], PHOTO)  # for plots and masks
    assert len(cuts) == 4


def test_masks_give_the_regions():
    mask = np.where(np.indices(PHOTO.shape[:2])[0] < 60, 3, 5)
    cut = cut_picture(PHOTO, mask, PictureBuilder())
    assert cut.colours is None
    layout = with_regions(cut, PictureBuilder())
    assert layout.superpixels is cut.superpixels
    assert layout.superpixels.regions.tolist() == [3, 5]


@pytest.mark.parametrize("regions", ["merged", "felzenszwalb"])
def test_regions_of_two_colours_are_the_colours(regions):
    photo = np.zeros((150, 300, 3), dtype=np.uint8)
    photo[:, 60:] = (200, 30, 30)
    found = lay_out(photo, None, PictureBuilder(regions=regions)).region_of_pixel
    assert found.max() == 1
    assert (found[:, :56] == found[0, 0]).all()
    assert (found[:, 64:] == found[0, -1]).all()


@pytest.mark.parametrize("regions", ["merged", "felzenszwalb"])
@pytest.mark.parametrize("shape", [(20, 20), (1, 1), (1, 9), (120, 200)])
def test_picture_of_one_colour_is_one_region(shape, regions):
    photo = np.full((*shape, 3), 90, dtype=np.uint8)
    layout = lay_out(photo, None, PictureBuilder(regions=regions))
    assert (layout.region_of_pixel == 0).all()
    assert layout.superpixels.n_nodes >= min(2, photo[:, :, 0].size)


def test_a_flat_region_is_cut_evenly():
    sizes = lay_out(np.full((200, 300, 3), 90, dtype=np.uint8), None, PictureBuilder()).nodes.n_pixels
    assert len(sizes) == 30
    assert sizes.max() < 4 * sizes.min()


def test_absurd_parameters_are_bounded():
    cut = cut_picture(PHOTO, None, PictureBuilder(pixels_per_node=1))
    assert cut.superpixels.n_nodes <= 1024


# -- the former way --------------------------------------------------------------------------


def test_former_regions_are_bounded_and_whole():
    for most in (1, 3, 6):
        regions = felzenszwalb_regions(PHOTO, most)
        assert set(np.unique(regions)) == set(range(1, most + 1))
        assert all(ndimage.label(regions == k, np.ones((3, 3)))[1] == 1 for k in range(1, most + 1))


def test_bags_from_before_are_built_again_as_they_were():
    """Written by the commit before superpixels were merged."""
    bags = BagDataset.load(BEFORE / "photos.bags")
    assert bags.builder.regions == "felzenszwalb"
    assert "regions" not in bags.info["parameters"]
    again = bags.builder.rebuild(old_photos())
    for name in ("node_ptr", "edges", "node_labels"):
        np.testing.assert_array_equal(getattr(again.graphs, name), getattr(bags.graphs, name))
    np.testing.assert_allclose(again.graphs.node_attributes, bags.graphs.node_attributes, atol=1e-6)
    assert again.builder == bags.builder
    assert again.builder.digest() == bags.builder.digest()
    np.testing.assert_array_equal(layout_of_bag(bags[1], old_photos()[1]).superpixels.node_ptr, bags[1].graphs.node_ptr)


def test_a_model_from_before_serves_and_takes_new_bags():
    model, scores = CfMGML.load(BEFORE / "photos.cfmgml"), json.loads((BEFORE / "scores.json").read_text())
    again = model.builder_.rebuild(old_photos())
    np.testing.assert_allclose(model.decision_function_graphs(again), scores, atol=1e-5)
    newer = replace(model.builder_, regions="merged").build(old_photos())
    assert newer.info["parameters"]["regions"] == "merged"
    model.builder_.check_same(newer.builder)  # regions are found another way, and described the same
    assert model.predict(newer).shape == (3, 3)


def test_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="regions must be one of merged, felzenszwalb, got 'watershed'"):
        PictureBuilder(regions="watershed")

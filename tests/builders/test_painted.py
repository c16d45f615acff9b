"""Painted nodes as label maps, and label maps as files that are read back."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from skimage import data
from skimage.color import rgb2lab

from cfmgml import BagDataset
from cfmgml.builders.painted import label_map, write_painting
from cfmgml.builders.painted.formats import coco_mask
from cfmgml.common.tables import read_table
from cfmgml.datasets import bags_from_images, load_digit_bags
from cfmgml.plots.colours import PALETTE, label_colours
from filled import fill

PHOTO = np.ascontiguousarray(data.coffee()[::4, ::4])  # 100 x 150
NAMES = ["cup", "table", "spoon"]


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    """Two photos from files, the second twice as large as it is built."""
    folder = tmp_path_factory.mktemp("photos")
    Image.fromarray(PHOTO).save(folder / "cup.png")
    Image.fromarray(PHOTO[::-1].repeat(2, axis=0).repeat(2, axis=1)).save(folder / "large.png")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one was scaled down
        return bags_from_images(folder, features="paper", max_side=150, n_jobs=1)


@pytest.fixture(scope="module")
def painted(bags):
    return np.random.default_rng(0).integers(-1, 3, size=bags.graphs.n_nodes)


def test_every_pixel_has_the_label_of_its_superpixel(bags, painted):
    maps = [label_map(bags, painted, k) for k in (0, 1)]
    assert [labels.shape for labels in maps] == [(100, 150), (200, 300)]
    start = bags.graphs.node_ptr[bags.bag_ptr[1]]
    for k, nodes in ((0, slice(0, start)), (1, slice(start, None))):
        built = bags.builder.node_map(bags, k, original=False)
        assert built.shape == (100, 150)
        np.testing.assert_array_equal(label_map(bags, painted, k, original=False), painted[nodes][built])
    np.testing.assert_array_equal(maps[1][::2, ::2], label_map(bags, painted, 1, original=False))
    np.testing.assert_array_equal(maps[1][1::2, 1::2], maps[1][::2, ::2])
    np.testing.assert_array_equal(label_map(bags[[1, 0]], np.roll(painted, -start), 1), maps[0])


def test_pixels_outside_every_region():
    mask = np.zeros((100, 150), dtype=int)
    mask[20:60, 30:90] = 1
    bags = bags_from_images([PHOTO], [mask], features="paper")
    labels = label_map(bags, np.full(bags.graphs.n_nodes, 2), image=PHOTO, segments=mask)
    np.testing.assert_array_equal(labels, np.where(mask == 1, 2, -1))


def test_refusals(bags, painted):
    with pytest.raises(
        ValueError, match=r"painted must be whole numbers of shape \(\d+,\), .* got int64 of shape \(3,\)"
    ):
        label_map(bags, painted[:3])
    with pytest.raises(ValueError, match="got float64"):
        label_map(bags, painted * 1.0)
    digits = load_digit_bags(n_bags=2)
    with pytest.raises(ValueError, match="nodes with a place; these were built from handwritten digits"):
        label_map(digits, np.zeros(digits.graphs.n_nodes, dtype=int))


def test_masks_with_a_palette_and_a_legend(bags, painted, tmp_path):
    write_painting(bags, painted, NAMES, masks=tmp_path / "made" / "masks")
    legend = read_table(tmp_path / "made" / "masks" / "legend.csv")
    assert [row["label"] for row in legend] == ["", *NAMES]
    for k, name in enumerate(["cup", "large"]):
        image = Image.open(tmp_path / "made" / "masks" / f"{name}.png")
        assert image.mode == "P"
        indices, labels = np.asarray(image), label_map(bags, painted, k)
        np.testing.assert_array_equal(indices, labels + 1)
        colours = np.array([tuple(bytes.fromhex(row["colour"][1:])) for row in legend])
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), colours[indices])
    assert {path.name for path in (tmp_path / "made" / "masks").iterdir()} == {"cup.png", "large.png", "legend.csv"}


@pytest.mark.parametrize(("n_labels", "mode"), [(255, "P"), (256, "I;16")])
def test_more_labels_than_a_palette_has_places_for(bags, tmp_path, n_labels, mode):
    painted = np.full(bags.graphs.n_nodes, n_labels - 1)
    write_painting(bags, painted, [f"label {k}" for k in range(n_labels)], masks=tmp_path)
    image = Image.open(tmp_path / "cup.png")
    assert image.mode == mode
    assert set(np.asarray(image).ravel().tolist()) == {n_labels}
    assert len(read_table(tmp_path / "legend.csv")) == n_labels + 1


def test_polygons_are_filled_again(bags, painted, tmp_path):
    write_painting(bags, painted, NAMES, geojson=tmp_path)
    for k, name in enumerate(["cup", "large"]):
        found = json.loads((tmp_path / f"{name}.geojson").read_text())
        assert found["type"] == "FeatureCollection"
        expected = label_map(bags, painted, k)
        again = np.full(expected.shape, -1)
        for feature in found["features"]:
            assert feature["geometry"]["type"] == "Polygon"
            rings = [np.array(ring) for ring in feature["geometry"]["coordinates"]]
            assert all((ring[0] == ring[-1]).all() for ring in rings)
            inside = fill([ring[:-1] for ring in rings], expected.shape)
            assert inside.sum() == feature["properties"]["area"]
            again[inside] = NAMES.index(feature["properties"]["label"])
        np.testing.assert_array_equal(again, expected)


def decode(segmentation):
    """COCO's uncompressed runs: down the columns, first of those outside."""
    height, width = segmentation["size"]
    runs = [np.full(length, number % 2 == 1) for number, length in enumerate(segmentation["counts"])]
    return np.concatenate(runs).reshape(width, height).T


def test_coco_masks_are_decoded_again(bags, painted, tmp_path):
    write_painting(bags, painted, NAMES, coco=tmp_path / "painted.json")
    found = json.loads((tmp_path / "painted.json").read_text())
    assert found["categories"] == [{"id": k + 1, "name": name} for k, name in enumerate(NAMES)]
    assert [image["file_name"] for image in found["images"]] == ["cup.png", "large.png"]
    assert [(image["height"], image["width"]) for image in found["images"]] == [(100, 150), (200, 300)]
    maps = {image["id"]: np.full((image["height"], image["width"]), -1) for image in found["images"]}
    for annotation in found["annotations"]:
        maps[annotation["image_id"]][decode(annotation["segmentation"])] = annotation["category_id"] - 1
        assert annotation["iscrowd"] == 1
    for k in (0, 1):
        np.testing.assert_array_equal(maps[k + 1], label_map(bags, painted, k))
    numbers = [annotation["id"] for annotation in found["annotations"]]
    assert numbers == list(range(1, len(numbers) + 1))


@given(seed=st.integers(0, 10**6), height=st.integers(1, 7), width=st.integers(1, 7))
def test_any_mask_in_runs(seed, height, width):
    rng = np.random.default_rng(seed)
    mask = rng.random((height, width)) < rng.random()
    mask[rng.integers(height), rng.integers(width)] = True
    found = coco_mask(mask)
    np.testing.assert_array_equal(decode(found["segmentation"]), mask)
    assert min(found["segmentation"]["counts"][1:]) > 0
    rows, columns = np.nonzero(mask)
    x, y, across, down = found["bbox"]
    assert (x, y, x + across - 1, y + down - 1) == (columns.min(), rows.min(), columns.max(), rows.max())
    assert found["area"] == mask.sum()


def test_nothing_painted(bags, tmp_path):
    write_painting(
        bags, np.full(bags.graphs.n_nodes, -1), NAMES, masks=tmp_path, geojson=tmp_path, coco=tmp_path / "c.json"
    )
    assert np.asarray(Image.open(tmp_path / "cup.png")).max() == 0
    assert json.loads((tmp_path / "cup.geojson").read_text())["features"] == []
    assert json.loads((tmp_path / "c.json").read_text())["annotations"] == []


def test_pictures_of_one_name_in_two_folders_get_two_files(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        Image.fromarray(PHOTO).save(tmp_path / place / "cup.png")
    files = sorted(tmp_path.glob("*/cup.png"))
    bags = bags_from_images(files, names=["a/cup", "b/cup"], features="paper", n_jobs=1)
    painted = np.zeros(bags.graphs.n_nodes, dtype=int)
    write_painting(bags, painted, NAMES, masks=tmp_path / "masks")
    bags.builder.write_regions(bags, tmp_path / "regions")
    for made in ("masks", "regions"):
        assert {"a-cup.png", "b-cup.png"} <= {path.name for path in (tmp_path / made).iterdir()}


def test_odd_pictures_are_painted_at_their_own_size(tmp_path):
    """As they are seen: turned as EXIF says, the first frame, transparent or not; and files that are no pictures."""
    photo, folder = Image.fromarray(PHOTO), tmp_path / "odd"
    folder.mkdir()
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(folder / "turned.jpg", exif=exif)
    photo.convert("CMYK").save(folder / "cmyk.tif")
    photo.quantize(8).save(folder / "palette.png", transparency=2)
    photo.save(folder / "moving.gif", save_all=True, append_images=[photo.rotate(90)])
    Image.fromarray(PHOTO[:, :, 0].astype(np.uint16) * 257).save(folder / "sixteen.png")
    Image.fromarray(PHOTO[:1, :1]).save(folder / "pixel.png")
    photo.resize((3000, 2)).save(folder / "line.png")
    (folder / "cut.jpg").write_bytes((folder / "turned.jpg").read_bytes()[:2000])
    with pytest.warns(UserWarning, match=r"1 of 8 images were (skipped, such as cut.jpg|scaled down .* line.png)"):
        bags = bags_from_images(folder, features="paper", on_error="skip", n_jobs=1)
    write_painting(bags, np.zeros(bags.graphs.n_nodes, dtype=int), NAMES, masks=tmp_path / "masks")
    sizes = {path.stem: np.asarray(Image.open(path)).shape[::-1] for path in (tmp_path / "masks").glob("*.png")}
    whole = dict.fromkeys(["cmyk", "palette", "moving", "sixteen"], (150, 100))
    assert sizes == whole | {"turned": (100, 150), "pixel": (1, 1), "line": (3000, 2)}


def test_saved_bags_are_told_where_their_pictures_lie(bags, painted, tmp_path):
    bags.save(tmp_path / "photos.bags")
    saved, folder = BagDataset.load(tmp_path / "photos.bags"), bags.info["folder"].path
    np.testing.assert_array_equal(label_map(saved, painted, folder=folder), label_map(bags, painted))
    with pytest.raises(ValueError, match="in a folder that saved bags do not name"):
        label_map(saved, painted)


# -- colours ---------------------------------------------------------------------------------

# Machado, Oliveira & Fernandes (2009), severity 1: eyes without red, green or blue cones, in linear RGB.
BLIND = {
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "none": np.eye(3),
}


def as_seen(colours, eyes):
    """In CIELAB, where a difference of 2 to 3 is just seen."""
    values = colours / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(BLIND[eyes]).T, 0, 1)
    return rgb2lab(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)[None])[0]


@pytest.mark.parametrize("eyes", BLIND)
@pytest.mark.parametrize(("n_labels", "least"), [(7, 16), (20, 16), (60, 8), (255, 3.4)])
def test_colours_can_be_told_apart(eyes, n_labels, least):
    seen = as_seen(np.vstack([[0, 0, 0], label_colours(n_labels)]), eyes)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert apart[np.triu_indices(len(seen), 1)].min() > least


def test_there_is_a_colour_for_any_label():
    assert PALETTE.shape == (255, 3)
    np.testing.assert_array_equal(label_colours(256)[255], PALETTE[0])

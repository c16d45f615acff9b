"""Pictures of every kind become uint8 RGB; what cannot be used is refused with a reason."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from cfmgml.builders.pictures.image_files import ImageError, image_files, read_image, read_mask, read_segments

RAMP = np.arange(60, dtype=np.uint8).reshape(6, 10) * 4
COLOUR = np.stack([RAMP, RAMP[::-1], 255 - RAMP], axis=2)


@pytest.fixture
def file(tmp_path):
    def write(name, array, mode=None, **options):
        path = tmp_path / name
        image = array if isinstance(array, Image.Image) else Image.fromarray(array)
        (image if mode is None else image.convert(mode)).save(path, **options)
        return path

    return write


# -- arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "image",
    [
        RAMP,
        RAMP[:, :, None],
        RAMP.astype(np.int64),
        RAMP.astype(np.uint16) * 256,
        RAMP / 255.0,
        RAMP.astype(">u2") * 256,
    ],
    ids=["uint8", "one channel", "int64", "uint16", "float", "big-endian"],
)
def test_grey_arrays(image):
    np.testing.assert_array_equal(read_image(image).pixels, np.repeat(RAMP[:, :, None], 3, axis=2))


def test_black_and_white():
    assert set(np.unique(read_image(RAMP > 100).pixels)) == {0, 255}


def test_transparency_is_laid_on_white():
    half = np.full((2, 3, 4), [200, 100, 0, 128], dtype=np.uint8)
    np.testing.assert_array_equal(read_image(half).pixels[0, 0], [227, 177, 127])
    clear = np.dstack([COLOUR, np.zeros_like(RAMP)])
    assert (read_image(clear).pixels == 255).all()
    np.testing.assert_array_equal(read_image(np.dstack([COLOUR, np.full_like(RAMP, 255)])).pixels, COLOUR)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (np.zeros((0, 4, 3), dtype=np.uint8), "no pixels"),
        (np.zeros(5, dtype=np.uint8), "must have shape"),
        (np.zeros((3, 3, 7), dtype=np.uint8), "must have shape"),
        (np.full((3, 3), 2.5), "floats must hold 0 to 1, got 2.5 to 2.5"),
        (np.full((3, 3), np.nan), "floats must hold 0 to 1"),
        (np.full((3, 3), -1), "integers of 0 to 255, got int64 of -1"),
        (np.full((3, 3), 1j), "got complex128"),
    ],
)
def test_refused_arrays(image, reason):
    with pytest.raises(ImageError, match=reason):
        read_image(image)


# -- files -----------------------------------------------------------------------------------


def test_colour_file(file):
    np.testing.assert_array_equal(read_image(file("a.png", COLOUR)).pixels, COLOUR)


def test_suffix_does_not_matter(file):
    path = file("a.png", COLOUR)
    np.testing.assert_array_equal(read_image(path.rename(path.with_suffix(".jpg"))).pixels, COLOUR)


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "LA", "CMYK", "I;16"])
def test_every_mode_of_file(file, mode):
    if mode == "I;16":
        path = file("a.png", RAMP.astype(np.uint16) * 256)
    else:
        path = file("a.tif" if mode == "CMYK" else "a.png", COLOUR if mode in ("RGBA", "CMYK", "P") else RAMP, mode)
    pixels = read_image(path).pixels
    assert pixels.shape == (6, 10, 3)
    assert pixels.dtype == np.uint8
    assert abs(pixels.mean() - (COLOUR if mode in ("RGBA", "CMYK", "P") else RAMP).mean()) < 12


def test_palette_with_transparency(file):
    image = Image.fromarray(COLOUR).quantize(4)
    assert (read_image(file("a.png", image, transparency=0)).pixels == 255).all(axis=2).any()


def test_photo_is_turned_as_its_exif_says(file):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by 90 degrees clockwise
    picture = read_image(file("a.png", COLOUR, exif=exif))
    assert picture.original_size == (10, 6)
    np.testing.assert_array_equal(picture.pixels, np.rot90(COLOUR, -1))


def test_animation_gives_its_first_frame(file):
    frames = [Image.fromarray(np.full((4, 5), value, dtype=np.uint8)) for value in (10, 200)]
    path = file("a.gif", frames[0], save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(read_image(path).pixels, np.full((4, 5, 3), 10))


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_huge_file_is_scaled_down(file, suffix):
    picture = read_image(file(f"a{suffix}", np.tile(COLOUR, (200, 150, 1))), max_side=100)
    assert picture.is_scaled
    assert picture.original_size == (1200, 1500)
    assert picture.size == (80, 100)


def test_picture_that_claims_too_much_is_refused(tmp_path):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    path = tmp_path / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )
    with pytest.raises(ImageError, match=r"bomb\.png cannot be read as an image"):
        read_image(path)


def test_corrupt_files(file, tmp_path):
    cut = file("cut.jpg", np.tile(COLOUR, (30, 30, 1)))
    cut.write_bytes(cut.read_bytes()[:400])
    text = tmp_path / "text.png"
    text.write_text("no picture")
    (tmp_path / "empty.png").touch()
    for path in (cut, text, tmp_path / "empty.png"):
        with pytest.raises(ImageError, match=f"{path.name} cannot be read as an image"):
            read_image(path)
    with pytest.raises(ImageError, match="there is no file"):
        read_image(tmp_path / "missing.png")


def test_files_of_a_folder(file, tmp_path):
    made = [file(name, RAMP) for name in ("b.PNG", "a.jpg", "c.webp")]
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder.png").mkdir()
    assert image_files(tmp_path) == sorted(made)
    with pytest.raises(FileNotFoundError, match="no image in"):
        image_files(tmp_path / "folder.png")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        image_files(tmp_path / "nowhere")


# -- masks -----------------------------------------------------------------------------------

MASK = np.repeat([[0, 1, 7]], 4, axis=0).astype(np.uint8)


def test_palette_masks_give_indices(file):
    image = Image.fromarray(MASK, mode=None).convert("P")
    image.putdata(MASK.ravel().tolist())
    image.putpalette([0, 0, 0, 255, 0, 0] + [9, 9, 9] * 254)
    np.testing.assert_array_equal(read_mask(file("m.png", image)), MASK)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_masks(file, dtype):
    np.testing.assert_array_equal(read_mask(file("m.png", MASK.astype(dtype) * 30)), MASK.astype(int) * 30)


def test_matlab_masks(tmp_path):
    path = tmp_path / "m.mat"
    savemat(path, {"newseg": np.array([[1, 2, 3, 4]]), "newlabels": np.array([[5, 0, 9]])})
    np.testing.assert_array_equal(read_mask(path), [[1, 0, 3, 0]])  # 2 has class 0, 4 has none: both are void
    savemat(path, {"other": 1})
    with pytest.raises(ImageError, match="has no variable newseg or newlabels"):
        read_mask(path)
    path.write_bytes(b"not MATLAB" * 40)
    with pytest.raises(ImageError, match="cannot be read as a MATLAB file"):
        read_mask(path)


def test_refused_masks(file):
    with pytest.raises(ImageError, match="holds colours, not segment numbers"):
        read_mask(file("m.png", COLOUR))
    with pytest.raises(ImageError, match="must be integers"):
        read_mask(MASK / 2)
    with pytest.raises(ImageError, match="numbered from 0, got -1"):
        read_mask(MASK.astype(int) - 1)


def test_mask_must_fit_its_picture():
    picture = read_image(RAMP)
    with pytest.raises(ImageError, match=r"height and width, \(6, 10\), got \(4, 3\)\."):
        read_segments(MASK, picture)
    with pytest.raises(ImageError, match="it would fit turned by 90 degrees"):
        read_segments(np.zeros((10, 6), dtype=int), picture)


def test_mask_follows_when_its_picture_is_scaled_down():
    picture = read_image(np.zeros((40, 80), dtype=np.uint8), max_side=20)
    mask = np.repeat([[1, 2]], 40, axis=0).repeat(40, axis=1)
    mask[0, 0] = 9  # too small to be seen
    numbers, lost = read_segments(mask, picture)
    np.testing.assert_array_equal(numbers, np.repeat([[1, 2]], 10, axis=0).repeat(10, axis=1))
    assert lost == [9]

"""What is refused before decoding, and with which words; what is read, and as what."""

import struct
import zlib
from dataclasses import asdict

import numpy as np
import pytest

from cfmgml.builders.pictures.image_files import read_image
from cfmgml.builders.pictures.uploads import decode_picture
from cfmgml.web.limits import Limits, Refused

LIMITS = Limits(pixels=1_000_000, side=4000)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth=8, colour=0, data=b"", before=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + before
        + chunk(b"IDAT", zlib.compress(data))
        + chunk(b"IEND", b"")
    )


@pytest.fixture
def gradient(rng):
    return rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 415, "not_an_image"),
        (b"hello, I am a text", 415, "not_an_image"),
        (b"PK\x03\x04" + bytes(100), 415, "not_an_image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", 415, "not_an_image"),
        (b"%PDF-1.7\n" + bytes(50), 415, "not_an_image"),
        (b"II*\x00" + bytes(50), 415, "not_an_image"),
        (png(30_000, 30_000), 413, "too_many_pixels"),
        (png(2**31 - 1, 2**31 - 1), 413, "too_many_pixels"),
        (png(5000, 10), 413, "too_many_pixels"),
        (png(900, 900), 422, "damaged_image"),
        (png(12_000, 12_000, depth=1, data=bytes(12_000 * 1501)), 413, "too_many_pixels"),
        (png(20, 20, data=bytes(420), before=chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2**24)))), 422, "damaged"),
    ],
    ids=["empty", "text", "zip", "svg", "pdf", "tiff", "huge", "huger", "long", "no pixels", "bomb", "text bomb"],
)
def test_bad_uploads_are_refused(data, status, code):
    with pytest.raises(Refused) as caught:
        decode_picture(data, LIMITS)
    assert caught.value.status == status
    assert code in caught.value.code
    assert caught.value.reason.endswith(".")
    assert "BytesIO" not in caught.value.reason


def test_a_bomb_costs_no_memory():
    """It is refused by its header: 144 million pixels are never made."""
    import tracemalloc

    data = png(12_000, 12_000, depth=1, data=bytes(12_000 * 1501))
    tracemalloc.start()
    with pytest.raises(Refused):
        decode_picture(data, LIMITS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_truncated_images(gradient, make_file):
    for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP"):
        whole = make_file(gradient, kind)
        assert decode_picture(whole, LIMITS).size == (40, 60)
        with pytest.raises(Refused, match="cannot be|not a PNG"):
            decode_picture(whole[: len(whole) // 2], LIMITS)


def test_animations_are_refused(gradient, make_file):
    from PIL import Image

    frames = [Image.fromarray(gradient), Image.fromarray(gradient[::-1].copy())]
    for kind in ("GIF", "PNG", "WEBP"):
        data = make_file(frames[0], kind, save_all=True, append_images=frames[1:])
        with pytest.raises(Refused, match="several frames"):
            decode_picture(data, LIMITS)


def test_a_phone_photo_with_two_views_is_read(gradient, make_file):
    """Phones write JPEGs with a second view in them (MPO); the first is the photo."""
    from PIL import Image

    first = Image.fromarray(gradient)
    data = make_file(first, "MPO", save_all=True, append_images=[first])
    assert decode_picture(data, LIMITS).size == (40, 60)


def test_sixteen_bits_and_transparency(make_file):
    from PIL import Image

    deep = np.full((9, 9), 40_000, dtype=np.uint16)
    assert (decode_picture(make_file(Image.fromarray(deep)), LIMITS).pixels == 40_000 // 256).all()
    clear = np.zeros((9, 9, 4), dtype=np.uint8)
    assert (decode_picture(make_file(clear), LIMITS).pixels == 255).all()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_bytes_and_file_are_read_alike(kind, photos, make_file, tmp_path):
    """Also a large JPEG, which is decoded at a fraction of its size, and one that its EXIF data turn."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    large = Image.fromarray(photos["china"]).resize((1600, 1100))
    data = make_file(large, kind, exif=exif)
    (tmp_path / "photo").write_bytes(data)
    uploaded = decode_picture(data, Limits(), max_side=640)
    assert uploaded.size == (640, 440)
    np.testing.assert_array_equal(uploaded.pixels, read_image(tmp_path / "photo", 640).pixels)


def test_limits_check_themselves():
    with pytest.raises(ValueError, match="pixels must be above 0"):
        Limits(pixels=0)
    with pytest.raises(TypeError, match="workers must be a whole number"):
        Limits(workers=1.5)
    assert Limits(**asdict(Limits(waiting=0))) == Limits(waiting=0)

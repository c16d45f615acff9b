"""Pictures and masks of any kind, as arrays of one kind: uint8 RGB pixels and integer segment numbers.

Whatever is wrong with one picture is an `ImageError`, so that a builder can skip that picture and keep the rest.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cfmgml.common.extras import missing_extra
from cfmgml.common.typing import Array, ArrayLike, IntArray
from cfmgml.reading.paths import list_files

ByteArray = NDArray[np.uint8]
ImageSource: TypeAlias = str | Path | bytes | ArrayLike
MaskSource: TypeAlias = str | Path | ArrayLike
IMAGE_SUFFIXES = frozenset([".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"])
MAX_MAT_BYTES = 512 * 2**20


class ImageError(ValueError):
    """A picture, or its mask, that cannot be used; the message says which and why."""


@dataclass(frozen=True)
class Picture:
    """Pixels of shape (height, width, 3), and the size before they were scaled down."""

    pixels: ByteArray
    original_size: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        return self.pixels.shape[0], self.pixels.shape[1]

    @property
    def is_scaled(self) -> bool:
        return self.size != self.original_size


def import_pillow() -> ModuleType:
    """``PIL.Image``, or an error that names the extra to install."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(missing_extra("reading images needs Pillow", "images")) from error
    return Image


def image_files(folder: str | Path) -> list[Path]:
    """The pictures of a folder, by name, in an order that does not depend on the file system."""
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"there is no folder {folder}.")
    return list_files([folder], IMAGE_SUFFIXES, "image")


def read_image(source: ImageSource, max_side: int | None = None) -> Picture:
    """A picture from a file, its bytes or an array, as uint8 RGB, its longest side at most ``max_side``.

    Grey becomes RGB, transparent pixels are laid on white, 16-bit values keep their high byte, floats are taken as
    0 to 1, a photo is turned as its EXIF data says, and an animation gives its first frame.

    >>> read_image(np.zeros((4, 6), dtype=bool)).pixels.shape
    (4, 6, 3)
    """
    if isinstance(source, str | Path):
        pixels, original = _decode(Path(source), max_side, str(source))
    elif isinstance(source, bytes):
        pixels, original = _decode(io.BytesIO(source), max_side, "the image")
    else:
        pixels = _rgb(np.asarray(source))
        original = pixels.shape[:2]
    return Picture(_shrink(pixels, max_side), (original[0], original[1]))


def read_segments(source: MaskSource, picture: Picture) -> tuple[IntArray, list[int]]:
    """The segment number of every pixel of ``picture``, and the segments lost when it was scaled down."""
    numbers = read_mask(source)
    if numbers.shape != picture.original_size:
        turned = "; it would fit turned by 90 degrees" if numbers.shape[::-1] == picture.original_size else ""
        raise ImageError(
            f"segments must have the image's height and width, {picture.original_size}, got {numbers.shape}{turned}."
        )
    if not picture.is_scaled:
        return numbers, []
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(np.int64)
        for new, old in zip(picture.size, picture.original_size, strict=True)
    )
    kept = numbers[np.ix_(rows, columns)]
    return kept, np.setdiff1d(numbers, kept).tolist()


def read_mask(source: MaskSource) -> IntArray:
    """Numbers of shape (height, width), 0 or more.

    From an integer array, from a file whose pixel values are the numbers (a palette's indices, not its colours), or
    from a MATLAB file with ``newseg``, as in the cleaned-up segmentations of MSRC v2.
    """
    numbers = _mask_file(Path(source)) if isinstance(source, str | Path) else np.asarray(source)
    if numbers.ndim == 3 and numbers.shape[2] == 1:
        numbers = numbers[:, :, 0]
    if numbers.ndim != 2 or not (np.issubdtype(numbers.dtype, np.integer) or numbers.dtype == bool):
        raise ImageError(
            f"segments must be integers of shape (height, width), got {numbers.dtype} of shape {numbers.shape}; "
            "a mask's pixel values are its segments' numbers."
        )
    if numbers.size and numbers.min() < 0:
        raise ImageError(f"segments must be numbered from 0, got {numbers.min()}.")
    return numbers.astype(np.int64)


# -- files -----------------------------------------------------------------------------------


@contextmanager
def _naming(path: Path | str, noun: str) -> Iterator[None]:
    """Whatever a decoder raises (Pillow: OSError, SyntaxError, struct.error, ...) becomes an `ImageError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a decoder's remarks on metadata; what matters raises
            yield
    except (ImageError, ImportError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise ImageError(f"there is no file {path}.") from error
    except Exception as error:
        raise ImageError(f"{path} cannot be read as {noun} ({error}).") from error


def _decode(source: Path | io.BytesIO, max_side: int | None, name: str) -> tuple[ByteArray, tuple[int, ...]]:
    image_module = import_pillow()
    from PIL import ImageOps

    with _naming(name, "an image"), image_module.open(source) as image:
        turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        original = image.size if turned else image.size[::-1]
        if max_side is not None:
            image.draft(None, (2 * max_side, 2 * max_side))  # a JPEG may be decoded at a fraction of its size
        image = ImageOps.exif_transpose(image)
        if image.mode in ("P", "PA", "LA", "La", "RGBa") or "transparency" in image.info:
            image = image.convert("RGBA")
        elif image.mode not in ("1", "L", "RGB", "RGBA", "F") and not image.mode.startswith("I"):
            image = image.convert("RGB")
        array = np.asarray(image)
        if image.mode == "I" and array.min() >= 0 and array.max() < 2**16:  # how some formats deliver 16 bits
            array = array.astype(np.uint16)
        return _rgb(array), original


def _mask_file(path: Path) -> Array:
    if path.suffix.lower() == ".mat":
        return _matlab_mask(path)
    image_module = import_pillow()
    with _naming(path, "a mask"), image_module.open(path) as image:
        numbers = np.asarray(image)
    if numbers.ndim != 2:
        raise ImageError(f"{path} holds colours, not segment numbers; save it as grey or palette, one number a pixel.")
    return numbers


def _matlab_mask(path: Path) -> Array:
    """``newseg`` with void set to 0: the segments that ``newlabels`` does not name, or names 0."""
    content = read_matlab(path, "newseg", "newlabels")
    numbers, classes = content["newseg"].astype(np.int64), content["newlabels"].ravel().astype(np.int64)
    named = np.flatnonzero(classes > 0) + 1
    return np.where(np.isin(numbers, named), numbers, 0)


def read_matlab(path: Path, *names: str) -> dict[str, Array]:
    """The named variables of a MATLAB file of a sensible size; a missing one is an `ImageError`."""
    from scipy.io import loadmat

    with _naming(path, "a MATLAB file"):
        n_bytes = path.stat().st_size
        if n_bytes > MAX_MAT_BYTES:
            raise ImageError(f"{path} has {n_bytes:,} bytes, more than the {MAX_MAT_BYTES:,} that are read.")
        content = loadmat(path, variable_names=list(names))
    missing = [name for name in names if name not in content]
    if missing:
        raise ImageError(f"{path} has no variable {' or '.join(missing)}.")
    return {name: content[name] for name in names}


# -- arrays ----------------------------------------------------------------------------------


def _rgb(array: Array) -> ByteArray:
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4):
        raise ImageError(f"an image must have shape (height, width) or (height, width, 1 to 4), got {array.shape}.")
    if 0 in array.shape:
        raise ImageError(f"the image has no pixels: its shape is {array.shape}.")
    values = _bytes(array)
    n_colours = values.shape[2] - 1 if values.shape[2] in (2, 4) else values.shape[2]
    colours = np.broadcast_to(values[:, :, :n_colours], (*values.shape[:2], 3))
    if n_colours < values.shape[2]:
        alpha = values[:, :, -1:].astype(np.uint32)
        colours = ((colours * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    return np.ascontiguousarray(colours)


def _bytes(array: Array) -> ByteArray:
    """Values as 0 to 255: the type says what white is, for plain integers the range must."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype == np.uint16:
        return np.asarray(array // 256, dtype=np.uint8)
    low, high = array.min(), array.max()
    if np.issubdtype(array.dtype, np.floating):
        if not (low >= 0 and high <= 1):
            raise ImageError(f"an image of floats must hold 0 to 1, got {low:.4g} to {high:.4g}; divide by its white.")
        return np.asarray(np.rint(array * 255), dtype=np.uint8)
    if np.issubdtype(array.dtype, np.integer) and low >= 0 and high <= 255:
        return array.astype(np.uint8)
    known = "uint8, uint16, bool, floats of 0 to 1 or integers of 0 to 255"
    raise ImageError(f"an image must hold {known}, got {array.dtype} of {low} to {high}.")


def _shrink(pixels: ByteArray, max_side: int | None) -> ByteArray:
    height, width = pixels.shape[:2]
    if max_side is None or max(height, width) <= max_side:
        return pixels
    image_module = import_pillow()
    factor = max_side / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    small = image_module.fromarray(pixels).resize(size, image_module.Resampling.BOX)
    return np.asarray(small, dtype=np.uint8)

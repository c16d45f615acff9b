"""An upload becomes pixels, after its header has been looked at."""

import io
import warnings

from cfmgml.builders.pictures.image_files import ImageError, Picture, import_pillow, read_image
from cfmgml.data.questions import InputLimits, Refused

TYPES = {  # what browsers show, too; by Pillow's name (MPO: a JPEG with a second view, as phones make them)
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "GIF": "image/gif",
}
MEDIA_TYPES = tuple(dict.fromkeys(TYPES.values()))


def decode_picture(data: bytes, limits: InputLimits, max_side: int | None = None) -> Picture:
    """The pixels of an uploaded image, scaled down to ``max_side`` as `read_image` does it for a file."""
    check_header(data, limits)
    try:
        return read_image(data, max_side)
    except ImageError as error:
        raise Refused(422, "damaged_image", f"The image cannot be decoded: {_cause(error)}.") from error


def check_header(data: bytes, limits: InputLimits) -> None:
    """Refuse what is no image, too large or an animation, before any pixel is decoded."""
    image_module = import_pillow()
    formats = [name for name in TYPES if name != "MPO"]  # which comes with JPEG
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes: they are checked here
            image = image_module.open(io.BytesIO(data), formats=formats)
    except image_module.DecompressionBombError as error:
        raise _too_many_pixels("far more", limits) from error
    except image_module.UnidentifiedImageError as error:
        raise Refused(415, "not_an_image", "This is not a PNG, JPEG, WebP, GIF or BMP image.") from error
    except Exception as error:  # decoders raise what they like: SyntaxError, struct.error, OverflowError, ...
        raise Refused(422, "damaged_image", f"The image's header cannot be read: {_cause(error)}.") from error
    with image:
        width, height = image.size
        if width * height > limits.pixels:
            raise _too_many_pixels(f"{width} x {height}", limits)
        if max(image.size) > limits.side:
            reason = f"The image has {width} x {height} pixels; a side may have {limits.side:,} at most."
            raise Refused(413, "too_many_pixels", reason)
        if min(image.size) < 1:
            raise Refused(422, "damaged_image", "The image has no pixels.")
        try:
            animated = image.format != "MPO" and getattr(image, "is_animated", False)
        except Exception as error:  # it looks for a second frame, and the file may end before
            raise Refused(422, "damaged_image", f"The image cannot be decoded: {_cause(error)}.") from error
        if animated:
            raise Refused(422, "several_frames", "The image has several frames: send one of them.")


def _too_many_pixels(size: str, limits: InputLimits) -> Refused:
    reason = f"The image has {size} pixels; {limits.pixels / 1e6:g} million are the most. Scale it down first."
    return Refused(413, "too_many_pixels", reason)


def _cause(error: BaseException) -> str:
    """The first reason, in a few words: what decoders say can be long, and names what no user knows."""
    while error.__cause__ is not None:
        error = error.__cause__
    return (" ".join(str(error).split()) or type(error).__name__)[:120].rstrip(".")

"""A photo that was sent: its regions, and where its superpixels lie."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.building import graphs_of_layouts, join_pictures
from cfmgml.builders.pictures.image_files import ImageError, import_pillow
from cfmgml.builders.pictures.label_maps import innermost
from cfmgml.builders.pictures.layout import lay_out
from cfmgml.builders.pictures.uploads import decode_picture
from cfmgml.common.typing import IntArray
from cfmgml.data.questions import InputLimits, Refused, Reply

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder


def answer_photo(data: bytes, builder: "PictureBuilder", limits: InputLimits) -> Reply:
    """The regions of a photo, which is cut once."""
    builder.check_version()
    picture = decode_picture(data, limits, builder.max_side)
    try:
        layout = lay_out(picture, None, builder)
    except ImageError as error:
        raise unusable(error) from error
    bag = join_pictures({"image": graphs_of_layouts([layout], builder)[0]}, builder)
    shares = np.bincount(layout.region_of_pixel.ravel(), minlength=bag.n_graphs) / layout.region_of_pixel.size
    entries = [
        {"name": f"region {k + 1}", "at": [x + 0.5, y + 0.5], "share": float(shares[k])}
        for k, (x, y) in enumerate(innermost(layout.region_of_pixel, bag.n_graphs))
    ]
    shown = picture_map(layout.superpixels.numbers, layout.region_of_pixel, picture.original_size)
    return Reply(bag, entries, {"picture": shown})


def unusable(error: ImageError) -> Refused:
    reason = str(error)
    return Refused(422, "unusable_image", f"{reason[:1].upper()}{reason[1:]}")


def picture_map(nodes: IntArray, regions: IntArray, original: tuple[int, int]) -> dict[str, Any]:
    """Where nodes and regions lie, in run lengths; ``original`` is the height and width of what was sent."""
    height, width = nodes.shape
    size = {"width": width, "height": height, "original_width": original[1], "original_height": original[0]}
    return {**size, "nodes": run_lengths(nodes), "regions": run_lengths(regions)}


def run_lengths(numbers: IntArray) -> list[int]:
    """Value, length, value, length, ... row after row.

    >>> run_lengths(np.array([[3, 3], [3, -1]]))
    [3, 3, -1, 1]
    """
    flat = numbers.ravel()
    starts = np.append(np.flatnonzero(np.diff(flat, prepend=flat[0] - 1)), len(flat))
    return np.stack([flat[starts[:-1]], np.diff(starts)], axis=1).ravel().tolist()


def noise_file(side: int) -> bytes:
    """A picture of noise, to try things out on."""
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    stream = io.BytesIO()
    import_pillow().fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()

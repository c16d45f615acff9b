"""What a picture says of its superpixels: colour, gradients, texture and place, which descriptions put together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import ndimage

from cfmgml.builders.pictures.image_files import ByteArray
from cfmgml.builders.pictures.superpixels import Superpixels
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, IntArray

N_BINS = 9  # a colour channel
PATCH, CELL, N_ORIENTATIONS = 32, 8, 9
LBP_SETTINGS = ((8, 1), (16, 3))  # points and radius
ASPECT_WEIGHT = 0.3
WIDTHS = {"rgb_histogram": N_BINS**3, "hog": (PATCH // CELL) ** 2 * N_ORIENTATIONS}
RICH_WIDTHS = WIDTHS | {f"lbp_{points}_{radius}": points + 2 for points, radius in LBP_SETTINGS}
RICH_WIDTHS |= {"centre_in_image": 2, "centre_in_region": 2, "region_aspect": 1, "region_share": 1}


@dataclass(frozen=True)
class NodeFeatures:
    """What a picture says of its superpixels."""

    pixels: ByteArray
    superpixels: Superpixels

    @cached_property
    def grey(self) -> ByteArray:
        """Brightness (ITU-R 601) in whole numbers, so that it is the same on every machine."""
        red, green, blue = np.moveaxis(self.pixels.astype(np.int64), 2, 0)
        return np.asarray((299 * red + 587 * green + 114 * blue + 500) // 1000, dtype=np.uint8)

    @cached_property
    def inside(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of the pixels that are in a superpixel."""
        rows, columns = np.nonzero(self.superpixels.numbers >= 0)
        return rows, columns

    @cached_property
    def of_pixel(self) -> IntArray:
        return self.superpixels.numbers[self.inside]

    @cached_property
    def n_pixels(self) -> IntArray:
        return np.bincount(self.of_pixel, minlength=self.superpixels.n_nodes)

    @cached_property
    def centre(self) -> FloatArray:
        """Row and column of each superpixel's centre, (n_nodes, 2)."""
        return np.stack([np.bincount(self.of_pixel, weights=axis) / self.n_pixels for axis in self.inside], axis=1)

    def histogram(self, codes: IntArray, n_codes: int) -> IntArray:
        """How often each code occurs in each superpixel, (n_nodes, n_codes); one code a pixel of the picture."""
        n_nodes = self.superpixels.n_nodes
        flat = self.of_pixel * n_codes + codes[self.inside]
        return np.bincount(flat, minlength=n_nodes * n_codes).reshape(n_nodes, n_codes)

    @cached_property
    def colour_counts(self) -> IntArray:
        """The RGB histogram of each superpixel, (n_nodes, 729)."""
        red, green, blue = np.moveaxis(self.pixels.astype(np.int64) * N_BINS // 256, 2, 0)
        return self.histogram((red * N_BINS + green) * N_BINS + blue, N_BINS**3)

    def labels(self) -> IntArray:
        """The (lower) median of the pixels' colour bins, (n_nodes,)."""
        below = self.colour_counts.cumsum(axis=1)
        return np.asarray((2 * below >= below[:, -1:]).argmax(axis=1))


def colours(nodes: NodeFeatures) -> FloatArray:
    """The relative RGB histogram of each superpixel."""
    return np.asarray(nodes.colour_counts / nodes.n_pixels[:, None])


def gradients(nodes: NodeFeatures) -> FloatArray:
    """Histograms of oriented gradients of the patch around each centre (Dalal & Triggs, CVPR 2005).

    4 x 4 cells of 8 x 8 pixels and 9 unsigned orientations; the whole patch is one block, scaled to length 1, so that
    the gradients weigh as much as the square-rooted histogram, which has length 1 too. A flat patch is all zeros.
    """
    grey = np.pad(nodes.grey.astype(np.float64), PATCH // 2 + 1, mode="symmetric")
    down = grey[2:, 1:-1] - grey[:-2, 1:-1]
    right = grey[1:-1, 2:] - grey[1:-1, :-2]
    strength = np.hypot(down, right)
    orientation = np.floor(np.arctan2(down, right) / np.pi * N_ORIENTATIONS).astype(np.int64) % N_ORIENTATIONS
    corner = np.rint(nodes.centre).astype(np.int64)  # of the patch, since the padding moves the centre by half a patch
    corner = corner[:, :, None] + np.arange(PATCH)
    patch = corner[:, 0, :, None], corner[:, 1, None, :]
    along = np.arange(PATCH) // CELL
    n_cells, n_nodes = (PATCH // CELL) ** 2, len(corner)
    cell = along[:, None] * (PATCH // CELL) + along + n_cells * np.arange(n_nodes)[:, None, None]
    flat = (cell * N_ORIENTATIONS + orientation[patch]).ravel()
    sums = np.bincount(flat, strength[patch].ravel(), minlength=n_nodes * n_cells * N_ORIENTATIONS)
    sums = sums.reshape(n_nodes, -1)
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))


def texture(nodes: NodeFeatures) -> FloatArray:
    """Square-rooted histograms of uniform local binary patterns (Ojala et al., PAMI 2002)."""
    try:
        from skimage import feature
    except ImportError as error:
        raise ImportError("texture features need scikit-image: pip install 'cfmgml[images]'.") from error
    pattern: Any = feature.local_binary_pattern
    codes = [(pattern(nodes.grey, points, radius, method="uniform"), points + 2) for points, radius in LBP_SETTINGS]
    counts = np.concatenate([nodes.histogram(code.astype(np.int64), n) for code, n in codes], axis=1)
    return np.asarray(np.sqrt(counts / nodes.n_pixels[:, None]))


def place(nodes: NodeFeatures) -> FloatArray:
    """Centre in the image and in the region's bounding box, that box's shape, and the region's share of the image."""
    height, width = nodes.grey.shape
    region = segment_ids(nodes.superpixels.node_ptr)
    region_of_pixel = np.append(region, -1)[nodes.superpixels.numbers] + 1
    boxes = ndimage.find_objects(region_of_pixel)
    start = np.array([[axis.start for axis in box] for box in boxes])
    size = np.array([[axis.stop - axis.start for axis in box] for box in boxes])
    share = np.bincount(region, weights=nodes.n_pixels) / (height * width)
    middle = nodes.centre + 0.5
    aspect = ASPECT_WEIGHT * np.log(size[:, 1] / size[:, 0])
    inside = (middle - start[region]) / size[region]
    return np.column_stack([middle / (height, width), inside, aspect[region], share[region]])

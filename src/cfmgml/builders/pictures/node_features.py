"""What a picture says of its superpixels: colour, gradients, texture and place, which descriptions put together."""

import functools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from cfmgml.builders.pictures.binary_patterns import uniform_patterns
from cfmgml.builders.pictures.image_files import ByteArray
from cfmgml.builders.pictures.label_maps import sizes_and_centres
from cfmgml.builders.pictures.superpixels import Superpixels
from cfmgml.common.compiled import compiled
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, IntArray

N_BINS = 9  # a colour channel
PATCH, CELL, N_ORIENTATIONS = 32, 8, 9
LBP_SETTINGS = ((8, 1), (16, 3))  # points and radius
ASPECT_WEIGHT = 0.3
WIDTHS = {"rgb_histogram": N_BINS**3, "hog": (PATCH // CELL) ** 2 * N_ORIENTATIONS}
RICH_WIDTHS = WIDTHS | {f"lbp_{points}_{radius}": points + 2 for points, radius in LBP_SETTINGS}
PLACE_WIDTHS = {"centre_in_image": 2, "centre_in_region": 2, "region_aspect": 1, "region_share": 1}
RICH_WIDTHS |= PLACE_WIDTHS


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
        """The superpixels of these pixels."""
        return self.superpixels.numbers[self.inside]

    @cached_property
    def _measured(self) -> tuple[IntArray, FloatArray]:
        return sizes_and_centres(self.superpixels.numbers, self.superpixels.n_nodes)

    @property
    def n_pixels(self) -> IntArray:
        return self._measured[0]

    @property
    def centre(self) -> FloatArray:
        """Row and column of each superpixel's centre, (n_nodes, 2)."""
        return self._measured[1]

    def histogram(self, codes: IntArray, n_codes: int) -> IntArray:
        """How often each code occurs in each superpixel, (n_nodes, n_codes); one code a pixel of the picture."""
        return _counted(self.superpixels.numbers, codes, self.superpixels.n_nodes, n_codes)

    @cached_property
    def colour_counts(self) -> IntArray:
        """The RGB histogram of each superpixel, (n_nodes, 729)."""
        bins = np.arange(256) * N_BINS // 256
        red, green, blue = np.moveaxis(self.pixels, 2, 0)
        return self.histogram((bins * N_BINS**2)[red] + (bins * N_BINS)[green] + bins[blue], N_BINS**3)

    def labels(self) -> IntArray:
        """The (lower) median of the pixels' colour bins, (n_nodes,)."""
        below = self.colour_counts.cumsum(axis=1)
        return np.asarray((2 * below >= below[:, -1:]).argmax(axis=1))


@compiled
def _counted(numbers: IntArray, codes: IntArray, n_nodes: int, n_codes: int) -> IntArray:
    counts = np.zeros((n_nodes, n_codes), dtype=np.int64)
    for y in range(numbers.shape[0]):
        for x in range(numbers.shape[1]):
            if numbers[y, x] >= 0:
                counts[numbers[y, x], codes[y, x]] += 1
    return counts


def colours(nodes: NodeFeatures) -> FloatArray:
    """The relative RGB histogram of each superpixel."""
    return np.asarray(nodes.colour_counts / nodes.n_pixels[:, None])


def gradients(nodes: NodeFeatures) -> FloatArray:
    """Histograms of oriented gradients of the patch around each centre (Dalal & Triggs, CVPR 2005).

    4 x 4 cells of 8 x 8 pixels and 9 unsigned orientations; the whole patch is one block, scaled to length 1, so that
    the gradients weigh as much as the square-rooted histogram, which has length 1 too. A flat patch is all zeros.
    """
    grey = np.pad(nodes.grey.astype(np.int64), PATCH // 2 + 1, mode="symmetric")
    corner = np.rint(nodes.centre).astype(np.int64)  # of the patch, since the padding moves the centre by half a patch
    sums = _cell_sums(grey, corner, *_gradient_tables())
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))


@functools.cache
def _gradient_tables() -> tuple[FloatArray, NDArray[np.int8]]:
    """Strength and orientation of every gradient that bytes can have: its step down (from -255) and its step right."""
    down, right = np.indices((511, 511)) - 255.0
    orientation = np.floor(np.arctan2(down, right) / np.pi * N_ORIENTATIONS).astype(np.int8) % N_ORIENTATIONS
    return np.hypot(down, right), orientation


@compiled
def _cell_sums(grey: IntArray, corner: IntArray, strength: FloatArray, orientation: NDArray[np.int8]) -> FloatArray:
    """Strength of gradients by node, cell and orientation."""
    sums = np.zeros((len(corner), (PATCH // CELL) ** 2 * N_ORIENTATIONS))
    for node in range(len(corner)):
        for row in range(PATCH):
            for column in range(PATCH):
                y, x = corner[node, 0] + row + 1, corner[node, 1] + column + 1
                down, right = grey[y + 1, x] - grey[y - 1, x] + 255, grey[y, x + 1] - grey[y, x - 1] + 255
                cell = row // CELL * (PATCH // CELL) + column // CELL
                sums[node, cell * N_ORIENTATIONS + orientation[down, right]] += strength[down, right]
    return sums


def texture(nodes: NodeFeatures) -> FloatArray:
    """Square-rooted histograms of uniform local binary patterns (Ojala et al., PAMI 2002)."""
    codes = [(uniform_patterns(nodes.grey, points, radius), points + 2) for points, radius in LBP_SETTINGS]
    counts = np.concatenate([nodes.histogram(code, n) for code, n in codes], axis=1)
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

"""One picture is cut into superpixels and regions, once, and its graphs are made of that.

Two steps: `cut_picture` reads and cuts, `with_regions` finds regions where no mask says which there are. Builder,
plots, masks and the server do both by `lay_out`; it is deterministic, so that a plot finds the very superpixels that
became nodes, and nothing of a picture's size need be kept with the bags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.felzenszwalb import felzenszwalb_regions
from cfmgml.builders.pictures.image_files import ImageError, Picture, read_image, read_segments
from cfmgml.builders.pictures.label_maps import renumbered
from cfmgml.builders.pictures.merging import Bounds
from cfmgml.builders.pictures.node_features import NodeFeatures
from cfmgml.builders.pictures.regions import ALIKE, MIN_SHARE, colour_rows, find_regions
from cfmgml.builders.pictures.source_files import find_source_files
from cfmgml.builders.pictures.superpixels import Superpixels, find_superpixels, lab_colours, whole_superpixels
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder

LEAST_PIXELS = 16  # of a superpixel, where more are cut than nodes are asked for, so that there are regions to find
MOST_CUT = 1024  # superpixels of a picture whose regions are to be found, unless more nodes are asked for


@dataclass(frozen=True)
class Cut:
    """A picture and its superpixels, before regions are found among them, and the numbers of the segments that became
    no region."""

    picture: Picture
    superpixels: Superpixels
    dropped: list[int]
    colours: FloatArray | None = None  # (n_superpixels, 6), to find regions by; None: regions are known


@dataclass(frozen=True)
class Layout:
    """A picture, its superpixels region after region, and the numbers of the segments that became no region."""

    picture: Picture
    superpixels: Superpixels
    dropped: list[int]
    node_of: IntArray  # which of these superpixels each of those that were cut became

    @cached_property
    def region_of_pixel(self) -> IntArray:
        """Which region, counted from 0, every pixel is in; -1: none."""
        return np.append(segment_ids(self.superpixels.node_ptr), -1)[self.superpixels.numbers]

    @cached_property
    def nodes(self) -> NodeFeatures:
        return NodeFeatures(self.picture.pixels, self.superpixels)


@dataclass(frozen=True)
class PictureGraphs:
    """The graphs of one picture, and what a reader should know of how they came about."""

    graphs: GraphBatch
    regions: IntArray
    dropped: list[int]
    original_size: tuple[int, int] | None  # None: not scaled down


def lay_out(image: Any, segments: Any, builder: "PictureBuilder") -> Layout:
    """A picture's superpixels and regions; raises `ImageError`."""
    return with_regions(cut_picture(image, segments, builder), builder)


def cut_picture(image: Any, segments: Any, builder: "PictureBuilder") -> Cut:
    """Read a picture unless it was read, and its mask if there is one, and cut it as the builder says; raises
    `ImageError`."""
    picture = image if isinstance(image, Picture) else read_image(image, builder.max_side)
    dropped: list[int] = []
    if segments is not None:
        numbers, lost = read_segments(segments, picture)
        dropped = [number for number in lost if number not in builder.void]
    if builder.single_graph:
        regions = np.ones(picture.size, dtype=np.int64)
    elif segments is not None:
        regions, small = _large_enough(_without(numbers, builder.void), builder.min_pixels)
        dropped = sorted([*dropped, *small])
    elif builder.regions == "felzenszwalb":
        regions = felzenszwalb_regions(picture.pixels, builder.max_regions)
    else:
        return _cut_whole(picture, builder)
    sizes = {name: getattr(builder, name) for name in ("pixels_per_node", "min_nodes", "max_nodes")}
    return Cut(picture, find_superpixels(picture.pixels, regions, **sizes), dropped)


def _cut_whole(picture: Picture, builder: "PictureBuilder") -> Cut:
    """As many superpixels as pixels ask for, enough to find regions among, and not more than can be looked at."""
    assert builder.max_nodes is not None
    n_pixels = picture.size[0] * picture.size[1]
    fewest = max(min(builder.min_nodes * builder.max_regions, n_pixels // LEAST_PIXELS), builder.min_nodes)
    most = max(builder.max_nodes * builder.max_regions, MOST_CUT)
    lab = lab_colours(picture.pixels)
    superpixels = whole_superpixels(lab, min(max(round(n_pixels / builder.pixels_per_node), fewest), most))
    return Cut(picture, superpixels, [], colour_rows(lab, superpixels))


def with_regions(
    cut: Cut, builder: "PictureBuilder", rows: FloatArray | None = None, alike: float | None = None
) -> Layout:
    """A picture with its regions, found where they are not known: superpixels are merged that touch and are alike.

    By ``rows`` (n_superpixels, width), of which those that are no further apart than ``alike`` become one; or else by
    colour, of which those become one that look the same.
    """
    if cut.colours is None:
        return Layout(cut.picture, cut.superpixels, cut.dropped, np.arange(cut.superpixels.n_nodes))
    assert builder.max_nodes is not None
    height, width = cut.picture.size
    by, alike = (cut.colours, ALIKE) if rows is None else (rows, alike)
    bounds = Bounds(builder.max_regions, builder.min_nodes, MIN_SHARE * height * width, alike)
    superpixels, node_of = find_regions(cut.superpixels, by, bounds, builder.max_nodes)
    return Layout(cut.picture, superpixels, cut.dropped, node_of)


def layout_of_bag(one: BagDataset, image: Any = None, segments: Any = None, folder: Any = None) -> Layout:
    """The layout of a bag's picture, read again from its files unless it is given."""
    from cfmgml.builders.pictures.builder import PictureBuilder

    name = "" if one.bag_names is None else str(one.bag_names[0])
    if not isinstance(one.builder, PictureBuilder):
        raise ValueError("only bags built from pictures have regions with a place.")
    if image is None:
        image, segments = find_source_files(one.info, name, folder)
    layout = lay_out(image, segments, one.builder)
    if not np.array_equal(layout.superpixels.node_ptr, one.graphs.node_ptr):
        raise ValueError(
            f"the image gives graphs of {np.diff(layout.superpixels.node_ptr).tolist()} nodes, the bag has graphs of "
            f"{np.diff(one.graphs.node_ptr).tolist()}: pass the image and the segments that the bag was built from."
        )
    return layout


def _large_enough(numbers: IntArray, min_pixels: int) -> tuple[IntArray, list[int]]:
    present, index = renumbered(numbers)
    counts = np.bincount(index.ravel())
    small = present[(counts < min_pixels) & (present >= 0)]
    if len(small) and len(small) == np.count_nonzero(present >= 0):
        largest = counts[present >= 0].max()
        raise ImageError(f"no segment has min_pixels = {min_pixels} pixels; the largest has {largest}.")
    return _without(numbers, small.tolist()), small.tolist()


def _without(numbers: IntArray, unwanted: Sequence[int]) -> IntArray:
    return np.where(np.isin(numbers, unwanted), -1, numbers) if unwanted else numbers


def graphs_of(layout: Layout, builder: "PictureBuilder", attributes: FloatArray | None) -> PictureGraphs:
    """The graphs of a picture, whose nodes have these attributes."""
    ptr = layout.superpixels.node_ptr
    edges, edge_ptr = layout.superpixels.edges()
    labels = None if builder.nodes == "attributes" else layout.nodes.labels()
    names = (np.arange(ptr[-1]) - ptr[segment_ids(ptr)]).astype(np.str_)
    graphs = GraphBatch(ptr, edge_ptr, edges, labels, attributes, node_names=names)
    size = layout.picture.original_size if layout.picture.is_scaled else None
    return PictureGraphs(graphs, layout.superpixels.regions, layout.dropped, size)

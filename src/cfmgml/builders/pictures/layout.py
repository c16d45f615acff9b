"""One picture is cut into regions and superpixels, once, and its graphs are made of that.

Builder, plots, masks and the server call `lay_out`; it is deterministic, so that a plot finds the very superpixels that
became nodes, and nothing of a picture's size need be kept with the bags.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.image_files import ImageError, Picture, read_image, read_segments
from cfmgml.builders.pictures.label_maps import renumbered
from cfmgml.builders.pictures.node_features import NodeFeatures
from cfmgml.builders.pictures.regions import find_regions
from cfmgml.builders.pictures.source_files import find_source_files
from cfmgml.builders.pictures.superpixels import Superpixels, find_superpixels
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    from cfmgml.builders.pictures.builder import PictureBuilder


@dataclass(frozen=True)
class Layout:
    """A picture, its superpixels, and the numbers of the segments that became no region."""

    picture: Picture
    superpixels: Superpixels
    dropped: list[int]

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
    """Read a picture unless it was read, and its mask if there is one, and cut it as the builder says; raises
    `ImageError`."""
    picture = image if isinstance(image, Picture) else read_image(image, builder.max_side)
    dropped: list[int] = []
    if segments is not None:
        numbers, lost = read_segments(segments, picture)
        dropped = [number for number in lost if number not in builder.void]
    if builder.single_graph:
        regions = np.ones(picture.size, dtype=np.int64)
    elif segments is None:
        regions = find_regions(picture.pixels, builder.max_regions)
    else:
        regions, small = _large_enough(_without(numbers, builder.void), builder.min_pixels)
        dropped = sorted([*dropped, *small])
    sizes = {name: getattr(builder, name) for name in ("pixels_per_node", "min_nodes", "max_nodes")}
    return Layout(picture, find_superpixels(picture.pixels, regions, **sizes), dropped)


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

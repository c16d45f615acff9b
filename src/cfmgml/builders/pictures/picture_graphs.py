"""One picture becomes the graphs of its regions: the recipe, and the function that follows it.

Both the builder and the plots call `read_picture` and `regions_and_superpixels`; they are deterministic, so that a plot
finds the very superpixels that became nodes, and nothing of a picture's size need be kept with the bags.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from cfmgml.builders.pictures.image_files import ByteArray, ImageError, Picture, read_image, read_segments
from cfmgml.builders.pictures.label_maps import renumbered
from cfmgml.builders.pictures.node_features import Features, NodeFeatures
from cfmgml.builders.pictures.regions import find_regions
from cfmgml.builders.pictures.superpixels import Superpixels, find_superpixels
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray, IntArray, NameArray

Nodes = Literal["attributes", "labels", "both"]
RECIPE_VERSION = 1  # raise it when the same picture and parameters give other graphs, so that caches are built anew
MAX_NODES, MAX_NODES_WHOLE = 30, 200


@dataclass(frozen=True)
class Recipe:
    """How a picture becomes graphs; the parameters of `bags_from_images` that say so."""

    features: Features = "rich"
    nodes: Nodes = "both"
    single_graph: bool = False
    void: tuple[int, ...] = (0,)
    pixels_per_node: float = 400
    min_nodes: int = 2
    max_nodes: int = MAX_NODES
    min_pixels: int = 1
    max_regions: int = 8
    max_side: int | None = 640

    def __post_init__(self) -> None:
        for name, known in (("features", get_args(Features)), ("nodes", get_args(Nodes))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}.")
        for name in ("pixels_per_node", "min_nodes", "min_pixels", "max_regions"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.max_nodes < self.min_nodes:
            raise ValueError(f"max_nodes must be at least min_nodes, {self.min_nodes}, got {self.max_nodes}.")
        if self.max_side is not None and self.max_side < 16:
            raise ValueError(f"max_side must be at least 16, or None for no limit, got {self.max_side}.")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "void": list(self.void)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        return cls(**{**values, "void": tuple(values["void"])})


@dataclass(frozen=True)
class PictureGraphs:
    """The graphs of one picture, as arrays of a `GraphBatch`, and what a reader should know of how they came about."""

    regions: IntArray
    node_ptr: IntArray
    edge_ptr: IntArray
    edges: IntArray
    node_names: NameArray
    node_labels: IntArray | None
    node_attributes: FloatArray | None
    dropped: list[int]
    original_size: tuple[int, int] | None  # None: not scaled down


def read_picture(image: Any, segments: Any, recipe: Recipe) -> tuple[Picture, IntArray | None, list[int]]:
    """Pixels and, where a mask is given, segment numbers of one size (-1: void), and the segments lost by scaling."""
    picture = read_image(image, recipe.max_side)
    if segments is None:
        return picture, None, []
    numbers, lost = read_segments(segments, picture)
    return picture, _without(numbers, recipe.void), [number for number in lost if number not in recipe.void]


def regions_and_superpixels(
    pixels: ByteArray, numbers: IntArray | None, recipe: Recipe
) -> tuple[Superpixels, list[int]]:
    """The superpixels of every region, and the numbers of the regions that are too small."""
    dropped: list[int] = []
    if recipe.single_graph:
        regions = np.ones(pixels.shape[:2], dtype=np.int64)
    elif numbers is None:
        regions = find_regions(pixels, recipe.max_regions)
    else:
        regions, dropped = _large_enough(numbers, recipe.min_pixels)
    sizes = {name: getattr(recipe, name) for name in ("pixels_per_node", "min_nodes", "max_nodes")}
    return find_superpixels(pixels, regions, **sizes), dropped


def _large_enough(numbers: IntArray, min_pixels: int) -> tuple[IntArray, list[int]]:
    found, index = renumbered(numbers)
    counts = np.bincount(index.ravel())
    small = found[(counts < min_pixels) & (found >= 0)]
    if len(small) and len(small) == np.count_nonzero(found >= 0):
        largest = counts[found >= 0].max()
        raise ImageError(f"no segment has min_pixels = {min_pixels} pixels; the largest has {largest}.")
    return _without(numbers, small.tolist()), small.tolist()


def _without(numbers: IntArray, unwanted: Sequence[int]) -> IntArray:
    return np.where(np.isin(numbers, unwanted), -1, numbers) if unwanted else numbers


def picture_graphs(image: Any, segments: Any, recipe: Recipe) -> PictureGraphs:
    """Read one picture and make its graphs; what is wrong with it is an `ImageError`."""
    picture, numbers, lost = read_picture(image, segments, recipe)
    superpixels, dropped = regions_and_superpixels(picture.pixels, numbers, recipe)
    edges, edge_ptr = superpixels.edges()
    features = NodeFeatures(picture.pixels, superpixels)
    inside = np.arange(superpixels.n_nodes) - superpixels.node_ptr[segment_ids(superpixels.node_ptr)]
    return PictureGraphs(
        regions=superpixels.regions,
        node_ptr=superpixels.node_ptr,
        edge_ptr=edge_ptr,
        edges=edges,
        node_names=inside.astype(np.str_),
        node_labels=None if recipe.nodes == "attributes" else features.labels(),
        node_attributes=None if recipe.nodes == "labels" else features.attributes(recipe.features),
        dropped=sorted([*lost, *dropped]),
        original_size=picture.original_size if picture.is_scaled else None,
    )

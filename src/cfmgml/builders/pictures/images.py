"""Pictures as bags of graphs: `bags_from_images`.

A region of a picture becomes a graph: its superpixels are the nodes, and those that touch are joined. Regions come from
a mask or are found in the picture. The recipe is the paper's, with the scaling and the further attributes that made it
work (``features``).

>>> from skimage import data
>>> bags = bags_from_images([data.coffee()], names=["coffee"])
>>> bags
BagDataset(1 bags, 8 graphs, 0 labels; no Y)
>>> bags.graph_names[:2].tolist(), bags.graphs.n_attributes
(['coffee#1', 'coffee#2'], 907)
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from cfmgml.builders.pictures.builder import Nodes, PictureBuilder
from cfmgml.builders.pictures.descriptions import NodeDescription
from cfmgml.builders.pictures.labels import RegionLabels
from cfmgml.data.bags import BagDataset


def bags_from_images(
    images: str | Path | Sequence[Any],
    segments: str | Path | Sequence[Any] | None = None,
    *,
    labels: Any = None,
    label_names: Sequence[str] | None = None,
    segment_labels: Sequence[RegionLabels] | None = None,
    names: Sequence[str] | None = None,
    features: str | NodeDescription = "rich",
    nodes: Nodes = "both",
    single_graph: bool = False,
    void: int | Iterable[int] = 0,
    pixels_per_node: float = 400,
    min_nodes: int = 2,
    max_nodes: int | None = None,
    min_pixels: int = 1,
    max_regions: int = 8,
    max_side: int | None = 640,
    on_error: Literal["raise", "skip"] = "raise",
    n_jobs: int | None = None,
    verbose: bool | None = None,
    info: Mapping[str, Any] | None = None,
    device: str = "cpu",
) -> BagDataset:
    """Make one bag of each picture and one graph of each of its regions.

    Parameters
    ----------
    images
        A folder, or a list of files and arrays. Arrays have shape (height, width) or (height, width, 1 to 4).
    segments
        The segment number of every pixel: a folder (a mask has its picture's name, with the suffix of any picture
        or ``.mat``; one a picture), or a list of files and arrays. None: regions are found in the picture.
    labels
        The pictures' labels: a list of lists of names, or a matrix (n_images, n_labels). Left out, a picture has the
        labels of its segments if those are given, else none are known.
    label_names
        Names of the matrix's columns, or the order of the labels; sorted if left out.
    segment_labels
        For each picture a mapping from segment number to its label, or labels: the graphs' own labels.
    names
        One a picture; by default the files' names, suffix included.
    features
        ``"paper"``: relative 9 x 9 x 9 RGB histogram (729) and HOG of the 32 x 32 patch around the centre (144).
        ``"hellinger"``: the same with square-rooted histograms. ``"rich"``: further local binary patterns, the
        superpixel's place in the picture and in its region, and the region's shape and size (907 in all).
        ``"deep"`` (extra ``deep``): what a network sees that was trained on ImageNet, EfficientNet-Lite0, and place and
        shape as in ``"rich"`` (1,718); ``"deep_lite2"``: the same of EfficientNet-Lite2, slower and more accurate
        (1,758). Or an object: `EncodedNodes` of an encoder of one's own.
    nodes
        What nodes carry: ``"attributes"`` (float32), ``"labels"`` (the median colour bin, 0 to 728) or ``"both"``.
    single_graph
        One graph of the whole picture, void included, instead of one a region: the paper's cfMGML(G).
    void
        Segment numbers that are not segments.
    pixels_per_node, min_nodes, max_nodes
        About one superpixel per so many pixels, but within these bounds (30 at most, 200 for a single graph); a few
        are lost where they would be too small. On MSRC v2 this gives 21.3 nodes a graph. Where regions are found, they
        are made of such superpixels.
    min_pixels
        Smaller segments are left out, and listed in ``info["dropped"]``.
    max_regions
        Most regions found in a picture without segments.
    max_side
        Larger pictures are scaled down, with a warning, and listed in ``info["scaled"]``; None for no limit.
    on_error
        ``"raise"`` stops at the first picture that cannot be used; ``"skip"`` leaves such pictures out, with a warning,
        and lists them in ``info["skipped"]``.
    n_jobs
        Worker processes; None for one a core. The result does not depend on it.
    verbose
        Whether to show a progress bar on stderr; None: if that is a terminal.
    info
        Further entries for the bags' ``info``: description, source, licence.
    device
        Where a network runs: ``"cpu"``, or ``"cuda"`` for a card.

    Returns
    -------
    Bags named by picture, graphs by ``"NAME#SEGMENT"``, nodes by their superpixel's number in the segment. Their
    ``info`` names the files relative to one folder, which is known in this session only: saved bags do not say where
    on a machine they were made.

    Examples
    --------
    >>> from skimage import data
    >>> bags = bags_from_images([data.coffee()[::4, ::4]], labels=[["cup", "wood"]], max_regions=4)
    >>> bags
    BagDataset(1 bags, 4 graphs, 2 labels; 2.00 labels a bag)
    >>> bags.graphs.node_attributes.shape[1]
    907
    """
    cut = void, pixels_per_node, min_nodes, max_nodes, min_pixels, max_regions, max_side
    known = {"label_names": label_names, "segment_labels": segment_labels, "names": names, "info": info}
    how = {"on_error": on_error, "n_jobs": n_jobs, "verbose": verbose, "device": device}
    builder = PictureBuilder(features, nodes, single_graph, *cut)  # type: ignore[arg-type]  # void becomes a tuple there
    return builder.build(images, labels, segments=segments, **known, **how)

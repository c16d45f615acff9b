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

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed

from cfmgml._progress import progress
from cfmgml._segments import offsets
from cfmgml.bags import BagDataset
from cfmgml.datasets._image_files import ImageError
from cfmgml.datasets._node_features import Features, columns
from cfmgml.datasets._picture_graphs import (
    MAX_NODES,
    MAX_NODES_WHOLE,
    RECIPE_VERSION,
    Nodes,
    PictureGraphs,
    Recipe,
    picture_graphs,
)
from cfmgml.datasets._picture_labels import PictureLabels, RegionLabels, check_labels
from cfmgml.datasets._picture_tasks import Task, list_tasks
from cfmgml.datasets._source_files import common_folder, source_info
from cfmgml.graphs import GraphBatch

GAMMA = {"paper": 1.0, "hellinger": 1.0, "rich": 0.7}  # of exp(-gamma |x - y|^2) between nodes; chosen on MSRC v2
FEW = 4  # pictures that are built sooner than worker processes start
DESCRIPTION = "Pictures as bags: each region is a graph of touching superpixels."


def bags_from_images(
    images: str | Path | Sequence[Any],
    segments: str | Path | Sequence[Any] | None = None,
    *,
    labels: Any = None,
    label_names: Sequence[str] | None = None,
    segment_labels: Sequence[RegionLabels] | None = None,
    names: Sequence[str] | None = None,
    features: Features = "rich",
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
        One a picture; by default the files' names without suffix.
    features
        ``"paper"``: relative 9 x 9 x 9 RGB histogram (729) and HOG of the 32 x 32 patch around the centre (144).
        ``"hellinger"``: the same with square-rooted histograms. ``"rich"``: further local binary patterns, the
        superpixel's place in the picture and in its region, and the region's shape and size (907 in all).
    nodes
        What nodes carry: ``"attributes"`` (float32), ``"labels"`` (the median colour bin, 0 to 728) or ``"both"``.
    single_graph
        One graph of the whole picture, void included, instead of one a region: the paper's cfMGML(G).
    void
        Segment numbers that are not segments.
    pixels_per_node, min_nodes, max_nodes
        About one superpixel per so many pixels, but within these bounds (30 at most, 200 for a single graph); a few
        are lost where they would be too small. On MSRC v2 this gives 21.3 nodes a graph.
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

    Returns
    -------
    Bags named by picture, graphs by ``"NAME#SEGMENT"``, nodes by their superpixel's number in the segment. Their
    ``info`` names the files relative to one folder, which is known in this session only: saved bags do not say where
    on a machine they were made.
    """
    recipe = Recipe(
        features=features,
        nodes=nodes,
        single_graph=single_graph,
        void=(void,) if isinstance(void, int) else tuple(sorted(int(number) for number in void)),
        pixels_per_node=pixels_per_node,
        min_nodes=min_nodes,
        max_nodes=max_nodes if max_nodes is not None else MAX_NODES_WHOLE if single_graph else MAX_NODES,
        min_pixels=min_pixels,
        max_regions=max_regions,
        max_side=max_side,
    )
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
    if segment_labels is not None and segments is None:
        raise ValueError("segment_labels need segments: without a mask there is no segment to name.")
    tasks = list_tasks(images, segments, names)
    known = check_labels(labels, label_names, segment_labels, len(tasks))
    built, skipped = _build_all(tasks, known, recipe, on_error, n_jobs, verbose)
    bags = _assemble(tasks, built, known, recipe)
    about = _about(tasks, recipe)
    report = _report(tasks, built, skipped, about["folder"].path)
    return BagDataset(**bags, info={**about, **report, **(info or {})})


# -- building --------------------------------------------------------------------------------


def _build_one(task: Task, recipe: Recipe) -> PictureGraphs | ImageError:
    try:
        return picture_graphs(task.image, task.segments, recipe)
    except ImageError as error:
        return error


def _build_all(
    tasks: list[Task],
    known: PictureLabels | None,
    recipe: Recipe,
    on_error: str,
    n_jobs: int | None,
    verbose: bool | None,
) -> tuple[dict[int, PictureGraphs], dict[str, str]]:
    """The graphs of every usable picture, by its number, and why the others were skipped."""
    built: dict[int, PictureGraphs] = {}
    skipped: dict[str, str] = {}
    workers = 1 if len(tasks) <= FEW else -1 if n_jobs is None else n_jobs

    def todo() -> Iterator[Any]:
        """Tasks until one has failed: stopping the supply lets the workers end in good order."""
        for task in tasks:
            if skipped and on_error == "raise":
                return
            yield delayed(_build_one)(task if workers == 1 else task.from_anywhere, recipe)

    results = Parallel(n_jobs=workers, return_as="generator")(todo())
    with progress("Building graphs of images", len(tasks), sys.stderr.isatty() if verbose is None else verbose) as done:
        for number, result in enumerate(results):
            done(1)
            try:
                built[number] = _checked(number, result, known, recipe)
            except ImageError as error:
                skipped[tasks[number].name] = str(error)
    if skipped and (on_error == "raise" or not built):
        name, reason = next(iter(skipped.items()))
        which = "image" if on_error == "raise" else f"none of the {len(tasks)} images can be used; image"
        raise ImageError(f"{which} {name}: {reason}")
    return built, skipped


def _checked(
    number: int, result: PictureGraphs | ImageError, known: PictureLabels | None, recipe: Recipe
) -> PictureGraphs:
    if isinstance(result, ImageError):
        raise result
    if known is not None and known.regions is not None and not recipe.single_graph:
        known.of_regions(number, result.regions, result.dropped)  # raises where they do not fit
    return result


# -- putting it together ---------------------------------------------------------------------


def _assemble(
    tasks: list[Task], built: dict[int, PictureGraphs], known: PictureLabels | None, recipe: Recipe
) -> dict[str, Any]:
    parts = list(built.values())
    fields = ("node_ptr", "edge_ptr", "edges", "node_labels", "node_attributes", "node_names")
    graphs = GraphBatch.concatenate([GraphBatch(**{name: getattr(part, name) for name in fields}) for part in parts])
    names = [tasks[number].name for number in built]
    graph_names = [
        name if recipe.single_graph else f"{name}#{region}"
        for name, part in zip(names, parts, strict=True)
        for region in part.regions.tolist()
    ]
    ptr = offsets(np.array([len(part.regions) for part in parts]))
    own = {"graphs": graphs, "bag_ptr": ptr, "bag_names": names, "graph_names": graph_names}
    return own if known is None else own | _label_arrays(built, known, recipe.single_graph)


def _label_arrays(built: dict[int, PictureGraphs], known: PictureLabels, single_graph: bool) -> dict[str, Any]:
    """Y and, where it is known, graph_Y; a single graph has all labels of its picture."""
    kept = list(built)
    Y = np.array([known.of_image(number) for number in kept])
    arrays: dict[str, Any] = {"label_names": known.label_names, "Y": Y}
    if known.Y_known is not None:
        arrays["Y_known"] = known.Y_known[kept]
    if single_graph:
        return arrays | ({"graph_Y": Y} if known.Y_known is None else {})
    if known.regions is None:
        return arrays
    of_regions = [known.of_regions(number, part.regions, part.dropped) for number, part in built.items()]
    if known.Y is None:  # a label whose only segment was dropped is in no graph, so it is not in the bag
        arrays["Y"] = np.array([labels.any(axis=0) for labels in of_regions])
    return arrays | {"graph_Y": np.concatenate(of_regions)}


def _about(tasks: list[Task], recipe: Recipe) -> dict[str, Any]:
    files = {task.name: task.files for task in tasks if task.files[0] is not None}
    folder = common_folder(file for row in files.values() for file in row if file is not None)
    return {
        "builder": "images",
        "description": DESCRIPTION,
        "parameters": recipe.to_json(),
        "recipe_version": RECIPE_VERSION,
        **({} if recipe.nodes == "labels" else _about_attributes(recipe.features)),
        **source_info(files, folder),
    }


def _about_attributes(features: Features) -> dict[str, Any]:
    return {"columns": {name: list(span) for name, span in columns(features).items()}, "gamma": GAMMA[features]}


def _report(
    tasks: list[Task], built: dict[int, PictureGraphs], skipped: dict[str, str], folder: Path
) -> dict[str, Any]:
    """What did not become a graph as it was, for ``info``; and warnings of what a user must know."""
    scaled = {tasks[k].name: list(part.original_size) for k, part in built.items() if part.original_size is not None}
    dropped = {tasks[k].name: part.dropped for k, part in built.items() if part.dropped}
    if scaled:
        name, (height, width) = next(iter(scaled.items()))
        what = f"{len(scaled)} of {len(tasks)} images were scaled down to max_side pixels, such as {name}"
        warnings.warn(f"{what}, which had {width} x {height}; see info['scaled'].", stacklevel=3)
    if skipped:
        name, reason = next(iter(skipped.items()))
        what = f"{len(skipped)} of {len(tasks)} images were skipped, such as {name}"
        warnings.warn(f"{what}: {reason} See info['skipped'].", stacklevel=3)
    reasons = {name: reason.replace(f"{folder}{os.sep}", "") for name, reason in skipped.items()}
    return {"scaled": scaled, "dropped": dropped, "n_dropped": sum(map(len, dropped.values())), "skipped": reasons}

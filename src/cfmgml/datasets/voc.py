"""PASCAL VOC 2012: photos whose objects are outlined one by one."""

from pathlib import Path
from typing import Literal

import numpy as np

from cfmgml.builders.pictures.builder import Nodes, PictureBuilder
from cfmgml.builders.pictures.image_files import read_mask
from cfmgml.common.processes import Processes
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets._segmented_images import Collection, Layout, load_collection, table_layout

# fmt: off
VOC_LABELS = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)
# fmt: on
VOID = (0, 255)  # background, and the boundary between objects
MAX_SIDE = 320  # what the copy in CFMGML_DATA was scaled to; the original devkit is brought to the same size
MIN_CLASSES = 2
ABOUT = {
    "name": "PASCAL VOC 2012, images with several classes",
    "description": "Photos with at least two of the 20 classes; a bag is a photo, a graph one of its outlined objects.",
    "source": "Everingham et al., The PASCAL Visual Object Classes Challenge 2012; segmentation trainval images.",
    "licence": "The images are from flickr and under its terms, their owners' rights kept. Treat as research use only.",
}


def load_voc2012(
    path: str | Path | None = None,
    *,
    features: str = "rich",
    nodes: Nodes = "both",
    single_graph: bool = False,
    min_pixels: int = 1,
    on_error: Literal["raise", "skip"] = "raise",
    n_jobs: int | None = None,
    verbose: bool | None = None,
    cache_dir: str | Path | Literal[False] | None = None,
) -> BagDataset:
    """Load the images of VOC 2012 with several classes as bags of graphs: 1,053 bags, 4,141 graphs, 20 labels.

    Parameters
    ----------
    path
        A folder ``voc2012_multi`` or ``VOCdevkit``, or the one that holds it; by default the environment's
        ``CFMGML_DATA``. The former has ``images``, ``segments``, ``segments.csv`` and ``classes.csv``; the latter is
        the original, whose images are scaled down to 320 pixels, so that a few tiny objects are lost
        (``info["dropped"]``).
    features, nodes, single_graph, on_error, n_jobs, verbose
        As of `cfmgml.datasets.bags_from_images`.
    min_pixels
        Smaller objects are left out; ``info["n_dropped"]`` counts them. 55 of the 4,141 have fewer than 20 pixels.
    cache_dir
        Where built bags are kept: None for the user's cache folder (``CFMGML_CACHE``), False for nowhere.

    Examples
    --------
    >>> load_voc2012().label_names[:3].tolist()
    ['aeroplane', 'bicycle', 'bird']
    """
    folder = find_data(
        "voc2012_multi",
        path,
        markers=["segments.csv", "VOC2012/SegmentationObject", "SegmentationObject"],
        contents="images/, segments/, segments.csv and classes.csv (or the original VOCdevkit/VOC2012)",
        aliases=["VOCdevkit"],
    )
    layout = table_layout(folder, VOID) if (folder / "segments.csv").is_file() else _devkit_layout(folder, n_jobs)
    builder = PictureBuilder(features, nodes, single_graph, VOID, min_pixels=min_pixels, max_side=MAX_SIDE)
    return load_collection("voc2012", layout, ABOUT, builder, cache_dir, on_error, n_jobs=n_jobs, verbose=verbose)


def _devkit_layout(folder: Path, n_jobs: int | None) -> Layout:
    """The segmentation images of a ``VOCdevkit`` that show at least two classes."""
    root = folder / "VOC2012" if (folder / "VOC2012").is_dir() else folder
    listing = root / "ImageSets" / "Segmentation" / "trainval.txt"
    names = listing.read_text(encoding="utf-8").split()

    def locate(name: str) -> tuple[Path, Path]:
        return root / "JPEGImages" / f"{name}.jpg", root / "SegmentationObject" / f"{name}.png"

    def collect() -> Collection:
        with Processes(-1 if n_jobs is None else n_jobs) as workers:
            masks = ((locate(name)[1].absolute(), _class_mask(root, name).absolute()) for name in names)
            classes = list(workers.map(_classes_of_objects, masks))
        several = {name: row for name, row in zip(names, classes, strict=True) if len(set(row.values())) >= MIN_CLASSES}
        return Collection(several, list(VOC_LABELS))

    files = [path for name in names for path in (*locate(name), _class_mask(root, name)) if path.is_file()]
    return Layout(root, [listing, *files], locate, collect)


def _class_mask(root: Path, name: str) -> Path:
    return root / "SegmentationClass" / f"{name}.png"


def _classes_of_objects(masks: tuple[Path, Path]) -> dict[int, str]:
    """The class that most pixels of each object have, by the picture's two masks."""
    objects_file, classes_file = masks
    objects, classes = read_mask(objects_file), read_mask(classes_file)
    if objects.shape != classes.shape:
        raise ValueError(
            f"{objects_file} and {classes_file} must have one size, got {objects.shape} and {classes.shape}."
        )
    inside = (objects > 0) & (objects < VOID[1]) & (classes > 0) & (classes <= len(VOC_LABELS))
    width = len(VOC_LABELS) + 1
    counts = np.bincount(objects[inside] * width + classes[inside], minlength=VOID[1] * width).reshape(-1, width)
    return {number: VOC_LABELS[counts[number].argmax() - 1] for number in np.flatnonzero(counts.any(axis=1)).tolist()}

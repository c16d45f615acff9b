"""MSRC v2: 591 photos with 23 classes, every segment labelled."""

from pathlib import Path
from typing import Literal

import numpy as np

from cfmgml.builders.pictures.builder import Nodes, PictureBuilder
from cfmgml.builders.pictures.image_files import ImageError, image_files, read_matlab
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets._segmented_images import Collection, Layout, load_collection, table_layout

# fmt: off
MSRC_LABELS = (
    "building", "grass", "tree", "cow", "horse", "sheep", "sky", "mountain", "aeroplane", "water", "face", "car",
    "bicycle", "flower", "sign", "bird", "book", "chair", "road", "cat", "dog", "body", "boat",
)
# fmt: on
MATS = ("newsegmentations*", "*/newsegmentations*")
ABOUT = {
    "name": "MSRC v2",
    "description": "591 photos; a bag is a photo, a graph one of its labelled segments.",
    "source": "Microsoft Research Cambridge (images); Malisiewicz & Efros, BMVC 2007 (cleaned-up segmentations).",
    "licence": "The images are Microsoft's; no terms are known. Treat as research use only.",
}


def load_msrc_v2(
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
    """Load MSRC v2 as bags of graphs: 591 bags, 1,871 graphs, 23 labels.

    Parameters
    ----------
    path
        A folder ``msrc_v2``, or the one that holds it; by default the environment's ``CFMGML_DATA``. It has ``images``,
        ``segments``, ``segments.csv`` and ``classes.csv``; or, as first published, ``Images`` (BMP) and
        ``newsegmentations_mats``.
    features, nodes, single_graph, min_pixels, on_error, n_jobs, verbose
        As of `cfmgml.datasets.bags_from_images`; ``nodes="labels"`` gives the paper's node-label variant.
    cache_dir
        Where built bags are kept: None for the user's cache folder (``CFMGML_CACHE``), False for nowhere.

    Examples
    --------
    >>> pictures = load_msrc_v2()
    >>> pictures.label_names[:3].tolist()
    ['building', 'grass', 'tree']
    >>> pictures.graph_Y.shape == (pictures.n_graphs, pictures.n_labels)  # which segment is what: for judging
    True
    """
    folder = find_data(
        "msrc_v2",
        path,
        markers=["segments.csv", *MATS],
        contents="images/, segments/, segments.csv and classes.csv (or the first Images/ and newsegmentations_mats/)",
        aliases=["MSRC_v2"],
    )
    layout = table_layout(folder, not_labels=(0,)) if (folder / "segments.csv").is_file() else _original_layout(folder)
    builder = PictureBuilder(features=features, nodes=nodes, single_graph=single_graph, min_pixels=min_pixels)
    return load_collection("msrc_v2", layout, ABOUT, builder, cache_dir, on_error, n_jobs=n_jobs, verbose=verbose)


def _original_layout(folder: Path) -> Layout:
    """``Images/NAME.bmp`` and ``newsegmentations_mats/NAME_GT.mat``, which lie side by side or one folder down."""
    mats = next(path for pattern in MATS for path in sorted(folder.glob(pattern)))
    places = [place for pattern in ("Images", "*/Images") for place in sorted(folder.glob(pattern))]
    if not places:
        raise FileNotFoundError(f"{folder} has {mats.name} but no folder Images; put MSRC v2's images (*.bmp) there.")
    pictures = {path.stem: path for path in image_files(places[0])}

    def mask(name: str) -> Path:
        return mats / f"{name}_GT.mat"

    return Layout(
        folder,
        sources=[*pictures.values(), *(mask(name) for name in pictures if mask(name).is_file())],
        locate=lambda name: (pictures[name], mask(name)),
        collect=lambda: Collection({name: _segment_labels(mask(name)) for name in pictures}, list(MSRC_LABELS)),
    )


def _segment_labels(path: Path) -> dict[int, str]:
    """Classes by segment number, both counted from 1, 0 for void; none from a file that the builder will refuse."""
    try:
        classes = read_matlab(path, "newlabels")["newlabels"].ravel().astype(np.int64)
    except ImageError:
        return {}
    return {number: MSRC_LABELS[label - 1] for number, label in enumerate(classes.tolist(), start=1) if label > 0}

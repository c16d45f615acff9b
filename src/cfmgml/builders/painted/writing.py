"""What a model painted, written for people and for annotation tools."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cfmgml.builders.painted.formats import PaintedPicture, coco_file, geojson_files, mask_files
from cfmgml.builders.painted.maps import label_map
from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.reading.paths import stems_of_names


def write_painting(
    bags: BagDataset,
    painted: IntArray,
    label_names: Sequence[str],
    *,
    masks: str | Path | None = None,
    geojson: str | Path | None = None,
    coco: str | Path | None = None,
    **content: Any,
) -> None:
    """Write painted bags, each at its picture's own size, in whatever forms are wanted.

    Parameters
    ----------
    bags
        Of a kind whose nodes have a place, such as pictures.
    painted
        What ``model.paint(bags)`` gives, and its ``label_names`` what ``model.label_names_`` holds.
    masks
        Folder for indexed PNGs and their ``legend.csv``.
    geojson
        Folder for polygons, a file a picture.
    coco
        File for all masks in COCO's format.
    **content
        As for the builder's ``node_map``: ``folder`` where pictures of saved bags lie.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from PIL import Image
    >>> from skimage import data
    >>> from cfmgml.datasets import bags_from_images
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.fromarray(data.coffee()[::4, ::4].copy()).save(f"{folder}/cup.png")
    ...     bags = bags_from_images(folder, features="paper", n_jobs=1)
    ...     painted = np.arange(bags.graphs.n_nodes) % 3 - 1
    ...     write_painting(bags, painted, ["cup", "table"], masks=f"{folder}/masks")
    ...     mask = Image.open(f"{folder}/masks/cup.png")
    ...     mask.size, mask.mode, np.unique(mask).tolist()
    ((150, 100), 'P', [0, 1, 2])
    """
    names = [str(name) for name in label_names]
    formats = [
        *([mask_files(Path(masks), names)] if masks is not None else []),
        *([geojson_files(Path(geojson), names)] if geojson is not None else []),
        *([coco_file(Path(coco), names)] if coco is not None else []),
    ]
    with ExitStack() as files:
        writers = [files.enter_context(one) for one in formats]
        for picture in _pictures(bags, painted, content):
            for write in writers:
                write(picture)


def _pictures(bags: BagDataset, painted: IntArray, content: dict[str, Any]) -> Iterator[PaintedPicture]:
    files = bags.info.get("files", {})
    for number, stem in enumerate(stems_of_names(bags.bag_names, bags.n_bags, IMAGE_SUFFIXES)):
        name = stem if bags.bag_names is None else str(bags.bag_names[number])
        file = files.get(name, [None])[0]
        yield PaintedPicture(stem, file or name, label_map(bags, painted, number, **content))

"""Image collections that come as vectors: each instance is a graph of one node.

They have no pixels, so their graphs have no edges; they are what the vector methods of the multi-instance multi-label
literature (MIMLfast, M3MIML) were tested on.
"""

import csv
from pathlib import Path

import numpy as np

from cfmgml.builders.pictures.image_files import ImageError, read_matlab
from cfmgml.builders.vectors import VectorBuilder
from cfmgml.common.typing import Array, BoolArray
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets.msrc import MSRC_LABELS

SCENE = {
    "name": "Scene (MIML)",
    "description": "2,000 photos of scenes; a bag is a photo, a graph one of its 9 instances, a single node.",
    "source": "Zhou & Zhang, Multi-instance multi-label learning with application to scene classification, NIPS 2006.",
    "licence": "No terms are known. Treat as research use only.",
}
MSRC = {
    "name": "MSRC v2 (MIML)",
    "description": "The 591 photos of MSRC v2 as vectors; a bag is a photo, a graph one instance, a single node.",
    "source": "The bag-of-instances form of MSRC v2 used in the multi-instance multi-label literature.",
    "licence": "The images are Microsoft's; no terms are known. Treat as research use only.",
}


def load_scene(path: str | Path | None = None) -> BagDataset:
    """Load the Scene data set: 2,000 bags, 18,000 one-node graphs of 15 attributes, 5 labels.

    Parameters
    ----------
    path
        A folder ``scene_miml`` with one MATLAB file, the one that holds it, or that file; by default the environment's
        ``CFMGML_DATA``. The file has ``bags`` (a cell of instances x features a bag), ``labels`` or ``targets``
        (-1 and +1, either way round) and ``class_name``.

    Examples
    --------
    >>> scene = load_scene()
    >>> scene.label_names.tolist()
    ['desert', 'mountains', 'sea', 'sunset', 'trees']
    >>> scene.graphs.node_attributes.shape[1]
    15
    """
    file = _matlab_file("scene_miml", path, contents="scene_MIML.mat")
    cells = _cells(file, "bags")
    names = [str(np.asarray(name).ravel()[0]) for name in _variable(file, "class_name").ravel()]
    Y = _signs(_either(file, "labels", "targets"), len(cells), len(names), file)
    numbers = [str(number) for number in range(1, len(cells) + 1)]
    return _vector_bags(cells, Y, numbers, label_names=names, info=SCENE)


def load_msrc_v2_miml(path: str | Path | None = None) -> BagDataset:
    """Load MSRC v2 as vectors: 591 bags, 1,758 one-node graphs of 48 attributes, 23 labels, the graphs' labels too.

    ``info["splits"]`` holds the 30 train and test splits of the file, as rows counted from 0. The bags are named after
    their images where ``miml_row_order.csv`` lies beside the file; that order is inferred.

    Parameters
    ----------
    path
        A folder ``msrc_v2_miml`` with one MATLAB file, the one that holds it, or that file; by default the
        environment's ``CFMGML_DATA``. The file has ``data`` (a cell of features x instances a bag), ``targets``
        (-1 and +1) and ``ins_targets`` (a class, from 1, an instance).

    Examples
    --------
    >>> vectors = load_msrc_v2_miml()
    >>> vectors.label_names[:3].tolist(), vectors.graphs.node_attributes.shape[1]
    (['building', 'grass', 'tree'], 48)
    """
    file = _matlab_file("msrc_v2_miml", path, contents="MSRC_MIML.mat")
    cells = [cell.T for cell in _cells(file, "data")]
    Y = _signs(_variable(file, "targets"), len(cells), len(MSRC_LABELS), file)
    classes = np.concatenate([cell.ravel() for cell in _cells(file, "ins_targets")]).astype(np.int64)
    graph_Y = classes[:, None] == np.arange(1, len(MSRC_LABELS) + 1)
    splits = {side: (_variable(file, f"idx_{side}").astype(np.int64) - 1).tolist() for side in ("train", "test")}
    order = _row_order(file.with_name("miml_row_order.csv"), len(cells))
    info = {**MSRC, "splits": splits}
    return _vector_bags(cells, Y, order, label_names=MSRC_LABELS, graph_Y=graph_Y, info=info)


def _matlab_file(name: str, path: str | Path | None, contents: str) -> Path:
    if path is not None and Path(path).is_file():
        return Path(path)
    folder = find_data(name, path, markers=["*.mat"], contents=contents)
    files = sorted(folder.glob("*.mat"))
    preferred = [file for file in files if file.name == contents]
    if not preferred and len(files) > 1:
        raise FileNotFoundError(f"{folder} has several MATLAB files and none is {contents}; pass the file's own path.")
    return (preferred or files)[0]


def _variable(file: Path, name: str) -> Array:
    return read_matlab(file, name)[name]


def _either(file: Path, *names: str) -> Array:
    for name in names:
        try:
            return _variable(file, name)
        except ImageError:
            continue
    raise ValueError(f"{file} has no variable {' or '.join(names)}.")


def _cells(file: Path, name: str) -> list[Array]:
    cells = [np.asarray(cell) for cell in _variable(file, name).ravel()]
    wrong = [k for k, cell in enumerate(cells) if cell.ndim != 2 or cell.dtype.kind not in "iuf"]
    if wrong:
        raise ValueError(f"{file}: {name} must be cells of matrices; cell {wrong[0] + 1} is not one.")
    return cells


def _signs(targets: Array, n_bags: int, n_labels: int, file: Path) -> BoolArray:
    """Labels as (n_bags, n_labels), from -1 and +1 in either orientation."""
    if targets.shape == (n_labels, n_bags) and n_labels != n_bags:
        targets = targets.T
    if targets.shape != (n_bags, n_labels):
        raise ValueError(f"{file}: labels must have shape ({n_bags}, {n_labels}), got {targets.shape}.")
    return np.asarray(targets > 0)


def _row_order(file: Path, n_bags: int) -> list[str]:
    if not file.is_file():
        return [str(number) for number in range(1, n_bags + 1)]
    with open(file, newline="", encoding="utf-8") as stream:
        names = {int(row["row_1based"]): row["image"] for row in csv.DictReader(stream)}
    return [names.get(number, str(number)) for number in range(1, n_bags + 1)]


def _vector_bags(cells: list[Array], Y: BoolArray, bag_names: list[str], **told: object) -> BagDataset:
    """Bags of one-node graphs; each cell has one instance a row."""
    names = [f"{name}#{k}" for name, cell in zip(bag_names, cells, strict=True) for k in range(1, len(cell) + 1)]
    vectors = [cell.astype(np.float64) for cell in cells]
    return VectorBuilder().build(vectors, Y, bag_names=bag_names, graph_names=names, **told)

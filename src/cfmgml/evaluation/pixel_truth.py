"""What is true of every pixel, for testing only.

A painting has one label a node, so all that measuring needs of a picture is how many pixels of each class each of its
nodes has: `PixelTruth`, made once, with which a painting of thousands of pictures is measured in no time.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.common.digests import digest_of
from cfmgml.common.processes import Processes, WorkerLost
from cfmgml.common.segments import check_index, offsets, take_segments
from cfmgml.common.typing import ArrayLike, Index, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder

TrueMap = ArrayLike | Callable[[], ArrayLike] | None  # or how to get it, where it is needed; None: nothing is known


@dataclass(frozen=True, eq=False)
class PixelTruth:
    """Pixels of each class in every node of some bags. Classes are labels and, where it counts, background after them.

    >>> truth = PixelTruth(np.array([[9, 1], [0, 5]]), np.array([[2, 0]]), np.array([0, 2]), n_labels=2)
    >>> truth.counts(np.array([0, -1]))  # of each class: pixels that have it, that are painted with it, and both
    array([[11,  6],
           [10,  0],
           [ 9,  0]])
    """

    of_nodes: IntArray  # (n_nodes, n_classes)
    outside: IntArray  # (n_bags, n_classes): pixels of no node
    node_ptr: IntArray  # (n_bags + 1,): bag k has nodes node_ptr[k] to node_ptr[k + 1]
    n_labels: int

    def __getitem__(self, bags: Index) -> "PixelTruth":
        chosen = check_index(bags, len(self.outside), "bags")
        rows, ptr = take_segments(self.node_ptr, chosen)
        return replace(self, of_nodes=self.of_nodes[rows], outside=self.outside[chosen], node_ptr=ptr)

    @property
    def n_classes(self) -> int:
        return self.of_nodes.shape[1]

    def counts(self, painted: IntArray) -> IntArray:
        """What `cfmgml.metrics.pixel_counts` says of painted nodes: what has no label is background, if that counts."""
        if painted.shape != (len(self.of_nodes),):
            raise ValueError(
                f"painted must have one label for each of {len(self.of_nodes)} nodes, got {painted.shape}."
            )
        outside, rest = self.outside.sum(axis=0), self.n_labels if self.n_classes > self.n_labels else -1
        said = np.where(painted < 0, rest, painted)
        shown = said >= 0
        counted = np.zeros((3, self.n_classes), dtype=np.int64)
        counted[0] = self.of_nodes.sum(axis=0) + outside
        np.add.at(counted[1], said[shown], self.of_nodes[shown].sum(axis=1))
        np.add.at(counted[2], said[shown], self.of_nodes[shown, said[shown]])
        if rest >= 0:
            counted[1:, rest] += outside.sum(), outside[rest]
        return counted

    def digest(self) -> str:
        return digest_of({"of_nodes": self.of_nodes, "outside": self.outside}, {"n_labels": self.n_labels})

    def best(self) -> IntArray:
        """The painting that is right in most pixels: no other with these nodes has a higher pixel accuracy."""
        most = self.of_nodes.argmax(axis=1)
        return np.where((most == self.n_labels) | ~self.of_nodes.any(axis=1), -1, most)


def pixel_truth(
    bags: BagDataset, maps: Iterable[TrueMap], n_labels: int, *, background: bool = False, n_jobs: int | None = 1,
    **content: Any,
) -> PixelTruth:  # fmt: skip
    """The truth about bags from a label map for each, at its picture's own size.

    Parameters
    ----------
    bags
        Of a kind whose nodes have a place, such as pictures.
    maps
        For each bag the class of every pixel, (height, width): a label's number, ``n_labels`` for background, -1 for
        what is not counted; or a function that gives it, or None for a bag of which nothing is known.
    background
        Whether background counts as a class of its own.
    n_jobs
        Processes to cut pictures into superpixels again with.
    **content
        As for the builder's ``node_map``: ``folder`` where pictures of saved bags lie.
    """
    n_classes = n_labels + background
    if content.get("folder") is not None:  # a worker process may have started in another one
        content["folder"] = Path(content["folder"]).absolute()
    parts = list[IntArray]()
    with Processes(1 if n_jobs is None else n_jobs) as workers:
        try:
            todo = ((_alone(bags, k), truth) for k, truth in enumerate(maps))
            for part in workers.map(partial(_count, n_classes=n_classes, content=content), todo):
                parts.append(part)
        except WorkerLost as error:
            raise ValueError(f"pixels of {_name_of(bags[len(parts)])} cannot be counted: {error}") from error
    if len(parts) != bags.n_bags:
        raise ValueError(f"there must be a map for each of {bags.n_bags} bags, got {len(parts)}.")
    ptr = offsets(np.array([len(table) - 1 for table in parts]))
    return PixelTruth(np.vstack([part[:-1] for part in parts]), np.array([part[-1] for part in parts]), ptr, n_labels)


def _alone(bags: BagDataset, k: int) -> BagDataset:
    """One bag that knows of its own files only: it goes to another process."""
    one = bags[k]
    names = [] if one.bag_names is None else one.bag_names.tolist()
    files = {name: row for name, row in one.info.get("files", {}).items() if name in names}
    return replace(one, info={**one.info, "files": files})


def _name_of(one: BagDataset) -> str:
    return "this picture" if one.bag_names is None else str(one.bag_names[0])


def _count(bag: tuple[BagDataset, TrueMap], n_classes: int, content: Mapping[str, Any]) -> IntArray:
    """(n_nodes + 1, n_classes): pixels of each class in each node; the last row is of pixels in none."""
    one, truth = bag
    if truth is None:
        return np.zeros((one.graphs.n_nodes + 1, n_classes), dtype=np.int64)
    nodes = known_builder(one.builder).node_map(one, 0, **content)
    classes = np.asarray(truth() if callable(truth) else truth)
    name = _name_of(one)
    if classes.shape != nodes.shape:
        raise ValueError(
            f"the true classes of {name} must have its height and width, {nodes.shape}, got {classes.shape}."
        )
    if classes.max(initial=-1) >= n_classes:
        raise ValueError(f"the true classes of {name} must be numbers below {n_classes}, got {classes.max()}.")
    counted, n_nodes = classes >= 0, one.graphs.n_nodes
    rows = np.where(nodes < 0, n_nodes, nodes)[counted].astype(np.int64)
    flat = np.bincount(rows * n_classes + classes[counted], minlength=(n_nodes + 1) * n_classes)
    return flat.reshape(n_nodes + 1, n_classes)

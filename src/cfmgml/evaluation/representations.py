"""A data set in the representations that methods take, on disk for workers to open.

``"kernel"``: its graphs under its kernel, as a Gram matrix that all workers read from one file (or, where there are
too many graphs, the graphs themselves). ``"features"``: graphs whose kernel has an explicit map, for methods that work
on it; the same as ``"kernel"`` where it has none. ``"single"``: as ``"kernel"``, for bags joined to one graph.
``"vectors"``: each graph as the mean of its node attributes, or as the shares of its node labels. ``"labels"``: graphs
with node labels only.
``"graphs"``: all graphs have. ``"raw"``: the texts they were built from. A Gram matrix is over all graphs, and what a
kernel takes from data (gamma, tf-idf weights) is then taken from them all, without labels; for features, from the
training graphs.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from cfmgml.baselines.instances import MeanVectors, one_node_graphs
from cfmgml.common.digests import bytes_digest
from cfmgml.common.files import atomic_write
from cfmgml.data.bags import BagDataset
from cfmgml.evaluation.data_sets import DataSet, draw_bags
from cfmgml.kernels import Kernel, NodeSum, Precomputed
from cfmgml.kernels.gram import gram_matrix

REPRESENTATIONS = ("features", "kernel", "single", "vectors", "labels", "graphs", "raw")
MOST_IN_MATRIX = 8000  # graphs; with more, workers compute what they need


@dataclass(frozen=True)
class RepresentationFiles:
    """Where a representation lies, and the kernel for it; with a matrix, that is the kernel."""

    bags: Path
    gram: Path | None
    kernel: Kernel | None

    def open(self) -> tuple[BagDataset, Kernel | None]:
        """The bags, and the kernel to give an estimator. A worker keeps what it opened last."""
        return _open(self.bags), self.kernel if self.gram is None else _open_matrix(self.gram)


@lru_cache(maxsize=3)
def _open(path: Path) -> BagDataset:
    return BagDataset.load(path)


@lru_cache(maxsize=2)
def _open_matrix(path: Path) -> Precomputed:
    return Precomputed(np.load(path, mmap_mode="r", allow_pickle=False))


class LoadedData:
    """A data set in memory: what is needed to plan its runs, and to write its representations for the workers.

    Parameters
    ----------
    data
        Which.
    path
        The folder of data sets; None for what the environment's ``CFMGML_DATA`` names.
    n_bags
        Take so many bags only, drawn by ``seed``; None for all.
    dtype, device
        Of the Gram matrices.
    """

    def __init__(
        self,
        data: DataSet,
        path: Path | None = None,
        n_bags: int | None = None,
        seed: int = 0,
        dtype: str = "float32",
        device: str = "cpu",
    ) -> None:
        self.data, self.path, self.dtype, self.device = data, path, dtype, device
        self._fingerprints: dict[str, str] = {}
        bags = data.load(path)
        self._chosen = np.flatnonzero(draw_bags(bags, n_bags, seed))
        self.subset = 0 if len(self._chosen) == bags.n_bags else len(self._chosen)
        self.bags = _renumbered(bags[self._chosen])

    @cached_property
    def single(self) -> BagDataset:
        """Each bag joined to one graph, without labels of graphs: they would be the bag's."""
        if self.data.load_single is None:
            raise ValueError(f"{self.data.key} has no bags joined to one graph.")
        bags = _renumbered(self.data.load_single(self.path)[self._chosen])
        if bags.Y is None or self.bags.Y is None or not np.array_equal(bags.Y, self.bags.Y):
            raise ValueError(f"{self.data.key}: bags joined to one graph are not the same bags, or in another order.")
        return replace(bags, graph_Y=None)

    @cached_property
    def vectors(self) -> BagDataset:
        graphs = self.bags.graphs
        made = MeanVectors.of(graphs)(graphs).astype(np.float32)
        return replace(self.bags, graphs=one_node_graphs(made, graphs.graph_ids))

    @property
    def has_vectors(self) -> bool:
        """Whether its graphs are vectors: single nodes with attributes."""
        graphs = self.bags.graphs
        return graphs.node_attributes is not None and graphs.n_nodes == graphs.n_graphs

    def why_not(self, name: str) -> str | None:
        """Why the data set does not have a representation, if it has not."""
        if name == "labels" and self.bags.graphs.node_labels is None:
            return "no node labels"
        if name == "raw" and self.bags.graph_texts is None:
            return "no texts"
        if name == "single" and self.data.load_single is None:
            return "bags cannot be joined to one graph"
        return None

    def stand_for(self, name: str) -> str:
        """The representation that serves for the one a method takes."""
        return "kernel" if name == "features" and not self.data.kernel.is_explicit else name

    def represent(self, name: str) -> tuple[BagDataset, Kernel | None]:
        """The bags of a representation, and the kernel that compares its graphs."""
        if name == "raw":
            return self.bags, None
        bags, kernel = self._represent(name)
        return replace(bags, graph_texts=None), kernel

    def _represent(self, name: str) -> tuple[BagDataset, Kernel | None]:
        if name in ("features", "kernel"):
            return self.bags, self.data.kernel if name == "features" else _exact(self.data.kernel)
        if name == "single":
            return self.single, _exact(self.data.kernel)
        if name == "vectors":
            return self.vectors, NodeSum()
        if name == "labels":
            return replace(self.bags, graphs=replace(self.bags.graphs, node_attributes=None)), None
        return self.bags, None

    def fingerprint(self, name: str) -> str:
        """A hash of a representation's bags and its kernel: what a measurement depends on."""
        name = self.stand_for(name)
        if name not in self._fingerprints:
            bags, kernel = self.represent(name)
            text = f"{bags.fingerprint()} {name} {kernel!r}"
            if (self.dtype, self.device) != ("float32", "cpu"):
                text = f"{text} {self.dtype} {self.device}"
            self._fingerprints[name] = bytes_digest(text.encode())[:16]
        return self._fingerprints[name]

    def write(self, name: str, folder: Path, n_jobs: int | None) -> RepresentationFiles:
        """Write a representation for the workers, unless it is there; a file that is there is whole."""
        bags, kernel = self.represent(name)
        stem = folder / f"{self.data.key}-{name}-{self.fingerprint(name)}"
        bags_file, gram_file = stem.with_suffix(".bags"), stem.with_suffix(".npy")
        in_matrix = kernel is not None and name != "features" and bags.n_graphs <= MOST_IN_MATRIX
        folder.mkdir(parents=True, exist_ok=True)
        if kernel is not None and in_matrix and not gram_file.exists():
            with threadpool_limits(limits=1):  # the same sums in the same order, however many cores there are
                K = gram_matrix(kernel, bags.graphs, dtype=self.dtype, n_jobs=n_jobs, device=self.device)
            with atomic_write(gram_file) as stream:
                np.save(stream, K)
        if not bags_file.exists():
            slim = replace(bags.graphs, node_names=None)
            if in_matrix and name != "vectors":  # only their row in the matrix matters
                slim = replace(slim, node_attributes=None, node_labels=None)
            replace(bags, graphs=slim, info={}).save(bags_file)
        return RepresentationFiles(bags_file, gram_file if in_matrix else None, kernel)


def _exact(kernel: Kernel) -> Kernel:
    """The kernel without the approximation that gives it a map."""
    return clone(kernel).set_params(approximation=None) if isinstance(kernel, NodeSum) else kernel


def _renumbered(bags: BagDataset) -> BagDataset:
    """Graphs numbered from 0, as the rows of a matrix over them."""
    return replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))

"""A data set on disk in the forms that methods take, for workers to open.

``"kernel"``: its graphs under its kernel, as a Gram matrix that all workers read from one file (or, where there are
too many graphs, the graphs themselves). ``"features"``: graphs whose kernel has an explicit map, for methods that work
on it; the same as ``"kernel"`` where it has none. ``"single"``: as ``"kernel"``, for bags joined to one graph.
``"vectors"``: each graph as the mean of its node attributes, or as the shares of its node labels. ``"labels"``: graphs
with node labels only.
``"graphs"``: all there is. A Gram matrix is over all graphs, and what a kernel takes from data (gamma, tf-idf weights)
is then taken from them all, without labels; for features, from the training graphs.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from cfmgml.baselines.instances import MeanVectors, one_node_graphs
from cfmgml.common.digests import bytes_digest
from cfmgml.common.files import atomic_write
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.experiments.reproduction.catalogue import DataSet, draw_bags
from cfmgml.kernels import Kernel, NodeSum, Precomputed
from cfmgml.kernels.gram import gram_matrix

MOST_IN_MATRIX = 8000  # graphs; with more, workers compute what they need


@dataclass(frozen=True)
class FormFiles:
    """Where a form lies, and the kernel for it; with a matrix, that is the kernel."""

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
    """A data set in memory: what is needed to plan its runs, and to write its forms for the workers.

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
            raise ValueError(f"{self.data.key} has no form with one graph a bag.")
        bags = _renumbered(self.data.load_single(self.path)[self._chosen])
        if bags.Y is None or self.bags.Y is None or not np.array_equal(bags.Y, self.bags.Y):
            raise ValueError(
                f"{self.data.key}: the bags joined to one graph are not the same bags, or in another order."
            )
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

    def why_not(self, form: str) -> str | None:
        """Why the data set does not have a form, if it has not."""
        if form == "labels" and self.bags.graphs.node_labels is None:
            return "no node labels"
        if form == "single" and self.data.load_single is None:
            return "bags cannot be joined to one graph"
        return None

    def form_for(self, form: str) -> str:
        """The form that stands for the one a method asks for."""
        return "kernel" if form == "features" and not self.data.kernel.is_explicit else form

    def form(self, form: str) -> tuple[BagDataset, Kernel | None]:
        """The bags of a form, and the kernel that compares its graphs."""
        graphs = self.bags.graphs
        if form in ("features", "kernel"):
            return self.bags, self.data.kernel if form == "features" else _exact(self.data.kernel)
        if form == "single":
            return self.single, _exact(self.data.kernel)
        if form == "vectors":
            return self.vectors, NodeSum()
        if form == "labels":
            return replace(self.bags, graphs=replace(graphs, node_attributes=None)), None
        return self.bags, None

    def fingerprint(self, form: str) -> str:
        """A hash of a form's bags and its kernel: what a measurement depends on."""
        form = self.form_for(form)
        if form not in self._fingerprints:
            bags, kernel = self.form(form)
            text = f"{bags.fingerprint()} {form} {kernel!r}"
            if (self.dtype, self.device) != ("float32", "cpu"):
                text = f"{text} {self.dtype} {self.device}"
            self._fingerprints[form] = bytes_digest(text.encode())[:16]
        return self._fingerprints[form]

    def write(self, form: str, folder: Path, n_jobs: int | None) -> FormFiles:
        """Write a form for the workers, unless it is there; a file that is there is whole."""
        bags, kernel = self.form(form)
        stem = folder / f"{self.data.key}-{form}-{self.fingerprint(form)}"
        bags_file, gram_file = stem.with_suffix(".bags"), stem.with_suffix(".npy")
        in_matrix = kernel is not None and form != "features" and bags.n_graphs <= MOST_IN_MATRIX
        folder.mkdir(parents=True, exist_ok=True)
        if in_matrix and not gram_file.exists():
            with threadpool_limits(limits=1):  # the same sums in the same order, however many cores there are
                K = gram_matrix(kernel, bags.graphs, dtype=self.dtype, n_jobs=n_jobs, device=self.device)
            with atomic_write(gram_file) as stream:
                np.save(stream, K)
        if not bags_file.exists():
            slim = _bare(bags.graphs) if in_matrix and form != "vectors" else bags.graphs
            replace(bags, graphs=replace(slim, node_names=None), info={}).save(bags_file)
        return FormFiles(bags_file, gram_file if in_matrix else None, kernel)


def _exact(kernel: Kernel) -> Kernel:
    """The kernel without the approximation that gives it a map."""
    return clone(kernel).set_params(approximation=None) if isinstance(kernel, NodeSum) else kernel


def _renumbered(bags: BagDataset) -> BagDataset:
    """Graphs numbered from 0, as the rows of a matrix over them."""
    return replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))


def _bare(graphs: GraphBatch) -> GraphBatch:
    """Graphs of which only their row in a matrix matters."""
    nothing: dict[str, Any] = {"node_attributes": None, "node_labels": None, "node_names": None}
    return replace(graphs, **nothing)

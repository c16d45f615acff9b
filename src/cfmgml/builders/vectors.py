"""The kind ``vectors``: instances without structure, as data sets of multi-instance learning have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfmgml.builders.base import Builder
from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.questions import Form


@dataclass(frozen=True)
class VectorBuilder(Builder):
    """Each vector is a graph of one node.

    >>> VectorBuilder().build([np.zeros((2, 3)), np.ones((1, 3))])
    BagDataset(2 bags, 3 graphs, 0 labels; no Y)
    """

    kind = "vectors"
    nouns = "vectors"
    part = "vector"
    reads_files = False
    form = Form("graphs", "Graphs, as JSON")

    def build(self, sources: Sequence[FloatArray], labels: Any = None, **options: Any) -> BagDataset:
        """Bags from arrays (n_instances, n_features); ``labels`` is a matrix, ``options`` go to `BagDataset`."""
        vectors = np.concatenate([np.asarray(part) for part in sources])
        none = np.zeros(len(vectors) + 1, dtype=np.int64)
        edges = np.zeros((2, 0), dtype=np.int64)
        graphs = GraphBatch(np.arange(len(vectors) + 1), none, edges, node_attributes=vectors)
        return BagDataset(graphs, offsets(np.array([len(part) for part in sources])), Y=labels, builder=self, **options)

    def from_files(self, given: FileInput) -> BagDataset:
        raise ValueError("vectors come from the loaders of cfmgml.datasets, or from Python (VectorBuilder.build).")

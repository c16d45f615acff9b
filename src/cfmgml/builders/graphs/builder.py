"""The kind ``graphs``: graphs that people have, in files or in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from cfmgml.builders.base import Builder
from cfmgml.builders.graphs.files import graph_bags
from cfmgml.common.segments import offsets
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput, FileOptions, parameter
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.questions import Form


@dataclass(frozen=True)
class GraphFiles(FileOptions):
    """How to read files of graphs."""

    bags: Path | None = parameter(None, "Table of graph and bag.")


@dataclass(frozen=True)
class GraphBuilder(Builder):
    """Graphs as they are, or labelled by degrees; other parameters name node and edge data of GraphML and PyG files."""

    kind = "graphs"
    nouns = "graph files"
    form = Form("graphs", "Graphs, as JSON")
    file_options: ClassVar[type[FileOptions]] = GraphFiles
    help = (
        "Graphs that you have: a TUDataset folder, GraphML files, or a .pt file of PyG graphs.\n\n"
        "The graphs of a folder inside INPUT are one bag; any other graph is a bag of its own. --bags names a table of "
        "graph and bag to say it otherwise, --labels a table of bag and labels. All files are read before a store is "
        "written: they must fit in memory.\n\n\b\nExamples:\n"
        "  cfmgml build graphs molecules --labels molecules.csv -o molecules.bags\n"
        "  cfmgml build graphs TOY -o toy.bags"
    )

    node_label: str | None = parameter(None, "Name of the node data to take as label.")
    node_attributes: tuple[str, ...] | None = parameter(
        None, "Names of the node data to take as attributes, with commas between them."
    )

    edge_label: str | None = parameter(None, "Name of the edge data to take as label.")

    degrees: bool = parameter(
        False, "Label nodes by their numbers of neighbours: for graphs whose nodes are all alike, without other labels."
    )

    def __post_init__(self) -> None:
        if self.node_attributes is not None:
            object.__setattr__(self, "node_attributes", tuple(self.node_attributes))

    @property
    def parameters(self) -> dict[str, Any]:
        """Without ``edge_label`` and ``degrees`` where there are none, as bags from before there was such a thing."""
        later = {"edge_label": None, "degrees": False}
        return {name: value for name, value in super().parameters.items() if value != later.get(name, ...)}

    @property
    def settled(self) -> dict[str, Any]:
        """What is None was not asked for, or the files had no names for it."""
        return {name: value for name, value in self.parameters.items() if value is not None}

    def build(self, sources: Sequence[GraphBatch], labels: Any = None, **options: Any) -> BagDataset:
        """Bags from batches of graphs, a batch a bag; ``labels`` is a matrix, ``options`` go to `BagDataset`."""
        sizes = np.array([batch.n_graphs for batch in sources])
        graphs = self.labelled_nodes(GraphBatch.concatenate(sources))
        return BagDataset(graphs, offsets(sizes), Y=labels, builder=self, **options)

    def labelled_nodes(self, graphs: GraphBatch) -> GraphBatch:
        """The graphs, labelled by degrees where that was asked for; refused where labels would be lost."""
        if self.degrees and graphs.node_labels is not None:
            raise ValueError("degrees=True is for graphs without node labels, and these have some.")
        return graphs.with_degrees() if self.degrees else graphs

    def from_files(self, given: FileInput) -> BagDataset:
        return graph_bags(self, given, cast(GraphFiles, given.options or GraphFiles()).bags)

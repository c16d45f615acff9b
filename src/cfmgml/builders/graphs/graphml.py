"""Graphs in GraphML files, as networkx writes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

import numpy as np

from cfmgml.builders.graphs import GraphsRead
from cfmgml.common.extras import missing_extra
from cfmgml.data.graphs import GraphBatch
from cfmgml.reading.paths import file_names

if TYPE_CHECKING:
    import networkx as nx

SUFFIXES = (".graphml", ".xml")
VECTOR = "cfmgml attributes"  # node data under a name that no file uses


def read_graphml(
    files: Mapping[Path, str], node_label: str | None, node_attributes: list[str] | None, edge_label: str | None
) -> GraphsRead:
    """The graphs of files, each with its bag."""
    graphs = [_read_one(path) for path in files]
    every = [data for graph in graphs for _, data in graph.nodes(data=True)]
    label = node_label
    if label is None and all("label" in data for data in every):
        label = "label"
    numbers = node_attributes
    if numbers is None:  # all that every node has
        own = [{name for name, value in data.items() if type(value) in (int, float)} for data in every]
        numbers = sorted(set.intersection(*own) - {label})
    for path, graph in zip(files, graphs, strict=True):
        _check(path, graph, label, numbers)
        for node in graph.nodes:
            graph.nodes[node][VECTOR] = np.array([graph.nodes[node][name] for name in numbers], dtype=np.float64)
    edges = [data for graph in graphs for *_, data in graph.edges(data=True)]
    weight = "weight" if edges and all("weight" in data for data in edges) else None
    if edge_label is None and edges and all("label" in data for data in edges):
        edge_label = "label"
    batch = GraphBatch.from_networkx(graphs, label, VECTOR if numbers else None, weight, edge_label)
    names = file_names(list(files), lambda file: file.stem, lambda file: f"{file.parent.name}/{file.stem}")
    parameters = {"node_label": label, "node_attributes": numbers, "edge_label": edge_label}
    return GraphsRead("GraphML", batch, names, list(files.values()), None, parameters, [path.name for path in files])


def _read_one(path: Path) -> "nx.Graph":
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError(missing_extra("GraphML files need networkx", "networkx")) from error
    try:
        graph = nx.read_graphml(path)
    except (nx.NetworkXError, ParseError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as GraphML ({error}).") from error
    if len(graph) == 0:
        raise ValueError(f"{path} has no nodes.")
    return graph


def _check(path: Path, graph: "nx.Graph", label: str | None, numbers: list[str]) -> None:
    for node, data in graph.nodes(data=True):
        for name in ([] if label is None else [label]) + numbers:
            if name not in data:
                have = ", ".join(sorted(data)) or "no data"
                raise ValueError(f"{path}: node {node!r} has no {name!r}; it has {have}.")
        for name in numbers:
            if not isinstance(data[name], int | float):
                raise ValueError(f"{path}: node {node!r} has {data[name]!r} for {name!r}; attributes are numbers.")

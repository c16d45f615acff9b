"""Graphs in GraphML files, as networkx writes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

import numpy as np

from cfmgml.builders.graphs import GraphsRead
from cfmgml.data.graphs import GraphBatch

if TYPE_CHECKING:
    import networkx as nx

SUFFIXES = (".graphml", ".xml")
VECTOR = "cfmgml attributes"  # node data under a name that no file uses


def read_graphml(files: Mapping[Path, str], node_label: str | None, node_attributes: list[str] | None) -> GraphsRead:
    """The graphs of files, each with its bag."""
    graphs = [_read_one(path) for path in files]
    label = node_label if node_label is not None else _default_label(graphs)
    numbers = node_attributes if node_attributes is not None else _numeric(graphs, label)
    for path, graph in zip(files, graphs, strict=True):
        _check(path, graph, label, numbers)
        for node in graph.nodes:
            graph.nodes[node][VECTOR] = np.array([graph.nodes[node][name] for name in numbers], dtype=np.float64)
    weight = "weight" if all("weight" in data for graph in graphs for *_, data in graph.edges(data=True)) else None
    has_edges = any(graph.number_of_edges() for graph in graphs)
    batch = GraphBatch.from_networkx(graphs, label, VECTOR if numbers else None, weight=weight if has_edges else None)
    names, parameters = _short_names(list(files)), {"node_label": label, "node_attributes": numbers}
    return GraphsRead("GraphML", batch, names, list(files.values()), None, parameters, [path.name for path in files])


def _read_one(path: Path) -> "nx.Graph":
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError("GraphML files need networkx: pip install 'cfmgml[networkx]'.") from error
    try:
        graph = nx.read_graphml(path)
    except (nx.NetworkXError, ParseError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as GraphML ({error}).") from error
    if len(graph) == 0:
        raise ValueError(f"{path} has no nodes.")
    return graph


def _default_label(graphs: "list[nx.Graph]") -> str | None:
    return "label" if all("label" in data for graph in graphs for _, data in graph.nodes(data=True)) else None


def _numeric(graphs: "list[nx.Graph]", label: str | None) -> list[str]:
    """The names of numbers that every node of every graph has."""
    every = [data for graph in graphs for _, data in graph.nodes(data=True)]
    numbers = [{name for name, value in data.items() if type(value) in (int, float)} for data in every]
    return sorted(set.intersection(*numbers) - {label})


def _check(path: Path, graph: "nx.Graph", label: str | None, numbers: list[str]) -> None:
    for node, data in graph.nodes(data=True):
        for name in ([] if label is None else [label]) + numbers:
            if name not in data:
                have = ", ".join(sorted(data)) or "no data"
                raise ValueError(f"{path}: node {node!r} has no {name!r}; it has {have}.")
        for name in numbers:
            if not isinstance(data[name], int | float):
                raise ValueError(f"{path}: node {node!r} has {data[name]!r} for {name!r}; attributes are numbers.")


def _short_names(files: list[Path]) -> list[str]:
    """The shortest names that differ: a file's own, or with its folder's, or the whole path."""
    for naming in (lambda file: file.stem, lambda file: f"{file.parent.name}/{file.stem}"):
        names = [naming(file) for file in files]
        if len(set(names)) == len(names):
            return names
    return [file.as_posix() for file in files]

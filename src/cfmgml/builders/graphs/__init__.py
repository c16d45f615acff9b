"""Graphs that people have in files, as bags."""

from typing import Any, NamedTuple

from cfmgml.data.graphs import GraphBatch


class GraphsRead(NamedTuple):
    """Graphs as read from files, with the bag that each belongs to."""

    format: str
    graphs: GraphBatch
    names: list[str]
    bags: list[str]
    labels: list[list[str]] | None = None  # of each graph
    parameters: dict[str, Any] = {}  # which data of nodes were read  # noqa: RUF012
    files: list[str] | None = None  # names of the files, where each graph has one

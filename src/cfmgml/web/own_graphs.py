"""A bag of graphs sent as JSON, for models that learned from graphs of somebody's own."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.layout import spring_layout
from cfmgml.common.segments import offsets
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.questions import Reply, nodes_as_words
from cfmgml.kernels import Kernel
from cfmgml.web.limits import Limits, Refused

if TYPE_CHECKING:
    from cfmgml.web.schemas import GraphInput

MOST_DRAWN, MOST_NODES = 24, 150  # graphs that are laid out, and nodes of each: time grows with the square of these


def build_own(data: bytes, kernel: Kernel, limits: Limits) -> Reply:
    """One bag, and each graph's nodes in a row as words, so that they can be marked."""
    given = _read(data, limits)
    sizes = [_size(graph, number) for number, graph in enumerate(given)]
    _check_alike(given)
    bag = BagDataset(_batch(given, sizes), np.array([0, len(given)]))
    try:
        kernel.check_graphs(bag.graphs)
    except ValueError as error:
        raise Refused(422, "wrong_input", f"These graphs are not what the model compares: {error}") from error
    entries = [{"name": graph.name or f"graph {number + 1}"} for number, graph in enumerate(given)]
    words = np.array([str(label) for graph in given for label in graph.node_labels or []])
    named = replace(bag, graphs=replace(bag.graphs, node_names=words if words.size else None))
    return Reply(bag, entries, {"texts": nodes_as_words(named), "networks": _networks(bag.graphs)})


def _networks(graphs: GraphBatch) -> list[Json]:
    """Where to draw the nodes of graphs that can be seen, first come, first drawn."""
    drawn = []
    for number in range(min(graphs.n_graphs, MOST_DRAWN)):
        graph = graphs[number]
        if graph.n_nodes <= MOST_NODES:
            places = np.round(spring_layout(graph.edges, graph.n_nodes), 3)
            drawn.append({"graph": number, "places": places.tolist(), "edges": graph.edges.T.tolist()})
    return drawn


def _read(data: bytes, limits: Limits) -> "list[GraphInput]":
    """The graphs, counted while they are decoded: the first too many ends it."""
    from cfmgml.web.json_bodies import read_json
    from cfmgml.web.schemas import GraphsInput

    counts, most = Counter[str](), {"graphs": limits.texts, "nodes": limits.nodes, "edges": limits.edges}

    def count(members: Json) -> None:
        if "graphs" in members:  # the whole, whose graphs have been counted
            return
        sizes = {name: len(value) for name, value in members.items() if isinstance(value, list)}
        nodes = max(sizes.get("node_labels", 0), sizes.get("node_attributes", 0))
        counts.update(graphs=1, nodes=nodes, edges=max(sizes.get("edges", 0), sizes.get("edge_labels", 0)))
        for noun, limit in most.items():
            if counts[noun] > limit:
                reason = f"The input has at least {counts[noun]:,} {noun}; {limit:,} are the most."
                raise Refused(413, f"too_many_{noun}", reason)

    return read_json(data, GraphsInput, "bad_graphs", count).graphs


def _size(graph: "GraphInput", number: int) -> int:
    """How many nodes a graph has; refused where its parts do not fit each other."""
    rows = [len(part) for part in (graph.node_labels, graph.node_attributes) if part is not None]
    if not rows or min(rows) == 0:
        raise _bad(number, "must have node_labels or node_attributes, with an entry a node")
    if len(set(rows)) > 1:
        raise _bad(number, f"has {rows[0]} node_labels and {rows[1]} node_attributes")
    if graph.edge_labels is not None and len(graph.edge_labels) != len(graph.edges):
        raise _bad(number, f"has {len(graph.edges)} edges and {len(graph.edge_labels)} edge_labels")
    for name in ("node_labels", "edge_labels"):
        if len(set(map(type, getattr(graph, name) or []))) > 1:
            raise _bad(number, f"has numbers and strings among its {name}")
    if any(max(edge) >= rows[0] for edge in graph.edges):
        raise _bad(number, f"has an edge to a node that is not there: its nodes are 0 to {rows[0] - 1}")
    return rows[0]


def _check_alike(given: "list[GraphInput]") -> None:
    kinds = {
        "node_labels": {type(graph.node_labels[0]) if graph.node_labels else None for graph in given},
        "edge_labels": {type(graph.edge_labels[0]) if graph.edge_labels else None for graph in given if graph.edges},
    }
    for name, found in kinds.items():
        if len(found) > 1:
            raise Refused(422, "bad_graphs", f"All graphs must have {name} of one kind, numbers or strings, or none.")
    widths = {len(row) for graph in given for row in graph.node_attributes or [[]]}
    if len(widths) > 1:
        raise Refused(422, "bad_graphs", f"All nodes must have the same number of attributes, got {sorted(widths)}.")


def _bad(number: int, what: str) -> Refused:
    return Refused(422, "bad_graphs", f"Graph {number + 1} {what}.")


def _batch(given: "list[GraphInput]", sizes: list[int]) -> GraphBatch:
    node_ptr = offsets(np.array(sizes))
    pairs = [
        np.array(graph.edges, dtype=np.int64).reshape(-1, 2) + start
        for graph, start in zip(given, node_ptr.tolist(), strict=False)
    ]
    labels = [label for graph in given for label in graph.node_labels or []]
    bonds = [label for graph in given for label in graph.edge_labels or []]
    labelled = bonds or any(
        graph.edge_labels is not None for graph in given
    )  # of graphs without edges: none, but there
    attributes = [row for graph in given for row in graph.node_attributes or []]
    return GraphBatch(
        node_ptr,
        offsets(np.array([len(graph.edges) for graph in given])),
        np.concatenate(pairs).T,
        node_labels=np.array(labels) if labels else None,
        node_attributes=np.array(attributes, dtype=np.float64) if attributes else None,
        edge_labels=np.array(bonds) if labelled else None,
    )

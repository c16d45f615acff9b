"""One graph as a network: nodes where they lie, or where a spring layout puts them; labels of nodes and of edges."""

from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.layout import spring_layout, unit_square
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.plots.shown import Shown, heat_colour, strongest
from cfmgml.plots.text_flow import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 150  # of a spring layout; more cannot be told apart
MOST_WORDS = 40  # beside nodes, or edges
MOST_LETTERS = 12  # of a word
READABLE = 10**6  # labels that are numbers of somebody's; above lie codes of words, which say nothing
LINES = ("-", "--", ":", "-.")  # by the labels of edges


def draw_network(ax: "Axes", shown: Shown, number: int, name: str, positions: FloatArray | None) -> None:
    """A graph of the bag; ``positions`` (n_nodes, 2) of its nodes are kept to, if there are any."""
    graph, values = shown.bag.graphs[number], shown.of_nodes(number)
    kept = np.arange(graph.n_nodes)
    if positions is None and graph.n_nodes > MOST_NODES:
        degrees = np.bincount(graph.edges.ravel(), minlength=graph.n_nodes)
        kept = np.sort(np.lexsort((-degrees, -np.abs(values)))[:MOST_NODES])
    places = np.full((graph.n_nodes, 2), np.nan)
    if positions is None:
        places[kept] = spring_layout(_among(graph.edges, kept, graph.n_nodes), len(kept))
    else:
        places = unit_square(np.asarray(positions, dtype=np.float64))
    _draw_edges(ax, graph, places)
    colours = [heat_colour(float(values[node]), strongest(shown)) for node in kept]
    size = float(np.clip(900 / len(kept), 12, 140))
    ax.scatter(places[kept, 0], places[kept, 1], s=size, c=colours, edgecolors="#777777", linewidths=0.8, zorder=3)
    if positions is None and len(kept) <= MOST_WORDS:
        for node in kept.tolist():
            ax.text(
                places[node, 0],
                places[node, 1],
                drawable(_word(graph, node)),
                fontsize=7,
                ha="center",
                va="center",
                zorder=4,
            )
    hidden = f", {len(kept)} of them shown" if len(kept) < graph.n_nodes else ""
    ax.set_title(drawable(f"{name}: {graph.n_nodes} nodes{hidden}"), fontsize=8, parse_math=False)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_axis_off()


def _among(edges: IntArray, kept: IntArray, n_nodes: int) -> IntArray:
    """The edges between nodes that are kept, which are numbered anew."""
    place = np.full(n_nodes, -1)
    place[kept] = np.arange(len(kept))
    moved = place[edges]
    return np.asarray(moved[:, (moved >= 0).all(axis=0)])


def _word(graph: GraphBatch, node: int) -> str:
    """A node's name, or its label if that is a number that somebody gave."""
    if graph.node_names is not None:
        return str(graph.node_names[node])[:MOST_LETTERS]
    if graph.node_labels is None or abs(int(graph.node_labels[node])) >= READABLE:
        return ""
    return str(graph.node_labels[node])


def _draw_edges(ax: "Axes", graph: GraphBatch, places: FloatArray) -> None:
    labels = np.zeros(graph.n_edges, dtype=np.int64) if graph.edge_labels is None else graph.edge_labels
    weights = np.full(graph.n_edges, 0.2) if graph.edge_weights is None else graph.edge_weights
    styles = np.unique(labels, return_inverse=True)[1] % len(LINES)
    few = graph.edge_labels is not None and len(labels) <= 2 * MOST_WORDS and np.abs(labels).max(initial=0) < READABLE
    drawn = set[tuple[int, int, int]]()
    for k, (one, other) in enumerate(graph.edges.T.tolist()):
        key = (min(one, other), max(one, other), int(labels[k]))
        if one == other or key in drawn or np.isnan(places[[one, other]]).any():
            continue
        drawn.add(key)
        ends = places[[one, other]].T
        width = 0.6 + 3.5 * min(abs(float(weights[k])), 1.0)
        ax.plot(*ends, LINES[styles[k]], color="#555555", linewidth=width, alpha=0.6, zorder=1)
        if few:
            x, y = ends.mean(axis=1)
            ax.text(x, y, str(labels[k]), fontsize=6, color="#555555", ha="center", zorder=2)

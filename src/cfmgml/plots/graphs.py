"""Any bag as a picture: its graphs as networks, or their nodes in circles, coloured by what they say for a label."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.plots.network import draw_network
from cfmgml.plots.shown import Shown, heat_colour, import_pyplot, select_bag, strongest
from cfmgml.plots.text_flow import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES = 36  # around the circle; more cannot be read
MOST_GRAPHS = 6  # beside one another


def plot_graph_bag(
    bags: BagDataset,
    bag: int = 0,
    *,
    scores: FloatArray | None = None,
    contributions: FloatArray | None = None,
    label: int | str | None = None,
    thresholds: FloatArray | None = None,
    ax: "Axes | None" = None,
    positions: FloatArray | None = None,
) -> "Axes":
    """Draw a bag of any graphs, best first for the label; `cfmgml.plots.plot_bag` says what the parameters are.

    Nodes lie at ``positions`` (n_nodes of all bags, 2), or where a spring layout puts them.

    >>> graphs = GraphBatch(node_ptr=[0, 2, 3], edge_ptr=[0, 1, 1], edges=[[0], [1]], node_labels=[6, 7, 6])
    >>> plot_graph_bag(BagDataset(graphs, [0, 2], bag_names=["sugar"])).get_title(loc="left")
    'sugar'
    """
    plt = import_pyplot()
    shown = select_bag(bags, bag, scores, contributions, label, thresholds)
    order = np.arange(shown.bag.n_graphs)
    if shown.scores is not None and shown.label is not None:
        order = np.argsort(-shown.scores[:, shown.label], kind="stable")
    order = order[:MOST_GRAPHS]
    if ax is None:
        ax = plt.figure(figsize=(max(4.0, 3.2 * len(order)), 4.2)).add_axes((0.02, 0.02, 0.96, 0.86))
    ax.set_axis_off()
    ax.set_title(drawable(_title(shown)), loc="left", fontsize=10, parse_math=False)
    places = None if positions is None else _places_of(bags, bag, positions)
    for place, number in enumerate(order.tolist()):
        nodes = slice(*shown.bag.graphs.node_ptr[number : number + 2].tolist())
        inset = ax.inset_axes((place / len(order), 0.0, 0.96 / len(order), 0.9))
        names = shown.bag.graph_names
        name = f"graph {number + 1}" if names is None else str(names[number])
        draw_network(inset, shown, number, name, None if places is None else places[nodes])
        if shown.scores is not None:
            inset.title.set_color(shown.verdict(shown.scores[number], shown.truth(number)))
    return ax


def _places_of(bags: BagDataset, bag: int, positions: FloatArray) -> FloatArray:
    """The share of one bag in the positions of all."""
    whole = np.asarray(positions, dtype=np.float64)
    if whole.shape != (bags.graphs.n_nodes, 2):
        raise ValueError(f"positions must have shape ({bags.graphs.n_nodes}, 2), one a node, got {whole.shape}.")
    first = bags.bag_ptr[:-1][bag]
    start, stop = bags.graphs.node_ptr[[first, first + len(bags[bag].graphs)]]
    return np.asarray(whole[start:stop])


def _title(shown: Shown) -> str:
    one = shown.bag
    parts = ["bag" if one.bag_names is None else str(one.bag_names[0])]
    if shown.label_name:
        parts.append(f"nodes for {shown.label_name}")
    if one.n_graphs > MOST_GRAPHS:
        parts.append(f"{MOST_GRAPHS} of {one.n_graphs} graphs")
    return "; ".join(parts)


def decider(shown: Shown) -> int:
    """The graph that scores best for the label."""
    return 0 if shown.scores is None or shown.label is None else int(shown.scores[:, shown.label].argmax())


def draw_graph(ax: "Axes", shown: Shown, number: int, name: str, nodes: str) -> None:
    """The nodes of one graph in a circle, in their order, from the top clockwise; ``nodes`` is what they are."""
    graph = shown.bag.graphs[number]
    values, degrees = shown.of_nodes(number), np.bincount(graph.edges[0], minlength=graph.n_nodes)
    kept = np.sort(np.lexsort((-degrees, -np.abs(values)))[:MOST_NODES])
    angles = np.pi / 2 - 2 * np.pi * (np.arange(len(kept)) + 0.5) / len(kept)  # none upright, under the title
    angle_of = dict(zip(kept.tolist(), angles.tolist(), strict=True))
    box = ax.get_window_extent()  # a long word must fit between the circle and the edge
    size = float(np.clip(min(box.width, box.height) / ax.figure.dpi * 72 / 30, 4, 8))
    _draw_edges(ax, graph, angle_of)
    names = graph.node_labels if graph.node_names is None else graph.node_names
    for node, angle in angle_of.items():
        word = "" if names is None else str(names[node])
        _draw_word(ax, word, angle, heat_colour(float(values[node]), strongest(shown)), size)
    hidden = f", {len(kept)} of them shown" if len(kept) < graph.n_nodes else ""
    ax.set_title(drawable(f"{name}: {graph.n_nodes} {nodes}{hidden}"), fontsize=size + 1, parse_math=False)
    ax.set(xlim=(-1.95, 1.95), ylim=(-1.95, 1.95), aspect="equal")
    ax.set_axis_off()


def _draw_word(ax: "Axes", name: str, angle: float, colour: Any, size: float) -> None:
    x, y = np.cos(angle), np.sin(angle)
    ax.plot(x, y, "o", markersize=1.1 * size, color=colour, markeredgecolor="#777777", zorder=3)
    left = x < 0
    style: dict[str, Any] = {"rotation": np.degrees(angle) + (180 if left else 0), "ha": "right" if left else "left"}
    ax.text(1.08 * x, 1.08 * y, drawable(name), fontsize=size, rotation_mode="anchor", va="center", **style)


def _draw_edges(ax: "Axes", graph: GraphBatch, angle: dict[int, float]) -> None:
    weights = np.full(graph.n_edges, 0.2) if graph.edge_weights is None else graph.edge_weights
    for (first, second), weight in zip(graph.edges.T.tolist(), weights.tolist(), strict=True):
        if first < second and first in angle and second in angle:
            ends = np.array([angle[first], angle[second]])
            ax.plot(np.cos(ends), np.sin(ends), color="#555555", linewidth=0.6 + 3.5 * weight, alpha=0.55, zorder=2)

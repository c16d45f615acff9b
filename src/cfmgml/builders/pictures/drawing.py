"""A bag of a picture's regions, drawn on the picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.pictures.label_maps import innermost
from cfmgml.builders.pictures.layout import Layout, layout_of_bag
from cfmgml.common.typing import BoolArray, FloatArray, IntArray, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.plots.colours import label_colours
from cfmgml.plots.shown import HEAT, UNKNOWN, WRONG, Shown, import_pyplot, painted_nodes, select_bag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 6
NEAR_EDGE = 0.2  # of the picture's width
OPACITY = 0.6  # of what is painted
PALE = 0.7  # how much of the picture's colour is left under a heat map


def plot_image_bag(
    bags: BagDataset,
    bag: int = 0,
    *,
    image: Any = None,
    segments: Any = None,
    folder: str | Path | None = None,
    scores: FloatArray | None = None,
    contributions: FloatArray | None = None,
    label: int | str | None = None,
    thresholds: FloatArray | None = None,
    painted: IntArray | None = None,
    label_names: Sequence[str] | NameArray | None = None,
    show_graphs: bool | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a bag of `bags_from_images`: its regions' outlines, its graphs, and each region's labels.

    A region shows its best label by ``scores`` (with a question mark unless it is predicted), green if that is right
    and red, with the true one behind it, if not (also where one is predicted and none is true). Contributions colour
    the superpixels: red speaks for the label, blue against it.

    Parameters
    ----------
    bags, bag, scores, contributions, label, thresholds, ax
        As in `cfmgml.plots.plot_bag`; a new figure has a scale beside a heat map.
    image, segments
        The picture and, unless regions were found in it, its mask, as they were given to the builder; by default they
        are read from the files that the builder noted in ``bags.info["files"]``.
    folder
        Where those files lie, for bags that were saved and loaded: ``bags.info["files"]`` is relative to it.
    painted
        What ``model.paint(bags)`` gives: each superpixel in its label's colour, with a legend, in place of outlines.
    label_names
        For the legend, where the bags have none: ``model.label_names_``.
    show_graphs
        Whether to draw nodes and edges; by default unless the bag is painted.

    Examples
    --------
    >>> from skimage import data
    >>> from cfmgml.builders.pictures.images import bags_from_images
    >>> photo = data.coffee()
    >>> bags = bags_from_images([photo], names=["coffee"])
    >>> plot_image_bag(bags, image=photo).get_title()
    'coffee'
    """
    plt = import_pyplot()
    shown = select_bag(bags, bag, scores, contributions, label, thresholds)
    drawn = layout_of_bag(shown.bag, image, segments, folder)
    own_figure = ax is None
    if ax is None:
        height, width = drawn.picture.size
        ax = plt.figure(figsize=(8, 8 * height / width + 0.8), layout="constrained").add_subplot()
    _draw_picture(ax, drawn, shown, with_scale=own_figure, faded=painted is not None)
    if painted is not None:
        names = bags.label_names if label_names is None else label_names
        _draw_painting(ax, drawn, names, painted_nodes(bags, bag, painted))
    if show_graphs if show_graphs is not None else painted is None:
        _draw_graphs(ax, drawn, shown)
    if painted is None:
        _draw_outlines(ax, drawn)
    if painted is None or scores is not None:
        _draw_labels(ax, drawn, shown)
    ax.set_title(_title(shown), fontsize=10, parse_math=False)
    ax.set_axis_off()
    return ax


# -- layers ----------------------------------------------------------------------------------


def _draw_picture(ax: "Axes", drawn: Layout, shown: Shown, with_scale: bool, faded: bool) -> None:
    """The picture; under a heat map or a painting its brightness only, pale, so that their colours can be read."""
    if shown.contributions is None and not faded:
        ax.imshow(drawn.picture.pixels)
        return
    grey = 255 - PALE * (255 - drawn.picture.pixels.mean(axis=2))
    ax.imshow(grey, cmap="gray", vmin=0, vmax=255)
    if shown.contributions is None:
        return
    values = np.append(shown.contributions, np.nan)[drawn.superpixels.numbers]
    limit = max(float(np.abs(shown.contributions).max()), 1e-12)
    heat = ax.imshow(values, cmap=HEAT, vmin=-limit, vmax=limit, alpha=0.55, interpolation="nearest")
    if with_scale:
        ax.figure.colorbar(heat, ax=ax, shrink=0.7, label=f"contribution to {shown.label_name}")


def _draw_painting(ax: "Axes", drawn: Layout, names: Sequence[str] | NameArray | None, painted: IntArray) -> None:
    """Each superpixel in its label's colour, nothing where it has none, and what the colours mean."""
    from matplotlib.patches import Patch

    present = np.unique(painted[painted >= 0])
    colours = label_colours(int(painted.max(initial=0)) + 1) / 255
    of_node = np.column_stack([colours[painted], np.where(painted < 0, 0, OPACITY)])
    ax.imshow(np.vstack([of_node, np.zeros(4)])[drawn.superpixels.numbers], interpolation="nearest")
    if len(present):
        keys = [Patch(color=colours[k], label=str(k) if names is None else str(names[k])) for k in present]
        legend = ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)


def _draw_graphs(ax: "Axes", drawn: Layout, shown: Shown) -> None:
    from matplotlib.collections import LineCollection

    graphs = shown.bag.graphs
    once = graphs.edges[:, graphs.edges[0] < graphs.edges[1]]
    centres = drawn.nodes.centre[:, ::-1]  # x, y
    lines = list(centres[once.T])
    for colour, width in (("black", 1.6), ("white", 0.7)):  # to be seen on any ground
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=width, alpha=0.6), autolim=False)
    ax.scatter(centres[:, 0], centres[:, 1], s=8, color="white", edgecolors="black", linewidths=0.5, zorder=3)


def _draw_outlines(ax: "Axes", drawn: Layout) -> None:
    for number in range(len(drawn.superpixels.regions)):
        inside = np.pad((drawn.region_of_pixel == number).astype(float), 1)  # so that the outline closes at the border
        at = np.arange(-1, inside.shape[1] - 1), np.arange(-1, inside.shape[0] - 1)
        ax.contour(*at, inside, levels=[0.5], colors="black", linewidths=2.6)
        ax.contour(*at, inside, levels=[0.5], colors="#ffd92f", linewidths=1.4)
    height, width = drawn.picture.size
    ax.set(xlim=(-1.5, width + 0.5), ylim=(height + 0.5, -1.5))


def _draw_labels(ax: "Axes", drawn: Layout, shown: Shown) -> None:
    for number, (x, y) in enumerate(innermost(drawn.region_of_pixel, len(drawn.superpixels.regions))):
        text, colour = _verdict(shown, number)
        if not text:
            continue
        box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "white", "linewidth": 0.6, "alpha": 0.9}
        side = x / drawn.picture.size[1]  # near an edge the text goes inwards, so that it is not cut
        style: dict[str, Any] = {"ha": "left" if side < NEAR_EDGE else "right" if side > 1 - NEAR_EDGE else "center"}
        style |= {"va": "center", "color": "white", "fontsize": 8, "clip_on": True, "zorder": 4}
        ax.text(x, y, text, bbox=box, parse_math=False, **style)


# -- words -----------------------------------------------------------------------------------


def _verdict(shown: Shown, graph: int) -> tuple[str, str]:
    """What a region's label says, and the colour that says whether it is right."""
    one = shown.bag
    truth = shown.truth(graph)
    if shown.scores is None or one.label_names is None:
        return ("", UNKNOWN) if truth is None else (_names(one, truth), UNKNOWN)
    best = int(shown.scores[graph].argmax())
    words = str(one.label_names[best]) + ("" if shown.predicted(shown.scores[graph])[best] else "?")
    colour = shown.verdict(shown.scores[graph], truth)
    if colour == WRONG and truth is not None:
        words += f" ({_names(one, truth) or 'none'})"
    return words, colour


def _names(one: BagDataset, chosen: BoolArray) -> str:
    names = [] if one.label_names is None else one.label_names[chosen].tolist()
    return ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")


def _title(shown: Shown) -> str:
    one = shown.bag
    lines = ["" if one.bag_names is None else str(one.bag_names[0])]
    if shown.contributions is not None:
        lines[0] += f": what speaks for {shown.label_name}"
    if shown.scores is not None:
        lines.append(f"predicted: {_names(one, shown.predicted(shown.scores.max(axis=0))) or 'none'}")
    if one.Y is not None:
        lines.append(f"true: {_names(one, one.Y[0]) or 'none'}")
    return "\n".join(lines)

"""What every picture of a bag shares: the bag, its graphs' scores, its nodes' contributions to one label, colours."""

from typing import Any, NamedTuple

import numpy as np

from cfmgml.common.extras import missing_extra
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset

RIGHT, WRONG, UNKNOWN = "#1b7837", "#b2182b", "#555555"
HEAT = "RdBu_r"  # red speaks for the label, blue against it
NEUTRAL = "#e3e3e3"


class Shown(NamedTuple):
    """One bag, and what is to be said about it."""

    bag: BagDataset
    scores: FloatArray | None  # (n_graphs, n_labels)
    contributions: FloatArray | None  # (n_nodes,), to one label
    label: int | None
    thresholds: FloatArray | float = 0.0  # (n_labels,)

    @property
    def label_name(self) -> str:
        return "" if self.label is None or self.bag.label_names is None else str(self.bag.label_names[self.label])

    def predicted(self, scores: FloatArray) -> BoolArray:
        """Which labels a graph or a bag with these scores has, (n_labels,)."""
        return np.asarray(scores > self.thresholds)

    def verdict(self, scores: FloatArray, truth: BoolArray | None) -> str:
        return verdict_colour(scores, truth, self.thresholds)

    def truth(self, graph: int) -> BoolArray | None:
        return None if self.bag.graph_Y is None else self.bag.graph_Y[graph]

    def of_nodes(self, graph: int) -> FloatArray:
        """The contributions of one graph's nodes; without any, zeros."""
        nodes = slice(*self.bag.graphs.node_ptr[graph : graph + 2])
        return np.zeros(nodes.stop - nodes.start) if self.contributions is None else self.contributions[nodes]


def strongest(shown: Shown) -> float:
    return 0.0 if shown.contributions is None else float(np.abs(shown.contributions).max())


def heat_colour(value: float, strongest: float) -> Any:
    """Red for, blue against, pale where weak; grey without contributions."""
    if strongest == 0:
        return NEUTRAL
    from matplotlib import colormaps

    return colormaps[HEAT](0.5 + 0.33 * value / strongest)


def import_pyplot() -> Any:
    """matplotlib's pyplot, or an error that names the extra to install."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(missing_extra("plots need matplotlib", "plots")) from error
    return pyplot


def select_bag(
    bags: BagDataset,
    bag: int,
    scores: Any,
    contributions: Any,
    label: int | str | None,
    thresholds: FloatArray | None = None,
) -> Shown:
    """One bag's share of scores and contributions that were computed for all bags.

    The label is the one asked for, or else the bag's best by scores, or else the first of its own.
    """
    one = bags[bag]
    start = bags.bag_ptr[:-1][bag]
    if scores is not None:
        whole = _check(scores, (bags.n_graphs, bags.n_labels), "scores", "model.decision_function_graphs(bags)")
        scores = whole[start : start + one.n_graphs]
    column = _label_number(one, scores, label)
    if contributions is not None:
        whole = _check(contributions, (bags.graphs.n_nodes, bags.n_labels), "contributions", "model.explain(bags)")
        contributions = None if column is None else whole[_nodes_of_bag(bags, bag), column]
    return Shown(one, scores, contributions, column, 0.0 if thresholds is None else thresholds)


def painted_nodes(bags: BagDataset, bag: int, painted: ArrayLike) -> IntArray:
    """One bag's share of the labels of all nodes."""
    labels = np.asarray(painted)
    if labels.shape != (bags.graphs.n_nodes,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"painted must be whole numbers of shape ({bags.graphs.n_nodes},), as model.paint(bags) gives them, got "
            f"{labels.dtype} of shape {labels.shape}."
        )
    return labels[_nodes_of_bag(bags, bag)]


def verdict_colour(scores: FloatArray, truth: BoolArray | None, thresholds: FloatArray | float = 0.0) -> str:
    """Green if the best label is true, red if another one is, or if one is predicted and none is true; else grey.

    >>> scores = np.array([0.3, -0.2])
    >>> [verdict_colour(scores, np.array(truth)) == WRONG for truth in ([True, False], [False, True], [False, False])]
    [False, True, True]
    """
    if truth is None:
        return UNKNOWN
    if truth.any():
        return RIGHT if truth[scores.argmax()] else WRONG
    return WRONG if (scores > thresholds).any() else UNKNOWN


def _nodes_of_bag(bags: BagDataset, bag: int) -> slice:
    """Where a bag's nodes stand among all."""
    first, last = bags.bag_ptr[:-1][bag], bags.bag_ptr[1:][bag]
    return slice(*bags.graphs.node_ptr[[first, last]].tolist())


def _check(values: Any, shape: tuple[int, int], name: str, source: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, as {source} has, got {array.shape}.")
    return array


def _label_number(one: BagDataset, scores: FloatArray | None, label: int | str | None) -> int | None:
    names = [] if one.label_names is None else one.label_names.tolist()
    if isinstance(label, str):
        if label not in names:
            raise ValueError(f"label must be one of {', '.join(names)}, got {label!r}.")
        return names.index(label)
    if label is not None:
        if not 0 <= label < len(names):
            raise ValueError(f"label must be a name, or a number from 0 to {len(names) - 1}, got {label}.")
        return int(label)
    if scores is not None and names:
        return int(scores.max(axis=0).argmax())
    return int(one.Y[0].argmax()) if one.Y is not None and one.Y.any() else None

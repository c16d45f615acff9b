"""A model's predictions as rows of a table, at any of the three levels."""

from typing import Any

import numpy as np

from cfmgml.common.segments import segment_ids, segment_max
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.model.cfmgml import CfMGML

LEVELS = ("bag", "graph", "node")


def prediction_rows(model: CfMGML, bags: BagDataset, level: str = "bag") -> list[dict[str, Any]]:
    """One row a bag, graph or node.

    Rows of bags and graphs have ``labels`` (those that score above 0), ``best`` (the label that scores most),
    ``score:LABEL``, and with a calibrated model ``probability:LABEL``. Rows of nodes have ``adds:LABEL``, what the node
    adds to its graph's score.
    """
    check_level(model, level)
    if level == "node":
        return _node_rows(model, bags)
    scores = model.decision_function_graphs(bags)
    chances = None if model.calibration_ is None else model.calibration_.graphs(scores)
    names: list[dict[str, str]] = _graph_names(bags)
    if level == "bag":
        chances = None if model.calibration_ is None else model.calibration_.bags(scores, bags.bag_ptr)
        scores, names = segment_max(scores, bags.bag_ptr), [{"bag": name} for name in _bag_names(bags)]
    return [
        {**name, **_labels(model, row), **_columns(model, "score", row), **_columns(model, "probability", chance)}
        for name, row, chance in zip(names, scores, [None] * len(names) if chances is None else chances, strict=True)
    ]


def check_level(model: CfMGML, level: str) -> None:
    """Raise unless a model has predictions at this level."""
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}.")
    if level == "node" and not model.kernel_.is_additive:
        raise ValueError(f"{model.kernel_!r} is not a sum over nodes: its scores have no level node.")


def prediction_columns(model: CfMGML, level: str) -> list[str]:
    """The names in each of these rows, in their order."""
    names = list(LEVELS[: LEVELS.index(level) + 1])
    zeros = np.zeros(len(model.label_names_))
    if level == "node":
        return [*names, *_columns(model, "adds", zeros)]
    chances = None if model.calibration_ is None else zeros
    return [*names, *_labels(model, zeros), *_columns(model, "score", zeros), *_columns(model, "probability", chances)]


def _node_rows(model: CfMGML, bags: BagDataset) -> list[dict[str, Any]]:
    graphs, names = bags.graphs, _graph_names(bags)
    inside = np.arange(graphs.n_nodes) - graphs.node_ptr[segment_ids(graphs.node_ptr)]
    nodes = (inside.astype(np.str_) if graphs.node_names is None else graphs.node_names).tolist()
    of_graph = segment_ids(graphs.node_ptr).tolist()
    return [
        {**names[graph], "node": node, **_columns(model, "adds", row)}
        for graph, node, row in zip(of_graph, nodes, model.explain(bags), strict=True)
    ]


def _labels(model: CfMGML, scores: FloatArray) -> dict[str, Any]:
    names = model.label_names_
    return {"labels": names[scores > 0].tolist(), "best": str(names[int(scores.argmax())])}


def _columns(model: CfMGML, prefix: str, values: FloatArray | None) -> dict[str, float]:
    if values is None:
        return {}
    return {f"{prefix}:{name}": value for name, value in zip(model.label_names_.tolist(), values.tolist(), strict=True)}


def _bag_names(bags: BagDataset) -> list[str]:
    return [str(k) for k in range(bags.n_bags)] if bags.bag_names is None else bags.bag_names.tolist()


def _graph_names(bags: BagDataset) -> list[dict[str, str]]:
    names = _bag_names(bags)
    of_bag = [names[k] for k in bags.bag_ids.tolist()]
    inside = np.arange(bags.n_graphs) - bags.bag_ptr[bags.bag_ids]
    graphs = inside.astype(np.str_) if bags.graph_names is None else bags.graph_names
    return [{"bag": bag, "graph": graph} for bag, graph in zip(of_bag, graphs.tolist(), strict=True)]

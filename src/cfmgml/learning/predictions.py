"""A model's predictions as columns of a table: the same ones in every format, of a file of bags and of a store.

===================  ======  ===============  ============================================================
column               level   type             what it says
===================  ======  ===============  ============================================================
``bag``              all     string           the bag's name, or its number, from 0, where bags have none
``graph``            g, n    string           the graph's name, or its number in its bag
``node``             n       string           the node's name, or its number in its graph
``text``             g       string           the text that the graph was built from, where bags have it
``labels``           b, g    list of strings  the predicted labels, in the model's order: scores above ``thresholds_``
``best``             b, g    string           the label with the largest score
``words``            g       list of strings  beside a text: the words, and pairs of them, that add most to the best
``score:LABEL``      b, g    double           a bag's score is its best graph's
``probability:...``  b, g    double           of a model trained with probabilities
``adds:LABEL``       n       double           what the node adds to its graph's score (`CfMGML.explain`)
===================  ======  ===============  ============================================================

Columns stand in this order, those of labels in the model's order. CSV and TSV have ``;`` between the words of a list.
"""

from typing import Protocol

import numpy as np

from cfmgml.common.segments import segment_ids, segment_max
from cfmgml.common.tables import Column, Row, Table
from cfmgml.common.typing import FloatArray, IntArray, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.kernels.base import Kernel
from cfmgml.learning.calibration import Calibration
from cfmgml.learning.deciding import deciding_words

LEVELS = ("bag", "graph", "node")


class Predictor(Protocol):
    """What predictions are asked of: a fitted `CfMGML`."""

    @property
    def label_names_(self) -> NameArray: ...
    @property
    def kernel_(self) -> Kernel: ...
    @property
    def calibration_(self) -> Calibration | None: ...
    @property
    def thresholds_(self) -> FloatArray: ...
    def decision_function_graphs(self, X: BagDataset, /) -> FloatArray: ...
    def explain(self, X: BagDataset, /) -> FloatArray: ...


def prediction_rows(model: Predictor, bags: BagDataset, level: str = "bag") -> list[Row]:
    """One row a bag, graph or node, as `prediction_table` has it.

    >>> from cfmgml import CfMGML
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=20)
    >>> list(prediction_rows(CfMGML().fit(bags), bags, "graph")[0])[:5]
    ['bag', 'graph', 'labels', 'best', 'score:0']
    """
    return list(prediction_table(model, bags, level).rows())


def prediction_table(
    model: Predictor, bags: BagDataset, level: str, first_bag: int = 0, scores: FloatArray | None = None
) -> Table:
    """The predictions at one level; ``first_bag`` is the first bag's number, ``scores`` their graphs', if known."""
    check_level(model, level)
    columns = _names(bags, level, first_bag)
    if level == "node":
        columns |= _numbers(model, "adds", model.explain(bags))
    else:
        scores, calibration = model.decision_function_graphs(bags) if scores is None else scores, model.calibration_
        best = scores if level == "graph" else segment_max(scores, bags.bag_ptr)
        shown = bags.graph_texts if level == "graph" else None
        if shown is not None:
            columns["text"] = shown.tolist()
        columns["labels"] = [model.label_names_[row].tolist() for row in best > model.thresholds_]
        columns["best"] = model.label_names_[best.argmax(axis=1)].tolist()
        if shown is not None:
            columns["words"] = _words(model, bags, best.argmax(axis=1))
        columns |= _numbers(model, "score", best)
        if calibration is not None:
            chances = calibration.graphs(scores) if level == "graph" else calibration.bags(scores, bags.bag_ptr)
            columns |= _numbers(model, "probability", chances)
    return Table(prediction_kinds(model, level, bags.graph_texts is not None), columns)


def _words(model: Predictor, bags: BagDataset, best: IntArray) -> list[list[str]]:
    if not model.kernel_.is_additive:
        return [[] for _ in range(bags.n_graphs)]
    return deciding_words(bags.graphs, model.explain(bags), best)


def prediction_kinds(model: Predictor, level: str, texts: bool = False) -> dict[str, type]:
    """The names of the columns in their order, and what they hold; ``texts``: whether bags have them."""
    kinds: dict[str, type] = dict.fromkeys(LEVELS[: LEVELS.index(level) + 1], str)
    if level != "node":
        shown = texts and level == "graph"
        kinds |= {**({"text": str} if shown else {}), "labels": list, "best": str, **({"words": list} if shown else {})}
    numbers = ["adds"] if level == "node" else ["score"] if model.calibration_ is None else ["score", "probability"]
    return kinds | {f"{number}:{name}": float for number in numbers for name in model.label_names_.tolist()}


def check_level(model: Predictor, level: str) -> None:
    """Raise unless a model has predictions at this level."""
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}.")
    if level == "node" and not model.kernel_.is_additive:
        raise ValueError(f"{model.kernel_!r} is not a sum over nodes: its scores have no level node.")


def _numbers(model: Predictor, what: str, values: FloatArray) -> dict[str, Column]:
    values = values.astype(np.float64, copy=False)
    return {f"{what}:{name}": values[:, c] for c, name in enumerate(model.label_names_.tolist())}


def _names(bags: BagDataset, level: str, first_bag: int) -> dict[str, Column]:
    """Which bag, graph and node each row is of."""
    names = {"bag": _named(bags.bag_names, np.array([0, bags.n_bags]), first_bag)}
    if level != "bag":
        names["bag"] = [names["bag"][bag] for bag in bags.bag_ids.tolist()]
        names["graph"] = _named(bags.graph_names, bags.bag_ptr)
    if level == "node":
        of_node = segment_ids(bags.graphs.node_ptr).tolist()
        names = {name: [values[graph] for graph in of_node] for name, values in names.items()}
        names["node"] = _named(bags.graphs.node_names, bags.graphs.node_ptr)
    return {**names}


def _named(names: NameArray | None, ptr: IntArray, first: int = 0) -> list[str]:
    """Names, or else numbers in each segment."""
    if names is None:
        names = (np.arange(ptr[-1]) - ptr[segment_ids(ptr)] + first).astype(np.str_)
    return [str(name) for name in names.tolist()]

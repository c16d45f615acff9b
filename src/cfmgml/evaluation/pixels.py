"""Paintings measured in pixels, fold by fold: who paints is trained on the labels of bags, and tested on masks.

Masks are seen by nobody but the measure. Counts of all test pictures are added up before anything is divided: one
confusion matrix over all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from cfmgml.baselines.method import Method
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.evaluation.comparison import method_title, number
from cfmgml.evaluation.data_sets import DataSet
from cfmgml.evaluation.folds import Fold, FoldPlan, make_folds
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.pixel_truth import PixelTruth
from cfmgml.evaluation.rows import KEY, ResultStore, Row, row_key
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, TableCell, TableRow
from cfmgml.kernels import Kernel
from cfmgml.metrics import pixel_measures
from cfmgml.model.cfmgml import CfMGML

HOW = ("predicted", "given")  # which labels a painting is made with
TITLES = {"pixel_accuracy": "pixel accuracy ↑", "mean_iou": "mean IoU ↑", "class_accuracy": "class accuracy ↑"}


class Painter(Protocol):
    """A fitted estimator that has a label for every node, among those that it predicts for a bag or that are given."""

    def paint(self, X: BagDataset, given: bool = False) -> IntArray: ...


class FoldCounts(NamedTuple):
    """What a painter got right in the test bags of one fold: `PixelTruth.counts` by how it was painted."""

    fold: int
    counts: dict[str, IntArray]


def paint_folds(
    fit: Callable[[BagDataset], Painter], bags: BagDataset, truth: PixelTruth, folds: Iterable[Fold]
) -> Iterator[FoldCounts]:
    """Fit on the training bags of each fold, and measure how its test bags are painted.

    >>> from cfmgml import CfMGML
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=8, random_state=0)
    >>> digit = bags.graph_Y.argmax(axis=1).repeat(np.diff(bags.graphs.node_ptr))  # as if each node were a pixel
    >>> node_ptr = bags.graphs.node_ptr[bags.bag_ptr]
    >>> truth = PixelTruth(np.eye(10, dtype=int)[digit], np.zeros((8, 10), dtype=int), node_ptr, n_labels=10)
    >>> folds = make_folds(bags, FoldPlan(n_folds=2, n_inner=0))
    >>> parts = list(paint_folds(CfMGML().fit, bags, truth, folds))
    >>> int(sum(part.counts["given"][0].sum() for part in parts)) == bags.graphs.n_nodes
    True
    """
    for fold in folds:
        model, test = fit(bags[fold.train]), bags[fold.test]
        own = truth[fold.test]
        yield FoldCounts(fold.outer, {how: own.counts(model.paint(test, given=how == "given")) for how in HOW})


# -- through an experiment -------------------------------------------------------------------


def paints(method: Method) -> bool:
    """Whether a method has a label for every node of the bags as they are."""
    return hasattr(method.estimator, "paint") and method.takes in ("features", "kernel", "graphs")


def measure_pixels(
    results: Results,
    data: DataSet,
    truth: PixelTruth,
    store: ResultStore,
    n_jobs: int | None = None,
    on_fold: Callable[[str], None] = lambda words: None,
) -> list[Row]:
    """A row for every fold of every method that paints, with the settings that were chosen inside that fold.

    Rows that are in the store are taken from there. Models are trained again: those of the experiment compare graphs
    by a matrix, and a matrix knows no nodes.
    """
    bags, of_truth, rows = data.load(None), truth.digest()[:16], []
    with store.writing() as append:
        there = {row_key(row): row for row in store.rows()}
        for method in [METHODS[key] for key in results.methods if paints(METHODS[key])]:
            for chosen in results.chosen(data.key, method.key, "bag"):
                head = {name: chosen[name] for name in KEY} | {"fingerprint": f"{chosen['fingerprint']}-{of_truth}"}
                if row_key(head) not in there:
                    on_fold(f"{method.title}: painting fold {chosen['fold'] + 1} of {chosen['n_folds']}")
                    counts = _measure(method, chosen, data.kernel, bags, truth, n_jobs)
                    there[row_key(head)] = {**head, **counts}
                    append([there[row_key(head)]])
                rows.append(there[row_key(head)])
    return rows


def _measure(
    method: Method, chosen: Row, kernel: Kernel, bags: BagDataset, truth: PixelTruth, n_jobs: int | None
) -> Row:
    plan = FoldPlan(chosen["scheme"], chosen["n_folds"], 0, chosen["seed"])
    model = method.make(kernel, plan.seed, **chosen["params"])
    if isinstance(model, CfMGML):
        model.set_params(n_jobs=n_jobs)
    fold = make_folds(bags, plan)[chosen["fold"]]
    (measured,) = paint_folds(cast(Callable[[BagDataset], Painter], model.fit), bags, truth, [fold])
    return {f"pixels.{how}": counts.tolist() for how, counts in measured.counts.items()}


def pixel_table(results: Results, data: str, rows: Sequence[Row], truth: PixelTruth) -> Table:
    """A row a method, from the counts of all its folds together; and the best that superpixels can do."""
    lines = [_table_row(method_title(key), _totals(rows, key)) for key in results.methods if _totals(rows, key)]
    best = truth.counts(truth.best())
    lines.append(_table_row("best possible with these superpixels", dict.fromkeys(HOW, best)))
    classes = f"{truth.n_labels} labels" + (" and background" if truth.n_classes > truth.n_labels else "")
    fact = results.facts[data]
    return Table(
        "pixels",
        f"{fact['title']}, pixels: one confusion matrix over the test pictures of {fact['protocol']['n_folds']} folds",
        (*TITLES.values(), *(f"{title}, labels given" for title in TITLES.values())),
        tuple(lines),
        notes=(f"{int(best[0].sum()):,} pixels, {classes}. Masks were seen by the measure only.",),
        corner="method",
    )


def _totals(rows: Sequence[Row], method: str) -> dict[str, IntArray]:
    """The counts of all folds of a method; nothing if it has none."""
    own = [row for row in rows if row["method"] == method]
    return {how: np.sum([row[f"pixels.{how}"] for row in own], axis=0) for how in HOW} if own else {}


def _table_row(title: str, counts: dict[str, IntArray]) -> TableRow:
    reports = [pixel_measures(counts[how]) for how in HOW]
    return TableRow(title, tuple(TableCell(number(report[key])) for report in reports for key in TITLES))

"""The demo: handwritten digits learned from the labels of bags, and what every method makes of new ones.

`run_demo` computes and returns plain results; `cfmgml.demo.page` draws them, the command line prints them.

One Gram matrix serves all methods, and it is over the different digits only: bags draw digits with replacement, so half
of the 2,811 graphs of the default size are copies. Every graph's ``graph_ids`` is the row of its digit in the matrix,
where `Precomputed` looks it up.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from cfmgml.baselines import HLK, Dummy, SgslSVM
from cfmgml.builders.digits import digit_pictures
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.datasets import load_digit_bags
from cfmgml.evaluation.measures import Measure, find_measure, measures_of
from cfmgml.kernels import Kernel, NodeSum, Precomputed
from cfmgml.kernels.gram import gram_matrix
from cfmgml.learning.annotation import annotate
from cfmgml.learning.estimator import BagEstimator
from cfmgml.metrics import bag_report, graph_report
from cfmgml.model.cfmgml import CfMGML

# Chosen on training digits alone, by `benchmarks/digit_settings.py`: for alpha the best average precision of bags,
# for C, which may see graph labels, the best accuracy of graphs. docs/defaults.md has the table.
ALPHA_CCCP = 1e-4
ALPHA_PAPER = 5e-4
ALPHA_HLK = 2e-5
SVM_C = 10.0

N_FIRST, N_MISTAKEN, N_TRAINING = 6, 6, 3  # bags to show
BAG_KEYS = ("average_precision", "macro_f1", "one_error", "ranking_loss", "hamming_loss", "coverage")
MEASURES = (
    *(find_measure("bag", key) for key in BAG_KEYS),
    *(m._replace(title=m.title.removeprefix("graph ")) for m in measures_of("graph") if m.key != "new_accuracy"),
    Measure("graph", "hamming_loss", "Hamming loss", False),
)


@dataclass(frozen=True)
class MethodResult:
    """What one method reached on the test bags."""

    name: str
    about: str
    sees_graph_labels: bool
    values: dict[tuple[str, str], float]  # by level and key of a `Measure`
    objective: tuple[float, ...]  # a value a round; empty for methods without one
    seconds: float

    def format(self, measure: Measure) -> str:
        """A value as tables print it, without the zero before the point."""
        return f"{self.values[measure.level, measure.key]:.3f}".removeprefix("0")


@dataclass(frozen=True)
class ShownDigit:
    """A graph, its best label, and what each of its nodes adds to that label's score."""

    ink: FloatArray  # (8, 8), NaN where there is no node
    contributions: FloatArray  # (8, 8), NaN where there is no node
    truth: str
    predicted: str
    score: float

    @property
    def right(self) -> bool:
        return self.predicted == self.truth


@dataclass(frozen=True)
class ShownBag:
    """A bag with its digits; ``predicted`` is the union of the labels that its graphs score above 0."""

    name: str
    digits: tuple[ShownDigit, ...]
    truth: tuple[str, ...]
    predicted: tuple[str, ...]


@dataclass(frozen=True)
class DemoResult:
    """All that the table and the page say."""

    methods: tuple[MethodResult, ...]
    training: tuple[ShownBag, ...]
    first: tuple[ShownBag, ...]
    mistaken: tuple[ShownBag, ...]  # the next bags in which a digit is wrong
    n_train: int
    n_test: int
    n_digits: int
    n_wrong_digits: int
    n_bags_with_wrong_digit: int
    n_bags_with_wrong_labels: int
    seed: int
    seconds: float

    def method(self, name: str) -> MethodResult:
        return next(method for method in self.methods if method.name == name)


def run_demo(
    n_train: int = 600, n_test: int = 200, seed: int = 0, on_stage: Callable[[str], None] = lambda stage: None
) -> DemoResult:
    """Train all methods on ``n_train`` bags, measure them on ``n_test``, and choose bags to show.

    Parameters
    ----------
    n_train, n_test
        Bags; training and test bags draw from different digits.
    seed
        Of the bags, and of the paper's algorithm.
    on_stage
        Called with a few words at the start of each part.

    Examples
    --------
    >>> result = run_demo(n_train=40, n_test=10)
    >>> [method.name for method in result.methods]
    ['CfMGML', 'CfMGML paper', 'HLK', 'Dummy', 'SVM']
    """
    start = perf_counter()
    on_stage("Comparing digits (Gram matrix)")
    train, test, kernel, K = prepare(n_train, n_test, seed)
    looked_up = Precomputed(K)
    model = CfMGML(looked_up, alpha=ALPHA_CCCP)
    paper = CfMGML(looked_up, alpha=ALPHA_PAPER, solver="paper", random_state=seed)
    compared: dict[str, tuple[str, BagEstimator]] = {
        "CfMGML": ("the default solver, cccp", model),
        "CfMGML paper": ("the paper's Algorithm 1, corrected", paper),
        "HLK": ("without the comparison of labels with each other", HLK(looked_up, alpha=ALPHA_HLK)),
        "Dummy": ("the most frequent label", Dummy()),
        "SVM": ("told the label of every training digit", SgslSVM(looked_up, C=SVM_C)),
    }
    methods = []
    for name, (about, estimator) in compared.items():
        on_stage(f"Training {name}")
        methods.append(measure_method(name, about, estimator, train, test))
    on_stage("Splitting scores among nodes")
    assert test.graph_Y is not None
    wrong = ~test.graph_Y[np.arange(test.n_graphs), model.decision_function_graphs(test).argmax(axis=1)]
    with_wrong = np.unique(test.bag_ids[wrong])
    mistaken = with_wrong[with_wrong >= N_FIRST][:N_MISTAKEN]
    return DemoResult(
        methods=tuple(methods),
        training=_show(model, kernel, train[:N_TRAINING]),
        first=_show(model, kernel, test[:N_FIRST]),
        mistaken=_show(model, kernel, test[mistaken]) if len(mistaken) else (),
        n_train=n_train,
        n_test=n_test,
        n_digits=test.n_graphs,
        n_wrong_digits=int(wrong.sum()),
        n_bags_with_wrong_digit=len(with_wrong),
        n_bags_with_wrong_labels=int((model.predict(test) != test.Y).any(axis=1).sum()),
        seed=seed,
        seconds=perf_counter() - start,
    )


def prepare(n_train: int, n_test: int, seed: int) -> tuple[BagDataset, BagDataset, Kernel, FloatArray]:
    """Training and test bags, the kernel, and its matrix over the different digits, whose rows are ``graph_ids``."""
    return share_gram(load_digit_bags("train", n_train, seed), load_digit_bags("test", n_test, seed))


def share_gram(train: BagDataset, test: BagDataset) -> tuple[BagDataset, BagDataset, Kernel, FloatArray]:
    """The same bags, the kernel, and its matrix over their different digits, whose rows are ``graph_ids``."""
    kernel = NodeSum().resolve(train.graphs)
    both = BagDataset.concatenate([train, test])
    assert both.graph_names is not None
    _, first, row = np.unique(both.graph_names, return_index=True, return_inverse=True)
    K = gram_matrix(kernel, both.graphs[first], n_jobs=-1)
    both = replace(both, graphs=replace(both.graphs, graph_ids=row))
    return both[: train.n_bags], both[train.n_bags :], kernel, K


def measure_method(name: str, about: str, model: BagEstimator, train: BagDataset, test: BagDataset) -> MethodResult:
    """Fit on training bags and measure on test bags."""
    start = perf_counter()
    with threadpool_limits(limits=1):  # its matrices are narrow: a second thread waits more than it works
        model.fit(train)
    seconds = perf_counter() - start
    assert test.Y is not None
    assert test.graph_Y is not None
    scores = model.decision_function_graphs(test)
    by_level = {"bag": bag_report(test.Y, model.decision_function(test)), "graph": graph_report(test.graph_Y, scores)}
    annotated = annotate(scores, test.bag_ptr, test.Y)
    by_level["graph"]["annotated"] = float((annotated & test.graph_Y).any(axis=1).mean())
    return MethodResult(
        name=name,
        about=about,
        sees_graph_labels=isinstance(model, SgslSVM),
        values={(measure.level, measure.key): by_level[measure.level][measure.key] for measure in MEASURES},
        objective=tuple(float(value) for value in getattr(model, "objective_", ())),
        seconds=seconds,
    )


def node_contributions(model: CfMGML, kernel: Kernel, graphs: GraphBatch) -> FloatArray:
    """What each node adds to the scores of a model trained on ``kernel``'s matrix, (n_nodes, n_labels).

    A matrix knows no nodes, so the model's own `explain` refuses; its coefficients with the kernel behind the matrix
    are the same scores, and that kernel is a sum over nodes.
    """
    return replace(model.scorer_, kernel=kernel).node_scores(graphs)


def _show(model: CfMGML, kernel: Kernel, bags: BagDataset) -> tuple[ShownBag, ...]:
    names = model.label_names_
    scores = model.decision_function_graphs(bags)
    best = scores.argmax(axis=1)
    node_scores = node_contributions(model, kernel, bags.graphs)
    of_best = node_scores[np.arange(len(node_scores)), best[segment_ids(bags.graphs.node_ptr)]]
    ink, heat = digit_pictures(bags.graphs), digit_pictures(bags.graphs, of_best)
    assert bags.graph_Y is not None
    assert bags.bag_names is not None
    digits = [
        ShownDigit(ink[k], heat[k], str(names[own.argmax()]), str(names[best[k]]), float(scores[k, best[k]]))
        for k, own in enumerate(bags.graph_Y)
    ]
    return tuple(
        ShownBag(str(name), tuple(digits[start:stop]), tuple(truth), tuple(names[predicted].tolist()))
        for name, start, stop, truth, predicted in zip(
            bags.bag_names, bags.bag_ptr[:-1], bags.bag_ptr[1:], bags.label_sets(), model.predict(bags), strict=True
        )
    )


def best_methods(result: DemoResult, measure: Measure) -> set[str]:
    """Names of the methods that reach the best value, as it is printed, without seeing graph labels."""
    values = {method.name: float(method.format(measure)) for method in result.methods if not method.sees_graph_labels}
    best = (max if measure.higher_is_better else min)(values.values())
    return {name for name, value in values.items() if value == best}

"""Choosing a kernel by name, or by inner cross-validation, and a way to learn and alpha by inner cross-validation.

`CfMGMLCV` is the model that does so by itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from cfmgml.common.memory import check_pairwise_size
from cfmgml.common.progress import progress
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import NAMED_KERNELS, Kernel, NodeSum, Precomputed, SumKernel, WeisfeilerLehman, choose_kernel
from cfmgml.kernels.approximation import AUTO, settle_rank
from cfmgml.kernels.function import KernelLike
from cfmgml.kernels.gram import compute_gram
from cfmgml.learning.estimator import BagEstimator, check_targets, label_names_of, unchanged_on_error
from cfmgml.learning.thresholds import COUNTS, ZERO, f1_by_thresholds, thresholds_by_counts
from cfmgml.learning.training import Training
from cfmgml.learning.ways import ONCE, Way, ways
from cfmgml.metrics import bag_report
from cfmgml.model.cfmgml import CfMGML

__all__ = [
    "AlphaChoice", "CfMGMLCV", "Choice", "candidate_kernels", "choose_alpha", "choose_kernel_and_alpha", "choose_way",
    "fit_as_chosen", "kernel_named",
]  # fmt: skip

ALPHAS = ONCE
KERNEL_GRAPHS = 3000  # that kernels are chosen on: what it takes is bounded, however many there are


def kernel_named(
    name: str,
    bags: BagDataset,
    *,
    gamma: float | None = None,
    n_iter: int | None = None,
    edge_labels: bool | str | None = None,
) -> Kernel:
    """A kernel that suits these bags, by a short name.

    Parameters
    ----------
    name
        ``"nodes"`` (`NodeSum`), ``"hopper"`` (`GraphHopper`), ``"both"`` (their sum), ``"wl"`` (`WeisfeilerLehman`),
        ``"minmax"`` (`MinMaxWL`), or ``"auto"``: nodes where there are attributes, wl where there are labels, their sum
        for both. Others are registered in `cfmgml.kernels`.
    bags
        What will be learned from: nodes with attributes are compared by the rbf kernel, others by their labels; for
        texts, wl weighs words by tf-idf.
    gamma
        Of the rbf kernel; by default the builder's (``bags.builder.gamma``), or the kernel's own choice.
    n_iter
        Refinements of wl and minmax; by default 0 for texts whose pairs of words are nodes, 1 for other texts, else 5.
    edge_labels
        Whether wl and minmax compare them: False (the default), True or ``"directed"``.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> kernel_named("both", load_digit_bags(n_bags=2), gamma=1.0)
    SumKernel(kernels=[GraphHopper(gamma=1.0), NodeSum(gamma=1.0)])
    """
    if name not in NAMED_KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(NAMED_KERNELS)}, got {name!r}.")
    return NAMED_KERNELS[name](bags.graphs, _settings(bags, gamma=gamma, n_iter=n_iter, edge_labels=edge_labels))


def _settings(bags: BagDataset, **given: object) -> dict[str, object]:
    """Parameters of kernels, by name: what suits the builder, and before that what was given."""
    builder = known_builder(bags.builder)
    settings: dict[str, object] = dict(builder.suited_kernel)
    return settings | _there({"gamma": builder.gamma}) | _there(given)


def _there(given: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True)
class AlphaChoice:
    """The alpha chosen, and the mean average precision of held-out bags with each that was tried.

    ``macro_f1`` is that of held-out bags with the alpha chosen, with thresholds of 0 and with those by counts;
    ``thresholds`` are the latter, from all held-out bags, if they are better: `CfMGML` takes them as they are.

    >>> print(AlphaChoice(0.01, {0.1: 0.8, 0.01: 0.9}))
    alpha 0.01 (average precision of held-out bags by alpha: 0.1: 0.8000, 0.01: 0.9000)
    """

    alpha: float
    scores: dict[float, float]
    macro_f1: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] | None = None

    def __str__(self) -> str:
        tried = ", ".join(f"{alpha:g}: {score:.4f}" for alpha, score in self.scores.items())
        return f"alpha {self.alpha:g} (average precision of held-out bags by alpha: {tried})"


def choose_alpha(
    model: CfMGML,
    bags: BagDataset,
    alphas: Sequence[float] = ALPHAS,
    *,
    n_folds: int = 3,
    n_measured: int | None = None,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> AlphaChoice:
    """Choose alpha by cross-validation over bags, by average precision at bag level; ties go to the larger.

    A kernel without explicit features has its Gram matrix computed once, on ``model.device``, over all bags, and shared
    by all fits: its default gamma then comes from all graphs, held-out ones included, but never from their labels.

    Parameters
    ----------
    model
        A `CfMGML` to take all other parameters from; it is not fitted.
    bags
        With labels. Bags whose labels are not all known are learned from, but not measured on.
    alphas
        To choose from.
    n_folds, random_state
        Of the folds, which are drawn at random.
    n_measured
        On how many of the folds is measured, the first ones; None for all.
    on_fold
        Called after each of the folds.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> choose_alpha(CfMGML(), load_digit_bags(n_bags=40), alphas=[1.0, 1e-4]).alpha
    0.0001
    """
    from sklearn.model_selection import KFold  # slow to import, and seldom needed

    if not alphas:
        raise ValueError("alphas must hold at least one value.")
    folds = min(n_folds, bags.n_bags)
    if folds < 2:
        raise ValueError(f"choosing alpha needs at least two bags, got {bags.n_bags}: give alpha a number.")
    numbered = replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))
    kernel = _shared(choose_kernel(model.kernel, bags.graphs), numbered.graphs, model)
    one = clone(model).set_params(kernel=kernel, probability=False, thresholds=ZERO, verbose=False)
    tried = sorted(map(float, alphas), reverse=True)
    labels, known = check_targets(bags, None)
    measured, held_out = [], list[HeldOut]()
    splits = KFold(folds, shuffle=True, random_state=random_state).split(np.zeros(bags.n_bags))
    for train, test in islice(splits, n_measured):
        whole = known[test].all(axis=1)
        if whole.any():
            found = [fitted.decision_function(numbered[test]) for fitted in one.fit_path(numbered[train], tried)]
            truth = labels[test][whole]
            measured.append([bag_report(truth, scores[whole])["average_precision"] for scores in found])
            held_out.append((test, found))
        on_fold()
    if not measured:
        raise ValueError("choosing alpha needs bags whose labels are all known, and there is none; give it a number.")
    scores = dict(zip(tried, np.mean(measured, axis=0).tolist(), strict=True))
    alpha = max(scores, key=lambda alpha: scores[alpha])  # the first of equals: the largest
    judged = _judged_thresholds(held_out, tried.index(alpha), labels, known, label_names_of(bags, labels).tolist())
    return AlphaChoice(alpha, scores, *judged)


def fit_as_chosen(model: CfMGML, bags: BagDataset, choice: AlphaChoice) -> CfMGML:
    """A model like this one, fitted with the alpha chosen, as it was tried: down the path from the largest alpha.

    Begun at a small alpha the solver may end in a worse place: with deep nodes of MSRC v2 and alpha 1e-5 the objective
    was .0187 instead of .0073.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=40)
    >>> fit_as_chosen(CfMGML(), bags, choose_alpha(CfMGML(), bags, alphas=[1.0, 1e-4])).alpha
    0.0001
    """
    return model.fit_path(bags, [alpha for alpha in choice.scores if alpha >= choice.alpha])[-1]


HeldOut = tuple[IntArray, list[FloatArray]]  # the bags of a fold, and their scores with each alpha


def _judged_thresholds(
    held_out: list[HeldOut], number: int, labels: BoolArray, known: BoolArray, names: list[str]
) -> tuple[dict[str, float], dict[str, float] | None]:
    """Macro-F1 with and without thresholds by counts, and those if they are better, with one of the alphas."""
    rows = np.concatenate([test for test, _ in held_out])
    fold = np.repeat(np.arange(len(held_out)), [len(test) for test, _ in held_out])
    scores = np.concatenate([found[number] for _, found in held_out])
    if len(held_out) < 2:  # none to judge the thresholds of another by
        return {}, None
    f1 = f1_by_thresholds(scores, labels[rows], known[rows], fold)
    if f1[COUNTS] <= f1[ZERO]:
        return f1, None
    return f1, dict(zip(names, thresholds_by_counts(scores, labels[rows], known[rows]).tolist(), strict=True))


def _shared(kernel: Kernel, graphs: GraphBatch, model: CfMGML) -> Kernel:
    """The kernel with explicit features, its own or those that ``rank="auto"`` takes, else a matrix of its values."""
    training = Training.of(model)
    settled = settle_rank(kernel.resolve(graphs), graphs, training.rank, training.compute).kernel
    if settled.is_explicit:
        return kernel if kernel.is_explicit else clone(settled)
    check_pairwise_size("choosing alpha", graphs.n_graphs, "graphs", 2, "give alpha a number")
    return Precomputed(compute_gram(settled, graphs, training.compute))


# -- the kernel itself -----------------------------------------------------------------------


def candidate_kernels(
    bags: BagDataset,
    *,
    gamma: float | None = None,
    n_iter: int | None = None,
    edge_labels: bool | str | None = None,
) -> dict[str, Kernel]:
    """The kernels that ``cfmgml train --kernel auto`` tries, by name: whichever of these the graphs have enough for.

    Nodes by their attributes (`NodeSum`), labels and neighbourhoods (`WeisfeilerLehman`, with edge labels where there
    are some, unless ``edge_labels`` is False), and their sum. The parameters are those of `kernel_named`.

    >>> from cfmgml.datasets import load_digit_bags
    >>> list(candidate_kernels(load_digit_bags(n_bags=2)))
    ['nodes', 'wl', 'nodes + wl']
    """
    graphs = bags.graphs
    seen = _edge_labels_of(graphs) if edge_labels is None else edge_labels
    settings = _settings(bags, gamma=gamma, n_iter=n_iter)
    plain = WeisfeilerLehman.suited_to(graphs, settings)
    found: dict[str, Kernel] = {}
    if graphs.node_attributes is not None:
        found["nodes"] = NodeSum.suited_to(graphs, settings)
    elif graphs.node_labels is not None and (seen is False or edge_labels is None):
        found["wl"] = plain
    if graphs.node_labels is not None and (seen or (found.keys() == {"nodes"} and graphs.n_edges)):
        name = "wl with edge labels" if seen else "wl"
        found[name] = WeisfeilerLehman.suited_to(graphs, {**settings, "edge_labels": seen})
        if "nodes" in found:
            found[f"nodes + {name}"] = SumKernel([found["nodes"], found[name]])
    return found


def _edge_labels_of(graphs: GraphBatch) -> bool | str:
    """How the labels of edges can be compared: with directions only where the two of an edge differ."""
    if graphs.edge_labels is None or not graphs.n_edges:
        return False
    try:
        graphs.labelled_arcs  # noqa: B018 - refused where directions differ
    except ValueError:
        return "directed"
    return True


@dataclass(frozen=True)
class Choice:
    """The kernel or way to learn that was chosen, by name, and for each that was tried its alphas on held-out bags.

    >>> tried = {"nodes": AlphaChoice(0.1, {0.1: 0.8}), "wl": AlphaChoice(0.01, {0.01: 0.9})}
    >>> choice = Choice.best(tried, "kernel")
    >>> choice.name, choice.alpha
    ('wl', 0.01)
    """

    name: str
    tried: dict[str, AlphaChoice]
    what: str  # is chosen

    @classmethod
    def best(cls, tried: dict[str, AlphaChoice], what: str) -> "Choice":
        """The first of those with the highest average precision."""
        return cls(max(tried, key=lambda name: max(tried[name].scores.values())), tried, what)

    @property
    def alpha(self) -> float:
        return self.tried[self.name].alpha

    def __str__(self) -> str:
        width = max(map(len, (self.what, *self.tried)))
        rows = [f"{self.what:{width}}  average precision of held-out bags  alpha"]
        for name, choice in self.tried.items():
            taken = "  taken" if name == self.name else ""
            rows.append(f"{name:{width}}  {choice.scores[choice.alpha]:<34.4f}  {choice.alpha:g}{taken}")
        return "\n".join(rows)


def choose_kernel_and_alpha(
    model: CfMGML,
    bags: BagDataset,
    kernels: Mapping[str, Kernel],
    alphas: Sequence[float] = ALPHAS,
    *,
    n_folds: int = 3,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> Choice:
    """Choose one of several kernels, each with the best of the alphas for it, as `choose_alpha` does; ties go to the
    first.

    If one of them has no explicit features, the values of all are computed once, those of a sum from its parts', and
    shared by all fits.

    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=30)
    >>> choice = choose_kernel_and_alpha(CfMGML(max_iter=20), bags, candidate_kernels(bags), [1e-2, 1e-4])
    >>> sorted(choice.tried) == sorted(candidate_kernels(bags)), choice.name in choice.tried
    (True, True)
    """
    shared = _all_shared(kernels, bags.graphs, model)
    tried = {
        name: choose_alpha(
            clone(model).set_params(kernel=kernel),
            bags,
            alphas,
            n_folds=n_folds,
            random_state=random_state,
            on_fold=on_fold,
        )
        for name, kernel in shared.items()
    }
    return Choice.best(tried, "kernel")


def choose_way(
    model: CfMGML,
    bags: BagDataset,
    ways: Mapping[str, Way],
    alphas: Sequence[float] | None = None,
    *,
    n_folds: int = 3,
    n_measured: int | None = None,
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> Choice:
    """Choose one of several ways to learn, each with the best of its alphas, or of those given, as `choose_alpha` does;
    ties go to the first. Kernel values are computed once.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.learning.ways import ways
    >>> choice = choose_way(CfMGML(max_iter=20), load_digit_bags(n_bags=30), ways(context=0.0), [1e-3])
    >>> list(choice.tried), choice.alpha
    (['once', 'once, balanced', 'again'], 0.001)
    """
    numbered = replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))
    shared = clone(model).set_params(kernel=_shared(choose_kernel(model.kernel, bags.graphs), numbered.graphs, model))
    how: dict[str, Any] = {"n_folds": n_folds, "n_measured": n_measured, "random_state": random_state}
    tried = {
        name: choose_alpha(
            clone(shared).set_params(**way.settings), numbered, alphas or way.alphas, on_fold=on_fold, **how
        )
        for name, way in ways.items()
    }
    return Choice.best(tried, "way to learn")


class CfMGMLCV(BagEstimator):
    """`CfMGML` with the way to learn and the alpha that rank the labels of held-out training bags best, and with
    thresholds of labels where these have a better macro-F1 there.

    Tried are learning once and again, with context and without, and with rare labels weighing as much as frequent ones
    (`cfmgml.learning.ways`), as by ``cfmgml train``. In pipelines and cross-validation nothing is chosen by test bags.

    Parameters
    ----------
    kernel, rank, dtype, device, n_jobs, verbose
        Of the `CfMGML`.
    context, refine
        Its context and rounds of learning again; None tries both.
    context_scale
        How loudly a bag speaks where labels weigh the same; None takes what suits the bags' kind.
    n_folds, n_measured
        How many folds training bags are dealt out into, and on how many of them is measured, the first ones; None for
        all.
    random_state
        Of the folds, and of the `CfMGML`.

    Attributes
    ----------
    model_
        The `CfMGML`, learned from all training bags.
    choice_
        A `Choice`: what was tried, and how well it ranked; None where there was nothing to choose by (one bag, or none
        whose labels are all known), and the first of the ways was taken.

    Examples
    --------
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(n_bags=30, random_state=0)
    >>> model = CfMGMLCV(context=0.0, n_folds=2).fit(bags)
    >>> list(model.choice_.tried), model.model_.alpha == model.choice_.alpha
    (['once', 'once, balanced', 'again'], True)
    """

    def __init__(
        self,
        kernel: KernelLike | None = None,
        context: float | None = None,
        refine: int | None = None,
        context_scale: str | None = None,
        n_folds: int = 3,
        n_measured: int | None = None,
        rank: int | str | None = AUTO,
        dtype: str = "float64",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.context = context
        self.refine = refine
        self.context_scale = context_scale
        self.n_folds = n_folds
        self.n_measured = n_measured
        self.rank = rank
        self.dtype = dtype
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @unchanged_on_error
    def fit(self, X: BagDataset, Y: ArrayLike | None = None) -> Self:
        """Choose by parts of the bags, then learn from all of them."""
        bags, labels, known = self._begin_fit(X, Y)
        bags = replace(bags, Y=labels, Y_known=None if known.all() else known, label_names=self.label_names_)
        tried = ways(self.context, self.refine, self.context_scale or known_builder(bags.builder).context_scale)
        how = ("kernel", "rank", "dtype", "device", "n_jobs", "random_state", "verbose")
        model = CfMGML(**{name: getattr(self, name) for name in how})
        self.choice_ = None
        if can_choose(bags):
            n_fits = len(tried) * (self.n_measured or self.n_folds)
            with progress("Choosing a way to learn", n_fits, self.verbose) as tell:
                self.choice_ = choose_way(
                    model,
                    bags,
                    tried,
                    n_folds=self.n_folds,
                    n_measured=self.n_measured,
                    random_state=self.random_state,
                    on_fold=lambda: tell(1),
                )
            best = self.choice_.tried[self.choice_.name]
            model.set_params(**tried[self.choice_.name].settings, thresholds=best.thresholds or ZERO)
            self.model_ = fit_as_chosen(model, bags, best)
        else:
            self.model_ = model.set_params(**next(iter(tried.values())).settings).fit(bags)
        return self

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels); above 0 means that the graph has the label."""
        bags = self._check_predict(X, "graph")
        return self.model_.decision_function_graphs(bags)

    def predict_graphs(self, X: BagDataset) -> BoolArray:
        """Labels of every graph, (n_graphs, n_labels), as `model_` has it."""
        bags = self._check_predict(X, "graph")
        return self.model_.predict_graphs(bags)

    def predict(self, X: BagDataset) -> BoolArray:
        """Labels of every bag, (n_bags, n_labels), as `model_` has it."""
        bags = self._check_predict(X, "bag")
        return self.model_.predict(bags)


def _all_shared(kernels: Mapping[str, Kernel], graphs: GraphBatch, model: CfMGML) -> dict[str, Kernel]:
    """The kernels themselves if all have explicit features, else matrices of their values."""
    if all(kernel.is_explicit for kernel in kernels.values()):
        return dict(kernels)
    compute, values = Training.of(model).compute, dict[str, FloatArray]()
    check_pairwise_size("choosing a kernel", graphs.n_graphs, "graphs", 2 + len(kernels), "name one")
    for kernel in kernels.values():
        for part in _parts(kernel):
            if repr(part) not in values:
                values[repr(part)] = compute_gram(part.resolve(graphs), graphs, compute)
    return {
        name: Precomputed(
            kernel.combine([values[repr(part)] for part in _parts(kernel)])
            if isinstance(kernel, SumKernel)
            else values[repr(kernel)]
        )
        for name, kernel in kernels.items()
    }


def _parts(kernel: Kernel) -> list[Kernel]:
    return kernel.parts if isinstance(kernel, SumKernel) else [kernel]


def can_choose(bags: BagDataset) -> bool:
    """Whether there are bags to measure on: at least two, and one of which all labels are known."""
    return bags.n_bags > 1 and (bags.Y_known is None or bool(bags.Y_known.all(axis=1).any()))


def sample_of(bags: BagDataset, n_graphs: int, random_state: int = 0) -> BagDataset:
    """Whole bags with about ``n_graphs`` graphs, drawn at random; all, in order, if there are no more than that."""
    if bags.n_graphs <= n_graphs:
        return bags
    n_bags = max(1, round(bags.n_bags * n_graphs / bags.n_graphs))
    return bags[np.sort(np.random.default_rng(random_state).permutation(bags.n_bags)[:n_bags])]

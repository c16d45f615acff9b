"""`CfMGML`: coarse and fine-grained multi-graph multi-label learning (Wang et al.), corrected."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cfmgml.common.compute import Compute
from cfmgml.common.tables import arrow_columns
from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.frames import AnyFrame, in_library
from cfmgml.kernels.function import KernelLike
from cfmgml.learning.annotation import annotate
from cfmgml.learning.calibration import Calibration
from cfmgml.learning.estimator import BagEstimator
from cfmgml.learning.in_memory import learn
from cfmgml.learning.learned import Learned, learned
from cfmgml.learning.predictions import prediction_table
from cfmgml.learning.scoring import DualScorer
from cfmgml.learning.thresholds import Thresholds
from cfmgml.learning.training import Alpha, ClassWeight, Training
from cfmgml.model import files as model_file
from cfmgml.scale import fit_store, partial_fit
from cfmgml.stores import BagStore


def _gives_probabilities(model: "CfMGML") -> bool:
    if not model.probability:
        raise AttributeError("this model has no probabilities: fit it with CfMGML(probability=True).")
    return True


class CfMGML(BagEstimator):
    """Learn one scoring function a label from bags of graphs; label bags and graphs with it.

    f_c(g) = <w_c, phi(g)> + b_c scores a graph, the best of a bag's graphs scores the bag, and a label is predicted
    where the score is above 0, or above a lower threshold of its own. Only the bags' labels are needed to learn.

    Parameters
    ----------
    kernel
        A `Kernel`, or a function of two batches. None takes `NodeSum` for graphs with attributes, `WeisfeilerLehman`
        for graphs with labels, and for both, where there are edges, their sum. Values are normalised to unit diagonal.
    alpha
        Strength of the regularisation, the paper's lambda. A tuple of several takes the mean of the models for each: a
        model like any other, since scores are linear, and often better than the best of them
        (``docs/results/learning_twice.md``); for bags in memory only.
    solver
        ``"cccp"`` minimises the objective (smoothed, see `learning.objective`); ``"paper"`` is Algorithm 1 with its
        errors corrected and ``"printed"`` Algorithm 1 as printed, both without an intercept.
    class_weight
        None, ``"balanced"`` (a label counts in inverse proportion to how often it occurs), a mapping from label names
        to weights, or one weight a label. Weighs the terms in which the label is the relevant one.
    loss
        ``"rank"``, or ``"hamming"`` to leave out the comparison of labels with each other (HLK).
    fit_intercept
        Learn b, which is not penalised. Only for ``cccp``.
    term_weights
        ``"mean"`` weighs the threshold terms by 1/|Y|, ``"paper"`` by 1/|Y|^2 as printed, ``"sum"`` not at all: each
        label of a bag counts as much in a bag with many.
    irrelevant
        ``"all"``: an irrelevant label is held against each of a bag's graphs; ``"max"``: against its best one only, as
        in the paper. Both defaults won on training folds (``docs/defaults.md``). ``paper`` and ``printed`` always do as
        the paper does.
    temperature
        Of the soft maximum for relevant labels in ``cccp``: 0 is the paper's maximum, large values the mean.
    context
        From 0 to below 1: how much of a graph's score comes from its bag as a whole. What else is in
        a picture helps to name a region of it: on VOC 2012 .6 to .8 won on training folds. 0, the default, scores a
        graph the same in whatever bag it is. For bags in memory only, not for stores and streams.
    context_scale
        How loudly a bag speaks in ``context``: as the ``"mean"`` of its graphs' vectors, which is the shorter the more
        they differ, or, scaled to length 1, as loudly as a graph (``"unit"``), which won for texts
        (``docs/results/texts.md``).
    refine
        Most rounds of learning again from the model's own annotation of the training graphs (`learning.refinement`),
        which labels graphs far better; 0 learns once. For ``cccp`` and bags in memory.
    refine_folds
        The annotation that ``refine`` begins with is half by scores of held-out bags, from a fit a fold; 0 takes
        scores of the graphs that were learned from alone, which saves these fits and agrees with their mistakes.
    thresholds
        The scores above which labels are predicted: ``"zero"``; ``"counts"``, where fewer held-out bags score above 0
        for a label than have it, the lower score that as many reach (`learning.thresholds`; by the same 3 more fits as
        ``probability``, and for bags in memory); or a mapping from label names to numbers, 0 or less. Scores, and with
        them the order of labels, stay as they are.
    n_rounds, max_iter
        Rounds (R in the paper) and most steps in each (T); None takes 5 and 200 for ``cccp``, 10 and 100 else.
    tol
        A round of ``cccp`` ends when the gradient is this small, relative to the one at the start.
    rank
        ``"auto"``: kernel values as they are where that is cheap (1,900 graphs of 30 nodes with few attributes);
        beyond, through as many landmarks as it takes for those of graphs kept aside to be right, so that time and
        memory grow in proportion to the graphs (`cfmgml.kernels.approximation`; ``verbose`` tells); as they are, too,
        where 2,048 landmarks would be too few and two minutes of one core are enough. None: always as they are. A
        number: that many columns of the Gram matrix, chosen by pivoted Cholesky.
    probability
        Fit `predict_proba` on the scores of held-out bags, by 3 more fits.
    dtype, device, n_jobs
        Of the Gram matrix, see `gram_matrix`. On a card, ``cccp`` trains there too; the others train on the CPU.
    random_state
        Seed of the first representatives (``paper``, ``printed``) and of the folds for ``probability``.
    verbose
        Show progress on stderr.

    Attributes
    ----------
    objective_
        The objective after each round; of several alphas, for the smallest. For ``cccp`` the smoothed one that it
        minimises, which never goes up (with ``refine``, that of graphs and their annotation, a value a round of
        refinement); for ``paper`` and ``printed`` the paper's own.
    representatives_
        Shape (n_bags, n_labels): the row, in the training graphs, of the graph that stands for a bag.
    n_iter_, gradient_norm_
        Steps over all rounds, and the norm of the last round's gradient relative to the first (``cccp``).
    approximation_error_
        How far kernel values of graphs kept aside are off with the landmarks that ``rank`` took, relatively; 0.0 if
        they were computed as they are, None if that was not measured.
    kernel_, intercept_, thresholds_, label_names_, classes_
        The resolved kernel, b, the score above which each label is predicted (0 or less), and the labels.

    Examples
    --------
    >>> from cfmgml import NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=60, random_state=0)
    >>> model = CfMGML(NodeSum(), alpha=1e-4).fit(bags)
    >>> model.decision_function(bags).shape, model.predict_graphs(bags).shape == bags.graph_Y.shape
    ((60, 10), True)
    """

    def __init__(
        self,
        kernel: KernelLike | None = None,
        alpha: Alpha = 1e-5,
        solver: str = "cccp",
        class_weight: ClassWeight = None,
        loss: str = "rank",
        fit_intercept: bool = True,
        term_weights: str = "mean",
        irrelevant: str = "all",
        temperature: float = 0.3,
        n_rounds: int | None = None,
        max_iter: int | None = None,
        tol: float = 1e-3,
        rank: int | str | None = "auto",
        probability: bool = False,
        dtype: str = "float64",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        context: float = 0.0,
        refine: int = 0,
        context_scale: str = "mean",
        refine_folds: int = 3,
        thresholds: Thresholds = "zero",
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.solver = solver
        self.class_weight = class_weight
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.term_weights = term_weights
        self.irrelevant = irrelevant
        self.temperature = temperature
        self.context = context
        self.context_scale = context_scale
        self.refine = refine
        self.refine_folds = refine_folds
        self.thresholds = thresholds
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.tol = tol
        self.rank = rank
        self.probability = probability
        self.dtype = dtype
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- learning ----------------------------------------------------------------------------

    learned_: Learned  # all of the following; set once, when a fit is done
    label_names_ = classes_ = learned("label_names")
    label_counts_ = learned("label_counts")
    kernel_ = learned("kernel")
    scorer_ = learned("scorer")
    intercept_ = learned("intercept")
    thresholds_ = learned("thresholds")
    objective_ = learned("objective")
    representatives_ = learned("representatives")
    n_iter_ = learned("n_iter")
    gradient_norm_ = learned("gradient_norm")
    approximation_error_ = learned("approximation_error")
    fingerprint_ = learned("fingerprint")
    info_ = learned("info")
    builder_ = learned("builder")
    calibration_ = learned("calibration")

    def fit(self, X: BagDataset | BagStore, Y: ArrayLike | None = None) -> Self:
        """Learn from bags and their labels; ``Y`` (n_bags, n_labels) takes the place of ``X.Y``.

        Entries of Y that are NaN or masked are unknown and drop out of the loss. A `BagStore` is learned from
        partition by partition, in bounded memory, by `cfmgml.scale.fit_store`, which has more to choose. What was
        learned before is forgotten, or kept if this raises.
        """
        if isinstance(X, BagStore):
            if Y is not None:
                raise ValueError("a store has its own labels: write the bags again with other ones, or leave Y out.")
            fit_store(self, X, engine="inline" if self.n_jobs is None else "joblib")
            return self
        (self.learned_,) = learn([Training.of(self)], X, Y)
        return self

    def partial_fit(self, X: BagDataset | BagStore, Y: ArrayLike | None = None) -> Self:
        """Go on learning from further bags, for streams: each is seen once, in mini-batches.

        What was learned before is where it starts, be it by `partial_fit`, by `fit` or from a file; kernel and
        landmarks stay as they are. A model that has learned nothing yet needs a kernel with an explicit map (see
        `cfmgml.scale`). Less exact than `fit`, which goes over the data many times. ``objective_`` gets the mean over
        mini-batches of each call, ``representatives_`` is empty. If it raises, the model is as it was.
        """
        partial_fit(self, X, Y)
        return self

    def fit_path(self, X: BagDataset, alphas: Sequence[Alpha], Y: ArrayLike | None = None) -> list[Self]:
        """Models for several values of ``alpha``, in the order given, in less time than as many fits.

        Kernel values are computed once, each alpha is learned with once, and each round of ``cccp`` starts where the
        same round ended for the next larger one. This model itself stays as it is.
        """
        if not len(alphas):
            raise ValueError("fit_path needs at least one alpha.")
        models = [clone(self).set_params(alpha=alpha) for alpha in alphas]
        for model, learned_with in zip(models, learn([Training.of(model) for model in models], X, Y), strict=True):
            model.learned_ = learned_with
        return models

    # -- predicting --------------------------------------------------------------------------

    def _check_predict(self, X: object, level: str) -> BagDataset:
        bags = super()._check_predict(X, level)
        if self.builder_ is not None:
            self.builder_.check_same(bags.builder)
        return bags

    def decision_function_graphs(self, X: BagDataset) -> FloatArray:
        """Scores of shape (n_graphs, n_labels); above 0, or its ``thresholds_``, a graph has the label."""
        bags = self._check_predict(X, "graph")
        return self.learned_.graph_scores(bags)

    def predict_graphs(self, X: BagDataset) -> BoolArray:
        """Labels of every graph, (n_graphs, n_labels): those that score above their ``thresholds_``."""
        return self.decision_function_graphs(X) > self.thresholds_

    def predict(self, X: BagDataset) -> BoolArray:
        """Labels of every bag, (n_bags, n_labels): the union of its graphs' labels."""
        return self.decision_function(X) > self.thresholds_

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: BagDataset) -> FloatArray:
        """Probabilities of shape (n_bags, n_labels); needs ``probability=True``."""
        return self._calibration().bags(self.decision_function_graphs(X), X.bag_ptr)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba_graphs(self, X: BagDataset) -> FloatArray:
        """Probabilities of shape (n_graphs, n_labels); needs ``probability=True``."""
        return self._calibration().graphs(self.decision_function_graphs(X))

    def _calibration(self) -> Calibration:
        check_is_fitted(self, "calibration_")
        assert self.calibration_ is not None
        return self.calibration_

    def annotate(self, X: BagDataset, Y: ArrayLike | None = None) -> BoolArray:
        """Which graph carries which of its bag's known labels, (n_graphs, n_labels).

        Every graph gets a label of its bag and every label of the bag a graph, so that the sum of scores is largest.
        """
        scores = self.decision_function_graphs(X)
        labels, known = self._true_labels(X, Y)
        return annotate(scores, X.bag_ptr, labels & known)

    def explain(self, X: BagDataset) -> FloatArray:
        """What each node adds to its graph's score, (n_nodes, n_labels): adds up to the score less ``intercept_``,
        exactly; with ``context``, also less what the bag's other graphs add."""
        bags = self._check_predict(X, "graph")
        if not self.kernel_.is_additive:
            raise TypeError(f"{self.kernel_!r} is not a sum over nodes, so its scores cannot be split among them.")
        return self.learned_.node_scores(bags)

    def paint(self, X: BagDataset, given: bool = False) -> IntArray:
        """The label that each node speaks for most, (n_nodes,), as its index in ``label_names_``; -1 for none.

        Among the labels predicted for its bag, or, if ``given``, among those the bag is known to have (``X.Y``). A node
        gets none where nothing in it speaks for one of them: it is background.

        >>> from cfmgml.datasets import load_digit_bags
        >>> bags = load_digit_bags(subset="train", n_bags=20, random_state=0)
        >>> painted = CfMGML().fit(bags).paint(bags)
        >>> painted.shape == (bags.graphs.n_nodes,), painted.dtype
        (True, dtype('int64'))
        """
        contributions = self.explain(X)
        if given:
            labels, known = self._true_labels(X, None)
            return self.learned_.paint(X, contributions, labels & known)
        return self.learned_.paint(X, contributions, self.predict(X))

    def predict_frame(self, X: BagDataset, level: str = "bag", library: str = "arrow") -> AnyFrame:
        """Predictions as a data frame: the columns of `cfmgml.learning.predictions`, a row a bag, ``"graph"`` or
        ``"node"``, as an Arrow table or, by ``library``, a frame of ``"pandas"`` or ``"polars"``. Needs pyarrow."""
        return in_library(arrow_columns(prediction_table(self, X, level)), library)

    def compute_with(self, *, dtype: str | None = None, device: str | None = None, n_jobs: int | None = None) -> Self:
        """Predict from here on in another precision, on another device or with other threads; None leaves one as it is.

        What was learned stays the same. Weights of an explicit map are multiplied by numpy, in float64: for those,
        other precisions and devices are refused.
        """
        if dtype is None and device is None and n_jobs is None:
            return self
        compute = Compute(dtype or self.dtype, device or self.device, n_jobs or self.n_jobs, self.verbose)
        if isinstance(self.scorer_, DualScorer):
            self.learned_ = replace(self.learned_, scorer=replace(self.scorer_, compute=compute))
        elif device not in (None, "cpu") or dtype not in (None, "float64"):
            raise ValueError(
                f"{self.kernel_!r} has an explicit map: its scores are computed with device='cpu' and dtype='float64'."
            )
        return self.set_params(dtype=compute.dtype, device=compute.device, n_jobs=compute.n_jobs)

    # -- files -------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write all that prediction needs as one file of arrays and JSON, in one step."""
        check_is_fitted(self, "label_names_")
        model_file.save_model(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        return model_file.load_model(cls, path)

"""`CfMGMLCV`: the model that chooses its way to learn and its alpha by itself."""

from dataclasses import replace
from typing import Self

from numpy.typing import ArrayLike

from cfmgml.common.progress import progress
from cfmgml.common.typing import BoolArray, FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import known_builder
from cfmgml.kernels.approximation import AUTO
from cfmgml.kernels.function import KernelLike
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error
from cfmgml.learning.thresholds import ZERO
from cfmgml.learning.ways import ways
from cfmgml.model.cfmgml import CfMGML
from cfmgml.model_selection.alphas import can_choose, fit_as_chosen
from cfmgml.model_selection.choices import choose_way


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

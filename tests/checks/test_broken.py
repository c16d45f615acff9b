"""Kernels and methods that break one rule each: the checks name it, and say what they found."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from cfmgml import NodeSum, WeisfeilerLehman
from cfmgml.baselines import Dummy
from cfmgml.checks import ESTIMATOR_RULES, KERNEL_RULES, check_bag_estimator, check_kernel
from cfmgml.checks.made import made_bags, made_graphs
from cfmgml.common.segments import segment_max
from cfmgml.kernels import SAVED_KERNELS, FunctionKernel, Kernel
from cfmgml.kernels.function import BatchKernel
from cfmgml.learning.estimator import BagEstimator, unchanged_on_error


def sizes(graphs):
    return np.diff(graphs.node_ptr)


class Explicit(NodeSum):
    """Sums of attributes, right; what is made from it breaks something."""

    def __init__(self):
        super().__init__("linear")

    @classmethod
    def _get_param_names(cls):
        return []


class Lopsided(BatchKernel):
    def _values(self, a, b):
        return 1.0 + 0.5 * (sizes(a)[:, None] > sizes(b))


class Indefinite(BatchKernel):
    def _values(self, a, b):
        return 1.0 + np.abs(sizes(a)[:, None] - sizes(b))


class Nothing(BatchKernel):
    def _values(self, a, b):
        return np.zeros((a.n_graphs, b.n_graphs))


class Places(BatchKernel):
    """By where graphs stand in a batch."""

    def _values(self, a, b):
        return np.exp(-((np.arange(a.n_graphs)[:, None] - np.arange(b.n_graphs)) ** 2.0))


class FirstNode(BatchKernel):
    """By the first node."""

    def _values(self, a, b):
        one, other = (graphs.node_attributes[graphs.node_ptr[:-1]] for graphs in (a, b))
        return one @ other.T + 1


class CountsEdges(BatchKernel):
    ignores_edge_labels = True  # and so nothing but the simple graph underneath

    def _values(self, a, b):
        return np.outer(1 + np.diff(a.edge_ptr), 1 + np.diff(b.edge_ptr))


class LabelledEdges(BatchKernel):
    ignores_edge_labels = True

    def _values(self, a, b):
        def has(graphs):
            return 1.0 + (graphs.edge_labels is not None) * sizes(graphs)

        return np.outer(has(a), has(b))


class NeedsEdges(BatchKernel):
    def _values(self, a, b):
        edges = (np.diff(graphs.edge_ptr) / max(1, graphs.n_edges) for graphs in (a, b))
        bad = np.nan if not a.n_edges else 1.0
        return np.outer(*edges) * bad + np.eye(a.n_graphs, b.n_graphs) * bad


class DifferentTiles(BatchKernel):
    tile_size = 512

    def _values(self, a, b):
        return np.outer(sizes(a), sizes(b)) * (1.0 if self.tile_size == 512 else 2.0) + (
            0.0 if self.tile_size == 512 else 1.0
        )


class WrongDiagonal(FunctionKernel):
    def __init__(self):
        super().__init__(lambda a, b: np.outer(sizes(a), sizes(b)))

    @classmethod
    def _get_param_names(cls):
        return []

    def diagonal(self, graphs):
        return sizes(graphs)


class WrongFeatures(Explicit):
    def features(self, graphs):
        return 2 * super().features(graphs)


class WrongNodes(Explicit):
    def node_block(self, a, b):
        return 2 * super().node_block(a, b)


class SettlesItself(BatchKernel):
    """Keeps what it saw when it was resolved."""

    def resolve(self, graphs):
        self.check_some_graphs(graphs)
        self.resolved_ = True
        return self

    def _values(self, a, b):
        return np.outer(sizes(a), sizes(b))


class SecondBatch(BatchKernel):
    """Settled by the second batch when it is not resolved."""

    def _settle(self, graphs):
        self.scale_ = float(sizes(graphs).mean())

    def _values(self, a, b):
        scale = self.scale_ if self.is_resolved else float(sizes(b).mean())
        return np.outer(sizes(a), sizes(b)) / scale


class Rounds(BatchKernel):
    """float32 values where float64 ones are asked for: right to six digits only."""

    def tile(self, left, right):
        return super().tile(left, right).astype(np.float64)

    def operands(self, a, b=None, dtype=np.float64):
        self.coarse_ = np.dtype(dtype) == np.float32
        return super().operands(a, b, dtype)

    def _values(self, a, b):
        one, other = (np.sqrt(sizes(graphs)) for graphs in (a, b))
        return np.exp(-((one[:, None] - other) ** 2) * (1.01 if self.coarse_ else 1.0))


class TakesAnything(BatchKernel):
    def check_graphs(self, graphs):
        pass

    def resolve(self, graphs):
        return self

    def _values(self, a, b):
        return np.outer(sizes(a), sizes(b))


class Forgetful(BatchKernel):
    """Settles something in an attribute that no file keeps, since its name does not end in _."""

    def _settle(self, graphs):
        self.scale = 2.0

    def _values(self, a, b):
        return np.outer(sizes(a), sizes(b)) * getattr(self, "scale", 1.0)


BROKEN_KERNELS = {
    "symmetric": (Lopsided(), r"K\[\d+, \d+\] is 1(\.5)?, expected 1(\.5)? as its mirror image"),
    "positive_semidefinite": (Indefinite(), "the smallest eigenvalue is -"),
    "unit_diagonal": (Nothing(), "every graph has zero norm"),
    "selection": (Places(), "K of graphs 3, 0 and 7"),
    "rectangle_of_the_square": (Places(), "K of the first five graphs and the others"),
    "node_order": (FirstNode(), "as before nodes were shuffled"),
    "simple_graph": (CountsEdges(), "as without reversed, parallel and looping edges"),
    "edge_labels": (LabelledEdges(), "K without edge_labels"),
    "without_edges": (NeedsEdges(), "graphs without edges is not finite|K.g, g. must be finite"),
    "float32": (Rounds(), "K in float32"),
    "tile_size": (DifferentTiles(), "K in small tiles"),
    "diagonal": (WrongDiagonal(), "diagonal"),
    "features": (WrongFeatures(), "the products of features"),
    "features_of_unseen_graphs": (WrongFeatures(), "features of new and known graphs"),
    "nodes_add_up": (WrongNodes(), "node_block summed over a graph's nodes"),
    "resolved_by_the_first_batch": (SecondBatch(), "K of an unresolved kernel"),
    "parameters": (SettlesItself(), "resolve changed the kernel itself"),
    "kept_in_files": (Forgetful(), "K once read"),
    "refuses_what_is_no_batch": (TakesAnything(), "resolving on a list raised nothing, expected TypeError"),
}


def test_every_rule_of_kernels_is_broken_by_one():
    assert BROKEN_KERNELS.keys() == KERNEL_RULES.keys()


@pytest.mark.parametrize("rule", BROKEN_KERNELS)
def test_broken_kernels(rule, monkeypatch):
    monkeypatch.setitem(SAVED_KERNELS, "Forgetful", Forgetful)
    kernel, found = BROKEN_KERNELS[rule]
    with pytest.raises(AssertionError, match=rf"{type(kernel).__name__}.*breaks(.|\n)*- {rule} \((.|\n)*({found})"):
        check_kernel(kernel)
    with pytest.raises(AssertionError, match="breaks 1 of 1 rule:"):
        check_kernel(kernel, rules=[rule])


def test_kernels_are_not_changed():
    kernel = WeisfeilerLehman(1)
    check_kernel(kernel)
    assert vars(kernel) == vars(WeisfeilerLehman(1))


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match=r"did you mean NodeSum\(\)"):
        check_kernel(NodeSum)
    with pytest.raises(ValueError, match="at least 8 graphs to compare, got 3"):
        check_kernel(NodeSum(), made_graphs(3))
    with pytest.raises(ValueError, match=r"rules must be a list of names among symmetric, .*got \['speed'\]"):
        check_kernel(NodeSum(), rules=["speed"])


# -- methods ---------------------------------------------------------------------------------


class Nearest(BagEstimator):
    """The labels of the bag whose attributes are most alike; what is made from it breaks something."""

    def __init__(self, width=1.0):
        self.width = width

    @unchanged_on_error
    def fit(self, X, Y=None):
        bags, labels, _ = self._begin_fit(X, Y)
        self.seen_, self.labels_ = self.describe(bags), labels[np.repeat(np.arange(bags.n_bags), np.diff(bags.bag_ptr))]
        return self

    def describe(self, bags):
        ptr = bags.graphs.node_ptr
        return np.add.reduceat(bags.graphs.node_attributes, ptr[:-1]) / np.diff(ptr)[:, None]

    def decision_function_graphs(self, X):
        bags = self._check_predict(X, "graph")
        rows = self.describe(bags)
        near = np.exp(-((rows[:, None] - self.seen_) ** 2).sum(-1) / self.width)
        return near @ (2.0 * self.labels_ - 1)


class Stubborn(Nearest):
    def __init__(self, width=1.0):
        self.width = 2 * width


class Eager(Nearest):
    def decision_function_graphs(self, X):
        return np.zeros((X.n_graphs, 4)) if not hasattr(self, "seen_") else super().decision_function_graphs(X)

    def decision_function(self, X):
        return segment_max(self.decision_function_graphs(X), X.bag_ptr)


class Silent(Nearest):
    def fit(self, X, Y=None):
        super().fit(X, Y)


class Fractions(Nearest):
    def predict(self, X):
        return super().predict(X).astype(float)


class Shy(Nearest):
    def predict(self, X):
        return self.decision_function(X) > 1


class Claims(Nearest):
    levels = ("bag",)

    def decision_function_graphs(self, X):
        return np.zeros((X.n_graphs, 4))

    def decision_function(self, X):
        self._check_predict(X, "bag")
        return np.zeros((X.n_bags, 4))


class Relative(Nearest):
    def decision_function(self, X):
        scores = super().decision_function(X)
        return scores - scores.mean(axis=0)


class FirstGraph(Nearest):
    def decision_function(self, X):
        return self.decision_function_graphs(X)[X.bag_ptr[:-1]]


class Chance(Nearest):
    def fit(self, X, Y=None):
        super().fit(X, Y)
        self.seen_ = self.seen_ + np.random.default_rng().normal(size=self.seen_.shape)
        return self


class OwnLabels(Nearest):
    def fit(self, X, Y=None):
        super().fit(X, Y)
        self.labels_ = self.labels_ if Y is None else ~self.labels_
        return self


class Ignorant(Nearest):
    def decision_function_graphs(self, X):
        return 0 * super().decision_function_graphs(X) + np.arange(len(self.label_names_))


class FourLabels(Nearest):
    def decision_function_graphs(self, X):
        scores = super().decision_function_graphs(X)
        if scores.shape[1] < 4:
            raise RuntimeError("four, please")
        return scores


class Swallows(Nearest):
    def fit(self, X, Y=None):
        if isinstance(X, list):
            X = made_bags(4)
        return super().fit(X, Y)


class HalfDone(Nearest):
    def fit(self, X, Y=None):
        self.seen_ = self.describe(X) * 0
        self.label_names_ = X.label_names
        return super().fit(X, Y)


class Rooted(Nearest):
    def fit(self, X, Y=None):
        super().fit(X, Y)
        self.handle_ = lambda: None
        return self


class NoScore(Nearest):
    def score(self, X, Y=None, sample_weight=None):
        return float("nan") if Y is not None else super().score(X)


class NoMethods(ClassifierMixin, BaseEstimator):
    def fit(self, X, Y=None):
        return self


BROKEN_ESTIMATORS = {
    "interface": (NoMethods(), "it has no predict, no decision_function"),
    "parameters": (Stubborn(), "it raised RuntimeError"),
    "unfitted_says_so": (Eager(), "predict before fit raised nothing, expected NotFittedError"),
    "fit_returns_itself": (Silent(), "fit does not return the method itself"),
    "shapes": (Fractions(), "predict gives float64, expected bool"),
    "above_zero_means_yes": (Shy(), r"predict leaves out \d+ labels"),
    "no_level_that_it_lacks": (Claims(), "decision_function_graphs raised nothing, expected TypeError"),
    "selection": (Relative(), "decision_function of selected bags"),
    "order_of_graphs_and_nodes": (FirstGraph(), "decision_function of shuffled bags"),
    "same_seed_same_result": (Chance(), "as of the first fit"),
    "labels_given_to_fit": (OwnLabels(), r"after fit\(X, Y\)"),
    "learns_something": (Ignorant(), r"its average precision is 0\.\d+, expected above 0\.85"),
    "bags_at_the_edge": (FourLabels(), "four, please"),
    "bad_input": (Swallows(), "fit on a list raised nothing, expected TypeError"),
    "refused_fit_changes_nothing": (HalfDone(), "after a fit that raised"),
    "travels": (Rooted(), "it raised .*pickle"),
    "model_selection": (NoScore(), "GridSearchCV has the best score nan"),
}


def test_every_rule_of_estimators_is_broken_by_one():
    assert BROKEN_ESTIMATORS.keys() == ESTIMATOR_RULES.keys()


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("rule", BROKEN_ESTIMATORS)
def test_broken_estimators(rule):
    estimator, found = BROKEN_ESTIMATORS[rule]
    with pytest.raises(AssertionError, match=rf"breaks 1 of 1 rule:\n- {rule} \((.|\n)*{found}"):
        check_bag_estimator(estimator, rules=[rule])


def test_a_method_that_keeps_all_of_them():
    check_bag_estimator(Nearest())
    check_bag_estimator(Nearest(), made_bags(20, seed=9))


def test_what_is_no_method():
    with pytest.raises(AssertionError, match=r"interface \(.*it is a class; check Dummy\(\)"):
        check_bag_estimator(Dummy)
    with pytest.raises(ValueError, match="at least 8 bags with labels, got 4 bags"):
        check_bag_estimator(Dummy(), made_bags(4))
    with pytest.raises(ValueError, match="rules must be a list of names among interface, "):
        check_bag_estimator(Dummy(), rules="shapes")


def test_no_test_framework_is_needed():
    code = "import cfmgml.checks, sys; print([m for m in ('pytest', 'hypothesis', 'networkx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_kernel_of_ones_own_is_a_kernel():
    assert all(isinstance(kernel, Kernel) for kernel, _ in BROKEN_KERNELS.values())

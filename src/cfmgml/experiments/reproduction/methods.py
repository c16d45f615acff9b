"""The methods of the tables: how each is made, on which form of the data, and which parameters are searched.

Grids are the paper's: lambda 10^-1 to 10^-8 (R 10, T 100), C 10^-2 to 10^6 for M3MIML and 10^1 to 10^7 for the SVM
that sees graph labels; Algorithm 1 as printed, which is there to be looked at, tries three lambdas only. MIMLfast,
MGMLent and the network run with their documented settings. `CfMGML` searches lambda as in the paper; with
context, which the paper has not, how much of it as well. On data sets of many graphs the grids are shorter (`short`,
`shortest`), and the page says which.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cfmgml.baselines import HLK, M3MIML, MISVM, Dummy, GINAttention, MGMLent, MIMLfast, SgslSVM
from cfmgml.kernels import Kernel
from cfmgml.learning.estimator import BagEstimator
from cfmgml.model.cfmgml import CfMGML

Params = dict[str, Any]
Make = Callable[..., BagEstimator]

ALPHAS = tuple(10.0**-k for k in range(1, 9))
FORMS = ("features", "kernel", "single", "vectors", "labels", "graphs")


@dataclass(frozen=True)
class Method:
    """A row of the tables."""

    key: str
    title: str
    about: str
    make: Make  # of a kernel (None where it takes none), a seed and the searched parameters
    form: str  # of the data, one of FORMS
    grid: Mapping[str, Sequence[Any]]
    paper: str | None = None  # its name in the paper's tables
    levels: tuple[str, ...] = ("bag", "graph")
    sees_graph_labels: bool = False
    short: Mapping[str, Sequence[Any]] | None = None  # searched instead where there are many graphs
    shortest: Mapping[str, Sequence[Any]] | None = None  # and where there are so many that a fit takes minutes
    quick: Mapping[str, Sequence[Any]] | None = None  # searched in quick runs; the middle of the grid if None
    quick_settings: Mapping[str, Any] | None = None  # other settings of a quick run
    cost: float = 1.0  # of a fit, relative to CfMGML's
    where: tuple[str, ...] | None = None  # the data sets it is run on unless it is asked for, if not all

    def settings(self, grid: Mapping[str, Sequence[Any]]) -> list[Params]:
        """Every combination of a grid's values, in order."""
        found: list[Params] = [{}]
        for name, values in grid.items():
            found = [{**params, name: value} for params in found for value in values]
        return found


def _cfmgml(kernel: Kernel | None, seed: int, **params: Any) -> CfMGML:
    return CfMGML(kernel, dtype="float32", random_state=seed, **params)


def _terms(kernel: Kernel | None, seed: int, **params: Any) -> CfMGML:
    return _cfmgml(kernel, seed, term_weights="paper", irrelevant="max", **params)


def _paper(kernel: Kernel | None, seed: int, **params: Any) -> CfMGML:
    return _cfmgml(kernel, seed, solver="paper", **params)


def _printed(kernel: Kernel | None, seed: int, **params: Any) -> CfMGML:
    return _cfmgml(kernel, seed, solver="printed", **params)


def _hlk(kernel: Kernel | None, seed: int, **params: Any) -> HLK:
    return HLK(kernel, dtype="float32", random_state=seed, **params)


def _m3miml(kernel: Kernel | None, seed: int, **params: Any) -> M3MIML:
    return M3MIML(kernel, **params)


def _misvm(kernel: Kernel | None, seed: int, **params: Any) -> MISVM:
    return MISVM(kernel, **params)


def _sgsl_svm(kernel: Kernel | None, seed: int, **params: Any) -> SgslSVM:
    return SgslSVM(kernel, **params)


def _mimlfast(kernel: Kernel | None, seed: int, **params: Any) -> MIMLfast:
    return MIMLfast(random_state=seed, **params)


def _mgmlent(kernel: Kernel | None, seed: int, **params: Any) -> MGMLent:
    return MGMLent(
        max_seconds=None, random_state=seed, **params
    )  # a limit in seconds would make results depend on load


def _gin(kernel: Kernel | None, seed: int, **params: Any) -> GINAttention:
    return GINAttention(random_state=seed, **params)


def _dummy(kernel: Kernel | None, seed: int, **params: Any) -> Dummy:
    return Dummy(**params)


_QUICK_ALPHAS = {"alpha": (1e-3, 1e-4, 1e-5)}
_QUICK_C = {"C": (1.0, 10.0, 100.0)}
_SHORT_C = {"C": (1.0, 10.0, 100.0)}
_ONE_C = {"C": (10.0,)}
_SHORT_ALPHAS, _SMALL_ALPHAS = {"alpha": ALPHAS[2:6]}, {"alpha": ALPHAS[3:7]}  # HLK was best at smaller ones
_ONE_ALPHA = {"alpha": (1e-4,)}
_CONTEXT = {"context": (0.0, 0.3, 0.6), "alpha": (1e-3, 1e-4, 1e-5)}  # alpha last: a path for each context
_SHORT_CONTEXT = {"context": (0.0, 0.6), "alpha": (1e-3, 1e-4, 1e-5)}

METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        Method("cfmgml", "CfMGML", "the paper's objective, minimised by cccp: this package's default", _cfmgml,
               "features", {"alpha": ALPHAS}, "cfMGML", quick=_QUICK_ALPHAS),
        Method("context", "CfMGML with context", "with the bag's mean in a graph's score; its share is searched, too",
               _cfmgml, "features", _CONTEXT, short=_SHORT_CONTEXT, cost=1.5,
               quick={"context": (0.3,), **_QUICK_ALPHAS}),
        Method("terms", "CfMGML, paper’s terms", "the paper's equation as it stands, minimised by cccp",
               _terms, "features", {"alpha": ALPHAS}, "cfMGML", quick=_QUICK_ALPHAS, short=_ONE_ALPHA, cost=1.2),
        Method("paper", "cfMGML, Algorithm 1", "the paper's Algorithm 1 with its errors corrected", _paper,
               "features", {"alpha": ALPHAS}, "cfMGML", quick=_QUICK_ALPHAS, short=_SHORT_ALPHAS, cost=4),
        Method("printed", "cfMGML, as printed", "Algorithm 1 exactly as printed", _printed,
               "features", {"alpha": (1e-2, 1e-4, 1e-6)}, "cfMGML", quick=_ONE_ALPHA, short=_ONE_ALPHA,
               cost=7),
        Method("single", "CfMGML(G)", "CfMGML on bags joined to one graph", _cfmgml,
               "single", {"alpha": ALPHAS}, "cfMGML(G)", levels=("bag",), quick=_QUICK_ALPHAS, cost=0.3),
        Method("hlk", "HLK", "without the comparison of labels with each other, minimised by cccp", _hlk,
               "features", {"alpha": ALPHAS}, "HLK", quick=_QUICK_ALPHAS, short=_SMALL_ALPHAS, cost=2),
        Method("m3miml-vectors", "M3MIML, vectors", "on the mean node of each graph, as in the paper", _m3miml,
               "vectors", {"C": tuple(10.0**k for k in range(-2, 7))}, "M3MIML", quick=_QUICK_C, short=_SHORT_C,
               shortest=_ONE_C, cost=0.3),
        Method("m3miml", "M3MIML, graphs", "on the same graph kernel as CfMGML", _m3miml,
               "kernel", {"C": tuple(10.0**k for k in range(-2, 7))}, quick=_QUICK_C, short=_SHORT_C,
               shortest=_ONE_C, cost=0.3),
        Method("misvm", "MI-SVM, graphs", "on the same graph kernel as CfMGML", _misvm,
               "kernel", {"C": tuple(10.0**k for k in range(-1, 4))}, quick=_QUICK_C, short=_SHORT_C,
               shortest=_ONE_C, cost=0.6),
        Method("mimlfast", "MIMLfast", "on the mean node of each graph", _mimlfast, "vectors", {}, "MIMLfast",
               quick_settings={"n_epochs": 10}, cost=2),
        Method("mgmlent", "MGMLent", "on node labels: frequent subgraphs and MIML-ELM", _mgmlent,
               "labels", {"n_hidden": (50, 100, 200)}, "MGMLent", levels=("bag",), quick={"n_hidden": (50,)},
               short={"n_hidden": (100,)}, cost=1.5),
        Method("gin", "GIN, attention", "a graph network with attention over a bag's graphs", _gin, "graphs", {},
               quick_settings={"n_epochs": 8, "n_hidden": 16}, cost=15, where=("msrc_v2-rich",)),
        Method("sgsl-svm", "SGSL SVM", "told the label of every training graph: the ceiling", _sgsl_svm,
               "kernel", {"C": tuple(10.0**k for k in range(1, 8))}, "SGSL_SVM", sees_graph_labels=True,
               quick=_QUICK_C, short=_SHORT_C, shortest=_ONE_C, cost=0.2),
        Method("dummy", "Dummy", "the most frequent label", _dummy, "vectors", {}, "Dummy", cost=0.01),
    )
}  # fmt: skip


def find_methods(names: list[str] | None) -> list[Method]:
    """The methods named by their keys.

    >>> [method.title for method in find_methods(["cfmgml", "hlk"])]
    ['CfMGML', 'HLK']
    """
    if not names:
        return list(METHODS.values())
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise ValueError(f"there is no method {unknown[0]!r}; known: {', '.join(METHODS)}.")
    return [method for key, method in METHODS.items() if key in names]


def missing_library(method: Method) -> str | None:
    """Why a method cannot run on this machine, if it cannot."""
    if method.form == "graphs" and importlib.util.find_spec("torch") is None:
        return "needs PyTorch: pip install 'cfmgml[gpu]'"
    return None

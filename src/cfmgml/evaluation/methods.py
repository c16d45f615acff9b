"""The methods that can be compared: `CfMGML` in eight ways, and what each baseline says of itself.

Grids are the paper's: lambda 10^-1 to 10^-8 (R 10, T 100); Algorithm 1 as printed, which is there to be looked at,
tries three lambdas only. With context, which the paper has not, how much of it is searched as well. On data sets of
many graphs the grids are shorter (`short`, `shortest`), and the page says which.
"""

from collections.abc import Iterable
from dataclasses import replace

from cfmgml.baselines import BASELINES
from cfmgml.baselines.method import ALPHAS, FEW_ALPHAS, SHARES, Method
from cfmgml.learning.estimator import BagEstimator
from cfmgml.learning.ways import CONTEXT, FEWER, ROUNDS
from cfmgml.model_selection import CfMGMLCV

_FLOAT32 = {"dtype": "float32"}
_ONE_ALPHA = {"alpha": (1e-4,)}
_CFMGML = (
    Method("cfmgml", "CfMGML", "the paper's objective, minimised by cccp: this package's default", "features",
           {"alpha": ALPHAS}, options=_FLOAT32, by_default=True, quick=FEW_ALPHAS),
    Method("context", "CfMGML with context", "with the bag's mean in a graph's score; its share is searched, too",
           "features", {"context": SHARES, **FEW_ALPHAS}, options=_FLOAT32,
           short={"context": (0.0, 0.6), **FEW_ALPHAS}, quick={"context": (0.3,), **FEW_ALPHAS}, cost=1.5),
    Method("again-context", "CfMGML, learned twice, context", "learned again from its own annotation, with the bag's "
           "mean in a graph's score; the mean of models for three alphas, so that nothing is chosen", "features",
           {"context": (CONTEXT,)}, options={**_FLOAT32, "refine": ROUNDS, "alpha": FEWER}, cost=9),
    Method("chosen", "CfMGML, way chosen",
           "once or again, with context or not, rare labels weighing more or not; chosen "
           "inside the training bags, as `cfmgml train` does", "features", {"n_measured": (3,)}, CfMGMLCV,
           options=_FLOAT32, short={"n_measured": (1,)}, quick={"n_measured": (1,)}, cost=30),
    Method("terms", "CfMGML, paper’s terms", "the paper's equation as it stands, minimised by cccp", "features",
           {"alpha": ALPHAS}, options={**_FLOAT32, "term_weights": "paper", "irrelevant": "max"},
           quick=FEW_ALPHAS, short=_ONE_ALPHA, cost=1.2),
    Method("paper", "cfMGML, Algorithm 1", "the paper's Algorithm 1 with its errors corrected", "features",
           {"alpha": ALPHAS}, options={**_FLOAT32, "solver": "paper"}, quick=FEW_ALPHAS,
           short={"alpha": ALPHAS[2:6]}, cost=4),
    Method("printed", "cfMGML, as printed", "Algorithm 1 exactly as printed", "features",
           {"alpha": (1e-2, 1e-4, 1e-6)}, options={**_FLOAT32, "solver": "printed"}, quick=_ONE_ALPHA,
           short=_ONE_ALPHA, cost=7),
    Method("single", "CfMGML(G)", "CfMGML on bags joined to one graph", "single", {"alpha": ALPHAS}, options=_FLOAT32,
           levels=("bag",), quick=FEW_ALPHAS, cost=0.3),
)  # fmt: skip


def methods_of(baselines: Iterable[type[BagEstimator]]) -> list[Method]:
    """What these classes say of themselves."""
    return [replace(method, estimator=baseline) for baseline in baselines for method in baseline.compared]


METHODS: dict[str, Method] = {method.key: method for method in (*_CFMGML, *methods_of(BASELINES))}


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

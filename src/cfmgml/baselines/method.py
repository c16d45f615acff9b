"""How a method is compared with others: what it is called, what it is given and which settings are searched.

A baseline says so in its class attribute ``compared``, and stands in the list `cfmgml.baselines.BASELINES`: that is all
that `cfmgml.evaluation` needs to know of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from cfmgml.kernels import Kernel
from cfmgml.learning.estimator import BagEstimator
from cfmgml.model.cfmgml import CfMGML

Grid = Mapping[str, Sequence[float]]
Settings = dict[str, float]  # a value for each parameter of a grid
Option = float | str | tuple[float, ...] | None
Options = Mapping[str, Option]

ALPHAS = tuple(10.0**-k for k in range(1, 9))
FEW_ALPHAS = {"alpha": (1e-3, 1e-4, 1e-5)}
SHARES = (0.0, 0.3, 0.6)  # of context; where there is a share and an alpha or C, that stands last: a path each
FEW_C, ONE_C = {"C": (1.0, 10.0, 100.0)}, {"C": (10.0,)}


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    >>> method = Method("mine", "Mine", "CfMGML at two alphas", "features", {"alpha": (1e-3, 1e-4)})
    >>> method.settings(method.grid), method.make(None, seed=0, alpha=1e-3).random_state
    ([{'alpha': 0.001}, {'alpha': 0.0001}], 0)
    """

    key: str
    title: str
    about: str
    takes: str  # how it sees the data, one of `cfmgml.evaluation.representations.REPRESENTATIONS`
    grid: Grid = field(default_factory=dict)
    estimator: type[BagEstimator] = CfMGML  # of a baseline's ``compared``, the class it stands in
    options: Options = field(default_factory=dict)  # of the estimator, not searched
    levels: tuple[str, ...] = ("bag", "graph")
    sees_graph_labels: bool = False
    by_default: bool = False  # run where no methods are named: it takes no more than minutes
    short: Grid | None = None  # searched instead where there are many graphs
    shortest: Grid | None = None  # and where there are so many that a fit takes minutes
    quick: Grid | None = None  # searched in quick runs; the whole grid if None
    quick_options: Options = field(default_factory=dict)
    cost: float = 1.0  # of a fit, relative to CfMGML's

    def settings(self, grid: Grid) -> list[Settings]:
        """Every combination of a grid's values, in order."""
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]

    def make(self, kernel: Kernel | None, seed: int, **params: Option) -> BagEstimator:
        """The estimator, with the kernel and the seed if it takes one."""
        names = self.estimator._get_param_names()
        given = {name: value for name, value in (("kernel", kernel), ("random_state", seed)) if name in names}
        return self.estimator(**given, **{**self.options, **params})

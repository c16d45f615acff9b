"""HLK: cfMGML with the hinged Hamming loss only."""

from typing import Any

from cfmgml.baselines.method import ALPHAS, FEW_ALPHAS, SHARES, Method
from cfmgml.kernels.function import KernelLike
from cfmgml.model.cfmgml import CfMGML


class HLK(CfMGML):
    """cfMGML without the comparison of a bag's labels with each other (the paper's HLK).

    Terms are weighed as the paper does, by 1/|Y|^2, and an irrelevant label is held against the bag's best graph. All
    other parameters are those of `CfMGML`.

    Examples
    --------
    >>> HLK(alpha=1e-4).loss
    'hamming'
    """

    compared = (
        Method("hlk", "HLK", "without the comparison of labels with each other, minimised by cccp", "features",
               {"alpha": ALPHAS}, options={"dtype": "float32"}, by_default=True, quick=FEW_ALPHAS,
               short={"alpha": ALPHAS[3:7]}, cost=2),  # it was best at smaller ones
        Method("hlk-context", "HLK with context", "with the bag's mean in a graph's score, as CfMGML has it",
               "features", {"context": SHARES, **FEW_ALPHAS}, options={"dtype": "float32"},
               short={"context": (0.0, 0.6), **FEW_ALPHAS}, quick={"context": (0.3,), "alpha": (1e-4,)}, cost=2),
    )  # fmt: skip

    def __init__(
        self,
        kernel: KernelLike | None = None,
        alpha: float = 1e-5,
        loss: str = "hamming",
        term_weights: str = "paper",
        irrelevant: str = "max",
        **others: Any,
    ) -> None:
        super().__init__(kernel, alpha, loss=loss, term_weights=term_weights, irrelevant=irrelevant, **others)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(CfMGML._get_param_names())

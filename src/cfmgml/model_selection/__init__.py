"""Choosing a kernel by name, or by inner cross-validation, and a way to learn and alpha by inner cross-validation.

`CfMGMLCV` is the model that does so by itself."""

from cfmgml.model_selection.alphas import AlphaChoice, choose_alpha, fit_as_chosen
from cfmgml.model_selection.choices import Choice, choose_kernel_and_alpha, choose_way
from cfmgml.model_selection.cv import CfMGMLCV
from cfmgml.model_selection.named_kernels import candidate_kernels, kernel_named

__all__ = [
    "AlphaChoice", "CfMGMLCV", "Choice", "candidate_kernels", "choose_alpha", "choose_kernel_and_alpha", "choose_way",
    "fit_as_chosen", "kernel_named",
]  # fmt: skip

"""`cccp` on a device: the problem goes there once, the solution comes back (`cfmgml.gpu.training`)."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from cfmgml.common.compute import torch_device
from cfmgml.common.typing import FloatArray, Rows
from cfmgml.learning.solvers.cccp import CURVATURE, Problem, Solution, column_squares, in_precision_for, solve_cccp

if TYPE_CHECKING:
    import torch

    from cfmgml.gpu.training import DeviceProblem


def solve_cccp_on_device(
    problem: Problem,
    is_gram: bool,
    n_rounds: int,
    max_iter: int,
    tol: float,
    device: str,
    on_round: Callable[[int, float], None],
    trail: "Sequence[torch.Tensor]" = (),
) -> "tuple[Solution[torch.Tensor], FloatArray]":
    """As `solve_cccp`, on a device, and the scores of the training graphs.

    With ``is_gram`` the problem's rows are a Gram matrix, and the solution's weights are one coefficient a graph.
    """
    there = in_precision_for(tol, to_device(problem, is_gram, device))
    solution = solve_cccp(there, n_rounds, max_iter, tol, on_round, trail)
    return solution, there.scores(solution.trail[-1]).cpu().numpy()


def scores_on_device(columns: "torch.Tensor | FloatArray", coef: FloatArray) -> FloatArray:
    """Kernel values with other graphs, wherever they are, times a coefficient for each of these."""
    if isinstance(columns, np.ndarray):
        return np.asarray(columns @ coef)
    import torch

    weights = torch.from_numpy(np.ascontiguousarray(coef)).to(columns)
    return (columns @ weights).cpu().numpy().astype(np.float64)


def to_device(problem: Problem, is_gram: bool, device: str) -> "DeviceProblem":
    """The same problem with its rows on a device."""
    import torch

    from cfmgml.gpu.node_blocks import as_tensor
    from cfmgml.gpu.rank_loss import TorchRankLoss
    from cfmgml.gpu.spaces import GramSpace, RowSpace, Space
    from cfmgml.gpu.training import DeviceProblem

    place, rows, alpha, bend = torch_device(device), problem.rows, problem.alpha, CURVATURE / problem.loss.n_bags

    def make_space(precision: str) -> Space:
        numbers = getattr(torch, precision)
        if is_gram:
            return GramSpace(cast("torch.Tensor", rows).to(numbers), alpha, bend, CURVATURE)
        bends = np.append(bend * column_squares(rows) + alpha, CURVATURE)
        there = _on(rows, numbers, place)
        turned = there.T if isinstance(rows, np.ndarray) else _on(rows.T, numbers, place)
        return RowSpace(there, turned, as_tensor(bends, torch.float64, place))

    return DeviceProblem(make_space, TorchRankLoss(problem.loss, place), alpha, problem.fit_intercept)


def _on(rows: Rows, numbers: "torch.dtype", place: "torch.device") -> "torch.Tensor":
    """Dense or sparse rows on a device."""
    import torch

    from cfmgml.gpu.node_blocks import as_tensor

    if isinstance(rows, np.ndarray):
        return as_tensor(rows, numbers, place)
    rows = rows.tocsr()
    with warnings.catch_warnings():  # torch says that sparse rows are new to it
        warnings.simplefilter("ignore", UserWarning)
        parts = as_tensor(rows.indptr, torch.int64, place), as_tensor(rows.indices, torch.int64, place)
        return torch.sparse_csr_tensor(*parts, as_tensor(rows.data, numbers, place), size=rows.shape)

"""`cccp` on a device: the problem goes there once, the solution comes back (`cfmgml.gpu.training`)."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from cfmgml.common.typing import FloatArray
from cfmgml.learning.solvers.cccp import (
    CURVATURE,
    ROUND_GAIN,
    SINGLE_PRECISION_TOL,
    Problem,
    Solution,
    column_squares,
)


def solve_cccp_on_device(
    problem: Problem,
    is_gram: bool,
    n_rounds: int,
    max_iter: int,
    tol: float,
    device: str,
    on_round: Callable[[int, float], None],
    trail: Sequence[FloatArray] = (),
) -> tuple[Solution, FloatArray]:
    """As `solve_cccp`, on a device, and the scores of the training graphs.

    With ``is_gram`` the problem's rows are a Gram matrix, and the solution's weights are one coefficient a graph.
    """
    import torch

    from cfmgml.gpu.devices import torch_device
    from cfmgml.gpu.spaces import GramSpace, RowSpace
    from cfmgml.gpu.training import train

    place, bend = torch_device(device), CURVATURE / problem.loss.n_bags
    dtype = np.dtype(np.float32 if tol >= SINGLE_PRECISION_TOL else np.float64)
    if is_gram:
        space: Any = GramSpace(problem.rows.to(getattr(torch, dtype.name)), problem.alpha, bend)
    else:
        squares = column_squares(problem.rows)
        rows, turned = (_on(side, dtype, place) for side in (problem.rows, problem.rows.T))
        space = RowSpace(rows, turned, _on(squares, np.dtype(np.float64), place), problem.alpha, bend)
    found = train(
        space, problem.loss, problem.alpha, problem.fit_intercept, n_rounds, max_iter, tol, CURVATURE, ROUND_GAIN,
        place, on_round, trail,
    )  # fmt: skip
    solution = Solution(
        found.coef, found.intercept, found.objective, found.n_iter, found.gradient_norm, found.trail, found.reached
    )
    return solution, found.scores


def _on(rows: Any, dtype: np.dtype[Any], place: Any) -> Any:
    """Dense or sparse rows on a device."""
    import torch

    from cfmgml.gpu.node_blocks import as_tensor

    numbers = getattr(torch, dtype.name)
    if not sparse.issparse(rows):
        return as_tensor(rows, numbers, place)
    rows = rows.tocsr()
    with warnings.catch_warnings():  # torch says that sparse rows are new to it
        warnings.simplefilter("ignore", UserWarning)
        parts = as_tensor(rows.indptr, torch.int64, place), as_tensor(rows.indices, torch.int64, place)
        return torch.sparse_csr_tensor(*parts, as_tensor(rows.data, numbers, place), size=rows.shape)

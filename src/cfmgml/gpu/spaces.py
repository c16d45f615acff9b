"""Two ways to hold weights on a device: as weights of rows, or as coefficients of a Gram matrix.

With X X^T = K and W = X^T A, scores K A are scores X W, and <A, K B> is the inner product of the weights. So L-BFGS
does the same steps on A as it would on W, without a factor of K.

Steps are measured by the curvature that loss and penalty have on average, ``bend X^T X + alpha I`` for weights (by its
diagonal, for rows). This is what `cfmgml.learning.solvers.cccp` calls a space. Theta is (n_weights + 1, n_labels), the
intercepts in its last row; the vectors of a space are flat. Both are float64, matrices as they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from cfmgml.gpu.training import DeviceBound, FunctionOfPoints


class Vectors:
    """What both spaces do with their vectors."""

    def dot(self, step: Tensor, gradient: Tensor) -> Tensor:
        return step @ gradient

    def norm(self, vector: Tensor) -> Tensor:
        return self.dot(vector, vector).sqrt()

    def curvatures(self, steps: Sequence[Tensor], changes: Sequence[Tensor]) -> Sequence[Tensor]:
        return list(map(self.dot, steps, changes))

    def eps(self, vector: Tensor) -> float:
        import torch

        return float(torch.finfo(vector.dtype).eps)

    def function(self, bound: DeviceBound) -> FunctionOfPoints:
        """The bound as a function of points."""
        return bound.function()


class RowSpace(Vectors):
    """Scores X W + b, in units in which all entries bend alike."""

    def __init__(self, rows: Tensor, turned: Tensor, bends: Tensor) -> None:
        """``turned`` is the transpose of the rows; ``bends`` the curvature along each weight, an intercept's last."""
        self.rows, self.turned, self.n_weights = rows, turned, int(rows.shape[1])
        self.scales = 1 / bends.sqrt()[:, None]

    def enter(self, theta: Tensor) -> Tensor:
        """A point of this space."""
        return (theta / self.scales).reshape(-1)

    def leave(self, point: Tensor) -> Tensor:
        """Its theta."""
        return point.reshape(len(self.scales), -1) * self.scales

    def scores(self, point: Tensor) -> Tensor:
        """(n_graphs, n_labels), of a point or a step."""
        theta = self.leave(point)
        return (self.rows @ theta[:-1].to(self.rows.dtype)).double() + theta[-1]

    def weights(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """The weights of a point or a step in two forms, flat, whose product is the inner product of weights."""
        flat = self.leave(point)[:-1].reshape(-1)
        return flat, flat

    def pull(self, slope: Tensor) -> Tensor:
        """The gradient of a function of scores, given its slope there; without intercepts."""
        return (self.turned @ slope.to(self.rows.dtype)).double()

    def lift(self, gradient: Tensor) -> Tensor:
        """A gradient with respect to theta as a vector: its product with a step is the change of the function."""
        return (gradient * self.scales).reshape(-1)

    def lower(self, gradient: Tensor) -> Tensor:
        """The way back."""
        return gradient.reshape(len(self.scales), -1) / self.scales

    def steepness(self, gradient: Tensor) -> float:
        """The norm of a gradient with respect to theta."""
        return float(gradient.norm())


class GramSpace(Vectors):
    """Scores K A + b, with the part of K that is a kernel: directions of negative eigenvalues are left out.

    A vector has three parts beside its intercepts: C A, A and K A, where C = bend K + alpha I is the curvature. So
    that of a gradient G is its own first part, and the inner product of W by curvature is that of a step's third part
    with it: no product is needed for steps, which are sums of gradients.
    """

    def __init__(self, gram: Tensor, alpha: float, bend: float, curvature: float) -> None:
        """``curvature`` is that along an intercept."""
        import torch

        self.gram, self.kept = positive_part(gram)
        self.n_weights, self.root = len(gram), curvature**0.5
        bends = self.gram * bend
        bends.diagonal().add_(alpha)
        self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(bends, out=bends))

    def _times(self, matrix: Tensor, coef: Tensor) -> Tensor:
        return (matrix @ coef.to(matrix.dtype)).double()

    def _parts(self, vector: Tensor) -> Tensor:
        """(3 n_weights + 1, n_labels)."""
        return vector.reshape(3 * self.n_weights + 1, -1)

    def enter(self, theta: Tensor) -> Tensor:
        """The first part is that of steps only: 0."""
        import torch

        coef = theta[:-1]
        parts = torch.zeros_like(coef), coef, self._times(self.gram, coef), theta[-1:] * self.root
        return torch.cat(parts).reshape(-1)

    def leave(self, point: Tensor) -> Tensor:
        import torch

        parts, n = self._parts(point), self.n_weights
        return torch.cat([parts[n : 2 * n], parts[-1:] / self.root])

    def scores(self, point: Tensor) -> Tensor:
        parts = self._parts(point)
        return parts[2 * self.n_weights : -1] + parts[-1] / self.root

    def weights(self, point: Tensor) -> tuple[Tensor, Tensor]:
        n, parts = self.n_weights, self._parts(point)
        return parts[n : 2 * n].reshape(-1), parts[2 * n : -1].reshape(-1)

    def pull(self, slope: Tensor) -> Tensor:
        """Within the directions that are kept: coefficients must not leave them, since new graphs meet all of K."""
        return slope if self.kept is None else self.kept @ (self.kept.T @ slope)

    def lift(self, gradient: Tensor) -> Tensor:
        import torch

        coef = self._times(self.inverse, gradient[:-1])
        parts = gradient[:-1], coef, self._times(self.gram, coef), gradient[-1:] / self.root
        return torch.cat(parts).reshape(-1)

    def lower(self, gradient: Tensor) -> Tensor:
        import torch

        parts = self._parts(gradient)
        return torch.cat([parts[: self.n_weights], parts[-1:] * self.root])

    def steepness(self, gradient: Tensor) -> float:
        squares = (gradient[:-1] * self._times(self.gram, gradient[:-1])).sum() + gradient[-1].square().sum()
        return float(squares.sqrt())

    def dot(self, step: Tensor, gradient: Tensor) -> Tensor:
        (_, forward, last), (back, _, other) = self._split(step), self._split(gradient)
        return forward @ back + last @ other

    def _split(self, vector: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The first part, the third part and the intercepts of a vector, each flat."""
        n = len(vector) // (3 * self.n_weights + 1) * self.n_weights
        return vector[:n], vector[2 * n : 3 * n], vector[3 * n :]


Space = RowSpace | GramSpace


def positive_part(gram: Tensor) -> tuple[Tensor, Tensor | None]:
    """A Gram matrix without its negative eigenvalues, and the eigenvector that are left; None where all are.

    The rule is that of `kernels.factors.factorize`: an eigenvalue counts if it is more than rounding. A Cholesky factor
    of the matrix, moved up by as much as rounding moves it, exists where there is nothing to leave out, and costs a
    small part of the eigenvector.
    """
    import torch

    n, rounding = len(gram), torch.finfo(torch.float64).eps
    largest = float(gram.abs().sum(1).max())  # no eigenvalue is larger than that
    lost = max(largest * n * rounding, n**0.5 * torch.finfo(gram.dtype).eps * float(gram.abs().max()))
    moved = gram.double() if gram.dtype != torch.float64 else gram.clone()
    moved.diagonal().add_(lost)
    _, failed = torch.linalg.cholesky_ex(moved, out=(moved, torch.empty((), dtype=torch.int32, device=gram.device)))
    if not int(failed):
        return gram, None
    del moved
    values, vector = torch.linalg.eigh(gram.double())
    kept = vector[:, values > lost]
    return ((kept * values[values > lost]) @ kept.T).to(gram.dtype), kept

"""Two ways to hold weights on a device: as weights of rows, or as coefficients of a Gram matrix.

With X X^T = K and W = X^T A, scores K A are scores X W, and <A, K B> is the inner product of the weights. So L-BFGS
does the same steps on A as it would on W, without a factor of K, if each point is held as A together with K A.

Each space also knows the curvature that loss and penalty have on average, ``bend X^T X + alpha I`` for weights, and
starts every step from the inverse of that (of its diagonal, for rows).
"""

from typing import Any, NamedTuple, Protocol


class Gradient(NamedTuple):
    """A slope in every direction: its product with a step's dual form is the change of the function."""

    coef: Any
    intercept: Any  # (n_labels,)

    def plus(self, amount: Any, other: "Gradient") -> "Gradient":
        return Gradient(self.coef + amount * other.coef, self.intercept + amount * other.intercept)


class Point(NamedTuple):
    """Weights, or a step between weights."""

    coef: Any  # W, or A: (n_weights, n_labels)
    dual: Any  # W, or K A
    intercept: Any  # (n_labels,)

    def plus(self, amount: Any, other: "Point") -> "Point":
        return Point(
            self.coef + amount * other.coef, self.dual + amount * other.dual, self.intercept + amount * other.intercept
        )

    def dot(self, gradient: Gradient) -> Any:
        return (self.dual * gradient.coef).sum() + (self.intercept * gradient.intercept).sum()

    def product(self, other: "Point") -> Any:
        """Inner product of the weights; intercepts are not penalised."""
        return (self.coef * other.dual).sum()


class Space(Protocol):
    """What training needs to know of rows or of a Gram matrix. Vectors are float64, matrices as they are given."""

    n_weights: int

    def dual(self, coef: Any) -> Any:
        """The other form of weights."""

    def scores(self, point: Point) -> Any:
        """(n_graphs, n_labels), without intercepts."""

    def pull(self, slope: Any) -> Any:
        """The gradient of a function of scores, given its slope there."""

    def squared_norm(self, gradient: Any) -> Any: ...

    def flatten(self, gradient: Any) -> Any:
        """A step along a gradient, in units in which the function curves equally in all directions."""


class RowSpace:
    """Scores X W."""

    def __init__(self, rows: Any, turned: Any, squares: Any, alpha: float, bend: float) -> None:
        """``turned`` is the transpose of the rows, ``squares`` the squared length of each column."""
        self.rows, self.turned, self.n_weights = rows, turned, int(rows.shape[1])
        self.units = 1 / (bend * squares + alpha)[:, None]

    def dual(self, coef: Any) -> Any:
        return coef

    def scores(self, point: Point) -> Any:
        return (self.rows @ point.coef.to(self.rows.dtype)).double()

    def pull(self, slope: Any) -> Any:
        return (self.turned @ slope.to(self.rows.dtype)).double()

    def squared_norm(self, gradient: Any) -> Any:
        return gradient.square().sum()

    def flatten(self, gradient: Any) -> Any:
        return self.units * gradient


class GramSpace:
    """Scores K A, with the part of K that is a kernel: directions of negative eigenvalues are left out."""

    def __init__(self, gram: Any, alpha: float, bend: float) -> None:
        import torch

        self.gram, self.kept = positive_part(gram)
        self.n_weights = len(gram)
        curvature = self.gram * bend
        curvature.diagonal().add_(alpha)
        factor = torch.linalg.cholesky(curvature, out=curvature)
        self.inverse = torch.cholesky_inverse(factor)

    def dual(self, coef: Any) -> Any:
        return (self.gram @ coef.to(self.gram.dtype)).double()

    def scores(self, point: Point) -> Any:
        return point.dual

    def pull(self, slope: Any) -> Any:
        """Within the directions that are kept: coefficients must not leave them, since new graphs meet all of K."""
        return slope if self.kept is None else self.kept @ (self.kept.T @ slope)

    def squared_norm(self, gradient: Any) -> Any:
        return (gradient * self.dual(gradient)).sum()

    def flatten(self, gradient: Any) -> Any:
        return (self.inverse @ gradient.to(self.gram.dtype)).double()


def positive_part(gram: Any) -> tuple[Any, Any]:
    """A Gram matrix without its negative eigenvalues, and the eigenvectors that are left; None where all are.

    The rule is that of `kernels.factors.factorize`: an eigenvalue counts if it is more than rounding. A Cholesky factor
    of the matrix, moved up by as much as rounding moves it, exists where there is nothing to leave out, and costs a
    small part of the eigenvectors.
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
    values, vectors = torch.linalg.eigh(gram.double())
    kept = vectors[:, values > lost]
    return ((kept * values[values > lost]) @ kept.T).to(gram.dtype), kept

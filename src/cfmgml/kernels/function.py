"""A plain function of two batches as a kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.typing import ArrayLike, FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, Operand

KernelFunction: TypeAlias = Callable[[GraphBatch, GraphBatch], ArrayLike]  # values of shape (n_a, n_b)
KernelLike: TypeAlias = Kernel | KernelFunction


@dataclass(frozen=True)
class BatchOperand(Operand):
    """The graphs themselves."""

    graphs: GraphBatch

    @property
    def sizes(self) -> IntArray:
        return np.ones(self.graphs.n_graphs, dtype=np.int64)

    def take(self, graphs: IntArray) -> "BatchOperand":
        return BatchOperand(self.graphs[graphs])


class BatchKernel(Kernel):
    """A kernel that looks at the graphs themselves in every tile."""

    tile_size = 512
    ignores_edge_labels = False  # who knows: it is given the graphs themselves

    def operands(
        self, a: GraphBatch, b: GraphBatch | None = None, dtype: DTypeLike = np.float64
    ) -> tuple[BatchOperand, BatchOperand]:
        self.check_graphs(a)
        left = BatchOperand(a)
        if b is None:
            return left, left
        self.check_graphs(b)
        return left, BatchOperand(b)

    def tile(self, left: Operand, right: Operand) -> FloatArray:
        assert isinstance(left, BatchOperand)
        assert isinstance(right, BatchOperand)
        values = np.asarray(self._values(left.graphs, right.graphs), dtype=np.float64)
        shape = (left.graphs.n_graphs, right.graphs.n_graphs)
        if values.shape != shape:
            raise ValueError(f"{self!r} must give values of shape {shape}, got {values.shape}.")
        return values

    def _values(self, a: GraphBatch, b: GraphBatch) -> ArrayLike:
        raise TypeError(f"{type(self).__name__} does not say how it compares graphs.")


class FunctionKernel(BatchKernel):
    """A function of two batches that returns kernel values of shape (n_a, n_b).

    Wherever a kernel is expected a function will do; it is wrapped in this.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 1, 3], edge_ptr=[0, 0, 0], edges=[[], []])
    >>> FunctionKernel(lambda a, b: np.outer(np.diff(a.node_ptr), np.diff(b.node_ptr))).block(graphs, graphs)
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, function: KernelFunction) -> None:
        self.function = function

    def _values(self, a: GraphBatch, b: GraphBatch) -> ArrayLike:
        return self.function(a, b)


def as_kernel(kernel: KernelLike) -> Kernel:
    """A kernel as it is, or a function wrapped as one."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    hint = f"; did you mean {kernel.__name__}()?" if isinstance(kernel, type) and issubclass(kernel, Kernel) else ""
    raise TypeError(f"kernel must be a Kernel or a function of two batches, got {kernel!r}{hint}.")

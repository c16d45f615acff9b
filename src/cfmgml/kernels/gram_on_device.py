"""Gram matrices and maps of nodes on a device: which kernels have them there, and how their parts are put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray, Rows
from cfmgml.data.graphs import GraphBatch
from cfmgml.gpu.node_blocks import GraphNodes, as_tensor
from cfmgml.gpu.node_maps import summed_map
from cfmgml.gpu.node_pairs import pair_diagonal, pair_gram
from cfmgml.kernels.base import Kernel, Operand, normalising_scale
from cfmgml.kernels.compose import CompositeKernel, PartsOperand, scale_rows
from cfmgml.kernels.node_blocks import SummedNodes
from cfmgml.kernels.node_pairs import NodePairKernel
from cfmgml.kernels.node_tiles import CANCELLATION_LIMIT, NodeOperand

if TYPE_CHECKING:
    import torch
    from torch import Tensor

OnCpu = Callable[[Kernel, Operand, Operand], FloatArray]


def raw_gram(
    kernel: Kernel, left: Operand, right: Operand, precision: str, device: torch.device, on_cpu: OnCpu
) -> Tensor:
    """A tensor of kernel values, not normalised.

    Sums over pairs of nodes are computed on the device, sums and products of kernels part by part; any other kernel
    by ``on_cpu``.
    """
    import torch

    if isinstance(left, NodeOperand) and isinstance(right, NodeOperand):
        sides = _nodes(left), None if right is left else _nodes(right)
        return pair_gram(*sides, *_space(left), precision, device, limit=CANCELLATION_LIMIT)
    dtype = torch.float64 if precision == "float64" else torch.float32
    if isinstance(left, PartsOperand) and isinstance(right, PartsOperand) and isinstance(kernel, CompositeKernel):
        parts = []
        for k, part in enumerate(kernel.parts):
            values = raw_gram(part, left.parts[k], right.parts[k], precision, device, on_cpu)
            values *= as_tensor(left.scales[k], values.dtype, device)[:, None]
            values *= as_tensor(right.scales[k], values.dtype, device)
            parts.append(values)
        return kernel.combine(parts).to(dtype)
    return as_tensor(on_cpu(kernel, left, right), dtype, device)


def diagonal(kernel: Kernel, operand: Operand, precision: str, device: torch.device) -> FloatArray:
    """K(g, g) of an operand's graphs."""
    if operand.norms is None and isinstance(operand, NodeOperand):
        values = pair_diagonal(_nodes(operand), *_space(operand), precision, device, CANCELLATION_LIMIT)
        return np.asarray(values.double().cpu().numpy())
    return kernel.operand_diagonal(operand)


def mapped_rows(kernel: NodePairKernel, graphs: GraphBatch, precision: str, device: torch.device) -> Rows:
    """phi(g) / |phi(g)| of a resolved kernel whose map goes through landmarks."""
    kernel.check_graphs(graphs)
    assert graphs.node_attributes is not None
    weights = kernel.node_weights(graphs)
    nodes = GraphNodes(graphs.node_attributes, weights.node_ptr, weights.widths, weights.values)
    through = kernel.centre_, kernel.landmarks_, kernel.basis_, kernel.gamma_
    sums = summed_map(nodes, *through, precision, device, CANCELLATION_LIMIT).double().cpu().numpy()
    exact = kernel.exact()
    scale = normalising_scale(diagonal(exact, exact.operands(graphs)[0], precision, device))
    return scale_rows(SummedNodes(sums, offsets(weights.widths)).joined(kernel.width_), scale)


def _nodes(operand: NodeOperand) -> GraphNodes:
    space, weights = operand.space, operand.weights
    attributes = space.attributes if len(operand.rows) == len(space.attributes) else space.attributes[operand.rows]
    kept = attributes if space.kept.all() else attributes[:, space.kept]
    return GraphNodes(kept, weights.node_ptr, weights.widths, weights.values)


def _space(operand: NodeOperand) -> tuple[FloatArray, float]:
    return operand.space.centre[operand.space.kept], operand.space.scale**2 / 2

"""Kernels that can be used over a store: those with an explicit feature map."""

from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from cfmgml.common.numbers import check_number
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, as_kernel, choose_kernel
from cfmgml.kernels.function import KernelLike
from cfmgml.stores import BagStore

SAMPLE_GRAPHS = 20_000


def resolve_on_sample(
    kernel: KernelLike | None, store: BagStore, n_graphs: int = SAMPLE_GRAPHS, random_state: Any = None
) -> Kernel:
    """A kernel with what depends on data settled on a sample of a store, which is the same each time without a seed."""
    check_number(n_graphs, "sample_graphs", at_least=1, whole=True)
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(2**31))
    return resolve_explicit(kernel, store.sample(n_graphs, seed).graphs)


def resolve_explicit(kernel: KernelLike | None, graphs: GraphBatch) -> Kernel:
    """A kernel settled on these graphs, if it has an explicit map; None takes one that has.

    >>> from cfmgml import NodeSum
    >>> resolve_explicit(NodeSum(), GraphBatch([0, 1], [0, 0], [[], []], node_attributes=[[1.0]]))
    Traceback (most recent call last):
    ValueError: NodeSum() has no explicit feature map, and without one all training graphs would be needed: use HashedWL
    for labels, approximation='nystrom' or 'fourier' for an rbf kernel of attributes, or a SumKernel of these.
    """
    kernel = choose_kernel(None, graphs).with_explicit_map() if kernel is None else as_kernel(kernel)
    if not kernel.is_explicit:
        raise ValueError(
            f"{kernel!r} has no explicit feature map, and without one all training graphs would be needed: use "
            "HashedWL for labels, approximation='nystrom' or 'fourier' for an rbf kernel of attributes, or a SumKernel "
            "of these."
        )
    return clone(kernel).resolve(graphs)

"""``rank="auto"``: kernel values as they are where that is cheap, and through landmarks where it is not.

All pairs of nodes cost the square of their number, and the factor of the Gram matrix the cube of the number of graphs.
`exact_seconds` says about how much that is; above `CHEAP` graphs are compared with landmarks only, and the cost is in
proportion to their number. Where a kernel has a map of nodes (`Kernel.with_landmarks`) landmarks are nodes; else they
are graphs, columns of the Gram matrix. Their number is doubled until the values of graphs kept aside, which no landmark
comes from, are off by at most `TOLERANCE`, or it shows that they will not be. Where many would not be enough (nodes
with hundreds of attributes) values are computed as they are up to `AFFORDABLE`, which bounds memory as well: at most
15,900 graphs have a factor in that time. Beyond it what is left of the error is told. ``docs/performance.md`` has where
the constants come from.
"""

from dataclasses import dataclass

import numpy as np

from cfmgml.common.compute import Compute
from cfmgml.common.progress import say
from cfmgml.common.segments import lengths, take_segments
from cfmgml.common.typing import IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.factors import Aside, value_error
from cfmgml.kernels.gram import compute_gram

AUTO = "auto"
CHEAP, AFFORDABLE = 2.0, 120.0  # seconds of one core: below the first nothing is tried, below the second little
SECONDS_OF_FACTOR = 3e-11  # times the cube of the number of graphs: whether there is one, and the one of an alpha
CHEAP_ON_DEVICE = 20_000  # graphs whose Gram matrix a card computes and keeps
TOLERANCE, HOPELESS = 0.0035, 2.0  # where so many tolerances of error are foreseen, numbers between are not tried
FIRST, MOST = 128, 2048  # landmarks
ASIDE, ASIDE_NODES = 200, 4000  # most graphs that are kept aside, and most nodes of them


@dataclass(frozen=True)
class Approximation:
    """A resolved kernel to learn with, and how."""

    kernel: Kernel
    rank: int | None = None  # most columns of its Gram matrix to keep; None: all
    aside: Aside | None = None  # graphs on which to see how many of them are enough
    error: float | None = None  # of the values of graphs kept aside, relatively; None: not measured


def told(n_graphs: int, n_landmarks: int, what: str, error: float | None) -> str:
    """What a person may want to know of it."""
    off = "" if error is None else f": kernel values of graphs kept aside are off by {error:.1%}"
    return f"rank='auto' compares {n_graphs:,} graphs with {n_landmarks:,} {what}, not with one another{off}."


def exact_seconds(kernel: Kernel, graphs: GraphBatch) -> float:
    """What the Gram matrix and its factor cost on one core, about."""
    return kernel.tile_seconds(graphs) + SECONDS_OF_FACTOR * float(graphs.n_graphs) ** 3


def settle_rank(kernel: Kernel, graphs: GraphBatch, rank: int | str | None, compute: Compute) -> Approximation:
    """How to compute a resolved kernel among these graphs, with this ``rank``: a number, None for all, or "auto"."""
    if kernel.is_explicit or rank is None:
        return Approximation(kernel, error=0.0)
    if not isinstance(rank, str):
        return Approximation(kernel, rank) if rank < graphs.n_graphs else Approximation(kernel, error=0.0)
    seconds = exact_seconds(kernel, graphs)
    cheap = seconds <= CHEAP if compute.on_numpy else graphs.n_graphs <= CHEAP_ON_DEVICE
    if cheap:
        return Approximation(kernel, error=0.0)
    affordable = compute.on_numpy and seconds <= AFFORDABLE
    aside, rest = keep_aside(graphs)
    truth = compute_gram(kernel, graphs[aside], compute.quiet)
    others, n_landmarks, last = take_segments(graphs.node_ptr, rest)[0], FIRST, np.inf
    while (mapped := kernel.with_landmarks(graphs, n_landmarks, others)) is not None:
        error, is_last = value_error(compute_gram(mapped, graphs[aside], compute.quiet), truth), n_landmarks >= MOST
        if error <= TOLERANCE or (is_last and not affordable):
            say(told(graphs.n_graphs, n_landmarks, "nodes", error), compute.verbose)
            return Approximation(mapped, error=error)
        hopeless = is_hopeless(last, error, MOST / n_landmarks)
        if is_last or (hopeless and affordable):
            break
        n_landmarks, last = MOST if hopeless else 2 * n_landmarks, error
    if affordable:
        return Approximation(kernel, error=0.0)
    return Approximation(kernel, MOST, Aside(aside, truth, TOLERANCE))


def is_hopeless(before: float, error: float, times: float) -> bool:
    """Whether ``times`` as many landmarks will not do, by what twice as many as before have done.

    >>> is_hopeless(0.13, 0.08, times=4), is_hopeless(0.05, 0.02, times=4)
    (True, False)
    """
    return bool(error * (error / before) ** np.log2(times) > HOPELESS * TOLERANCE)


def keep_aside(graphs: GraphBatch, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Some graphs, few enough to compare with one another, and the rest; the same every time."""
    order = np.random.default_rng(seed).permutation(graphs.n_graphs)
    fits = np.cumsum(lengths(graphs.node_ptr)[order]) <= ASIDE_NODES
    n_aside = int(np.clip(fits.sum(), 2, min(ASIDE, graphs.n_graphs // 2)))
    return np.sort(order[:n_aside]), np.sort(order[n_aside:])

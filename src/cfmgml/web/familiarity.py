"""How like an input is to what a model learned from: where training had nothing like it, a score says little.

Two figures, each where it can be had. A model that keeps training graphs, or remembers something of them
(`cfmgml.learning.seen`), knows how near the nearest of them is, and how near training graphs are to one another: a
graph is unlike them if it is further from all of them than 99 in 100 of them are from their own nearest. A model that
counts labels of nodes knows which labels it has never seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cfmgml.common.typing import BoolArray, FloatArray, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels import Kernel, WeisfeilerLehman
from cfmgml.kernels.gram import GramColumns
from cfmgml.learning.scoring import DualScorer, Scorer
from cfmgml.learning.seen import Seen, products, spread, usual_of

MOST_COMPARED = 1000  # training graphs that an input is compared with
MOST_ASKED = 200  # of which so many say what is usual
STRANGE = 0.5  # of graphs or of nodes: where so many are strange, people are warned


@dataclass(frozen=True)
class Familiarity:
    """What an answer says of an input beside its scores."""

    scorer: Scorer
    seen: Seen | None = None

    def of(self, graphs: GraphBatch, part: str, words: IntArray | None = None) -> dict[str, Any]:
        """Which graphs are unlike all of training, which nodes have labels never seen, and a warning or None.

        ``words`` are the nodes that stand in a text as words: pairs of them, which are nearly always new, do not count.
        """
        unlike, unknown = self.unlike(graphs), unknown_nodes(self.scorer.kernel, graphs)
        counted = unknown if words is None else unknown[words]
        told = []
        if unlike.mean() >= STRANGE:
            what = f"{part} is" if graphs.n_graphs == 1 else f"{part}s are"
            told.append(f"{unlike.sum()} of {graphs.n_graphs} {what} unlike anything in training")
        if counted.size and counted.mean() >= STRANGE:
            one, many = ("node has", "nodes have") if words is None else ("word was", "words were")
            what = "a label that training never had" if words is None else "never in training"
            told.append(f"{counted.sum()} of {counted.size} {one if counted.size == 1 else many} {what}")
        warning = f"{'; '.join(told)}: scores say little there." if told else None
        return {
            "unlike": np.flatnonzero(unlike).tolist(),
            "unknown": np.flatnonzero(unknown).tolist(),
            "warning": warning,
        }

    def unlike(self, graphs: GraphBatch) -> BoolArray:
        """Which are further from training than all but 1 in 100 of its own graphs; none where that is not known."""
        near = self._near(graphs)
        return np.zeros(graphs.n_graphs, dtype=bool) if near is None else np.asarray(near.max(axis=1) < self.usual)

    @cached_property
    def usual(self) -> float:
        """How near 99 in 100 training graphs are to the nearest other one, as a normalised kernel value."""
        if self.seen is not None:
            return self.seen.usual
        assert self._columns is not None
        compared = self._columns.graphs
        asked = spread(compared.n_graphs, MOST_ASKED)
        near = self._columns.against(compared[asked])
        near[np.arange(len(asked)), asked] = -np.inf  # itself
        return usual_of(near) if compared.n_graphs > 1 else -np.inf

    def _near(self, graphs: GraphBatch) -> FloatArray | None:
        """Normalised kernel values with training graphs, (n_graphs, n_compared); None where nothing of them is kept."""
        if self.seen is not None and self.seen.rows is not None:
            return products(self.scorer.rows(graphs), self.seen.rows)
        return None if self._columns is None else self._columns.against(graphs)

    @cached_property
    def _columns(self) -> GramColumns | None:
        if not isinstance(self.scorer, DualScorer):
            return None
        graphs = self.scorer.landmarks
        if self.seen is None:  # they are all that was learned from
            graphs = graphs[spread(graphs.n_graphs, MOST_COMPARED)]
        return GramColumns(self.scorer.kernel, graphs, self.scorer.compute.quiet)


def unknown_nodes(kernel: Kernel, graphs: GraphBatch) -> BoolArray:
    """(n_nodes,): whose label no training graph had, as far as the kernel remembers labels.

    >>> known = GraphBatch([0, 2], [0, 0], [[], []], node_labels=[1, 2])
    >>> new = GraphBatch([0, 3], [0, 0], [[], []], node_labels=[2, 3, 1])
    >>> unknown_nodes(WeisfeilerLehman(0).resolve(known), new).tolist()
    [False, True, False]
    """
    unknown = np.zeros(graphs.n_nodes, dtype=bool)
    for part in _parts(kernel):
        if type(part) is WeisfeilerLehman:
            unknown |= ~np.isin(next(part.colours(graphs)), part.vocabulary_)
    return unknown


def _parts(kernel: Kernel) -> Iterator[Kernel]:
    yield kernel
    for part in getattr(kernel, "kernels_", ()):
        yield from _parts(part)

"""gSpan: all frequent connected subgraphs, each found once through its least DFS code."""

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cfmgml.common.progress import progress
from cfmgml.common.segments import segment_ids
from cfmgml.common.typing import IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.mining._loops import extensions, is_least_code
from cfmgml.mining.patterns import SubgraphPatterns, check_node_labels


def mine_subgraphs(
    graphs: GraphBatch,
    min_support: float = 3,
    max_edges: int | None = None,
    max_nodes: int | None = None,
    min_nodes: int = 1,
    max_seconds: float | None = None,
    max_gib: float = 2.0,
    max_patterns: int | None = None,
    verbose: bool = False,
) -> SubgraphPatterns:
    """Find every connected subgraph that occurs in at least ``min_support`` graphs (gSpan; Yan & Han, ICDM 2002).

    Graphs are seen as `GraphBatch.adjacency` has them, simple and undirected, and compared by ``node_labels``; labels
    of edges are ignored. A pattern need not be induced. Patterns come in the order of their codes, each once, single
    nodes included.

    There can be very many: the search ends early when it has used up its time, memory or number of patterns. It then
    warns and returns what it found, and ``stopped_by`` says why; since the search goes deep first, patterns of the
    first labels are then complete and those of later ones missing: a lower ``max_edges`` may serve better.

    Parameters
    ----------
    graphs
        With ``node_labels``.
    min_support
        Number of graphs; below 1, a share of them.
    max_edges, max_nodes, min_nodes
        Size of the patterns.
    max_seconds
        Time to search.
    max_gib
        Memory for embeddings and patterns, in GiB.
    max_patterns
        Number of patterns to find.
    verbose
        Show progress on stderr: single edges whose patterns are done.

    Examples
    --------
    >>> graphs = GraphBatch(node_ptr=[0, 3, 6], edge_ptr=[0, 3, 5], edges=[[0, 1, 2, 3, 4], [1, 2, 0, 4, 5]],
    ...                     node_labels=[1, 1, 2, 1, 1, 2])
    >>> patterns = mine_subgraphs(graphs, min_support=2)
    >>> patterns
    SubgraphPatterns(5 patterns in 2 graphs)
    >>> patterns.code(3), patterns.supports.tolist()
    ([(0, 1, 1, 1), (1, 2, 1, 2)], [2, 2, 2, 2, 2])
    """
    labels = check_node_labels(graphs)
    needed = _check_support(min_support, graphs.n_graphs)
    most = {"max_edges": max_edges, "max_nodes": max_nodes, "max_seconds": max_seconds, "max_patterns": max_patterns}
    for name, value in most.items():
        if value is not None and value < 0:
            raise ValueError(f"{name} must not be negative, got {value}.")
    if not max_gib > 0:
        raise ValueError(f"max_gib must be above 0, got {max_gib}.")
    limits = {name: math.inf if value is None else value for name, value in most.items()}
    search = _Search(graphs, labels, needed, min_nodes, max_gib * 2**30, **limits)
    stopped_by = search.run(verbose)
    patterns = SubgraphPatterns.pack(search.patterns, graphs.n_graphs, stopped_by)
    if stopped_by is not None:
        warnings.warn(
            f"mine_subgraphs was ended by its limit on {stopped_by} with {len(patterns):,} patterns found and more to "
            "find; raise the limit or min_support, or lower max_edges.",
            stacklevel=2,
        )
    return patterns


def _check_support(min_support: float, n_graphs: int) -> int:
    if not min_support > 0:
        raise ValueError(f"min_support must be a number of graphs, or a share of them, above 0, got {min_support}.")
    return max(1, math.ceil(min_support * n_graphs - 1e-9)) if min_support < 1 else math.ceil(min_support)


class _Ended(Exception):
    """A limit is reached; the message names it."""


@dataclass
class _Pattern:
    """A code, its rightmost path from the last node up, and where it is in the graphs."""

    source: IntArray
    target: IntArray
    labels: IntArray
    path: IntArray
    embeddings: IntArray  # (n_embeddings, n_nodes), in the order of the graphs


@dataclass
class _Search:
    graphs: GraphBatch
    original_labels: IntArray
    min_support: int
    min_nodes: int
    max_bytes: float
    max_edges: float  # these are infinite where there is no limit
    max_nodes: float
    max_seconds: float
    max_patterns: float
    patterns: list[tuple[IntArray, IntArray, IntArray]] = field(init=False, default_factory=list)
    held: int = field(init=False, default=0)  # bytes

    def run(self, verbose: bool) -> str | None:
        """Fill ``patterns``; returns the limit that ended the search, if one did."""
        self.started = time.monotonic()
        self.values, self.labels = np.unique(self.original_labels, return_inverse=True)  # small numbers, in order
        self.graph_of = segment_ids(self.graphs.node_ptr)
        try:
            self._find_nodes()
            if self.max_edges > 0 and self.max_nodes > 1:
                self._find_edges(verbose)
        except _Ended as end:
            return str(end)
        return None

    # -- patterns of one node and of one edge ------------------------------------------------

    def _find_nodes(self) -> None:
        pairs = np.unique(np.stack([self.labels, self.graph_of]), axis=1)
        counts = np.bincount(pairs[0], minlength=len(self.values))
        frequent = counts >= self.min_support
        for label in np.flatnonzero(frequent):
            self._keep(np.array([label]), np.zeros((0, 2), dtype=np.int64), pairs[1][pairs[0] == label])
        indptr, indices = self.graphs.adjacency  # without edges to nodes of other labels: no pattern has them
        keep = frequent[self.labels[indices]] & np.repeat(frequent[self.labels], np.diff(indptr))
        self.indices = indices[keep]
        self.indptr = np.concatenate([[0], np.cumsum(keep)])[indptr]

    def _find_edges(self, verbose: bool) -> None:
        start = np.repeat(np.arange(self.graphs.n_nodes), np.diff(self.indptr))
        first, second = self.labels[start], self.labels[self.indices]
        codes = first * len(self.values) + second
        chosen = np.flatnonzero(first <= second)
        chosen = chosen[np.argsort(codes[chosen], kind="stable")]
        bounds = np.flatnonzero(np.diff(codes[chosen], prepend=-1, append=-1))
        with progress("Mining", max(len(bounds) - 1, 0), verbose) as advance:
            for low, high in zip(bounds[:-1], bounds[1:], strict=True):
                rows = chosen[low:high]
                labels = np.array([first[rows[0]], second[rows[0]]])
                embeddings = np.stack([start[rows], self.indices[rows]], axis=1)
                self._search_from(_Pattern(np.array([0]), np.array([1]), labels, np.array([1, 0]), embeddings))
                advance(1)

    # -- the depth-first search --------------------------------------------------------------

    def _search_from(self, root: _Pattern) -> None:
        """Keep the root and all that grows from it; an explicit stack, since patterns may have thousands of edges."""
        stack = [iter([root])]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif self._keep_if_frequent(child):
                stack.append(self._children(child))

    def _children(self, pattern: _Pattern) -> Iterator[_Pattern]:
        """Patterns with one edge more that are frequent and least codes."""
        n_nodes = len(pattern.labels)
        if len(pattern.source) >= self.max_edges:
            return
        joined = np.zeros((n_nodes, n_nodes), dtype=bool)
        joined[pattern.source, pattern.target] = joined[pattern.target, pattern.source] = True
        graphs = self.labels, self.indptr, self.indices
        may_grow, limit = n_nodes < self.max_nodes, int((self.max_bytes - self.held) // (8 * (n_nodes + 6)))
        count, rows, keys, nodes = extensions(
            pattern.embeddings, pattern.path, joined, graphs, len(self.values), may_grow, limit
        )
        if count > len(rows):
            raise _Ended("memory")
        size = 8 * (3 * count + pattern.embeddings.size)
        self.held += size
        order = np.argsort(keys, kind="stable")
        bounds = np.flatnonzero(np.diff(keys[order], prepend=-1, append=-1))
        for low, high in zip(bounds[:-1], bounds[1:], strict=True):
            group = order[low:high]
            if high - low < self.min_support or len(self._graphs(pattern.embeddings[rows[group]])) < self.min_support:
                continue
            child = self._extended(pattern, int(keys[group[0]]), rows[group], nodes[group])
            if is_least_code(child.source, child.target, child.labels):
                yield child
        self.held -= size

    def _graphs(self, embeddings: IntArray) -> IntArray:
        """The different graphs of embeddings, of which those in one graph stand together."""
        graphs = self.graph_of[embeddings[:, 0]]
        return graphs[np.flatnonzero(np.diff(graphs, prepend=-1))]

    def _extended(self, pattern: _Pattern, key: int, rows: IntArray, nodes: IntArray) -> _Pattern:
        n_nodes, path, labels, embeddings = len(pattern.labels), pattern.path, pattern.labels, pattern.embeddings[rows]
        source, target = path[0], key
        if key >= n_nodes:
            step, label = divmod(key - n_nodes, len(self.values))
            source, target, labels = path[step], n_nodes, np.append(labels, label)
            path = np.concatenate([[n_nodes], path[step:]])
            embeddings = np.column_stack([embeddings, nodes])
        return _Pattern(np.append(pattern.source, source), np.append(pattern.target, target), labels, path, embeddings)

    # -- what was found ----------------------------------------------------------------------

    def _keep_if_frequent(self, pattern: _Pattern) -> bool:
        graphs = self._graphs(pattern.embeddings)
        if len(graphs) < self.min_support:
            return False
        self._keep(pattern.labels, np.stack([pattern.source, pattern.target], axis=1), graphs)
        return True

    def _keep(self, labels: IntArray, edges: IntArray, graphs: IntArray) -> None:
        if time.monotonic() - self.started > self.max_seconds:
            raise _Ended("time")
        if self.held > self.max_bytes:
            raise _Ended("memory")
        if not self.min_nodes <= len(labels) <= self.max_nodes:
            return
        if len(self.patterns) >= self.max_patterns:
            raise _Ended("patterns")
        self.patterns.append((self.values[labels], edges, graphs))
        self.held += 8 * (len(labels) + edges.size + len(graphs)) + 400  # arrays have overheads

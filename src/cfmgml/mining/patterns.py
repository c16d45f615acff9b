"""What a miner found: `SubgraphPatterns`."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
from scipy import sparse

from cfmgml.common.files import atomic_write
from cfmgml.common.segments import check_index, lengths, offsets, segment_ids, take_segments
from cfmgml.common.typing import ArrayLike, BoolArray, FloatArray, Index, IntArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.mining._loops import find_patterns

Packed: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike]  # a pattern's node labels, edges and graphs


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphPatterns:
    """Connected labelled patterns, each as its least DFS code, and the graphs that contain them.

    A pattern is contained where its nodes can be mapped to different nodes of equal labels so that its edges are edges
    (other edges may be there too). Patterns are nodes and edges of one batch, ``graphs``, whose nodes are in the order
    of the code; its edges are those of the code, in order.

    Attributes
    ----------
    graphs
        The patterns.
    occurrence_ptr, occurrences
        Pattern k is in the graphs ``occurrences[occurrence_ptr[k]:occurrence_ptr[k + 1]]`` of those mined.
    n_mined
        How many graphs were mined.
    stopped_by
        None if all patterns were found, else what ended the search: ``"time"``, ``"memory"`` or ``"patterns"``.

    Examples
    --------
    >>> from cfmgml.mining import mine_subgraphs
    >>> graphs = GraphBatch(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 2], edges=[[0, 2], [1, 3]], node_labels=[1, 2, 1, 3])
    >>> patterns = mine_subgraphs(graphs, min_support=1)
    >>> len(patterns), patterns.supports.tolist(), patterns.complete
    (5, [2, 1, 1, 1, 1], True)
    """

    graphs: GraphBatch
    occurrence_ptr: IntArray
    occurrences: IntArray
    n_mined: int
    stopped_by: str | None = None

    def __len__(self) -> int:
        return self.graphs.n_graphs

    @property
    def complete(self) -> bool:
        return self.stopped_by is None

    @property
    def supports(self) -> IntArray:
        """In how many of the mined graphs each pattern is, (n_patterns,)."""
        return lengths(self.occurrence_ptr)

    def __repr__(self) -> str:
        state = "" if self.complete else f"; ended by {self.stopped_by}, there are more"
        return f"SubgraphPatterns({len(self):,} patterns in {self.n_mined:,} graphs{state})"

    def code(self, pattern: int) -> list[tuple[int, int, int, int]]:
        """The DFS code: (source, target, label of source, label of target) for every edge; empty for a single node."""
        one = self.graphs[pattern]
        assert one.node_labels is not None
        labels = one.node_labels.tolist()
        return [(i, j, labels[i], labels[j]) for i, j in one.edges.T.tolist()]

    def __getitem__(self, index: Index) -> Self:
        chosen = check_index(index, len(self), "patterns")
        rows, ptr = take_segments(self.occurrence_ptr, chosen)
        return replace(self, graphs=self.graphs[chosen], occurrence_ptr=ptr, occurrences=self.occurrences[rows])

    @classmethod
    def pack(cls, patterns: Sequence[Packed], n_mined: int, stopped_by: str | None = None) -> Self:
        """Patterns from the node labels, the edges in the order of the code, and the graphs of each."""
        labels, label_ptr = _joined([labels for labels, _, _ in patterns])
        edges, edge_ptr = _joined([np.reshape(edges, (-1, 2)) for _, edges, _ in patterns], width=2)
        occurrences, occurrence_ptr = _joined([graphs for _, _, graphs in patterns])
        shift = np.repeat(label_ptr[:-1], lengths(edge_ptr))
        batch = GraphBatch(label_ptr, edge_ptr, edges.T + shift, node_labels=labels)
        return cls(batch, occurrence_ptr, occurrences, n_mined, stopped_by)

    # -- which graph contains which ----------------------------------------------------------

    def mined_matrix(self) -> sparse.csr_array:
        """(n_mined, n_patterns): True where a mined graph contains a pattern."""
        at = self.occurrences, segment_ids(self.occurrence_ptr)
        return sparse.csr_array((np.ones(len(self.occurrences), dtype=bool), at), shape=(self.n_mined, len(self)))

    def contained_in(self, graphs: GraphBatch) -> BoolArray:
        """(n_graphs, n_patterns): True where a graph, seen or not, contains a pattern."""
        labels = check_node_labels(graphs)
        assert self.graphs.node_labels is not None
        out = np.zeros((graphs.n_graphs, len(self)), dtype=bool)
        own = self.graphs.edges - np.repeat(self.graphs.node_ptr[:-1], lengths(self.graphs.edge_ptr))
        patterns = self.graphs.node_ptr, self.graphs.edge_ptr, self.graphs.node_labels, *own
        searched = graphs.node_ptr.copy(), labels, *graphs.adjacency
        find_patterns(tuple(array.copy() for array in patterns), searched, out)
        return out

    # -- files -------------------------------------------------------------------------------

    def save(self, path: str | Path, entropies: FloatArray | None = None) -> None:
        """Write one pattern a line: JSON (``.jsonl``, with the graphs it is in) or a table (``.csv``)."""
        suffix = Path(path).suffix
        if suffix not in (".jsonl", ".csv"):
            raise ValueError(f"patterns are written as .jsonl or .csv, got {path}.")
        if entropies is not None and len(entropies) != len(self):
            raise ValueError(f"entropies must be one a pattern, {len(self)}, got {len(entropies)}.")
        extra = [{} for _ in range(len(self))] if entropies is None else [{"entropy": e} for e in entropies.tolist()]
        text = self._json_lines(extra) if suffix == ".jsonl" else self._table(extra)
        with atomic_write(path) as stream:
            stream.write(text.encode())

    def _json_lines(self, extra: Sequence[dict[str, float]]) -> str:
        lines = [json.dumps({"n_mined": self.n_mined, "stopped_by": self.stopped_by})]
        for k, more in enumerate(extra):
            one = self.graphs[k]
            assert one.node_labels is not None
            holders = self.occurrences[self.occurrence_ptr[k] : self.occurrence_ptr[k + 1]].tolist()
            row = {"nodes": one.node_labels.tolist(), "edges": one.edges.T.tolist(), "support": len(holders)}
            lines.append(json.dumps({**row, "graphs": holders, **more}))
        return "\n".join(lines) + "\n"

    def _table(self, extra: Sequence[dict[str, float]]) -> str:
        stream = io.StringIO()
        names = ["n_nodes", "n_edges", "labels", "edges", "support", *(extra[0] if extra else [])]
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for k, more in enumerate(extra):
            one = self.graphs[k]
            assert one.node_labels is not None
            edges = " ".join(f"{i}-{j}" for i, j in one.edges.T.tolist())
            labels = " ".join(map(str, one.node_labels.tolist()))
            writer.writerow([one.n_nodes, one.n_edges, labels, edges, int(self.supports[k]), *more.values()])
        return stream.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote as ``.jsonl``; entropies are left out."""
        try:
            head, *rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
            patterns = [(row["nodes"], row["edges"], row["graphs"]) for row in rows]
            return cls.pack(patterns, int(head["n_mined"]), head["stopped_by"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} does not hold patterns as JSON lines ({error!r}).") from error


def check_node_labels(graphs: GraphBatch) -> IntArray:
    if not isinstance(graphs, GraphBatch):
        raise TypeError(f"subgraphs are looked for in a GraphBatch, got {type(graphs).__name__}.")
    if graphs.node_labels is None:
        raise ValueError("subgraphs are compared by node labels, and these graphs have no node_labels.")
    return np.ascontiguousarray(graphs.node_labels)


def _joined(parts: Sequence[ArrayLike], width: int | None = None) -> tuple[IntArray, IntArray]:
    """Arrays one after the other, and their offsets."""
    empty = np.zeros(0 if width is None else (0, width), dtype=np.int64)
    arrays = [np.asarray(part, dtype=np.int64) for part in parts]
    return np.concatenate([empty, *arrays]), offsets(np.array([len(array) for array in arrays], dtype=np.int64))

"""Bags of graphs with their labels: `BagDataset`.

>>> from cfmgml.data.graphs import GraphBatch
>>> graphs = GraphBatch(node_ptr=[0, 1, 2, 3], edge_ptr=[0, 0, 0, 0], edges=[[], []], node_labels=[5, 6, 5])
>>> bags = BagDataset(graphs, bag_ptr=[0, 2, 3], Y=[[1, 1], [1, 0]], label_names=["cow", "sky"])
>>> bags
BagDataset(2 bags, 3 graphs, 2 labels; 1.50 labels a bag)
>>> bags[1].label_sets()
[['cow']]
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from cfmgml.common.digests import digest_of
from cfmgml.common.files import load_arrays, save_arrays
from cfmgml.common.segments import check_index, lengths, offsets, segment_ids, take_segments
from cfmgml.common.typing import BoolArray, Index, IntArray, NameArray, TextArray
from cfmgml.data import interop
from cfmgml.data.builder import BagBuilder, builder_of
from cfmgml.data.checks import check_names, check_ptr, check_rows, frozen, strip_ellipsis
from cfmgml.data.frames import AnyFrame, arrays_of, frame_of, in_library
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.label_sets import check_label_matrix, matrix_of_sets
from cfmgml.data.notebook import bags_html
from cfmgml.data.parquet.folder import cut
from cfmgml.data.parquet.writing import StoreWriter, as_json
from cfmgml.data.pieces import AnyGraphs, Names, gather
from cfmgml.data.texts import TEXTS, packed, text_array, unpacked

if TYPE_CHECKING:
    from torch_geometric.data import Data as PygData

JOINED = ("Y", "graph_Y", "bag_names", "graph_names", TEXTS)  # what data sets put together all have, or none


@dataclass(frozen=True, eq=False, repr=False)
class BagDataset:
    """Bags of graphs, the labels of each bag, and what is known of each graph's.

    Its ``shape`` is ``(n_bags,)`` and indexing selects bags, so scikit-learn's splitters, grid searches and
    cross-validation take it as X.

    Parameters
    ----------
    graphs
        All graphs, bag after bag.
    bag_ptr
        Offsets of shape (n_bags + 1,); no bag may be empty.
    Y
        Shape (n_bags, n_labels): 0/1 or bool; NaN, or masked in a masked array, where it is not known
        whether a bag has a label (then ``Y_known`` says so). None for bags without labels, to predict on.
    graph_Y
        Shape (n_graphs, n_labels): the graphs' own labels, for evaluation.
    label_names, bag_names, graph_names
        Names; labels are numbered if left out.
    info
        What this is, for people: description, source, licence. Anything JSON can hold; what there is to say of the
        builder is put there too.
    Y_known
        Shape (n_bags, n_labels): False where ``Y`` is not known; None if all is.
    builder
        What built them from raw input, and can build more the same way; None for graphs of one's own.
    graph_texts
        The text that each graph was made of, if it was.

    Examples
    --------
    Three graphs of one node in two bags:

    >>> graphs = GraphBatch(node_ptr=[0, 1, 2, 3], edge_ptr=[0, 0, 0, 0], edges=[[], []], node_labels=[7, 8, 7])
    >>> bags = BagDataset(graphs, bag_ptr=[0, 2, 3], Y=[[1, 1], [1, 0]], label_names=["seven", "eight"])
    >>> bags
    BagDataset(2 bags, 3 graphs, 2 labels; 1.50 labels a bag)
    >>> bags[1].label_sets()
    [['seven']]
    """

    graphs: GraphBatch
    bag_ptr: IntArray
    Y: BoolArray | None = None
    graph_Y: BoolArray | None = None
    label_names: NameArray | None = None
    bag_names: NameArray | None = None
    graph_names: NameArray | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    Y_known: BoolArray | None = None
    builder: BagBuilder | None = None
    graph_texts: TextArray | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.graphs, GraphBatch):
            raise TypeError(f"graphs must be a GraphBatch, got {type(self.graphs).__name__}.")
        put(self, "bag_ptr", frozen(check_ptr(self.bag_ptr, "bag_ptr")))
        self._check_offsets()
        if self.Y is not None:
            Y, known = check_label_matrix(self.Y, self.n_bags, "Y", "bag")
            if self.Y_known is not None:
                given, _ = check_label_matrix(self.Y_known, self.n_bags, "Y_known", "bag")
                known = given if known is None else known & given
            put(self, "Y", frozen(Y))
            put(self, "Y_known", None if known is None or known.all() else frozen(known))
        if self.graph_Y is not None:
            graph_Y, known = check_label_matrix(self.graph_Y, self.n_graphs, "graph_Y", "graph")
            if known is not None:
                raise ValueError("graph_Y must be known for every graph; leave it out, or select the graphs you know.")
            put(self, "graph_Y", frozen(graph_Y))
        self._check_labels()
        put(self, "bag_names", check_names(self.bag_names, self.n_bags, "bag_names", "bag"))
        put(self, "graph_names", check_names(self.graph_names, self.n_graphs, "graph_names", "graph"))
        if self.graph_texts is not None:
            put(self, TEXTS, check_rows(text_array(self.graph_texts), self.n_graphs, TEXTS, "a graph"))
        for name in ("label_names", "bag_names", "graph_names", TEXTS):
            if getattr(self, name) is not None:
                put(self, name, frozen(getattr(self, name)))
        if self.builder is None:
            put(self, "builder", builder_of(self.info))
        put(self, "info", MappingProxyType({**self.info, **({} if self.builder is None else self.builder.told())}))

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and for worker processes: a read-only view of ``info`` cannot travel, its content can."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return _remake, ({**values, "info": dict(self.info)},)

    def _check_offsets(self) -> None:
        if self.n_bags == 0:
            raise ValueError("a BagDataset must have at least one bag.")
        empty = np.flatnonzero(lengths(self.bag_ptr) == 0)
        if len(empty):
            raise ValueError(f"every bag must have a graph; bag {empty[0]} has none (of {len(empty)} empty bags).")
        if self.bag_ptr[-1] != self.graphs.n_graphs:
            raise ValueError(f"bag_ptr ends at {self.bag_ptr[-1]}, but there are {self.graphs.n_graphs} graphs.")

    def _check_labels(self) -> None:
        widths = {n: getattr(self, n).shape[1] for n in ("Y", "graph_Y", "Y_known") if getattr(self, n) is not None}
        if len(set(widths.values())) > 1:
            raise ValueError(f"Y, graph_Y and Y_known must have one column a label, got {widths}.")
        width = next(iter(widths.values()), None)
        if width is not None and self.label_names is None:
            object.__setattr__(self, "label_names", np.arange(width).astype(np.str_))
        if self.label_names is not None:
            n_labels = len(self.label_names) if width is None else width
            names = check_names(self.label_names, n_labels, "label_names", "label")
            if names is not None and len(set(names.tolist())) != len(names):
                raise ValueError(f"label_names must differ, got {names.tolist()}.")
            object.__setattr__(self, "label_names", names)

    # -- what is in it -----------------------------------------------------------------------

    @property
    def n_bags(self) -> int:
        return len(self.bag_ptr) - 1

    @property
    def n_graphs(self) -> int:
        return self.graphs.n_graphs

    @property
    def n_labels(self) -> int:
        return 0 if self.label_names is None else len(self.label_names)

    @property
    def shape(self) -> tuple[int]:
        return (self.n_bags,)

    @property
    def bag_ids(self) -> IntArray:
        """The bag each graph is in, (n_graphs,)."""
        return segment_ids(self.bag_ptr)

    def __len__(self) -> int:
        return self.n_bags

    def __repr__(self) -> str:
        counts = f"{self.n_bags:,} bags, {self.n_graphs:,} graphs, {self.n_labels:,} labels"
        parts = ["no Y" if self.Y is None else f"{self.Y.sum() / self.n_bags:.2f} labels a bag"]
        if self.graph_Y is not None:
            parts.append("graph labels")
        if self.Y_known is not None:
            parts.append(f"{1 - self.Y_known.mean():.0%} of Y unknown")
        return f"BagDataset({counts}; {', '.join(parts)})"

    def _repr_html_(self) -> str:
        return bags_html(self)

    def label_sets(self) -> list[list[str]]:
        """The names of each bag's labels."""
        if self.Y is None or self.label_names is None:
            raise ValueError("these bags have no Y.")
        return [self.label_names[row].tolist() for row in self.Y]

    # -- selection ---------------------------------------------------------------------------

    def __getitem__(self, index: Index | tuple[Any, ...]) -> Self:
        bags = check_index(strip_ellipsis(index), self.n_bags, "bags")
        graphs, bag_ptr = take_segments(self.bag_ptr, bags)
        return replace(
            self,
            graphs=self.graphs[graphs],
            bag_ptr=bag_ptr,
            Y=None if self.Y is None else self.Y[bags],
            Y_known=None if self.Y_known is None else self.Y_known[bags],
            graph_Y=None if self.graph_Y is None else self.graph_Y[graphs],
            bag_names=None if self.bag_names is None else self.bag_names[bags],
            graph_names=None if self.graph_names is None else self.graph_names[graphs],
            graph_texts=None if self.graph_texts is None else self.graph_texts[graphs],
        )

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(self.n_bags))

    @classmethod
    def concatenate(cls, datasets: Iterable[Self], keep_ids: bool = False) -> Self:
        """One data set after the other; all must have the same labels and the same kinds of data."""
        parts = list(datasets)
        if not parts:
            raise ValueError("concatenate needs at least one data set.")
        first = parts[0]
        for number, part in enumerate(parts):
            if not np.array_equal(_or_empty(part.label_names), _or_empty(first.label_names)):
                raise ValueError(f"data set {number} has other label names than data set 0.")
            for name in JOINED:
                if (getattr(part, name) is None) != (getattr(first, name) is None):
                    raise ValueError(f"either all data sets have {name} or none; data set {number} differs from 0.")
        known = None
        if any(part.Y_known is not None for part in parts):
            shape = (len(_or_empty(first.label_names)),)
            known = np.concatenate(
                [np.ones((part.n_bags, *shape), dtype=bool) if part.Y_known is None else part.Y_known for part in parts]
            )
        joined = {
            name: None if getattr(first, name) is None else np.concatenate([getattr(part, name) for part in parts])
            for name in JOINED
        }
        sizes = np.concatenate([lengths(part.bag_ptr) for part in parts])
        graphs = GraphBatch.concatenate([part.graphs for part in parts], keep_ids)
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        return cls(
            graphs, ptr, label_names=first.label_names, info=first.info, Y_known=known, builder=first.builder, **joined
        )

    # -- what other libraries have -----------------------------------------------------------

    @classmethod
    def from_graphs(
        cls,
        bags_of_graphs: Iterable[AnyGraphs],
        label_sets: Iterable[Iterable[str] | None] | None = None,
        label_names: Iterable[str] | None = None,
        *,
        bag_names: Iterable[str] | None = None,
        label: str | None = None,
        attributes: str | None = None,
        weight: str | None = None,
        edge_label: str | None = None,
    ) -> Self:
        """Bags from lists of graphs: of networkx, PyTorch Geometric or RDKit, or pieces of a `GraphBatch`.

        Parameters
        ----------
        bags_of_graphs
            A list of graphs for each bag.
        label_sets
            The names of each bag's labels; None for a bag whose labels are not known.
        label_names
            All labels there can be; those that occur, sorted, if left out.
        bag_names
            Names of the bags.
        label, attributes, weight, edge_label
            Names of node and edge data to read. Left out, networkx graphs are asked for ``label`` and ``attributes`` of
            nodes and ``label`` of edges, and PyG's for ``x``, which are read where all graphs have them. Molecules
            have their atoms' symbols and their bonds' types.

        Examples
        --------
        >>> import networkx as nx
        >>> ring, chain = nx.cycle_graph(5), nx.path_graph(4)
        >>> bags = BagDataset.from_graphs([[ring, chain], [chain]], [{"ring", "chain"}, {"chain"}])
        >>> bags
        BagDataset(2 bags, 3 graphs, 2 labels; 1.50 labels a bag)
        >>> bags.label_sets()
        [['chain', 'ring'], ['chain']]
        """
        graphs, sizes = gather(bags_of_graphs, Names(label, attributes, weight, edge_label))
        given: dict[str, Any] = {} if label_names is None else {"label_names": list(label_names)}
        if label_sets is not None:
            sets = list(label_sets)
            if len(sets) != len(sizes):
                raise ValueError(f"label_sets must have a set for each of {len(sizes)} bags, got {len(sets)}.")
            given["Y"], given["label_names"] = matrix_of_sets(sets, given.get("label_names"))
        if bag_names is not None:
            given["bag_names"] = list(bag_names)
        return cls(graphs, offsets(sizes), **given)

    def to_frame(self, library: str = "arrow") -> AnyFrame:
        """A data frame with a row a bag, by the schema of stores (`cfmgml.data.parquet.tables`): an Arrow table, or, as
        ``library``, a frame of ``"pandas"`` or ``"polars"``. Needs pyarrow."""
        return in_library(frame_of(self.arrays(), self.info), library)

    @classmethod
    def from_frame(cls, frame: AnyFrame, label_names: Iterable[str] | None = None) -> Self:
        """Take a frame as `to_frame` makes it, or as you make it: of pyarrow, pandas, polars, Hugging Face, or any that
        speaks Arrow's PyCapsule protocol (see `cfmgml.data.frames`).

        A column ``graphs`` is needed; labels are a column ``Y`` of lists of 0 and 1, or ``labels`` of lists of names.
        An Arrow table keeps the names of labels; other libraries forget them, so give ``label_names`` with ``Y``.

        >>> import networkx as nx
        >>> bags = BagDataset.from_graphs([[nx.path_graph(3)], [nx.path_graph(2)]], [["chain"], None])
        >>> BagDataset.from_frame(bags.to_frame())
        BagDataset(2 bags, 2 graphs, 1 labels; 0.50 labels a bag, 50% of Y unknown)
        """
        arrays, info = arrays_of(frame, None if label_names is None else list(label_names))
        inner = {name.removeprefix("graphs."): arrays.pop(name) for name in list(arrays) if name.startswith("graphs.")}
        given: dict[str, Any] = {**arrays, "info": info}
        return cls(GraphBatch(**inner), **given)

    def to_pyg(self) -> "list[PygData]":
        """PyTorch Geometric's graphs, as `GraphBatch.to_pyg` makes them, each with ``bag``, its bag's number, and
        ``y``, the bag's labels (1, n_labels), NaN where not known: a list that PyG's ``DataLoader`` takes."""
        made, owners = self.graphs.to_pyg(), self.bag_ids.tolist()
        Y = None if self.Y is None else np.where(True if self.Y_known is None else self.Y_known, self.Y, np.nan)
        return [
            interop.with_bag(data, bag, None if Y is None else Y[bag]) for data, bag in zip(made, owners, strict=True)
        ]

    # -- files -------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that are there, by name; those of the graphs begin with ``graphs.``."""
        names = ("bag_ptr", "Y", "Y_known", "graph_Y", "label_names", "bag_names", "graph_names", TEXTS)
        own = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**own, **{f"graphs.{name}": array for name, array in self.graphs.arrays().items()}}

    def fingerprint(self) -> str:
        """A hash of everything in it but ``info``: equal data, equal fingerprint, however wide numpy holds words."""
        words = {
            name: np.array(array.tolist(), dtype=np.str_)
            for name, array in self.arrays().items()
            if array.dtype.kind == "U"
        }
        return digest_of(packed({**self.arrays(), **words}))

    def save(self, path: str | Path) -> None:
        """Write one file of arrays and JSON, in one step."""
        try:
            meta = json.loads(json.dumps({"info": dict(self.info)}, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"info must hold only what JSON can: {error}.") from error
        save_arrays(path, "BagDataset", meta, packed(self.arrays()))

    def to_store(
        self, path: str | Path, graphs_per_partition: int = 10_000, append: bool = False, keep_ids: bool = False
    ) -> None:
        """Write a folder of Parquet files for `BagStore`, or add to one; ``graph_ids`` then count through the store
        unless ``keep_ids``. What was interrupted goes on where it was, if it is called in the same way."""
        told = [self.fingerprint(), json.loads(as_json(dict(self.info))), graphs_per_partition, keep_ids]
        writer = StoreWriter(path, told, append, keep_ids)
        for start, stop in cut(self.bag_ptr, graphs_per_partition)[len(writer.done) :]:
            writer.add(self[start:stop].arrays(), self.info)
        writer.finish(self.info)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        meta, arrays = load_arrays(path, "BagDataset")
        arrays = unpacked(arrays)
        inner = {name.removeprefix("graphs."): arrays.pop(name) for name in list(arrays) if name.startswith("graphs.")}
        try:
            given: dict[str, Any] = {**arrays, "info": meta.get("info", {})}
            return cls(GraphBatch(**inner), **given)
        except TypeError as error:
            raise ValueError(f"{path} does not hold the arrays of a BagDataset ({error}).") from error


def _remake(values: dict[str, Any]) -> BagDataset:
    return BagDataset(**values)


def _or_empty(names: NameArray | None) -> NameArray:
    return np.zeros(0, dtype=np.str_) if names is None else names

"""A partitioned data set of bags on disk: `BagStore`.

>>> import tempfile
>>> from cfmgml.datasets import load_digit_bags
>>> bags = load_digit_bags(subset="train", n_bags=30, random_state=0)
>>> with tempfile.TemporaryDirectory() as folder:
...     bags.to_store(f"{folder}/digits", graphs_per_partition=40)
...     store = BagStore(f"{folder}/digits")
...     print(store)
...     print(sum(part.n_bags for part in store))
BagStore(3 partitions, 30 bags, 105 graphs, 10 labels)
30
"""

import warnings
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from cfmgml.common.digests import bytes_digest
from cfmgml.common.typing import IntArray, Json, JsonView, NameArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder, builder_of
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.parquet.folder import (
    COUNTS,
    HEADER,
    Partition,
    check_content,
    count_labels,
    read_arrays,
    read_header,
    read_partitions,
)
from cfmgml.data.parquet.journal import JOURNAL

SAMPLED_PARTITIONS = 16  # a sample is drawn from this many partitions, not from all


def is_store(path: str | Path) -> bool:
    """Whether there is a store, good, bad or half built, in this folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     is_store(folder)
    False
    """
    return any((Path(path) / name).is_file() for name in (HEADER, JOURNAL))


class BagStore:
    """Bags of graphs in a folder of Parquet files, read one partition at a time.

    Opening compares every partition's size and footer with the header's manifest. A missing, strange, swapped or
    truncated file, other columns, other labels or another way of building are named, with the file, and nothing is
    read: so training on a store does not fail half-way. `BagDataset.to_store` makes a store and adds to one.

    Parameters
    ----------
    path
        The folder.

    Attributes
    ----------
    partitions
        Name and counts of every file, in the order in which they are read.
    n_bags, n_graphs, n_nodes, n_edges
        Of all partitions together.
    label_names, info
        As of a `BagDataset`.
    has_manifest
        False for a store of an older version: its header does not say which partitions there should be.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.datasets import load_digit_bags
    >>> with TemporaryDirectory() as folder:
    ...     load_digit_bags(n_bags=20).to_store(folder, graphs_per_partition=30)
    ...     store = BagStore(folder)
    ...     [bags.n_bags for bags in store]
    [8, 8, 4]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        header = read_header(self.path)
        self.partitions: list[Partition] = read_partitions(self.path, header)
        if not self.partitions:
            raise ValueError(f"the store {self.path} has no partition yet.")
        sums = (sum(int(getattr(part, name)) for part in self.partitions) for name in COUNTS)
        self.n_bags, self.n_graphs, self.n_nodes, self.n_edges = sums
        names = header["label_names"]
        self.label_names: NameArray | None = None if names is None else np.array(names, dtype=np.str_)
        self.columns: Mapping[str, str] = header["columns"]
        self._info: JsonView | None = header.pop("info")
        self._header = header
        self.has_manifest: bool = self.partitions[0].sha256 is not None  # which says what should be there
        header.pop("partitions", None)

    def __getstate__(self) -> dict[str, object]:
        """For worker processes, which may be elsewhere: a vocabulary in ``info`` can be large, and is in the folder."""
        kept = {name: value for name, value in vars(self).items() if name != "builder"}
        return {**kept, "_info": None, "path": self.path.absolute()}

    @property
    def info(self) -> JsonView:
        if self._info is None:
            self._info = read_header(self.path)["info"]
        assert self._info is not None
        return self._info

    @cached_property
    def builder(self) -> BagBuilder | None:
        """What built the bags, as `BagDataset.builder`."""
        return builder_of(self.info)

    @property
    def n_partitions(self) -> int:
        return len(self.partitions)

    @property
    def n_attributes(self) -> int:
        """Of each node."""
        return int(self.columns.get("graphs.nodes.attributes", "[0]").partition("[")[2].rstrip("]"))

    @property
    def n_bytes(self) -> int:
        """On disk."""
        return sum((self.path / part.name).stat().st_size for part in self.partitions)

    @property
    def n_labels(self) -> int:
        return 0 if self.label_names is None else len(self.label_names)

    @property
    def shape(self) -> tuple[int]:
        return (self.n_bags,)

    def __len__(self) -> int:
        return self.n_bags

    def __repr__(self) -> str:
        counts = f"{self.n_bags:,} bags, {self.n_graphs:,} graphs, {self.n_labels:,} labels"
        return f"BagStore({self.n_partitions:,} partition{'s' * (self.n_partitions != 1)}, {counts})"

    def fingerprint(self) -> str:
        """A hash of what all partitions hold: their names have digests of their contents."""
        return bytes_digest("\n".join(part.name for part in self.partitions).encode())

    # -- reading -----------------------------------------------------------------------------

    def read(self, number: int) -> BagDataset:
        """One partition; a damaged one is named."""
        name = self.partitions[number].name
        arrays = dict(read_arrays(self.path, self.partitions[number]))
        inner = {key.removeprefix("graphs."): arrays.pop(key) for key in list(arrays) if key.startswith("graphs.")}
        try:
            own: Json = {"label_names": self.label_names, "info": self.info, "builder": self.builder, **arrays}
            return BagDataset(GraphBatch(**inner), **own)
        except (ValueError, TypeError) as error:
            raise ValueError(f"partition {name} of {self.path} holds no bags of graphs: {error}") from error

    def __iter__(self) -> Iterator[BagDataset]:
        """The partitions, one at a time."""
        return (self.read(number) for number in range(self.n_partitions))

    def load(self) -> BagDataset:
        """Everything in memory at once."""
        return BagDataset.concatenate(self, keep_ids=True)

    def sample(self, n_graphs: int, random_state: int = 0) -> BagDataset:
        """Whole bags with about ``n_graphs`` graphs, from at most 16 partitions; all bags, in order, if there are no
        more than that."""
        if n_graphs >= self.n_graphs:
            return self.load()
        rng = np.random.default_rng(random_state)
        n_read = min(self.n_partitions, SAMPLED_PARTITIONS)
        drawn = []
        for number in np.sort(rng.permutation(self.n_partitions)[:n_read]).tolist():
            bags = self.read(number)
            n_bags = max(1, round(bags.n_bags * n_graphs / n_read / bags.n_graphs))
            drawn.append(bags[np.sort(rng.permutation(bags.n_bags)[:n_bags])])
        return BagDataset.concatenate(drawn, keep_ids=True)

    def label_counts(self) -> tuple[IntArray, IntArray]:
        """How many bags have each label, and of how many that is known; reads the labels and no graph."""
        if "Y" not in self.columns:
            raise ValueError(f"the bags of {self.path} have no labels to count.")
        counts = [count_labels(self.path, part.name) for part in self.partitions]
        return np.sum([has for has, _ in counts], axis=0), np.sum([known for _, known in counts], axis=0)

    def check(self) -> None:
        """Read every byte and compare it with its digest; opening looks at the footers only.

        Warns of a store without manifest, whose header does not say which partitions there should be.
        """
        for part in self.partitions:
            check_content(self.path, part)
        if not self.has_manifest:
            warnings.warn(
                f"{self.path} has no manifest, as stores of cfmgml before 0.2 have none: what is there is whole, but a "
                "missing partition cannot be noticed. Adding to it makes one.",
                stacklevel=2,
            )

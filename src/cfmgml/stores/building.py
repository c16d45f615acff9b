"""A store from bags as they are built, a partition in memory at a time: `build_store`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from cfmgml.data.bags import BagDataset
from cfmgml.data.parquet.folder import cut
from cfmgml.data.parquet.writing import StoreWriter
from cfmgml.data.streams import BagStream, Piece

GRAPHS_PER_PARTITION = 10_000


def build_store(
    stream: BagStream, folder: str | Path, graphs_per_partition: int = GRAPHS_PER_PARTITION, append: bool = False
) -> int:
    """Write the bags of a stream as `BagDataset.to_store` would write them, with about one partition in memory.

    What was interrupted goes on where it was, if it is called in the same way; returns how many partitions were there.

    >>> from tempfile import TemporaryDirectory
    >>> from cfmgml.builders import find_kind
    >>> from cfmgml.data.builder import FileInput
    >>> from cfmgml.stores import BagStore
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "note.txt").write_text("Drums play. A violin, too.")
    ...     stream = find_kind("texts")().stream(FileInput([f"{folder}/note.txt"], labels=False))
    ...     n_before = build_store(stream, f"{folder}/notes")
    ...     n_before, BagStore(f"{folder}/notes").n_graphs
    (0, 2)
    """
    writer = StoreWriter(folder, [stream.key, graphs_per_partition], append)
    n_before = len(writer.done)
    writer.settled = stream.settle(writer.settled)
    start = 0
    for entry in writer.done:
        start = entry["note"]["stop"]
        stream.recall(entry["note"]["report"], entry["n_bags"])
    n_graphs = sum(entry["n_graphs"] for entry in writer.done)
    for bags, inputs in partitions(stream.pieces(start), graphs_per_partition, n_graphs):
        stop = int(inputs[-1]) + 1
        writer.add(bags.arrays(), bags.info, {"stop": stop, "report": stream.report(start, stop)})
        start = stop
    writer.finish(stream.info())
    return n_before


def partitions(pieces: Iterable[Piece], graphs_per_partition: int, n_graphs: int = 0) -> Iterator[Piece]:
    """Pieces put together, and cut where `cut` would cut all bags at once; ``n_graphs`` went before."""
    held: list[Piece] = []
    number = -1  # of the partition that is being filled
    for bags, inputs in pieces:
        for start, stop in cut(n_graphs + bags.bag_ptr, graphs_per_partition):
            mine = int(n_graphs + bags.bag_ptr[start]) // graphs_per_partition
            if held and mine != number:
                yield _joined(held)
                held = []
            number = mine
            held.append((bags[start:stop], inputs[start:stop]))
        n_graphs += bags.n_graphs
    if held:
        yield _joined(held)


def _joined(pieces: list[Piece]) -> Piece:
    return BagDataset.concatenate([bags for bags, _ in pieces]), np.concatenate([inputs for _, inputs in pieces])

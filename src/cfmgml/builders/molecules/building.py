"""Molecules become bags, some at a time, in worker processes if asked: `MoleculeBuild`."""

import itertools
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cfmgml.builders.molecules.atom_graphs import batch_of, parts_of
from cfmgml.builders.molecules.files import Entry
from cfmgml.builders.molecules.parsing import MoleculeError
from cfmgml.common.processes import Processes, WorkerLost
from cfmgml.common.segments import offsets
from cfmgml.common.typing import HashArray, IntArray, Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.data.streams import Piece
from cfmgml.reading.contents import graph_digests

if TYPE_CHECKING:
    from cfmgml.builders.molecules.builder import MoleculeBuilder

AT_ONCE = 500  # molecules that travel to a worker together
SHOWN = 20  # duplicates that are named
DESCRIPTION = "Molecules as bags: each fragment, conformer or molecule of a mixture is a graph of atoms."


class Built(NamedTuple):
    """Some molecules' graphs, how many each has, which these are, and why others are not among them."""

    graphs: GraphBatch | None
    sizes: list[int]
    places: list[int]
    reasons: dict[int, str]


def build_some(sources: Sequence[Any], builder: "MoleculeBuilder") -> Built:
    """The graphs of every molecule that can be used."""
    parts, sizes, places, reasons = [], list[int](), list[int](), dict[int, str]()
    for place, source in enumerate(sources):
        try:
            own = parts_of(source, builder)
        except MoleculeError as error:
            reasons[place] = str(error)
            continue
        parts += own
        sizes.append(len(own))
        places.append(place)
    return Built(batch_of(parts, builder.bonds) if parts else None, sizes, places, reasons)


@dataclass
class MoleculeBuild:
    """What is built, and on the way what could not be and what was there before, by number of the input."""

    builder: "MoleculeBuilder"
    label_names: Sequence[str] | None = None
    on_error: str = "skip"
    n_jobs: int | None = None
    n_built: int = 0
    skipped: dict[int, tuple[str, str]] = field(default_factory=dict)  # name and reason
    digests: list[tuple[IntArray, HashArray]] = field(default_factory=list)  # inputs, and a digest of each bag

    def load(self, entries: Sequence[Entry], done: Callable[[int], None]) -> BagDataset:
        """All bags at once."""
        pieces = [bags for bags, _ in self.pieces(entries, 0, done)]
        told = self.info(stacklevel=6)  # who called bags_from_molecules; raises if there is none
        return replace(BagDataset.concatenate(pieces), info=told)

    def pieces(
        self, entries: Iterable[Entry], start: int = 0, done: Callable[[int], None] = lambda steps: None
    ) -> Iterator[Piece]:
        """The bags of some molecules at a time, in their order; ``start`` is the number of the first."""
        waiting = deque[list[Entry]]()
        chunks = iter(_chunks(entries))
        head = list(itertools.islice(chunks, 2))
        n_jobs = 1 if len(head) < 2 or self.n_jobs is None else self.n_jobs

        def todo() -> Iterator[list[Any]]:
            for chunk in itertools.chain(head, chunks):
                waiting.append(chunk)
                yield [entry.source for entry in chunk if entry.problem is None]

        with Processes(n_jobs) as workers:
            try:
                for built in workers.map(partial(build_some, builder=self.builder), todo()):
                    chunk = waiting.popleft()
                    piece = self._piece(chunk, start, built)
                    start += len(chunk)
                    done(len(chunk))
                    if piece is not None:
                        yield piece
            except WorkerLost as error:
                names = f"{waiting[0][0].name} to {waiting[0][-1].name}"
                which = f"one of the molecules {names} (rows {start + 1} to {start + len(waiting[0])})"
                raise MoleculeError(f"{which} cannot be built: {error}") from error

    def _piece(self, chunk: list[Entry], start: int, built: Built) -> Piece | None:
        """One chunk's bags, with the numbers of their inputs; None if no molecule of it can be used."""
        sent = [number for number, entry in enumerate(chunk) if entry.problem is None]
        problems = {number: entry.problem for number, entry in enumerate(chunk) if entry.problem is not None}
        problems |= {sent[place]: reason for place, reason in built.reasons.items()}
        for number, reason in sorted(problems.items()):
            if self.on_error == "raise":
                raise MoleculeError(f"molecule {chunk[number].name} (row {start + number + 1}) {reason}")
            self.skipped[start + number] = (chunk[number].name, reason)
        if built.graphs is None:
            return None
        kept = [chunk[sent[place]] for place in built.places]
        inputs = start + np.array([sent[place] for place in built.places])
        bags = self._bags(built.graphs, built.sizes, kept)
        digests = np.add.reduceat(graph_digests(bags.graphs), bags.bag_ptr[:-1])  # whatever the order of fragments
        self.digests.append((inputs, digests))
        self.n_built += bags.n_bags
        return bags, inputs

    def _bags(self, graphs: GraphBatch, sizes: list[int], entries: list[Entry]) -> BagDataset:
        graph_names = [f"{entry.name}:{k}" for entry, size in zip(entries, sizes, strict=True) for k in range(size)]
        labels = {}
        if self.label_names is not None:
            Y = np.array([entry.labels for entry in entries])
            labels = {"Y": np.nan_to_num(Y), "Y_known": ~np.isnan(Y), "label_names": np.array(self.label_names)}
        names = np.array([entry.name for entry in entries])
        ptr = offsets(np.array(sizes))
        given: dict[str, Any] = {"bag_names": names, "graph_names": np.array(graph_names), **labels}
        return BagDataset(graphs, ptr, info={"description": DESCRIPTION}, builder=self.builder, **given)

    # -- what there is to say of it ----------------------------------------------------------

    def report(self, start: int, stop: int) -> Json:
        """What to `recall` of these inputs, as JSON can hold it."""
        chosen = [(inputs, digests, (inputs >= start) & (inputs < stop)) for inputs, digests in self.digests]
        return {
            "skipped": {str(k): list(why) for k, why in self.skipped.items() if start <= k < stop},
            "inputs": [k for inputs, _, mask in chosen for k in inputs[mask].tolist()],
            "digests": [k for _, digests, mask in chosen for k in digests[mask].tolist()],
        }

    def recall(self, report: Json, n_bags: int) -> None:
        """Take over what an earlier run of the same build has reported."""
        self.n_built += n_bags
        self.skipped |= {int(k): (name, reason) for k, (name, reason) in report["skipped"].items()}
        self.digests.append((np.array(report["inputs"], dtype=int), np.array(report["digests"], dtype=np.uint64)))

    def info(self, stacklevel: int = 3) -> Json:
        """When all are built: what was skipped, by name, and which bags are the same; skipped ones are warned of."""
        total = self.n_built + len(self.skipped)
        first = next(iter(self.skipped.values()), ("", ""))
        if not self.n_built:
            raise MoleculeError(f"none of the {total:,} molecules can be used; the first, {first[0]}, {first[1]}")
        if self.skipped:
            what = f"{len(self.skipped):,} of {total:,} molecules were skipped, such as {first[0]}, which {first[1]}"
            warnings.warn(f"{what} cfmgml inspect lists all of them.", stacklevel=stacklevel)
        named: dict[str, str] = {}
        for number, (name, reason) in self.skipped.items():
            named[name if name not in named else f"{name} (row {number + 1})"] = reason
        return {"description": DESCRIPTION, "skipped": named, **self._duplicates()}

    def _duplicates(self) -> Json:
        """Bags that have the same graphs as one before: the same molecule, to a model."""
        inputs, digests = (np.concatenate(parts) for parts in zip(*self.digests, strict=True))
        _, first, same = np.unique(digests, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[same] != np.arange(len(digests)))
        pairs = [[int(inputs[k]) + 1, int(inputs[first[same[k]]]) + 1] for k in again[:SHOWN]]
        return {"n_duplicates": len(again), "duplicates": pairs}  # rows, and the rows they repeat


def _chunks(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    rest = iter(entries)
    while chunk := list(itertools.islice(rest, AT_ONCE)):
        yield chunk

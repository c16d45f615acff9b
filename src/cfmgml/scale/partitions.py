"""What training needs of one partition: its rows, its labels, and the weights Q of its bags.

All of it can be computed from the store and the kernel at any time, in any process. So it is only ever a cache: in
memory while that lasts, else on disk; and what a killed worker had in memory is made again by the next.
"""

import contextlib
import json
import math
import os
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from cfmgml.common.digests import digest_of
from cfmgml.common.files import atomic_write
from cfmgml.common.typing import Array, FloatArray, Rows
from cfmgml.data.bags import BagDataset
from cfmgml.kernels.base import Kernel
from cfmgml.kernels.files import kernel_digest
from cfmgml.learning.estimator import check_targets
from cfmgml.learning.objective import Linearisation, RankLoss
from cfmgml.learning.scoring import normalised_features
from cfmgml.learning.solvers.cccp import Problem
from cfmgml.stores import BagStore


@dataclass(frozen=True)
class Job:
    """One training run, as every worker knows it."""

    store: BagStore
    kernel: Kernel  # resolved
    loss: RankLoss  # of no bags: the settings only
    fit_intercept: bool
    cache: Path  # a folder, on each machine
    memory: int  # bytes of features that one process may keep
    key: str  # a digest of the store and the kernel: features of other ones are never used
    run: str  # of this run alone: others may use the same worker at the same time

    @property
    def n_labels(self) -> int:
        return self.store.n_labels


def features_key(store: BagStore, kernel: Kernel) -> str:
    """A digest of all that the features of a store depend on."""
    return digest_of({}, store.fingerprint(), kernel_digest(kernel))[:32]


@dataclass
class Prepared:
    """One partition, ready to be evaluated, with Q and a tag that says which theta Q belongs to.

    Several threads may have it: Q and its tag are replaced in one step, and nothing else is changed.
    """

    problem: Problem
    tagged: tuple[str, Linearisation] | None = None

    @property
    def n_bags(self) -> int:
        return self.problem.loss.n_bags

    @property
    def nbytes(self) -> int:
        loss = self.problem.loss
        arrays = [*_row_arrays(self.problem.rows), loss.bag_ptr, loss.relevant, loss.irrelevant]
        q = 8 * loss.relevant.shape[1] * (int(loss.bag_ptr[-1]) + loss.n_bags)  # Q will be there soon
        return sum(array.nbytes for array in arrays) + q

    def under(self, job: Job) -> "Prepared":
        """With the job's settings of the loss: weights of labels are known only after all labels were counted."""
        own = self.problem.loss
        loss = replace(job.loss, bag_ptr=own.bag_ptr, relevant=own.relevant, irrelevant=own.irrelevant)
        return replace(self, problem=replace(self.problem, loss=loss))


def prepare(job: Job, bags: BagDataset) -> Prepared:
    """Features and labels of bags."""
    labels, known = check_targets(bags, None)
    loss = replace(job.loss, bag_ptr=bags.bag_ptr, relevant=labels & known, irrelevant=~labels & known)
    rows = normalised_features(job.kernel, bags.graphs)
    if not isinstance(rows, np.ndarray):
        rows = sparse.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr), shape=rows.shape)
    return Prepared(Problem(rows, loss, 0.0, job.fit_intercept))


# -- the cache -------------------------------------------------------------------------------


@dataclass
class Memory:
    """What one process keeps of a run; its threads take turns."""

    held: dict[int, Prepared] = field(default_factory=dict)
    filled: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, number: int, prepared: Prepared, limit: int) -> bool:
        """Keep a partition if there is room; says whether it is kept."""
        with self.lock:
            if number not in self.held:
                if self.filled + prepared.nbytes > limit:
                    return False
                self.held[number] = prepared
                self.filled += prepared.nbytes
            return True


_MEMORY: dict[str, Memory] = {}  # by run


def partition(job: Job, number: int) -> Prepared:
    """One partition, from memory, from disk, or made from the store."""
    memory = _MEMORY.setdefault(job.run, Memory())
    kept = memory.held.get(number)
    if kept is not None:
        return kept.under(job)
    file = _file(job, number, "rows")
    read = _read(job, file)
    prepared = prepare(job, job.store.read(number)) if read is None else read
    if not memory.keep(number, prepared, job.memory):
        if read is None:
            rows, loss = prepared.problem.rows, prepared.problem.loss
            _write(file, [*_row_arrays(rows), np.array(rows.shape), loss.bag_ptr, loss.relevant, loss.irrelevant])
        with contextlib.suppress(OSError, ValueError):
            tag, weights, constant = _load(_file(job, number, "weights"))
            prepared.tagged = tag.tobytes().decode(), Linearisation(weights, constant)
    return prepared


def linearised(job: Job, number: int, prepared: Prepared, theta: FloatArray, tag: str) -> Linearisation:
    """Q of a partition around theta. It stays with the partition: in memory, or written beside it."""
    tagged = prepared.tagged
    if tagged is not None and tagged[0] == tag:
        return tagged[1]
    around = prepared.problem.loss.linearise(prepared.problem.scores(theta))
    kept = _MEMORY.get(job.run, Memory()).held.get(number)
    if kept is not None:
        kept.tagged = tag, around
    else:
        encoded = np.frombuffer(tag.encode(), dtype=np.uint8)
        _write(_file(job, number, "weights"), [encoded, around.weights, around.constant])
    return around


def release(run: str, key: str, cache: Path, remove: bool) -> None:
    """Forget a run in this process and, if asked to, its features on this machine's disk."""
    _MEMORY.pop(run, None)
    if remove and cache.is_dir():
        for file in cache.glob(f"{key}-*"):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: others use it too
            os.rmdir(cache)


def _file(job: Job, number: int, what: str) -> Path:
    return job.cache / f"{job.key}-{number:06d}.{what}"


def _row_arrays(rows: Rows) -> list[Array]:
    return [rows] if isinstance(rows, np.ndarray) else [rows.data, rows.indices, rows.indptr]


def _write(file: Path, arrays: list[Array]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        stream.write(json.dumps([[array.dtype.str, array.shape] for array in arrays]).encode() + b"\n")
        for array in arrays:
            stream.write(np.ascontiguousarray(array).data)


def _load(file: Path) -> list[Array]:
    """Not by `np.load`: Python 3.11 parses its headers wrongly, now and then, in several threads at once."""
    with open(file, "rb") as stream:
        kinds = json.loads(stream.readline())
        return [np.fromfile(stream, dtype, math.prod(shape)).reshape(shape) for dtype, shape in kinds]


def _read(job: Job, file: Path) -> Prepared | None:
    try:
        *rows, shape, bag_ptr, relevant, irrelevant = _load(file)
    except (OSError, ValueError):  # not there, or not whole: it is made again
        return None
    matrix = rows[0] if len(rows) == 1 else sparse.csr_array(tuple(rows), shape=tuple(shape.tolist()), copy=False)
    loss = replace(job.loss, bag_ptr=bag_ptr, relevant=relevant, irrelevant=irrelevant)
    return Prepared(Problem(matrix, loss, 0.0, job.fit_intercept))

"""What training needs of one partition: its rows, its labels, and the weights Q of its bags.

All of it can be computed from the store and the kernel at any time, in any process. So it is only ever a cache: in
memory while that lasts, else on disk; and what a killed worker had in memory is made again by the next.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cfmgml._files import atomic_write
from cfmgml._typing import FloatArray
from cfmgml.bags import BagDataset
from cfmgml.estimator import check_targets
from cfmgml.kernels.base import Kernel, Rows
from cfmgml.kernels.files import kernel_state
from cfmgml.objective import Linearisation, RankLoss
from cfmgml.scoring import normalised_features
from cfmgml.solvers.cccp import Problem
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
    key: str  # a digest of the store and the kernel: features of another job are never used

    @property
    def n_labels(self) -> int:
        return self.store.n_labels

    def with_weights(self, label_weights: FloatArray) -> "Job":
        """The same job with one weight a label, once the labels have been counted."""
        return replace(self, loss=replace(self.loss, label_weights=label_weights))


def features_key(store: BagStore, kernel: Kernel) -> str:
    """A digest of all that the features of a store depend on."""
    state, arrays = kernel_state(kernel)
    digest = hashlib.sha256(json.dumps([store.fingerprint(), state], sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def check_no_context(model: Any) -> None:
    if model.context:
        raise ValueError(
            f"context={model.context} is for bags in memory: learn from a store or a stream with context=0, or from a "
            "BagDataset by fit."
        )


def loss_of(model: Any, n_labels: int) -> RankLoss:
    """A model's settings of the loss, with no bags yet."""
    none = np.zeros((0, n_labels), dtype=bool)
    return RankLoss(
        np.zeros(1, dtype=np.int64),
        none,
        none,
        np.ones(n_labels),
        model.loss,
        model.term_weights,
        model.irrelevant,
        float(model.temperature),
    )


@dataclass
class Prepared:
    """One partition, ready to be evaluated; ``tag`` says which theta its Q belongs to."""

    problem: Problem
    tag: str = ""
    around: Linearisation | None = None

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
        self.problem = replace(self.problem, loss=loss)
        return self

    def linearise(self, theta: FloatArray, tag: str) -> bool:
        """Have Q around theta; says whether that had to be computed."""
        if self.tag == tag:
            return False
        self.around, self.tag = self.problem.loss.linearise(self.problem.scores(theta)), tag
        return True


def prepare(job: Job, bags: BagDataset) -> Prepared:
    """Features and labels of bags."""
    labels, known = check_targets(bags, None)
    loss = replace(job.loss, bag_ptr=bags.bag_ptr, relevant=labels & known, irrelevant=~labels & known)
    rows = normalised_features(job.kernel, bags.graphs)
    if sparse.issparse(rows):
        rows = sparse.csr_array((rows.data, rows.indices.astype(np.int32), rows.indptr), shape=rows.shape)
    return Prepared(Problem(rows, loss, 0.0, job.fit_intercept))


# -- the cache -------------------------------------------------------------------------------

_MEMORY: dict[str, dict[int, Prepared]] = {}  # job key -> partition -> what is known of it, in this process


def partition(job: Job, number: int) -> Prepared:
    """One partition, from memory, from disk, or made from the store."""
    held = _MEMORY.setdefault(job.key, {})
    if number in held:
        return held[number].under(job)
    file = _file(job, number, "rows")
    found = _read(job, file)
    if found is None:
        found = prepare(job, job.store.read(number))
        if not _fits(job, found):
            _write(file, [*_row_arrays(found.problem.rows), *_label_arrays(found)])
    if _fits(job, found):
        held[number] = found
    else:
        _read_weights(job, number, found)
    return found


def keep_weights(job: Job, number: int, found: Prepared) -> None:
    """Let Q stay with its partition: in memory it does already, else it is written beside it."""
    if number not in _MEMORY.get(job.key, {}) and found.around is not None:
        tag = np.frombuffer(found.tag.encode(), dtype=np.uint8)
        _write(_file(job, number, "weights"), [tag, found.around.weights, found.around.constant])


def release(key: str, cache: Path, remove: bool) -> None:
    """Forget a job in this process and, if asked to, on this machine's disk."""
    _MEMORY.pop(key, None)
    if remove and cache.is_dir():
        for file in cache.glob(f"{key}-*"):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: others use it too
            os.rmdir(cache)


def _fits(job: Job, found: Prepared) -> bool:
    return sum(other.nbytes for other in _MEMORY.get(job.key, {}).values()) + found.nbytes <= job.memory


def _file(job: Job, number: int, what: str) -> Path:
    return job.cache / f"{job.key}-{number:06d}.{what}"


def _row_arrays(rows: Rows) -> list[NDArray[Any]]:
    return [rows.data, rows.indices, rows.indptr] if sparse.issparse(rows) else [rows]


def _label_arrays(found: Prepared) -> list[NDArray[Any]]:
    loss = found.problem.loss
    return [np.array(found.problem.rows.shape), loss.bag_ptr, loss.relevant, loss.irrelevant]


def _write(file: Path, arrays: list[NDArray[Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as stream:
        for array in arrays:
            np.save(stream, array, allow_pickle=False)


def _load(file: Path) -> Iterator[NDArray[Any]]:
    with open(file, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        while stream.tell() < size:
            yield np.load(stream, allow_pickle=False)


def _read(job: Job, file: Path) -> Prepared | None:
    try:
        *rows, shape, bag_ptr, relevant, irrelevant = _load(file)
    except (OSError, ValueError):  # not there, or not whole: it is made again
        return None
    matrix = rows[0] if len(rows) == 1 else sparse.csr_array(tuple(rows), shape=tuple(shape.tolist()), copy=False)
    loss = replace(job.loss, bag_ptr=bag_ptr, relevant=relevant, irrelevant=irrelevant)
    return Prepared(Problem(matrix, loss, 0.0, job.fit_intercept))


def _read_weights(job: Job, number: int, found: Prepared) -> None:
    with contextlib.suppress(OSError, ValueError):
        tag, weights, constant = _load(_file(job, number, "weights"))
        found.tag, found.around = tag.tobytes().decode(), Linearisation(weights, constant)

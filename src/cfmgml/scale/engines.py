"""Where the work on partitions is done: in this process, in local processes, or on a Dask cluster.

An engine maps a task over blocks and adds up what it returns, or hands the results out one by one. It schedules
nothing itself: joblib and Dask do. Sums are taken in an order that depends on the blocks only (`tree_sum`), so all
engines agree to the last digits. Tasks are pure functions, so what a killed worker had not finished is simply done
again: by Dask itself, or by asking once more.
"""

import contextlib
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar

import numpy as np

from cfmgml.common.extras import missing_extra
from cfmgml.common.memory import physical_gib
from cfmgml.common.typing import FloatArray

FAN_IN = 8
ATTEMPTS = 20  # with workers dying all the time somebody should have a look
Sums = list[FloatArray]
Future: TypeAlias = Any  # of Dask
EngineLike: TypeAlias = Any  # a name, the address of a Dask scheduler, a Dask `Client`, or an `Engine`
Item = TypeVar("Item")
Done = TypeVar("Done")
Task = Callable[..., Done]


def add(parts: Iterable[Sums]) -> Sums:
    """Sum of lists of arrays, from the first to the last."""
    rest = iter(parts)
    total = [np.array(array) for array in next(rest)]
    for part in rest:
        for array, more in zip(total, part, strict=True):
            array += more
    return total


def tree_sum(parts: Iterable[Sums]) -> Sums:
    """Sum in a fixed order: runs of 8, then runs of 8 of those sums, until one is left.

    >>> tree_sum([np.array([k])] for k in range(20))
    [array([190])]
    """
    rest = iter(parts)
    sums = [add(chain([first], islice(rest, FAN_IN - 1))) for first in rest]  # each part is let go once it is added
    return sums[0] if len(sums) == 1 else tree_sum(sums)


class Engine(ABC):
    """Runs a task for every item; ``shared`` are the same for all of them."""

    n_workers = 1

    @abstractmethod
    def map(self, task: Task[Done], items: Sequence[Item], *shared: object) -> Iterator[Done]:
        """``task(item, *shared)`` for every item, in the order of the items."""

    def map_sum(self, task: Task[Sums], items: Sequence[Item], *shared: object) -> Sums:
        """The sum of ``task(item, *shared)``, lists of arrays, in a fixed order."""
        return tree_sum(self.map(task, items, *shared))

    def memory_of_one(self) -> float:
        """Bytes that one worker has for everything."""
        return min(physical_gib(), 2.0**20) * 2**30 / self.n_workers

    def everywhere(self, task: Callable[[], None]) -> None:
        """Run a task once in every process that took part."""
        task()

    def close(self) -> None:  # noqa: B027  # most have started nothing
        """Stop what this engine has started."""


class Inline(Engine):
    """One process: this one."""

    def map(self, task: Task[Done], items: Sequence[Item], *shared: object) -> Iterator[Done]:
        return (task(item, *shared) for item in items)


class Joblib(Engine):
    """Local processes. Blocks wander between them, so they share features through the disk, not in memory."""

    def __init__(self, n_jobs: int | None = None) -> None:
        from joblib import effective_n_jobs

        self.n_workers = effective_n_jobs(-1 if n_jobs is None else n_jobs)

    def map(self, task: Task[Done], items: Sequence[Item], *shared: object) -> Iterator[Done]:
        """Results as they come; after the death of a worker, the items from that one on are done again."""
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        done, attempts = 0, 0
        while done < len(items):
            calls = (delayed(task)(item, *shared) for item in items[done:])
            try:
                for result in Parallel(n_jobs=self.n_workers, return_as="generator")(calls):
                    yield result
                    done += 1
            except TerminatedWorkerError:
                attempts += 1
                if attempts >= ATTEMPTS:
                    raise


class Dask(Engine):
    """The workers of a Dask cluster: on this machine, or on many."""

    def __init__(self, client: Any, close: Callable[[], None] = lambda: None) -> None:
        self.client, self._close = client, close
        self._shared: dict[int, tuple[object, Future]] = {}

    @property
    def n_workers(self) -> int:  # type: ignore[override]
        return max(1, len(self.client.nthreads()))

    def memory_of_one(self) -> float:
        limits = [worker["memory_limit"] for worker in self.client.scheduler_info()["workers"].values()]
        return float(min(limits)) if limits and min(limits) > 0 else super().memory_of_one()

    def map(self, task: Task[Done], items: Sequence[Item], *shared: object) -> Iterator[Done]:
        yield from self._retry(lambda: self.client.gather(self._submit(task, items, shared)))

    def map_sum(self, task: Task[Sums], items: Sequence[Item], *shared: object) -> Sums:
        """As `tree_sum`, but on the workers: only the total comes here."""

        def once() -> Sums:
            parts = self._submit(task, items, shared)
            while True:
                runs = (parts[start : start + FAN_IN] for start in range(0, len(parts), FAN_IN))
                parts = [self.client.submit(add, run, pure=False) for run in runs]
                if len(parts) == 1:
                    total: Sums = parts[0].result()
                    return total

        return self._retry(once)

    def _submit(self, task: Task[Done], items: Sequence[Item], shared: Sequence[object]) -> list[Future]:
        """A block goes to the same worker each time, while that lives: there its features are."""
        workers = sorted(self.client.nthreads())
        sent = [self._send(value) for value in shared]
        keep = {id(value) for value in shared}
        self._shared = {key: pair for key, pair in self._shared.items() if key in keep}
        options = {"pure": False, "allow_other_workers": True}
        return [
            self.client.submit(task, item, *sent, workers=[workers[k % len(workers)]] if workers else None, **options)
            for k, item in enumerate(items)
        ]

    def _send(self, value: object) -> object:
        """One copy to every worker, kept there while the same object is asked for again; small things go along."""
        if value is None or isinstance(value, str | int | float):
            return value
        if id(value) not in self._shared:
            # In a list: Dask takes a dictionary for keys and values, and runs that use the same keys get each other's.
            self._shared[id(value)] = value, self.client.scatter([value], broadcast=True, hash=False)[0]
        return self._shared[id(value)][1]

    def _retry(self, once: Callable[[], Done]) -> Done:
        """Dask repeats what a dead worker had; what it lost with all its copies, it is given again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return once()
            except _lost_workers():
                self._shared.clear()
                if attempt == ATTEMPTS:
                    raise
                self.client.wait_for_workers(1, timeout=60)
        raise AssertionError("unreachable")

    def everywhere(self, task: Callable[[], None]) -> None:
        task()
        with contextlib.suppress(*_lost_workers()):
            self.client.run(task)

    def close(self) -> None:
        self._shared.clear()
        self._close()


def _lost_workers() -> tuple[type[BaseException], ...]:
    """What Dask raises when workers die, not when a task fails."""
    from asyncio import CancelledError as LoopCancelled
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    return KilledWorker, FutureCancelledError, CommClosedError, CancelledError, LoopCancelled, TimeoutError


def make_engine(engine: EngineLike, n_jobs: int | None = None) -> Engine:
    """An engine by name: ``"inline"``, ``"joblib"``, ``"dask"`` (a cluster on this machine), the address of a Dask
    scheduler (``"tcp://..."``), or a Dask ``Client``.

    >>> make_engine("threads")
    Traceback (most recent call last):
    ValueError: engine must be 'inline', 'joblib', 'dask', the address of a Dask scheduler or a Client, got 'threads'.
    """
    if isinstance(engine, Engine):
        return engine
    if engine == "inline":
        return Inline()
    if engine == "joblib":
        return Joblib(n_jobs)
    if engine == "dask":
        return _local_cluster(n_jobs)
    if isinstance(engine, str) and "://" in engine:
        client = _distributed().Client(engine)
        return Dask(client, client.close)
    if hasattr(engine, "scatter") and hasattr(engine, "submit"):
        return Dask(engine)
    raise ValueError(
        f"engine must be 'inline', 'joblib', 'dask', the address of a Dask scheduler or a Client, got {engine!r}."
    )


@contextlib.contextmanager
def running(engine: EngineLike, n_jobs: int | None = None) -> Iterator[Engine]:
    """The engine, stopped at the end if it was started here."""
    workers = make_engine(engine, n_jobs)
    try:
        yield workers
    finally:
        if workers is not engine:
            workers.close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(missing_extra("engine='dask' needs Dask", "dask")) from error
    return distributed


def _local_cluster(n_jobs: int | None) -> Dask:
    distributed = _distributed()
    n_workers = n_jobs if n_jobs is not None and n_jobs > 0 else os.cpu_count() or 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about ports taken by another cluster's dashboard
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        )
        client = distributed.Client(cluster)

    def close() -> None:
        client.close()
        cluster.close()

    return Dask(client, close)

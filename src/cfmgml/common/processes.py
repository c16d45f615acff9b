"""Work in other processes, which may be killed at any moment: `Processes`.

Each worker is a Python of its own with a pipe in and a pipe out that nobody else holds, so that the death of one, be it
in the middle of a message, is the end of its pipe and of nothing else. It starts from nothing: no thread, lock or
``__main__`` of the parent is in it, so that notebooks and scripts without a guard may use it. What is defined in
``__main__`` travels by value.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, BinaryIO, Self, TypeVar

import cloudpickle
from joblib import effective_n_jobs

from cfmgml.common.messages import pack_message, read_message

TRIES = 2  # workers that an item may cost
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerLost(RuntimeError):
    """The worker processes of an item were killed, each time it was tried."""


class Processes:
    """Worker processes for as long as the ``with`` block lasts: they end with it, however it ends.

    Parameters
    ----------
    n_jobs
        How many, as in joblib; 1 works in this process.

    Examples
    --------
    >>> with Processes(2) as workers:
    ...     list(workers.map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_workers = effective_n_jobs(n_jobs)
        self._threads = ThreadPoolExecutor(self.n_workers, "cfmgml-worker")  # one waits for each worker
        self._lock, self._idle, self._all, self._closed = threading.Lock(), list[_Worker](), set[_Worker](), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.forget()

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], *, ahead: int = 0, lost: Result | None = None
    ) -> Iterator[Result]:
        """What ``work`` makes of each item, in their order.

        An item whose worker dies is tried once more; then ``lost`` stands for it, or `WorkerLost` is raised. An
        exception of the work is raised here. At most ``ahead`` items (at least two a worker) are worked on or done
        before they are asked for.
        """
        if self.n_workers == 1:
            yield from map(work, items)
            return
        packed, waiting, rest = _pack({}, work), deque[Future[Result]](), iter(items)
        try:
            for item in islice(rest, max(ahead, 2 * self.n_workers)):
                waiting.append(self._threads.submit(self._ask, packed, item))
            while waiting:
                try:
                    result = waiting.popleft().result()
                except WorkerLost:
                    if lost is None:
                        raise
                    result = lost
                waiting.extend(self._threads.submit(self._ask, packed, item) for item in islice(rest, 1))
                yield result
        finally:
            for future in waiting:
                future.cancel()

    def _ask(self, work: bytes, item: Any) -> Any:
        """The worker's answer, from the second one if the first dies."""
        message = _pack({}, item)
        for _ in range(TRIES):
            worker = self._take()
            try:
                header, body = worker.ask(work, message)
            except (EOFError, OSError, ValueError):  # the pipe's end, or what a dying process wrote into it
                with self._lock:
                    self._all.discard(worker)
                worker.kill()
                worker.forget()
                continue
            with self._lock:
                self._idle.append(worker)
            answer = pickle.loads(body)
            if header["raised"]:
                raise answer
            return answer
        raise WorkerLost("its worker process was killed twice.")

    def _take(self) -> "_Worker":
        """A worker that lives, as far as can be known."""
        with self._lock:
            if self._closed:
                raise WorkerLost("the worker processes were ended.")
            while self._idle:
                worker = self._idle.pop()
                if worker.is_running:  # or it was killed when it had nothing to do, which is no item's fault
                    return worker
                self._all.discard(worker)
                worker.forget()
            worker = _Worker(self.n_workers)
            self._all.add(worker)
            return worker


class _Worker:
    """One worker process, seen from outside."""

    def __init__(self, n_workers: int) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from cfmgml.common.processes import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=worker_environment(n_workers),
            start_new_session=True,  # Ctrl-C is for the parent; a worker ends with its pipe
        )
        self._work: bytes | None = None  # what it was told to do

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, work: bytes, message: bytes) -> tuple[dict[str, Any], bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        if work is not self._work:
            stdin.write(work)
            self._work = work
        else:
            stdin.write(SAME)
        stdin.write(message)
        stdin.flush()
        return read_message(stdout, sys.maxsize)

    def kill(self) -> None:
        self._process.kill()

    def forget(self) -> None:
        """Wait until a process that was killed is gone."""
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what was not yet sent cannot be
                pipe.close()


SAME = pack_message({"same": True})  # the work is that of the item before


def serve() -> None:
    """What a worker does: read what to do, read an item, answer, until the pipe ends."""
    with contextlib.suppress(EOFError, BrokenPipeError), own_pipes() as (incoming, outgoing):
        work = b""
        while True:
            header, told = read_message(incoming, sys.maxsize)
            if not header.get("same"):
                work, do = told, None
            _, item = read_message(incoming, sys.maxsize)
            try:
                do = do or pickle.loads(work)
                answer = _pack({"raised": False}, do(pickle.loads(item)))
            except BaseException as error:
                answer = _pack_error(error)
            outgoing.write(answer)
            outgoing.flush()
            del answer, item


def _pack(header: dict[str, Any], value: Any) -> bytes:
    return pack_message(header, cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def _pack_error(error: BaseException) -> bytes:
    """An exception with the lines it came from; one that cannot travel is told in words."""
    where = "".join(traceback.format_exception(error))
    error.add_note(f"In a worker process:\n{where}")
    try:
        packed = cloudpickle.dumps(error)
        pickle.loads(packed)
    except Exception:
        return _pack({"raised": True}, RuntimeError(f"{type(error).__name__} in a worker process: {error}\n{where}"))
    return pack_message({"raised": True}, packed)


def worker_environment(n_workers: int) -> dict[str, str]:
    """The environment of a worker, which has its share of cores unless somebody said otherwise."""
    return {**dict.fromkeys(THREADS, str(max(1, (os.cpu_count() or 1) // n_workers))), **os.environ}


@contextlib.contextmanager
def own_pipes() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Stdin and stdout of a worker for messages; what a library prints goes to stderr, not between them."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with incoming, outgoing:
        yield incoming, outgoing

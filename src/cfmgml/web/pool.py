"""A bounded number of worker processes, a bounded queue before them, and a time limit for each input."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

from cfmgml.web.frames import Header, pack, read_frame_async
from cfmgml.web.limits import Limits, Refused

START_SECONDS = 120.0
RETRY_SECONDS = 5.0
log = logging.getLogger("cfmgml.web")


class Worker:
    """One worker process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, models: Mapping[str, str], limits: Limits) -> "Worker":
        threads = str(max(1, (os.cpu_count() or 1) // limits.n_workers))
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cfmgml.web.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**dict.fromkeys(names, threads), **os.environ},
            start_new_session=True,  # Ctrl-C is for the server; a worker ends with its pipe
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.ask({"models": dict(models), "limits": limits.to_json()})
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def ask(self, header: Header, body: bytes = b"") -> tuple[Header, bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(pack(header, body))
        await stdin.drain()
        return await read_frame_async(stdout)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()


class WorkerPool:
    """Workers that take inputs one at a time; more than may wait are refused (503), slow ones ended (504)."""

    def __init__(self, models: Mapping[str, str], limits: Limits) -> None:
        self._models = models
        self._limits = limits
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._alive: set[Worker] = set()
        self._inside = 0
        self.n_replaced = 0

    @property
    def n_alive(self) -> int:
        return len(self._alive)

    @property
    def n_inside(self) -> int:
        """Requests that are being read, waiting or worked on."""
        return self._inside

    async def start(self) -> None:
        await asyncio.gather(*(self._add() for _ in range(self._limits.n_workers)))

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in list(self._alive)))
        self._alive.clear()

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place inside, to be taken before the body is read: so the bodies in memory are bounded too."""
        if self._inside >= self._limits.n_workers + self._limits.waiting:
            raise busy()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    async def ask(self, header: Header, body: bytes) -> tuple[int, bytes]:
        """Status and JSON of the answer, from the first worker that is free."""
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                worker = await self._idle.get()
        except TimeoutError:
            raise busy() from None
        try:
            async with asyncio.timeout(self._limits.seconds):
                reply, content = await worker.ask(header, body)
        except TimeoutError:
            self._replace(worker, "took too long")
            reason = f"The input took more than {self._limits.seconds:g} s and was given up."
            raise Refused(504, "too_slow", reason) from None
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            self._replace(worker, "ended")
            raise Refused(500, "failed", "The server failed at this input.") from None
        except BaseException:  # cancelled in the middle of a message
            self._replace(worker, "was left")
            raise
        self._idle.put_nowait(worker)
        return int(reply["status"]), content

    # -- workers -----------------------------------------------------------------------------

    async def _add(self) -> None:
        worker = await Worker.start(self._models, self._limits)
        self._alive.add(worker)
        self._idle.put_nowait(worker)

    def _replace(self, worker: Worker, why: str) -> None:
        log.warning("a worker %s and is replaced", why)
        self.n_replaced += 1
        self._alive.discard(worker)
        task = asyncio.create_task(self._replacement(worker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replacement(self, worker: Worker) -> None:
        await worker.kill()
        while True:
            try:
                return await self._add()
            except Exception as error:
                log.error("a worker cannot be started (%s)", type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)


def busy() -> Refused:
    return Refused(503, "busy", "The server is busy. Try again in a few seconds.")


def retry_headers(refusal: Any) -> dict[str, str]:
    """When to come back, for answers that say to."""
    return {"Retry-After": "2"} if refusal.status == 503 else {}

"""A bounded number of worker processes, a bounded queue before them, and a time limit for each input.

`cfmgml.common.processes` has the workers of our own builds, which are sent pickled work. A server's worker decodes what
strangers sent, so its messages are JSON and bytes, never pickle, and the server, which waits for many at once, awaits
them.
"""

import asyncio
import contextlib
import logging
import math
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import asdict
from time import monotonic

from cfmgml.common.messages import pack_message, read_message_async
from cfmgml.common.processes import worker_environment
from cfmgml.common.typing import Json
from cfmgml.web.limits import Limits, Refused

START_SECONDS = 120.0
RETRY_SECONDS = 5.0
END_SECONDS = 1.0
FIRST_SECONDS = 1.0  # what an answer is expected to take before there has been one
NEWEST = 0.2  # share of the newest answer in what an answer is expected to take
ModelFile = Mapping[str, str | None]  # what `Exhibit.write` gives
log = logging.getLogger("cfmgml.web")


class WorkerDied(Exception):
    """A worker ended, or spoke nonsense, before it had answered."""


class Worker:
    """One worker process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.start_seconds = 0.0

    @classmethod
    async def start(cls, models: Mapping[str, ModelFile], limits: Limits) -> "Worker":
        begin = monotonic()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cfmgml.web.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=worker_environment(limits.n_workers),
            start_new_session=True,  # Ctrl-C is for the server; a worker ends with its pipe
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.ask({"models": dict(models), "limits": asdict(limits)})
        except BaseException:
            worker.kill()
            await worker.ended()
            raise
        worker.start_seconds = monotonic() - begin
        return worker

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def ask(self, header: Json, body: bytes = b"") -> tuple[Json, bytes]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(pack_message(header, body))
            await stdin.drain()
            return await read_message_async(stdout)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            raise WorkerDied from error

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def make_end(self) -> int | None:
        """How a worker ended that cannot be spoken to; None if it had to be made to."""
        try:
            async with asyncio.timeout(END_SECONDS):
                return await self._process.wait()
        except TimeoutError:
            self.kill()
            return None

    async def ended(self) -> None:
        """Wait until the process is gone."""
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


class WorkerPool:
    """Workers that take inputs one at a time; more than may wait are refused (503), slow ones ended (504)."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._models: Mapping[str, ModelFile] = {}
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._alive: set[Worker] = set()
        self.n_inside = 0  # requests that are waiting or worked on
        self._answer_seconds: float | None = None  # none yet
        self._start_seconds = 0.0
        self.n_replaced = 0

    @property
    def n_alive(self) -> int:
        return sum(worker.is_running for worker in self._alive)

    async def start(self, models: Mapping[str, ModelFile]) -> None:
        self._models, self._idle = models, asyncio.Queue()  # a queue belongs to the loop that runs now
        started = asyncio.gather(*(Worker.start(self._models, self._limits) for _ in range(self._limits.n_workers)))
        for worker in await started:
            self._enter(worker)
            self._spawn(self._keep(worker))

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._alive:
            worker.kill()
        await asyncio.gather(*(worker.ended() for worker in self._alive))
        self._alive.clear()

    # -- questions ---------------------------------------------------------------------------

    def check_not_full(self) -> None:
        if self.n_inside >= self._limits.n_workers + self._limits.waiting:
            raise self.busy()

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place inside, or a refusal."""
        self.check_not_full()
        self.n_inside += 1
        try:
            yield
        finally:
            self.n_inside -= 1

    async def ask(self, header: Json, body: bytes) -> tuple[int, bytes]:
        """Status and JSON of the answer, from the first worker that is free.

        A worker can die of something else than its input: there is a second try, with another one. Those who were
        killed from outside, both of them, say nothing of the input: it may come again (503).
        """
        was_killed = []
        for _ in range(2):
            worker = await self._free_worker()
            with contextlib.suppress(WorkerDied):
                reply, content = await self._answer(worker, header, body)
                return int(reply["status"]), content
            was_killed.append(await worker.make_end() == -signal.SIGKILL)
        if all(was_killed):
            raise self.busy("interrupted", "The server's workers were killed.")
        raise Refused(500, "failed", "The server failed at this input.")

    def busy(self, code: str = "busy", reason: str = "The server is busy.") -> Refused:
        """Says when those inside now will be answered, by what answers have taken of late."""
        n_alive, each = self.n_alive, self._answer_seconds or FIRST_SECONDS
        wait = self.n_inside * each / max(n_alive, 1) + (0.0 if n_alive else self._start_seconds)
        seconds = max(1, math.ceil(wait))
        return Refused(503, code, f"{reason} Try again in {seconds} s.", retry_after=seconds)

    async def _free_worker(self) -> Worker:
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                while True:
                    worker = await self._idle.get()
                    if worker.is_running:  # or it died while it had nothing to do
                        return worker
        except TimeoutError:
            raise self.busy() from None

    async def _answer(self, worker: Worker, header: Json, body: bytes) -> tuple[Json, bytes]:
        begin = monotonic()
        reply = asyncio.create_task(worker.ask(header, body))
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await asyncio.shield(reply)
        except TimeoutError:
            log.warning("a worker took too long and is ended")
            reply.cancel()
            worker.kill()
            self._learn_time(self._limits.seconds)
            reason = f"The input took more than {self._limits.seconds:g} s and was given up."
            raise Refused(504, "too_slow", reason) from None
        except asyncio.CancelledError:
            self._spawn(self._abandon(worker, reply))
            raise
        self._learn_time(monotonic() - begin)
        self._idle.put_nowait(worker)
        return answer

    async def _abandon(self, worker: Worker, reply: "asyncio.Task[tuple[Json, bytes]]") -> None:
        """Nobody waits for a reply any more: if it takes longer than a new worker would, have a new worker."""
        try:
            async with asyncio.timeout(worker.start_seconds):
                await reply
        except TimeoutError:
            log.warning("a worker was left with an input and is ended")
            worker.kill()
        except WorkerDied:
            await worker.make_end()
        else:
            self._idle.put_nowait(worker)

    def _learn_time(self, seconds: float) -> None:
        before = seconds if self._answer_seconds is None else self._answer_seconds
        self._answer_seconds = before + NEWEST * (seconds - before)

    # -- workers -----------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _enter(self, worker: Worker) -> None:
        self._start_seconds = worker.start_seconds
        self._alive.add(worker)
        self._idle.put_nowait(worker)

    async def _keep(self, worker: Worker) -> None:
        """Have another worker whenever this one ends, whoever or whatever ended it."""
        while True:
            await worker.ended()
            self._alive.discard(worker)
            self.n_replaced += 1
            log.warning("a worker ended and is replaced")
            while worker not in self._alive:
                try:
                    worker = await Worker.start(self._models, self._limits)
                    self._enter(worker)
                except Exception as error:
                    log.error("a worker cannot be started (%s)", type(error).__name__)
                    await asyncio.sleep(RETRY_SECONDS)

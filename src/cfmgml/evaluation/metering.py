"""What a piece of work took: CPU and wall seconds, and the most memory that was in use meanwhile."""

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Meter:
    """Filled when the block it belongs to ends."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mib: float = 0.0
    added_mib: float = 0.0

    def shared(self, n: int) -> "Meter":
        """One of ``n`` equal shares of the seconds; the memory was there for all."""
        return replace(self, cpu_seconds=self.cpu_seconds / n, wall_seconds=self.wall_seconds / n)


@contextlib.contextmanager
def metered() -> Iterator[Meter]:
    """Measure the block: seconds of this process (all its threads), its peak memory, and what that is above the start.

    Memory is resident memory. The peak is that of the block where the system can reset it (Linux), else of the process
    so far. Pages of a Gram matrix that several workers read count in each of them.

    >>> with metered() as meter:
    ...     _ = sum(range(10**5))
    >>> meter.wall_seconds > 0, meter.peak_mib > 1
    (True, True)
    """
    meter = Meter()
    with contextlib.suppress(OSError):
        RESET.write_text("5")  # proc(5): resets VmHWM to what is resident now
    before = peak_mib()
    cpu, wall = time.process_time(), time.perf_counter()
    yield meter
    meter.cpu_seconds, meter.wall_seconds = time.process_time() - cpu, time.perf_counter() - wall
    meter.peak_mib = peak_mib()
    meter.added_mib = meter.peak_mib - before


def peak_mib() -> float:
    """Peak resident memory of this process, in MiB, since it began or was last reset."""
    try:
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    except (OSError, StopIteration):
        import resource  # not on Windows

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 1024)

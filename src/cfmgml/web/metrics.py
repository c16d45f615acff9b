"""Counts for ``/metrics``, in Prometheus' text format; nothing of what was sent is among them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "cfmgml"


class Metrics:
    """Requests by route and status, their times, and refusals by code.

    >>> metrics = Metrics()
    >>> metrics.observe("GET", "/healthz", 200, 0.002)
    >>> print(metrics.render({}).splitlines()[2])
    cfmgml_requests_total{method="GET",route="/healthz",status="200"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._refused: Counter[str] = Counter()
        self._times: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests[method, route, str(status)] += 1
        counts = self._times.setdefault(route, [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]  # a Counter of floats

    def refuse(self, code: str) -> None:
        self._refused[code] += 1

    def render(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All of it, with gauges as name -> (help, value)."""
        lines = _family("requests_total", "counter", "Requests answered.", self._request_lines())
        lines += _family("request_seconds", "histogram", "Time to answer.", self._time_lines())
        refused = (f'refused_total{{code="{code}"}} {count}' for code, count in sorted(self._refused.items()))
        lines += _family("refused_total", "counter", "Inputs turned away, by code.", refused)
        for name, (about, value) in gauges.items():
            lines += _family(name, "gauge", about, [f"{name} {value:g}"])
        return "\n".join(lines) + "\n"

    def _request_lines(self) -> Iterable[str]:
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'

    def _time_lines(self) -> Iterable[str]:
        for route, counts in sorted(self._times.items()):
            total = 0
            for bound, count in zip([*map(str, BUCKETS), "+Inf"], counts, strict=True):
                total += count
                yield f'request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'request_seconds_count{{route="{route}"}} {total}'


def _family(name: str, kind: str, about: str, lines: Iterable[str]) -> list[str]:
    head = [f"# HELP {PREFIX}_{name} {about}", f"# TYPE {PREFIX}_{name} {kind}"]
    return head + [f"{PREFIX}_{line}" for line in lines]


def resident_bytes() -> float:
    """Memory of this process, or NaN where the system does not tell."""
    with suppress(OSError, ValueError, IndexError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return 1024.0 * int(line.split()[1])
    return float("nan")

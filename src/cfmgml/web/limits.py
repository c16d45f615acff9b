"""What the server accepts, and how it says no."""

import os
from dataclasses import dataclass, fields

from cfmgml.common.numbers import check_number
from cfmgml.data.questions import Refused

__all__ = ["Limits", "Refused"]


@dataclass(frozen=True)
class Limits:
    """Bounds on what one request, and all of them together, may cost. All are checked before the work they bound.

    Parameters
    ----------
    body_bytes
        Most bytes of an upload.
    pixels, side
        Most pixels of an image, and most along one side, read from its header before it is decoded.
    characters, texts
        Most characters of a text and most texts (sentences, graphs) in it.
    nodes, edges
        Most nodes and edges of all graphs of one input.
    regions
        Most regions that an image may be cut into.
    explained
        Most labels whose deciding nodes an answer holds.
    seconds
        Longest time that the work on one input may take; its worker process is ended then (504).
    header_seconds, body_seconds
        Longest time that a request's headers and its body may take to arrive (408).
    connections
        Most connections; beyond it the one that has kept the server waiting for longest makes way.
    waiting, wait_seconds
        Most requests that may wait for a worker, and how long one may; beyond it is 503.
    workers
        Worker processes; None for one a core, four at most.
    worker_bytes
        Memory that a worker may take beyond what its models need.
    grace_seconds
        Time that requests have to be answered when the server is told to stop; what is left then is 503.

    Examples
    --------
    >>> Limits(pixels=1_000_000).pixels
    1000000
    """

    body_bytes: int = 12 * 2**20
    pixels: int = 24_000_000
    side: int = 16_000
    characters: int = 50_000
    texts: int = 400
    nodes: int = 20_000
    edges: int = 200_000
    regions: int = 24
    explained: int = 40
    seconds: float = 30.0
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    connections: int = 500
    waiting: int = 16
    wait_seconds: float = 30.0
    workers: int | None = None
    worker_bytes: int = 3 * 2**30
    grace_seconds: float = 8.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "waiting":
                check_number(value, item.name, at_least=0, whole=True)
            elif value is not None:
                check_number(value, item.name, above=0, whole="seconds" not in item.name)

    @property
    def n_workers(self) -> int:
        return self.workers or min(4, os.cpu_count() or 1)

    @property
    def text_bytes(self) -> int:
        r"""Most bytes of a JSON body with the longest text, each letter as two ``\uXXXX``."""
        return min(self.body_bytes, 12 * self.characters + 16 * self.texts + 4096)

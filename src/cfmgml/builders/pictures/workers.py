"""Pictures are built in worker processes, and the work outlives them.

A worker may be killed: by the system when memory runs out, by a decoder that crashes, by somebody. What it held is not
known then, so the next pictures go one at a time: the one whose worker ends twice that way is the one to name.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from joblib import Parallel

from cfmgml.builders.pictures.image_files import ImageError

SUSPECTS = 16  # pictures that go one at a time after a worker was lost
LOST = "its worker process was killed twice; it may need more memory than there is, or crash what decodes it."


def in_workers(
    job: Callable[[int], Any], numbers: Sequence[int], n_jobs: int, go_on: Callable[[], bool]
) -> Iterator[Any]:
    """What the job of each number gives, in their order; an `ImageError` where it killed its worker twice.

    ``job`` makes what `joblib.Parallel` runs. Once ``go_on`` says no, none is begun, so that workers end in good order.
    """
    done, alone_until, killed = 0, 0, 0

    def supply(stop: int) -> Iterator[Any]:
        for number in numbers[done:stop]:
            if not go_on():
                return
            yield job(number)

    while done < len(numbers) and go_on():
        alone = done < alone_until
        how: dict[str, Any] = {"n_jobs": 2, "pre_dispatch": 1, "batch_size": 1} if alone else {"n_jobs": n_jobs}
        try:
            for result in Parallel(**how, return_as="generator")(supply(alone_until if alone else len(numbers))):
                yield result
                done, killed = done + 1, 0
        except BrokenProcessPool:
            alone_until, killed = min(done + SUSPECTS, len(numbers)), killed + alone
            if killed == 2:
                yield ImageError(LOST)
                done, killed = done + 1, 0

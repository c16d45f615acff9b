"""Compiled inner loops: numba is imported at the first call, so that importing cfmgml stays quick."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def compiled(function: Callable[P, T]) -> Callable[P, T]:
    """Compile with numba at the first call, keep the result on disk, and release the lock while it runs."""
    fast: Callable[P, T] | None = None

    @wraps(function)
    def call(*args: P.args, **none: P.kwargs) -> T:
        nonlocal fast
        if fast is None:
            import numba

            # Sums may be taken in another order, which lets them run several at a time; nothing else is relaxed.
            fast = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function)
        return fast(*args, **none)

    return call

"""Compiled inner loops: numba is imported at the first call, so that importing cfmgml stays quick."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def compiled(function: Callable[P, T]) -> Callable[P, T]:
    """Compile with numba at the first call, keep the result on disk, and release the lock while it runs.

    Sums may be taken in another order, which lets them run several at a time; nothing else is relaxed.
    """
    return _compiled(function, {"reassoc", "contract"})


def compiled_exactly(function: Callable[P, T]) -> Callable[P, T]:
    """The same, every number rounded as it is written: for what hangs on whether two of them are equal."""
    return _compiled(function, False)


def _compiled(function: Callable[P, T], fastmath: Any) -> Callable[P, T]:
    fast: Callable[P, T] | None = None

    @wraps(function)
    def call(*args: P.args, **none: P.kwargs) -> T:
        nonlocal fast
        if fast is None:
            import numba

            try:
                fast = numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
            except RuntimeError:  # nowhere to keep it: neither the package, nor a home, nor NUMBA_CACHE_DIR is writable
                fast = numba.njit(nogil=True, fastmath=fastmath)(function)
        return fast(*args, **none)

    return call

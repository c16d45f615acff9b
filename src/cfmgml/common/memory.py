"""Say before the work starts what it will take, where that can be more than a machine has."""

import os
import warnings

LARGE = 20_000  # rows from which on people should know what they ask for


def check_pairwise_size(method: str, n: int, noun: str, n_matrices: int, remedy: str) -> None:
    """Refuse ``n_matrices`` matrices of n x n numbers that cannot fit in this machine; warn of large ones.

    >>> check_pairwise_size("M3MIML", 10_000, "graphs", 3, "use fewer")
    """
    gib = n_matrices * 8.0 * n * n / 2**30
    needs = f"{method} compares all pairs of {n:,} {noun}, which takes about {gib:,.1f} GiB of memory"
    here = physical_gib()
    if gib > here:
        raise MemoryError(f"{needs}, and this machine has {here:,.1f} GiB; {remedy}.")
    if n > LARGE:
        warnings.warn(f"{needs}; {remedy} if that is too much.", stacklevel=4)


def physical_gib() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):  # not every system tells
        return float("inf")

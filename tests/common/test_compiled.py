"""Compiled loops where nothing can be kept."""

import numba

from cfmgml.common.compiled import compiled_exactly


def test_nowhere_to_keep_what_was_compiled(monkeypatch):
    """As for a user without a home on a root that is read-only: it is compiled anew instead of failing."""
    real, refused = numba.njit, []

    def njit(*functions, **options):
        if options.get("cache"):
            refused.append(options)
            raise RuntimeError("cannot cache function: no locator available")
        return real(*functions, **options)

    monkeypatch.setattr(numba, "njit", njit)
    add = compiled_exactly(lambda a, b: a + b)
    assert add(2, 3) == 5
    assert len(refused) == 1

"""One check for parameters that must be numbers."""

import math
import numbers


def check_number(
    value: object,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    whole: bool = False,
) -> None:
    """Raise unless ``value`` is a finite number inside its bounds.

    >>> check_number("scale", "gamma", above=0)
    Traceback (most recent call last):
    TypeError: gamma must be a number, got 'scale'.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral if whole else numbers.Real):
        raise TypeError(f"{name} must be a {'whole ' if whole else ''}number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # whole numbers may be larger
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value}.")
    if above is not None and not number > above:
        raise ValueError(f"{name} must be above {above:g}, got {value}.")
    if at_least is not None and not number >= at_least:
        raise ValueError(f"{name} must be {at_least:g} or more, got {value}.")
    if below is not None and not number < below:
        raise ValueError(f"{name} must be below {below:g}, got {value}.")

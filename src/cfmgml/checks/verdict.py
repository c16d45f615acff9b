"""Trying rules, and saying which were broken."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVarTuple

import numpy as np

from cfmgml.common.typing import ArrayLike

Given = TypeVarTuple("Given")
FIRST = "interface"  # what does not keep this rule cannot be asked about the others


def named_rules(rules: Iterable[Callable[[*Given], None]]) -> dict[str, Callable[[*Given], None]]:
    return {rule.__name__: rule for rule in rules}


def chosen_rules(
    known: Mapping[str, Callable[[*Given], None]], names: Sequence[str] | None
) -> dict[str, Callable[[*Given], None]]:
    """The rules of these names; all if there are none."""
    if names is None:
        return dict(known)
    unknown = [name for name in names if name not in known]
    if unknown or isinstance(names, str):
        raise ValueError(f"rules must be a list of names among {', '.join(known)}; got {names!r}.")
    return {name: known[name] for name in names}


def broken_rules(rules: Mapping[str, Callable[[*Given], None]], given: Callable[[], tuple[*Given]]) -> dict[str, str]:
    """What was found, by the rule that it breaks; an exception that no rule expects breaks it too."""
    broken = {}
    for name, rule in rules.items():
        try:
            rule(*given())
        except Exception as error:
            says = (rule.__doc__ or name).partition("\n")[0].rstrip(".")
            found = str(error) if isinstance(error, AssertionError) else f"it raised {error!r}."
            broken[name] = f"- {name} ({says}): {found}"
            if name == FIRST:
                break
    return broken


def raise_verdict(subject: str, broken: Mapping[str, str], n_tried: int) -> None:
    if broken:
        rules = "rule" if n_tried == 1 else "rules"
        raise AssertionError(f"{subject} breaks {len(broken)} of {n_tried} {rules}:\n" + "\n".join(broken.values()))


def demand(holds: object, found: str) -> None:
    """An assertion that ``python -O`` leaves in place."""
    if not holds:
        raise AssertionError(found)


def demand_close(found: ArrayLike, expected: ArrayLike, what: str, why: str, atol: float = 1e-9) -> None:
    """Both are the same but for rounding; the message has the place where they differ most."""
    one, other = np.asarray(found), np.asarray(expected)
    demand(one.shape == other.shape, f"{what} has shape {one.shape}, expected {other.shape} {why}.")
    wrong = ~np.isclose(one, other, rtol=1e-7, atol=atol)
    if wrong.any():
        apart = np.abs(one.astype(np.float64) - other)
        place = np.unravel_index(int(np.argmax(np.where(np.isfinite(apart), apart, np.inf))), one.shape)
        at = ", ".join(str(int(k)) for k in place)
        extent = f"{wrong.sum()} of {wrong.size} differ"
        raise AssertionError(f"{what}[{at}] is {one[place]:.6g}, expected {other[place]:.6g} {why} ({extent}).")


def demand_error(
    work: Callable[[], object], kinds: type[Exception] | tuple[type[Exception], ...], where: str, word: str = ""
) -> None:
    """An error of one of these kinds, whose message has the word."""
    named = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    try:
        work()
    except kinds as error:
        demand(word in str(error), f"{where} raised {error!r}, which does not speak of {word}.")
    except Exception as error:
        raise AssertionError(f"{where} raised {error!r}, expected {named}.") from error
    else:
        raise AssertionError(f"{where} raised nothing, expected {named}.")

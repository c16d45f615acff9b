"""One progress bar for all long work: on stderr, and only where somebody is looking."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from cfmgml.common.printable import printable, screened_console


@contextlib.contextmanager
def progress(description: str, total: int, enabled: bool | None) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps just done; idle unless ``enabled`` (None: on a terminal)."""
    if not (sys.stderr.isatty() if enabled is None else enabled):
        yield lambda steps: None
        return
    if "ipykernel" in sys.modules and not sys.stderr.isatty():
        yield _line(description, total)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=screened_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.advance(task, steps)


def say(line: str, enabled: bool) -> None:
    """One line on stderr, of something that was decided."""
    if enabled:
        sys.stderr.write(f"{printable(line)}\n")


def _line(description: str, total: int) -> Callable[[int], None]:
    """One line of text that is written over: what a notebook can show without ipywidgets, which rich would ask for."""
    done, shown = 0, -1

    def advance(steps: int) -> None:
        nonlocal done, shown
        done += steps
        percent = 100 * done // max(total, 1)
        if percent > shown:
            shown = percent
            end = "\n" if done >= total else ""
            sys.stderr.write(f"\r{printable(description)} {'█' * (percent // 5):20} {done:,}/{total:,}{end}")
            sys.stderr.flush()

    return advance

"""One progress bar for all long work: on stderr, and only where somebody is looking."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from cfmgml.common.printable import screened_console


@contextlib.contextmanager
def progress(description: str, total: int, enabled: bool | None) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps just done; idle unless ``enabled`` (None: on a terminal)."""
    if not (sys.stderr.isatty() if enabled is None else enabled):
        yield lambda steps: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=screened_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.advance(task, steps)

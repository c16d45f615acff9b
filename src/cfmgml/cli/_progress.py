"""A bar for work whose parts differ in size, with the time left; nothing where nobody is looking."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cfmgml.cli._console import say
from cfmgml.common.printable import printable, screened_console

if TYPE_CHECKING:
    from cfmgml.evaluation.experiment import Reports
    from cfmgml.evaluation.running import Outcome


@contextlib.contextmanager
def work_bar(log: bool = False) -> Iterator["Reports"]:
    """Shows what an `Experiment` reports, on stderr. With ``log``, as lines instead, for files."""
    from rich import progress

    from cfmgml.evaluation.experiment import Reports

    columns = (
        progress.TextColumn("{task.description}", markup=False), progress.BarColumn(), progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(), progress.TextColumn("left"), progress.TimeRemainingColumn(),
    )  # fmt: skip
    console, hidden = screened_console(sys.stderr), log or not sys.stderr.isatty()
    with progress.Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("Starting", total=None)

        def stage(words: str) -> None:
            bar.update(task, description=printable(words))
            if log:
                say(words)

        def done(outcome: "Outcome") -> None:
            unit = outcome.unit
            bar.advance(task, unit.cost)
            if log:
                inner = "" if unit.fold.inner is None else f", inner fold {unit.fold.inner}"
                seconds = sum(row["cpu_seconds"] for row in outcome.rows)
                where = f"{unit.data}, {unit.method}, {unit.plan.scheme}, fold {unit.fold.outer}{inner}"
                say(f"{where}: {seconds:.1f} s")
            if outcome.failure:
                console.print(printable(f"failed: {outcome.failure}"), highlight=False, markup=False, soft_wrap=True)

        yield Reports(stage, lambda cost: bar.update(task, total=cost, completed=0), done)

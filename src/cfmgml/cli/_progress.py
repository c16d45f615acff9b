"""A bar for work whose parts differ in size, with the time left; nothing where nobody is looking."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cfmgml.cli._console import say
from cfmgml.common.printable import printable, screened_console

if TYPE_CHECKING:
    from cfmgml.evaluation.experiment import Reports
    from cfmgml.evaluation.running import Outcome


class WorkBar:
    """Shows what an `Experiment` reports, on stderr. With ``log``, as lines instead, for files."""

    def __init__(self, log: bool = False) -> None:
        from rich import progress

        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
        )
        shown = sys.stderr.isatty() and not log
        self._log = log
        self._bar = progress.Progress(*columns, console=screened_console(sys.stderr), transient=True, disable=not shown)
        self._task = self._bar.add_task("Starting", total=None)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    @property
    def reports(self) -> "Reports":
        from cfmgml.evaluation.experiment import Reports

        return Reports(self._stage, self._planned, self._done)

    def _stage(self, words: str) -> None:
        self._bar.update(self._task, description=printable(words))
        self._say(words)

    def _planned(self, cost: float) -> None:
        self._bar.update(self._task, total=cost, completed=0)

    def _done(self, outcome: "Outcome") -> None:
        self._bar.advance(self._task, outcome.unit.cost)
        unit = outcome.unit
        inner = "" if unit.fold.inner is None else f", inner fold {unit.fold.inner}"
        seconds = sum(row["cpu_seconds"] for row in outcome.rows)
        self._say(f"{unit.data}, {unit.method}, {unit.plan.scheme}, fold {unit.fold.outer}{inner}: {seconds:.1f} s")
        if outcome.failure:
            self._bar.console.print(
                printable(f"failed: {outcome.failure}"), highlight=False, markup=False, soft_wrap=True
            )

    def _say(self, words: str) -> None:
        if self._log:
            say(words)

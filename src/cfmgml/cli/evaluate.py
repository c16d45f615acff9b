"""``cfmgml evaluate``: methods on bags of one's own, by cross-validation."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from cfmgml.cli._console import say, show
from cfmgml.cli.train import KernelName
from cfmgml.common.printable import printable

HELP = (
    "Compare methods on your own bags by cross-validation, at the level of bags and, where their labels are known, of "
    "graphs.\n\n"
    "Each method's parameters are chosen in folds inside the training bags. The table goes to stdout; with --out, all "
    "measurements, tables and a report are kept there, and a run that was stopped goes on where it was. Graphs in "
    "several bags are found by their content; how many of those tested were trained on is said under the table."
    "\n\n\b\nExamples:\n"
    "  cfmgml evaluate photos.bags\n"
    "  cfmgml evaluate photos.bags --methods cfmgml,misvm,dummy --folds 5 --out results\n"
    "  cfmgml evaluate photos.bags --methods cfmgml,dummy --apart"
)


def register(app: typer.Typer) -> None:
    app.command(help=HELP, short_help="Compare methods on your own bags by cross-validation.")(evaluate)


def evaluate(
    data: Annotated[Path, typer.Argument(metavar="DATA.bags", help="Bags with labels.")],
    methods: Annotated[
        str | None,
        typer.Option(help="Methods, separated by commas.", show_default="those that take no more than minutes"),
    ] = None,
    kernel: KernelName = "auto",
    folds: Annotated[int, typer.Option(min=2, help="Test folds.")] = 10,
    inner: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Folds inside each training fold, which choose parameters.",
            show_default="3; above 2,000 graphs one of the 3",
        ),
    ] = None,
    apart: Annotated[
        bool, typer.Option("--apart", help="Where bags share graphs, measure with folds that share none, too.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder to keep measurements, tables and a report in.")] = None,
    n_jobs: Annotated[int, typer.Option(help="Workers, each with one thread; -1 for one a core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of the folds and the methods.")] = 0,
    log: Annotated[bool, typer.Option("--log", help="A line on stderr for everything that is done.")] = False,
) -> None:
    from cfmgml.cli._progress import WorkBar
    from cfmgml.data.bags import BagDataset
    from cfmgml.experiments.reproduction.evaluation import own_data, remarks, summary_table, wanted_methods
    from cfmgml.experiments.reproduction.methods import find_methods
    from cfmgml.experiments.reproduction.page import About
    from cfmgml.experiments.reproduction.planning import Protocol, schemes
    from cfmgml.experiments.reproduction.rendering import render
    from cfmgml.experiments.reproduction.reproduce import Experiment
    from cfmgml.experiments.reproduction.tables import markdown
    from cfmgml.model_selection import kernel_named

    names = methods.split(",") if methods else None
    if names:
        find_methods(names)  # a wrong name fails before the data is read
    bags = BagDataset.load(data)
    own = own_data(bags, printable(data.stem), kernel_named(kernel, bags), apart)
    protocol = Protocol(folds, seed=seed) if inner is None else Protocol(folds, inner, seed, all_inner=True)
    for remark in remarks(own, protocol):
        say(remark)
    with _folder(out) as folder, WorkBar(log) as bar:
        experiment = Experiment(folder)
        chosen = find_methods(wanted_methods(names, bags))
        failures = experiment.run([own], chosen, protocol, n_jobs, bar.reports)
        results = experiment.results()
        for scheme in schemes(own) if results.methods else ():
            show(markdown(summary_table(results, own.key, scheme)))
        if out is not None and results.methods:
            about = About(f"Methods on {data.stem}", f"cfmgml evaluate {data.name}", failures=failures)
            say(f"Wrote {render(results, out, about).report}.")
    for failure in failures:
        say(f"failed: {failure}")
    if failures:
        raise typer.Exit(1)


@contextlib.contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="cfmgml-") as name:
        yield Path(name)

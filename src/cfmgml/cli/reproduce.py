"""``cfmgml reproduce``: the paper's tables on real data, and a report about them."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import say, show

if TYPE_CHECKING:
    from cfmgml.experiments.reproduction.catalogue import DataSet
    from cfmgml.experiments.reproduction.methods import Method
    from cfmgml.experiments.reproduction.reproduce import Experiment

HELP = (
    "Run the paper's experiments on real data and write tables and a report.\n\n"
    "What is measured is kept at once: a run that is stopped, even by kill -9, goes on where it was when the command "
    "is given again. --fresh measures anew (only what --data and --methods name). Data sets are looked for in "
    "--data-folder, or where the environment's CFMGML_DATA points.\n\n\b\nExamples:\n"
    "  cfmgml reproduce --quick\n"
    "  cfmgml reproduce --data msrc_v2 --methods cfmgml,paper,hlk\n"
    "  cfmgml reproduce --only report"
)


class Only(StrEnum):
    """Part of the work."""

    GRAPHS = "graphs"
    BAGS = "bags"
    REPORT = "report"


def register(app: typer.Typer) -> None:
    app.command(help=HELP, short_help="Run the paper's experiments: tables and a report.")(reproduce)


def reproduce(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of results.", show_default="out/reproduce, or out/reproduce-quick with --quick"),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Data sets, separated by commas; the beginning of a name will do.")
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas.")] = None,
    only: Annotated[
        Only | None,
        typer.Option(help="graphs or bags: what that table needs; report: run nothing, write what is there."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few bags, folds and parameters: minutes.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Keep what is measured already, or measure it anew.")
    ] = True,
    data_folder: Annotated[
        Path | None, typer.Option(help="The folder that holds the data sets.", show_default="CFMGML_DATA")
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Workers, each with one thread; -1 for one a core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of the folds and the methods.")] = 0,
    samples: Annotated[bool, typer.Option(help="Show sample images and texts in the report.")] = True,
    log: Annotated[bool, typer.Option("--log", help="A line on stderr for everything that is done.")] = False,
) -> None:
    from cfmgml.experiments.reproduction.catalogue import find_data_sets
    from cfmgml.experiments.reproduction.methods import find_methods
    from cfmgml.experiments.reproduction.reproduce import Experiment

    sets = find_data_sets(_names(data))
    chosen = find_methods(_names(methods)) if methods else None  # None: those of each data set
    unwanted = chosen  # what --fresh drops; None: everything
    if only is Only.GRAPHS:
        sets = [replace(one, methods=_of_graphs(one)) for one in sets if one.has_graph_labels]
        unwanted = [method for method in chosen or find_methods(None) if "graph" in method.levels]
        chosen = unwanted if methods else None
    if only is Only.BAGS:  # the paper's has no column for graphs with node labels only
        sets = [one for one in sets if not one.key.endswith("-labels")]
    experiment = Experiment(out or Path("out/reproduce-quick" if quick else "out/reproduce"), data_folder)
    failures: list[str] = []
    if only is not Only.REPORT:
        if not resume:
            say(f"Dropped {experiment.forget(sets, unwanted)} measurements.")
        failures = _run(experiment, sets, chosen, quick, seed, n_jobs, log)
    _render(experiment, quick, failures, samples, seed)
    if failures:
        raise typer.Exit(1)


def _names(words: str | None) -> list[str] | None:
    return [word.strip() for word in words.split(",") if word.strip()] if words else None


def _of_graphs(data: "DataSet") -> tuple[str, ...]:
    """The data set's methods that label graphs."""
    from cfmgml.experiments.reproduction.planning import methods_for

    return tuple(method.key for method in methods_for(data, None) if "graph" in method.levels)


def _run(
    experiment: "Experiment",
    sets: "list[DataSet]",
    methods: "list[Method] | None",
    quick: bool,
    seed: int,
    n_jobs: int,
    log: bool,
) -> list[str]:
    from cfmgml.cli._progress import WorkBar
    from cfmgml.experiments.reproduction.planning import Protocol

    protocol = Protocol.for_quick(seed) if quick else Protocol(seed=seed)
    with WorkBar(log) as bar:
        return experiment.run(sets, methods, protocol, n_jobs, bar.reports)


def _render(experiment: "Experiment", quick: bool, failures: list[str], samples: bool, seed: int) -> None:
    from cfmgml.experiments.reproduction.comparing import against_table
    from cfmgml.experiments.reproduction.page import About
    from cfmgml.experiments.reproduction.planning import Protocol
    from cfmgml.experiments.reproduction.rendering import render
    from cfmgml.experiments.reproduction.results import write_compact
    from cfmgml.experiments.reproduction.samples import sample_pictures
    from cfmgml.experiments.reproduction.tables import markdown

    results = experiment.results()
    if not results.methods:
        raise ValueError(f"there are no results in {experiment.out}: run cfmgml reproduce without --only report first.")
    n_bags = Protocol.for_quick().n_bags if quick else None
    pictures = sample_pictures(set(results.facts), experiment.data_folder, n_bags, seed) if samples else {}
    command = "cfmgml reproduce" + (" --quick" if quick else "")
    written = render(results, experiment.out, About(command=command, quick=quick, failures=failures, samples=pictures))
    write_compact(experiment.rows(), experiment.compact)
    for theirs in ("cfMGML", "SGSL_SVM"):
        table = against_table(results, list(results.facts), theirs)
        if table.rows:
            show(markdown(table))
    say(f"Wrote {written.report} (open it in a browser) and the tables in {written.tables}.")

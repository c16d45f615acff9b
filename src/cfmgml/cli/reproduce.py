"""``cfmgml reproduce``: the paper's tables on real data, and a report about them."""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import say, show

if TYPE_CHECKING:
    from cfmgml.baselines.method import Method
    from cfmgml.evaluation.experiment import Experiment

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
    from cfmgml.cli._progress import work_bar
    from cfmgml.evaluation.experiment import Experiment
    from cfmgml.evaluation.methods import find_methods
    from cfmgml.evaluation.protocol import Protocol, methods_for
    from cfmgml.paper.catalogue import find_data_sets

    sets = find_data_sets(_names(data))
    chosen = find_methods(_names(methods)) if methods else None  # None: those of each data set
    unwanted = chosen  # what --fresh drops; None: everything
    if only is Only.GRAPHS:
        own = [(one, _of_graphs(methods_for(one, None))) for one in sets if one.has_graph_labels]
        sets = [replace(one, methods=tuple(method.key for method in found)) for one, found in own]
        unwanted = _of_graphs(chosen or find_methods(None))
        chosen = unwanted if methods else None
    if only is Only.BAGS:  # the paper's has no column for graphs with node labels only
        sets = [one for one in sets if not one.key.endswith("-labels")]
    experiment = Experiment(out or Path("out/reproduce-quick" if quick else "out/reproduce"), data_folder)
    failures: list[str] = []
    if only is not Only.REPORT:
        if not resume:
            say(f"Dropped {experiment.forget(sets, unwanted)} measurements.")
        protocol = Protocol.for_quick(seed) if quick else Protocol(seed=seed)
        with work_bar(log) as reports:
            failures = experiment.run(sets, chosen, protocol, n_jobs, reports)
    _report(experiment, quick, failures, samples, seed)
    if failures:
        raise typer.Exit(1)


def _names(words: str | None) -> list[str] | None:
    return [word.strip() for word in words.split(",") if word.strip()] if words else None


def _of_graphs(methods: "Iterable[Method]") -> "list[Method]":
    return [method for method in methods if "graph" in method.levels]


def _report(experiment: "Experiment", quick: bool, failures: list[str], samples: bool, seed: int) -> None:
    from cfmgml.evaluation.page import About
    from cfmgml.evaluation.protocol import Protocol
    from cfmgml.evaluation.rows import write_compact
    from cfmgml.evaluation.tables import markdown
    from cfmgml.paper.against import against_tables
    from cfmgml.paper.presentation import PaperPresentation
    from cfmgml.paper.report import TITLE, write_paper_report

    results = experiment.results(PaperPresentation())
    if not results.methods:
        raise ValueError(f"there are no results in {experiment.out}: run cfmgml reproduce without --only report first.")
    few = Protocol.for_quick()
    quick = quick or any(fact["protocol"]["n_folds"] == few.n_folds for fact in results.facts.values())  # as it was run
    results.presentation.tells_best = not quick
    n_bags = few.n_bags if quick else None
    shown = _samples(experiment, set(results.facts), n_bags, seed) if samples else ""
    about = About(TITLE, "cfmgml reproduce" + (" --quick" if quick else ""), quick, failures)
    written = write_paper_report(results, experiment.out, about, shown)
    write_compact(experiment.rows(), experiment.compact)
    for table in against_tables(results):
        show(markdown(table))
    say(f"Wrote {written} (open it in a browser) and the tables in {experiment.out / 'tables'}.")


def _samples(experiment: "Experiment", data_sets: set[str], n_bags: int | None, seed: int) -> str:
    """Pictures and texts for the report; a report can be written where the data is not."""
    from cfmgml.paper.samples import held_out_samples

    try:
        return held_out_samples(data_sets, experiment.data_folder, n_bags, seed)
    except FileNotFoundError as error:
        say(f"The report shows no pictures and texts (--data-folder says where, --no-samples is quiet): {error}")
        return ""

"""``cfmgml evaluate``: methods on bags of one's own, by cross-validation."""

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from cfmgml.cli._console import say, show
from cfmgml.cli._options import Device, DType, NJobs, check_compute, only_for
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
    device: Device = None,
    dtype: DType = None,
    n_jobs: NJobs = -1,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Of the folds and the methods.")] = 0,
    log: Annotated[bool, typer.Option("--log", help="A line on stderr for everything that is done.")] = False,
) -> None:
    from cfmgml.cli._progress import work_bar
    from cfmgml.data.bags import BagDataset
    from cfmgml.evaluation.data_sets import own_data
    from cfmgml.evaluation.experiment import Experiment
    from cfmgml.evaluation.methods import find_methods
    from cfmgml.evaluation.page import About
    from cfmgml.evaluation.protocol import Protocol, schemes
    from cfmgml.evaluation.report import write_report
    from cfmgml.evaluation.representations import MOST_IN_MATRIX
    from cfmgml.evaluation.summary import remarks, summary_table
    from cfmgml.evaluation.tables import markdown
    from cfmgml.model_selection import kernel_named

    chosen = find_methods(methods.split(",")) if methods else None  # a wrong name fails before the data is read
    check_compute(device, dtype)
    bags = BagDataset.load(data)
    own = own_data(bags, printable(data.stem), kernel_named(kernel, bags), apart)
    if own.kernel.is_explicit or bags.n_graphs > MOST_IN_MATRIX:
        only_for(f"kernels without an explicit map, and up to {MOST_IN_MATRIX:,} graphs", device=device, dtype=dtype)
    protocol = Protocol(folds, seed=seed) if inner is None else Protocol(folds, inner, seed, all_inner=True)
    for remark in remarks(own, protocol):
        say(remark)
    place = TemporaryDirectory(prefix="cfmgml-") if out is None else contextlib.nullcontext(str(out))
    with place as folder, work_bar(log) as reports:
        experiment = Experiment(folder, dtype=dtype or "float32", device=device or "cpu")
        failures = experiment.run([own], chosen, protocol, n_jobs, reports)
        results = experiment.results()
        for scheme in schemes(own) if results.methods else ():
            show(markdown(summary_table(results, own.key, scheme)))
        if out is not None and results.methods:
            about = About(f"Methods on {data.stem}", f"cfmgml evaluate {data.name}", failures=failures)
            say(f"Wrote {write_report(results, out, about)}.")
    for failure in failures:
        say(f"failed: {failure}")
    if failures:
        raise typer.Exit(1)

"""``cfmgml evaluate``: methods on bags of one's own, by cross-validation."""

import contextlib
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from cfmgml.cli._console import say, show
from cfmgml.cli._options import Device, DType, NJobs, check_compute, only_for
from cfmgml.cli._raw_input import check_built
from cfmgml.cli.train import KernelName
from cfmgml.common.printable import printable

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.evaluation.data_sets import DataSet
    from cfmgml.evaluation.pixel_truth import PixelTruth

HELP = (
    "Compare methods on your own bags by cross-validation, at the level of bags and, where their labels are known, of "
    "graphs.\n\n"
    "Each method's parameters are chosen in folds inside the training bags. The table goes to stdout; with --out, all "
    "measurements, tables and a report are kept there, and a run that was stopped goes on where it was. Graphs in "
    "several bags are found by their content; how many of those tested were trained on is said under the table.\n\n"
    "With --pixel-truth, methods that paint are measured in pixels, too, against masks that nobody is trained on: a "
    "mask a picture, of its name. --pixel-classes, or legend.csv beside them, is a table of what their values mean, "
    "with the columns value and label; other values are not counted, and background is a class of its own if a value "
    "has the label background."
    "\n\n\b\nExamples:\n"
    "  cfmgml evaluate photos.bags\n"
    "  cfmgml evaluate photos.bags --methods cfmgml,misvm,dummy --folds 5 --out results\n"
    "  cfmgml evaluate photos.bags --methods cfmgml,dummy --apart\n"
    "  cfmgml evaluate photos.bags --pixel-truth masks --pictures photos"
)


class Command(TyperCommand):
    """Its help names the methods that are known, which takes long to find out: only if it is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from cfmgml.evaluation.methods import METHODS

        for option in self.params:
            if option.name == "methods":
                option.help = f"Methods, separated by commas: {', '.join(METHODS)}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def evaluate(
    context: typer.Context,
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
    pixel_truth: Annotated[Path | None, typer.Option(help="Folder of masks to measure painted pictures with.")] = None,
    pixel_classes: Annotated[
        Path | None,
        typer.Option(
            help="Table of value and label: what the masks' values mean.", show_default="legend.csv beside them"
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder that the pictures were built from, for --pixel-truth.")
    ] = None,
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
    from cfmgml.evaluation.pixels import measure_pixels, pixel_table
    from cfmgml.evaluation.protocol import Protocol, schemes
    from cfmgml.evaluation.report import write_report
    from cfmgml.evaluation.representations import MOST_IN_MATRIX
    from cfmgml.evaluation.rows import ResultStore
    from cfmgml.evaluation.summary import remarks, summary_table
    from cfmgml.evaluation.tables import Table, markdown
    from cfmgml.model_selection import kernel_named

    chosen = find_methods(methods.split(",")) if methods else None  # a wrong name fails before the data is read
    check_compute(device, dtype)
    if pixel_truth is None:
        only_for("--pixel-truth", pixel_classes=pixel_classes, pictures=pictures)
    check_built(data)
    bags = BagDataset.load(data)
    own = own_data(bags, printable(data.stem), kernel_named(kernel, bags), apart)
    if own.kernel.is_explicit or bags.n_graphs > MOST_IN_MATRIX:
        only_for(f"kernels without an explicit map, and up to {MOST_IN_MATRIX:,} graphs", device=device, dtype=dtype)
    protocol = Protocol(folds, seed=seed) if inner is None else Protocol(folds, inner, seed, all_inner=True)
    for remark in remarks(own, protocol):
        say(remark)
    truth = None if pixel_truth is None else _pixel_truth(bags, own, pixel_truth, pixel_classes, pictures, n_jobs)
    further: list[Table] = []
    place = TemporaryDirectory(prefix="cfmgml-") if out is None else contextlib.nullcontext(str(out))
    with place as folder, work_bar(log) as reports:
        experiment = Experiment(folder, dtype=dtype or "float32", device=device or "cpu")
        failures = experiment.run([own], chosen, protocol, n_jobs, reports)
        results = experiment.results()
        for scheme in schemes(own) if results.methods else ():
            show(markdown(summary_table(results, own.key, scheme)))
        if truth is not None and results.methods:
            store = ResultStore(Path(folder) / "pixels.jsonl")
            rows = measure_pixels(results, own, truth, store, n_jobs, reports.stage)
            further.append(pixel_table(results, own.key, rows, truth))
            show(markdown(further[0]))
        if out is not None and results.methods:
            about = About(f"Methods on {data.stem}", _command(context), failures=failures)
            say(f"Wrote {write_report(results, out, about, further)}.")
    for failure in failures:
        say(f"failed: {failure}")
    if failures:
        raise typer.Exit(1)


def _command(context: typer.Context) -> str:
    """The command as it was given, but for where its results go and how it is watched."""
    words = [f"cfmgml evaluate {shlex.quote(Path(context.params['data']).name)}"]
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is None or source.name != "COMMANDLINE" or option.name in ("data", "out", "log", "n_jobs"):
            continue
        value = context.params[option.name or ""]
        words.append(option.opts[0] if value is True else f"{option.opts[0]} {shlex.quote(str(value))}")
    return printable(" ".join(words))


def _pixel_truth(
    bags: "BagDataset", own: "DataSet", masks: Path, classes: Path | None, pictures: Path | None, n_jobs: int | None
) -> "PixelTruth":
    """What masks say of the bags' pixels; before any work, because reading it may fail."""
    from cfmgml.builders.painted.formats import LEGEND
    from cfmgml.evaluation.pixel_masks import read_pixel_truth

    if not own.kernel.is_additive:
        raise ValueError(f"--pixel-truth needs a kernel that is a sum over nodes, and {own.kernel!r} is not.")
    if classes is None and not (masks / LEGEND).is_file():
        raise typer.BadParameter(f"--pixel-truth needs --pixel-classes: there is no {LEGEND} in {masks}.")
    content = {} if pictures is None else {"folder": pictures}
    truth = read_pixel_truth(bags, masks, classes or masks / LEGEND, n_jobs=n_jobs, **content)
    say(f"Measuring {int(truth.of_nodes.sum() + truth.outside.sum()):,} pixels of {bags.n_bags} pictures.")
    return truth

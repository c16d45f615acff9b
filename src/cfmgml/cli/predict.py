"""``cfmgml predict``: a model and raw input, or bags, become a table of labels."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import OnError, TableOutput, check_target, hint_on_pictures, say
from cfmgml.cli._options import DaskAddress, Device, DType, NJobs, engine_of, load_model, only_for

if TYPE_CHECKING:
    from cfmgml.common.tables import TextFormat
    from cfmgml.data.bags import BagDataset
    from cfmgml.data.builder import FileOptions
    from cfmgml.inputs import Pattern
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.scale.prediction import StorePredictions

HELP = (
    "Predict labels of bags, of their graphs (regions, sentences), or what each node adds.\n\n"
    "INPUT is raw (a folder, glob or files of pictures or texts, a table), and is built as the model's training data "
    "were; or a file of bags; or a store (cfmgml build --store), which is gone through in bounded memory. A label is "
    "predicted where its score is above 0. Without -o the table goes to stdout. For a store -o may name a folder: it "
    "gets a Parquet file a partition, and a run that was stopped goes on where it was."
    "\n\n\b\nExamples:\n"
    "  cfmgml predict photos.cfmgml new\n"
    "  cfmgml predict photos.cfmgml new --level graph -o regions.csv --draw drawn\n"
    "  cfmgml predict photos.cfmgml new --level graph -o regions.json --masks regions\n"
    "  cfmgml predict papers.cfmgml new.jsonl --level node -o words.json\n"
    "  cfmgml predict photos.cfmgml new.bags --format jsonl\n"
    "  cfmgml predict papers.cfmgml papers --level graph -o sentences.parquet\n"
    "  cfmgml predict papers.cfmgml papers --level graph -o scores"
)


class Level(StrEnum):
    BAG = "bag"
    GRAPH = "graph"
    NODE = "node"


def predict(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL.cfmgml", help="A model that train wrote.")],
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Folder, glob, files, table, bags, or a store.")],
    level: Annotated[Level, typer.Option(help="What a row of the table is.")] = Level.BAG,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The table to write: .csv, .tsv, .json, .jsonl or .parquet; for a store also a folder."
        ),
    ] = None,
    format: Annotated[str, typer.Option(metavar="csv|tsv|json|jsonl", help="Of the table on stdout.")] = "csv",
    segments: Annotated[Path | None, typer.Option(help="Folder of masks for pictures.")] = None,
    max_regions: Annotated[int | None, typer.Option(min=1, help="Most regions found in a picture.")] = None,
    draw: Annotated[Path | None, typer.Option(help="Folder for the pictures with their labelled regions.")] = None,
    masks: Annotated[
        Path | None, typer.Option(help="Folder for masks: pixel values are the numbers of regions, as in NAME#NUMBER.")
    ] = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at pictures that cannot be used, or skip them.")
    ] = OnError.STOP,
    device: Device = None,
    dtype: DType = None,
    n_jobs: NJobs = None,
    dask: DaskAddress = None,
) -> None:
    from cfmgml.common.tables import check_writable, write_table
    from cfmgml.scale.prediction import StorePredictions
    from cfmgml.stores import BagStore, is_store

    form, skip = _form(format), "skip" if on_error is OnError.SKIP else None
    in_store = len(inputs) == 1 and is_store(inputs[0])
    if in_store:
        only_for("pictures", segments=segments, max_regions=max_regions, draw=draw, masks=masks, on_error=skip)
    else:
        only_for("stores", dask=dask)
    if level is Level.NODE:
        only_for("scores, not for what nodes add", device=device, dtype=dtype)
    if out is not None and not (in_store and not out.suffix):
        check_target(out)
        check_writable(out)
    model = load_model(model_file, device, dtype, n_jobs)
    if in_store:
        store, engine = BagStore(inputs[0]), engine_of(dask, n_jobs, model.device)
        predictions = StorePredictions(model, store, level.value, engine, n_jobs, sys.stderr.isatty())
        _write_store(predictions, out, form)
        return
    from cfmgml.data.builder import known_builder
    from cfmgml.inputs import bags_like
    from cfmgml.learning.predictions import prediction_table

    pattern, options = _pattern(model, inputs, n_jobs, segments=segments, max_regions=max_regions, on_error=skip)
    with hint_on_pictures(on_error):
        bags = bags_like(pattern, inputs, labels=False, options=options)
    table = prediction_table(model, bags, level.value)
    if draw is not None:
        _draw(model, bags, draw)
    if masks is not None:
        known_builder(bags.builder).write_masks(bags, masks)
        say(f"Wrote {bags.n_bags} masks to {masks}.")
    if out is None:
        with form.join(TableOutput(), table.kinds) as add:
            add(form.encode(table))
    else:
        write_table(table, out)
        say(f"Wrote {out}: {len(table):,} rows, one a {level.value}.")


def _form(name: str) -> "TextFormat":
    from cfmgml.common.tables import text_formats

    known = text_formats()
    if name not in known:
        raise typer.BadParameter(f"--format must be one of {', '.join(known)}, got {name!r}.")
    return known[name]


def _write_store(predictions: "StorePredictions", out: Path | None, form: "TextFormat") -> None:
    level = predictions.level
    if out is None:
        predictions.write_text(TableOutput(), form)
    elif out.suffix:
        say(f"Wrote {out}: {predictions.write(out):,} rows, one a {level}.")
    else:
        n_files = predictions.store.n_partitions
        say(f"Wrote {predictions.write_folder(out)}: {n_files:,} files, a row a {level}.")


def _pattern(
    model: "CfMGML", inputs: list[str], n_jobs: int | None, **given: Path | str | int | None
) -> "tuple[Pattern, FileOptions]":
    """How to build raw input; options that its kind does not have are refused, and all of them for bags."""
    from cfmgml.inputs.patterns import Pattern, is_file_of_bags

    if is_file_of_bags(inputs):
        only_for("raw input", **given)
    pattern = Pattern.of_model(model)
    workers = n_jobs if pattern.knows("n_jobs") else None
    return pattern.adjusted({name: value for name, value in {**given, "n_jobs": workers}.items() if value is not None})


def _draw(model: "CfMGML", bags: "BagDataset", folder: Path) -> None:
    """Each bag as its builder shows it, with what was predicted."""
    if bags.bag_names is None:
        raise ValueError("--draw needs bags with names, to call its files by.")
    from matplotlib import pyplot as plt

    from cfmgml.common.files import atomic_write
    from cfmgml.data.builder import known_builder
    from cfmgml.plots import plot_bag

    folder.mkdir(parents=True, exist_ok=True)
    scores = model.decision_function_graphs(bags)
    for number, name in enumerate(bags.bag_names.tolist()):
        plot_bag(bags, number, scores=scores, **known_builder(bags.builder).drawn_with)
        with atomic_write(folder / f"{Path(name).name}.png") as stream:
            plt.savefig(stream, format="png", dpi=100)
        plt.close()
    say(f"Drew {bags.n_bags} pictures in {folder}.")

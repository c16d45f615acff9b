"""``cfmgml predict``: a model and raw input, or bags, become a table of labels."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import OnError, check_target, hint_on_pictures, say, table_writer
from cfmgml.cli._stores import DaskAddress, engine_of, only_for

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset
    from cfmgml.data.builder import FileOptions
    from cfmgml.inputs import Pattern
    from cfmgml.model.cfmgml import CfMGML

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


class Format(StrEnum):
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    JSONL = "jsonl"


def register(app: typer.Typer) -> None:
    app.command(help=HELP)(predict)


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
    format: Annotated[Format, typer.Option(help="Of the table on stdout.")] = Format.CSV,
    segments: Annotated[Path | None, typer.Option(help="Folder of masks for pictures.")] = None,
    max_regions: Annotated[int | None, typer.Option(min=1, help="Most regions found in a picture.")] = None,
    draw: Annotated[Path | None, typer.Option(help="Folder for the pictures with their labelled regions.")] = None,
    masks: Annotated[
        Path | None, typer.Option(help="Folder for masks: pixel values are the numbers of regions, as in NAME#NUMBER.")
    ] = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at pictures that cannot be used, or skip them.")
    ] = OnError.STOP,
    n_jobs: Annotated[int | None, typer.Option(help="Worker processes for building, and for a store.")] = None,
    dask: DaskAddress = None,
) -> None:
    from cfmgml.stores import is_store

    if len(inputs) == 1 and is_store(inputs[0]):
        skip = on_error is OnError.SKIP
        only_for("pictures", segments=segments, max_regions=max_regions, draw=draw, masks=masks, on_error=skip)
        _predict_store(model_file, Path(inputs[0]), level, out, format, engine_of(dask, n_jobs), n_jobs)
        return
    only_for("stores", dask=dask)
    from cfmgml.data.builder import known_builder
    from cfmgml.inputs import bags_like, prediction_rows, write_table
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.reading.tables import check_writable, format_table

    if out is not None:
        check_target(out)
        check_writable(out)
    model = CfMGML.load(model_file)
    pattern, options = _pattern(model, inputs, segments, max_regions, n_jobs, on_error)
    with hint_on_pictures(on_error):
        bags = bags_like(pattern, inputs, labels=False, options=options)
    rows = prediction_rows(model, bags, level.value)
    if draw is not None:
        _draw(model, bags, draw)
    if masks is not None:
        known_builder(bags.builder).write_masks(bags, masks)
        say(f"Wrote {bags.n_bags} masks to {masks}.")
    if out is None:
        table_writer()(format_table(rows, f".{format.value}"))
    else:
        write_table(rows, out)
        say(f"Wrote {out}: {len(rows):,} rows, one a {level.value}.")


def _predict_store(
    model_file: Path, folder: Path, level: Level, out: Path | None, format: Format, engine: str, n_jobs: int | None
) -> None:
    from cfmgml.inputs.store_predictions import StorePredictions
    from cfmgml.model.cfmgml import CfMGML
    from cfmgml.reading.tables import check_writable
    from cfmgml.stores import BagStore

    as_folder = out is not None and not out.suffix
    if out is not None and not as_folder:
        check_target(out)
        check_writable(out)
    model, store = CfMGML.load(model_file), BagStore(folder)
    predictions = StorePredictions(model, store, level.value, engine, n_jobs, sys.stderr.isatty())
    if out is None:
        predictions.write_text(table_writer(), f".{format.value}")
    elif as_folder:
        say(f"Wrote {predictions.write_folder(out)}: {store.n_partitions:,} files, a row a {level.value}.")
    else:
        say(f"Wrote {out}: {predictions.write(out):,} rows, one a {level.value}.")


def _pattern(
    model: "CfMGML",
    inputs: list[str],
    segments: Path | None,
    max_regions: int | None,
    n_jobs: int | None,
    on_error: OnError,
) -> "tuple[Pattern, FileOptions]":
    """How to build raw input; options that its kind does not have are refused, and all of them for bags."""
    from cfmgml.inputs.patterns import Pattern, is_file_of_bags

    skip = "skip" if on_error is OnError.SKIP else None
    given = {"segments": segments, "max_regions": max_regions, "n_jobs": n_jobs, "on_error": skip}
    chosen = {name: value for name, value in given.items() if value is not None}
    if is_file_of_bags(inputs):
        only_for("raw input", **chosen)
    return Pattern.of_model(model).adjusted(chosen)


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

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
    "predicted where its score is above 0, or above a lower threshold that the model learned for it. Without -o the "
    "table goes to stdout. For a store -o may name a folder: it gets a Parquet file a partition, and a run that was "
    "stopped goes on where it was."
    "\n\n\b\nExamples:\n"
    "  cfmgml predict photos.cfmgml new\n"
    "  cfmgml predict photos.cfmgml new --level graph -o regions.csv --draw drawn\n"
    "  cfmgml predict photos.cfmgml new -o found.csv --masks painted\n"
    "  cfmgml predict photos.cfmgml new --level graph -o regions.json --regions regions\n"
    "  cfmgml predict photos.cfmgml photos --labels labels.csv --coco all.json\n"
    "  cfmgml predict papers.cfmgml new.jsonl --level node -o words.json\n"
    "  cfmgml predict papers.cfmgml new.jsonl --coloured sentences.html\n"
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
        Path | None,
        typer.Option(help="Folder for painted masks: a PNG a picture, pixel values as in the legend.csv beside them."),
    ] = None,
    geojson: Annotated[Path | None, typer.Option(help="Folder for the same as polygons, in pixels.")] = None,
    coco: Annotated[Path | None, typer.Option(help="File for the same in COCO's format (.json).")] = None,
    coloured: Annotated[
        Path | None, typer.Option(help="File for texts with the words that decided in colour: .html or .md.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Table of the labels that pictures are known to have: paint with these.")
    ] = None,
    regions: Annotated[
        Path | None, typer.Option(help="Folder for masks whose values are the numbers of regions, as in NAME#NUMBER.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="For a file of bags: the folder that its pictures were built from.")
    ] = None,
    on_error: Annotated[
        OnError | None,
        typer.Option(
            help="Stop at input that cannot be used, or skip it.", show_default="stop at pictures, skip molecules"
        ),
    ] = None,
    device: Device = None,
    dtype: DType = None,
    n_jobs: NJobs = None,
    dask: DaskAddress = None,
) -> None:
    from cfmgml.builders.texts.coloured import check_form
    from cfmgml.common.tables import check_writable, write_table
    from cfmgml.scale.prediction import StorePredictions
    from cfmgml.stores import BagStore, is_store

    form, wanted = _form(format), None if on_error is None else str(on_error)
    in_store = len(inputs) == 1 and is_store(inputs[0])
    if in_store:
        only_for("pictures", segments=segments, max_regions=max_regions, draw=draw, regions=regions, on_error=wanted)
        only_for("texts that are not in a store", coloured=coloured)
        only_for("pictures", masks=masks, geojson=geojson, coco=coco, labels=labels, pictures=pictures)
    else:
        only_for("stores", dask=dask)
    if coloured is not None:
        check_form(coloured)
    paints = {"masks": masks, "geojson": geojson, "coco": coco}
    _check_painting(paints, inputs, labels, pictures)
    if level is Level.NODE:
        only_for("scores, not for what nodes add", device=device, dtype=dtype)
    if out is not None and not (in_store and not out.suffix):
        check_target(out)
        check_writable(out)
    model = load_model(model_file, device, dtype, n_jobs)
    if any(paints.values()) and not model.kernel_.is_additive:
        raise ValueError(f"{model_file} cannot paint: {model.kernel_!r} is not a sum over nodes.")
    if in_store:
        store, engine = BagStore(inputs[0]), engine_of(dask, n_jobs, model.device)
        predictions = StorePredictions(model, store, level.value, engine, n_jobs, sys.stderr.isatty())
        _write_store(predictions, out, form)
        return
    from cfmgml.inputs import bags_like
    from cfmgml.learning.predictions import prediction_table

    pattern, options = _pattern(model, inputs, n_jobs, segments=segments, max_regions=max_regions, on_error=wanted)
    with hint_on_pictures(on_error or OnError.STOP):
        bags = bags_like(pattern, inputs, labels=labels or False, options=options)
    table = prediction_table(model, bags, level.value)
    content = {} if pictures is None else {"folder": pictures}
    if draw is not None:
        _draw(model, bags, draw, content)
    if regions is not None:
        _write_regions(bags, regions, content)
    if coloured is not None:
        _colour(model, bags, coloured)
    if any(paints.values()):
        _paint(model, bags, labels is not None, paints, content)
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


def _check_painting(
    paints: "dict[str, Path | None]", inputs: list[str], labels: Path | None, pictures: Path | None
) -> None:
    from cfmgml.inputs.patterns import is_file_of_bags

    if not any(paints.values()):
        only_for("painting: say where to, with --masks, --geojson or --coco", labels=labels)
    if is_file_of_bags(inputs):
        only_for("raw input", labels=labels)
    else:
        only_for("a file of bags", pictures=pictures)
    if paints["coco"] is not None:
        check_target(paints["coco"], "--coco")


def _paint(
    model: "CfMGML", bags: "BagDataset", given: bool, paints: "dict[str, Path | None]", content: "dict[str, Path]"
) -> None:
    """Each picture with a label for every pixel, in the forms asked for."""
    from cfmgml.builders.painted import write_painting

    write_painting(bags, model.paint(bags, given=given), model.label_names_.tolist(), **paints, **content)
    for place in filter(None, paints.values()):
        say(f"Painted {bags.n_bags} pictures: {place}.")


def _write_regions(bags: "BagDataset", folder: Path, content: "dict[str, Path]") -> None:
    from cfmgml.data.builder import known_builder

    known_builder(bags.builder).write_regions(bags, folder, **content)
    say(f"Wrote the regions of {bags.n_bags} pictures to {folder}.")


def _colour(model: "CfMGML", bags: "BagDataset", path: Path) -> None:
    """Texts with the words that decided."""
    from cfmgml.builders.texts.coloured import write_coloured

    scores, contributions = model.decision_function_graphs(bags), model.explain(bags)
    write_coloured(bags, model.label_names_, scores, contributions, path, model.thresholds_)
    say(f"Wrote {path}: {bags.n_graphs:,} texts of {bags.n_bags:,} bags.")


def _draw(model: "CfMGML", bags: "BagDataset", folder: Path, content: "dict[str, Path]") -> None:
    """Each bag as its builder shows it, with what was predicted."""
    if bags.bag_names is None:
        raise ValueError("--draw needs bags with names, to call its files by.")
    from matplotlib import pyplot as plt

    from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES
    from cfmgml.common.files import atomic_write
    from cfmgml.data.builder import known_builder
    from cfmgml.plots import plot_bag
    from cfmgml.reading.paths import stems_of_names

    folder.mkdir(parents=True, exist_ok=True)
    scores = model.decision_function_graphs(bags)
    own = model.thresholds_ if model.thresholds_.any() else None  # others' builders need not know of them
    builder = known_builder(bags.builder)
    endings = {*IMAGE_SUFFIXES, ".txt", *getattr(builder, "suffixes", ())}
    for number, name in enumerate(stems_of_names(bags.bag_names, bags.n_bags, endings)):
        plot_bag(bags, number, scores=scores, thresholds=own, **{**builder.drawn_with, **content})
        with atomic_write(folder / f"{name}.png") as stream:
            plt.savefig(stream, format="png", dpi=100)
        plt.close()
    say(f"Drew {bags.n_bags} pictures in {folder}.")

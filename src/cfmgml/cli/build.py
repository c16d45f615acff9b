"""``cfmgml build``: raw input becomes a file of bags."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from cfmgml.cli._console import OnError, check_target, hint_on_pictures, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cfmgml.data.bags import BagDataset
    from cfmgml.inputs import Pattern
    from cfmgml.stores import BagStream

IMAGES = (
    "Pictures: each becomes a bag, and each of its regions a graph of superpixels.\n\n"
    "INPUT is a folder, a glob, picture files, or a table with a column image. --labels names a table (CSV, JSONL or "
    "Parquet) with a column image and one of: labels ('cow;grass'), label (a row each), or a column of 0 and 1 for "
    "each label.\n\n\b\nExamples:\n"
    "  cfmgml build images photos --labels labels.csv -o photos.bags\n"
    "  cfmgml build images photos --labels labels.csv --segments masks -o masked.bags\n"
    "  cfmgml build images 'photos/*.png' --features hellinger -o unlabelled.bags\n"
    "  cfmgml build images new --like photos.bags -o new.bags"
)
TEXT = (
    "Texts: each becomes a bag, and each of its sentences (or of a list of texts) a graph of keywords.\n\n"
    "INPUT is a table (JSONL, CSV or Parquet) with a document a row: text, or texts (a list), and if wanted id and "
    "labels; or a folder, a glob or names of .txt files.\n\n\b\nExamples:\n"
    "  cfmgml build text papers.jsonl -o papers.bags\n"
    "  cfmgml build text letters --labels letters.csv --no-stem -o letters.bags\n"
    "  cfmgml build text new.jsonl --like papers.bags -o new_papers.bags\n"
    "  cfmgml build text papers.jsonl --store papers"
)
GRAPHS = (
    "Graphs that you have: a TUDataset folder, GraphML files, or a .pt file of PyG graphs.\n\n"
    "The graphs of a folder inside INPUT are one bag; any other graph is a bag of its own. --bags names a table of "
    "graph and bag to say it otherwise, --labels a table of bag and labels. All files are read before a store is "
    "written: they must fit in memory.\n\n\b\nExamples:\n"
    "  cfmgml build graphs molecules --labels molecules.csv -o molecules.bags\n"
    "  cfmgml build graphs TOY -o toy.bags"
)

Inputs = Annotated[list[str], typer.Argument(metavar="INPUT", help="Folder, glob, files or table.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file of bags to write.")]
Store = Annotated[
    Path | None, typer.Option(help="Folder of Parquet files to write instead, for more bags than memory holds.")
]
Append = Annotated[bool, typer.Option("--append", help="Add to the store if it is there.")]
Partition = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Graphs in a file of the store: memory grows with them, not with the input.",
        show_default="10,000, or 1,000 of pictures",
    ),
]
Labels = Annotated[Path | None, typer.Option(help="Table of labels.")]
Like = Annotated[Path | None, typer.Option(help="Bags, a store or a model: build as they were built, same labels.")]
Jobs = Annotated[int | None, typer.Option("--n-jobs", help="Worker processes; by default one a core.")]


class Features(StrEnum):
    RICH = "rich"
    HELLINGER = "hellinger"
    PAPER = "paper"


@dataclass(frozen=True)
class Target:
    """Where bags go: a file, a store, or both."""

    out: Path | None
    store: Path | None
    append: bool

    @classmethod
    def checked(cls, out: Path | None, store: Path | None, append: bool) -> Self:
        """Refuse what cannot be written, before any work."""
        if out is None and store is None:
            raise typer.BadParameter("say where to write: -o FILE.bags, or --store FOLDER.")
        if out is not None:
            check_target(out)
        if append and store is None:
            raise typer.BadParameter("--append adds to a store: name it with --store.")
        if store is not None and store.is_file():
            raise ValueError(f"--store must name a folder, and {store} is a file.")
        return cls(out, store, append)

    @property
    def streams(self) -> bool:
        """Whether bags can go to disk as they are built; a file of bags needs all of them."""
        return self.out is None

    def save(self, bags: "BagDataset") -> None:
        if self.out is not None:
            bags.save(self.out)
            say(f"Wrote {self.out}: {bags!r}")
        if self.store is not None:
            bags.to_store(self.store, append=self.append)
            say(f"Wrote {self.store}: {bags!r}")
        _remark(bags.info)

    def build(self, stream: "BagStream", graphs_per_partition: int) -> None:
        """Write the bags of a stream to the store, a partition in memory at a time."""
        from cfmgml.stores import BagStore, build_store

        assert self.store is not None
        n_before = build_store(stream, self.store, graphs_per_partition, self.append)
        if n_before:
            say(f"Went on after {n_before} partitions that were there")
        store = BagStore(self.store)
        say(f"Wrote {self.store}: {store!r}")
        _remark(store.info)


def _remark(info: "Mapping[str, Any]") -> None:
    from cfmgml.inputs.remarks import overlap_remark

    remark = overlap_remark(info)
    if remark:
        say(f"cfmgml: {remark}")


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        name="build",
        help="Make a file of bags from pictures, texts or graphs.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    group.command("images", help=IMAGES)(images)
    group.command("text", help=TEXT)(text)
    group.command("graphs", help=GRAPHS)(graphs)
    app.add_typer(group)


def images(
    inputs: Inputs,
    out: Out = None,
    store: Store = None,
    append: Append = False,
    partition: Partition = None,
    labels: Labels = None,
    segments: Annotated[Path | None, typer.Option(help="Folder of masks, called like the pictures.")] = None,
    segment_labels: Annotated[Path | None, typer.Option(help="Table of image, segment and label.")] = None,
    features: Annotated[
        Features | None, typer.Option(help="What nodes know of their pixels.", show_default="rich")
    ] = None,
    max_regions: Annotated[
        int | None, typer.Option(min=1, help="Most regions found in a picture without mask.", show_default="8")
    ] = None,
    max_side: Annotated[
        int | None, typer.Option(min=16, help="Larger pictures are scaled down to it.", show_default="640")
    ] = None,
    single_graph: Annotated[bool, typer.Option("--single-graph", help="One graph a picture.")] = False,
    like: Like = None,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at pictures that cannot be used, or skip them.")
    ] = OnError.STOP,
    n_jobs: Jobs = None,
) -> None:
    from cfmgml.inputs import bags_like, image_bags
    from cfmgml.inputs.streams import GRAPHS_PER_PARTITION, input_stream

    target = Target.checked(out, store, append)
    given: dict[str, Any] = {
        "labels": labels,
        "segments": segments,
        "segment_labels": segment_labels,
        "n_jobs": n_jobs,
        "on_error": "raise" if on_error is OnError.STOP else "skip",
    }
    recipe = {
        "features": None if features is None else features.value,
        "max_regions": max_regions,
        "max_side": max_side,
        "single_graph": single_graph or None,
    }
    pattern = _pattern(like, recipe, "images")
    with hint_on_pictures(on_error):
        if target.streams and not _is_file_of_bags(inputs):
            stream = input_stream("images", inputs, pattern, **given, **_chosen(recipe))
            target.build(stream, GRAPHS_PER_PARTITION["images"] if partition is None else partition)
            return
        if pattern is None:
            bags = image_bags(inputs, **given, **_chosen(recipe))
        else:
            bags = bags_like(pattern, inputs, **given)
    target.save(bags)


def text(
    inputs: Inputs,
    out: Out = None,
    store: Store = None,
    append: Append = False,
    partition: Partition = None,
    labels: Labels = None,
    max_keywords: Annotated[int | None, typer.Option(min=1, help="Most keywords of a text.", show_default="40")] = None,
    window: Annotated[
        int | None, typer.Option(min=1, help="How far apart joined keywords may stand.", show_default="2")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Least weight of an edge.", show_default="0.1")
    ] = None,
    stem: Annotated[
        bool | None, typer.Option("--stem/--no-stem", help="Cut English endings off words.", show_default="stem")
    ] = None,
    single_graph: Annotated[bool, typer.Option("--single-graph", help="One graph a document.")] = False,
    like: Like = None,
) -> None:
    from cfmgml.inputs import bags_like, text_bags
    from cfmgml.inputs.streams import GRAPHS_PER_PARTITION, input_stream

    target = Target.checked(out, store, append)
    recipe = {
        "max_keywords": max_keywords,
        "window": window,
        "threshold": threshold,
        "stem": stem,
        "single_graph": single_graph or None,
    }
    pattern = _pattern(like, recipe, "texts")
    if target.streams and not _is_file_of_bags(inputs):
        stream = input_stream("texts", inputs, pattern, labels=labels, **_chosen(recipe))
        target.build(stream, GRAPHS_PER_PARTITION["texts"] if partition is None else partition)
    elif pattern is None:
        target.save(text_bags(inputs, labels=labels, **_chosen(recipe)))
    else:
        target.save(bags_like(pattern, inputs, labels=labels))


def graphs(
    inputs: Inputs,
    out: Out = None,
    store: Store = None,
    append: Append = False,
    labels: Labels = None,
    bags: Annotated[Path | None, typer.Option(help="Table of graph and bag.")] = None,
    node_label: Annotated[str | None, typer.Option(help="Name of the node data to take as label.")] = None,
    node_attributes: Annotated[
        str | None, typer.Option(help="Names of the node data to take as attributes, with commas between them.")
    ] = None,
    like: Like = None,
) -> None:
    from cfmgml.inputs import bags_like, graph_bags

    target = Target.checked(out, store, append)
    names = None if node_attributes is None else [name.strip() for name in node_attributes.split(",")]
    recipe = {"node_label": node_label, "node_attributes": names}
    pattern = _pattern(like, recipe, "graphs")
    if pattern is None:
        target.save(graph_bags(inputs, labels=labels, bags=bags, **_chosen(recipe)))
    else:
        target.save(bags_like(pattern, inputs, labels=labels, bags=bags))


def _is_file_of_bags(inputs: list[str]) -> bool:
    return len(inputs) == 1 and inputs[0].endswith(".bags")


def _chosen(recipe: dict[str, Any]) -> dict[str, Any]:
    """What was asked for; the rest has its defaults where it is built."""
    return {name: value for name, value in recipe.items() if value is not None}


def _pattern(like: Path | None, recipe: dict[str, Any], kind: str) -> "Pattern | None":
    if like is None:
        return None
    if _chosen(recipe):
        option = next(iter(_chosen(recipe))).replace("_", "-")
        raise typer.BadParameter(f"--like settles how to build, so --{option} cannot be given with it.")
    from cfmgml.inputs import read_pattern
    from cfmgml.recipes import recipe_of

    pattern = read_pattern(like)
    found = recipe_of(pattern.info).kind
    if found != kind:
        command = "text" if found == "texts" else found
        raise ValueError(f"{like} was built from {found}: use cfmgml build {command}.")
    return pattern

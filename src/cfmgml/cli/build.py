"""``cfmgml build``: raw input becomes a file of bags; a command for each kind of input, with options of its builder."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
import typer.core
import typer.main

from cfmgml.cli._console import OnError, check_target, hint_on_pictures, say

if TYPE_CHECKING:
    from cfmgml.data.builder import BagBuilder, FileOptions
    from cfmgml.inputs import Pattern
    from cfmgml.stores import BagStream

Inputs = Annotated[list[str], typer.Argument(metavar="INPUT", help="Folder, glob, files or table.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file of bags to write.")]
Store = Annotated[
    Path | None, typer.Option(help="Folder of Parquet files to write instead, for more bags than memory holds.")
]
Append = Annotated[bool, typer.Option("--append", help="Add to the store if it is there.")]
Partition = Annotated[
    int, typer.Option(min=1, help="Graphs in a file of the store: memory grows with them, not with the input.")
]
Labels = Annotated[Path | None, typer.Option(help="Table of labels.")]
Like = Annotated[Path | None, typer.Option(help="Bags, a store or a model: build as they were built, same labels.")]


class KindsGroup(typer.core.TyperGroup):
    """The commands of all kinds, which are looked up when one is asked for: ``cfmgml --help`` is quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_commands())

    def get_command(self, ctx: Any, name: str) -> Any:
        """By its name, with or without the s of many."""
        called = (name, f"{name}s", name.removesuffix("s"))
        return next((_commands()[one] for one in called if one in _commands()), None)


@functools.cache
def _commands() -> dict[str, Any]:
    from cfmgml.data.builder import all_kinds

    group = typer.Typer(rich_markup_mode=None)
    for builder in all_kinds().values():
        if builder.reads_files:
            words = builder.help or f"Each file of {builder.nouns} becomes a bag."
            line = words.partition("\n\n")[0]
            group.command(builder.command or builder.kind, help=words, short_help=line)(_command(builder))
    return dict(typer.main.get_group(group).commands)


build = typer.Typer(
    name="build",
    cls=KindsGroup,
    callback=lambda: None,  # a group without commands of its own needs one
    help="Make a file of bags from pictures, texts, graphs, or another kind of input that is installed.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


# -- a command for a kind --------------------------------------------------------------------


def _command(builder: "type[BagBuilder]") -> Callable[..., None]:
    """A function that typer can read: what `_build` takes for all kinds, then what this one adds."""
    from cfmgml.data.builder import options_of

    shared = dict(inspect.signature(_build).parameters)
    del shared["builder"], shared["own"]
    shared["partition"] = shared["partition"].replace(default=builder.graphs_per_partition)
    parts = [(part, get_type_hints(part)) for part in (builder, builder.file_options)]
    parameters = [*shared.values()] + [_option(field, hints) for part, hints in parts for field in options_of(part)]

    def command(**given: Any) -> None:
        _build(builder, **given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _option(field: Field[Any], hints: Mapping[str, Any]) -> inspect.Parameter:
    """A parameter for typer. What was not given is None, so that a builder's own default holds."""
    told = field.metadata
    hint = _plain_hint(hints[field.name] if told["choices"] is None else Literal[tuple(told["choices"]())])
    name = field.name.replace("_", "-")
    name = f"--{name}/--no-{name}" if hint is bool and field.default is not False else f"--{name}"
    shown = told["shown"] or False
    option = typer.Option(name, help=told["help"], min=told["least"], max=told["most"], show_default=shown)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, kind, default=None, annotation=Annotated[hint | None, option])


def _plain_hint(hint: Any) -> Any:
    """What typer knows of a field's type: choices as an Enum, names with commas between them as a string."""
    arms = [arm for arm in getattr(hint, "__args__", (hint,)) if arm is not type(None)]
    if all(isinstance(arm, str) for arm in arms):
        return StrEnum("Choice", {arm.upper(): arm for arm in arms})
    plain = arms[0] if len(arms) == 1 else hint
    return plain if plain in (bool, int, float, str, Path) else str


def _build(
    builder: "type[BagBuilder]",
    inputs: Inputs,
    out: Out = None,
    store: Store = None,
    append: Append = False,
    *,
    partition: Partition,
    labels: Labels = None,
    like: Like = None,
    **own: Any,
) -> None:
    from cfmgml.data.builder import FileInput
    from cfmgml.inputs.patterns import bags_like, is_file_of_bags

    _check_targets(out, store, append)
    given = {name: value for name, value in own.items() if value is not None}
    chosen = {name: str(value) if isinstance(value, StrEnum) else value for name, value in given.items()}
    reading = {field.name for field in fields(builder.file_options)}
    make_options: Callable[..., FileOptions] = builder.file_options
    options = make_options(**{name: value for name, value in chosen.items() if name in reading})
    parameters = {name: _split(value, builder, name) for name, value in chosen.items() if name not in reading}
    pattern = _pattern(like, parameters, builder)
    with hint_on_pictures(OnError(getattr(options, "on_error", OnError.STOP))):
        if store is not None and out is None and not is_file_of_bags(inputs):  # a file of bags needs all of them
            maker, names = (pattern.builder, pattern.label_names) if pattern else (builder(**parameters), None)
            stream = maker.stream(FileInput(inputs, labels, names, options))
            _write_stream(stream, store, partition, append)
            _advise(None if pattern else maker)
            return
        if pattern is None:
            bags = builder(**parameters).from_files(FileInput(inputs, labels, options=options))
        else:
            bags = bags_like(pattern, inputs, labels=labels, options=options)
    if out is not None:
        bags.save(out)
        say(f"Wrote {out}: {bags!r}")
    if store is not None:
        bags.to_store(store, append=append)
        say(f"Wrote {store}: {bags!r}")
    _remark(bags.info)
    _advise(None if pattern else bags.builder)


def _advise(builder: "BagBuilder | None") -> None:
    if builder is not None and builder.advice:
        say(builder.advice)


def _check_targets(out: Path | None, store: Path | None, append: bool) -> None:
    """Refuse what cannot be written, before any work."""
    if out is None and store is None:
        raise typer.BadParameter("say where to write: -o FILE.bags, or --store FOLDER.")
    if out is not None:
        check_target(out)
    if append and store is None:
        raise typer.BadParameter("--append adds to a store: name it with --store.")
    if store is not None and store.is_file():
        raise ValueError(f"--store must name a folder, and {store} is a file.")


def _write_stream(stream: "BagStream", folder: Path, graphs_per_partition: int, append: bool) -> None:
    """To a store, a partition in memory at a time."""
    from cfmgml.stores import BagStore, build_store

    n_before = build_store(stream, folder, graphs_per_partition, append)
    if n_before:
        say(f"Went on after {n_before} partitions that were there")
    store = BagStore(folder)
    say(f"Wrote {folder}: {store!r}")
    _remark(store.info)


def _remark(info: Mapping[str, Any]) -> None:
    from cfmgml.reading.remarks import blank_remark, overlap_remark

    for remark in (blank_remark(info), overlap_remark(info)):
        if remark:
            say(f"cfmgml: {remark}")


def _split(value: Any, builder: "type[BagBuilder]", name: str) -> Any:
    """Names with commas between them, where a tuple is wanted."""
    wants_tuple = "tuple" in str(get_type_hints(builder)[name])
    return tuple(part.strip() for part in value.split(",")) if wants_tuple and isinstance(value, str) else value


def _pattern(like: Path | None, chosen: Mapping[str, Any], builder: "type[BagBuilder]") -> "Pattern | None":
    if like is None:
        return None
    if chosen:
        option = next(iter(chosen)).replace("_", "-")
        raise typer.BadParameter(f"--like settles how to build, so --{option} cannot be given with it.")
    from cfmgml.inputs import read_pattern

    pattern = read_pattern(like)
    if not isinstance(pattern.builder, builder):
        command = pattern.builder.command or pattern.builder.kind
        raise ValueError(f"{like} was built from {pattern.builder.nouns}: use cfmgml build {command}.")
    return pattern

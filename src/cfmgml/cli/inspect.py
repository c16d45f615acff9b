"""``cfmgml inspect``: what is in a file or a store."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from cfmgml.cli._console import show
from cfmgml.cli._raw_input import check_built
from cfmgml.common.printable import printable

HELP = (
    "Say what is in a data set, a store or a model: how it was built, its sizes and labels, kernel, versions and hash. "
    "Of a store no graph is read."
    "\n\n\b\nExamples:\n  cfmgml inspect photos.bags\n  cfmgml inspect photos.cfmgml --json\n  cfmgml inspect papers"
)


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Bags, a store, or a model.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    from cfmgml.inputs import describe_file

    check_built(file)
    description = describe_file(file)
    show(json.dumps(description, ensure_ascii=False, indent=1) if as_json else "\n".join(_lines(description)))


def _lines(values: Mapping[str, object], indent: str = "") -> Iterator[str]:
    for key, value in values.items():
        name = printable(str(key))
        if isinstance(value, Mapping):
            yield f"{indent}{name}:" if value else f"{indent}{name}: -"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{name}: {_word(value)}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_word, value))
    return f"{value:,}" if isinstance(value, int) else printable(str(value))

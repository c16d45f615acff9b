"""Raw input given where bags are wanted: the command that builds them."""

import shlex
from itertools import islice
from pathlib import Path

GRAPH_FILES = (".graphml", ".pt")
LABELS = "labels"  # a table of something else than input


def check_built(data: Path) -> None:
    """Refuse pictures, texts, tables and folders of them, with the command that makes bags of them."""
    from cfmgml.stores import is_store

    if not data.exists() or is_store(data):
        return
    kind = _kind_of_folder(data) if data.is_dir() else _kind_of_file(data)
    if kind is None:
        return
    if kind == LABELS:
        raise ValueError(
            f"{data} is a table with no column text, texts or smiles, not bags. If it says which labels files have, "
            f"give it with them: cfmgml build images FOLDER --labels {shlex.quote(str(data))} -o data.bags"
        )
    made = shlex.quote(f"{data.name.partition('.')[0] or 'data'}.bags")
    labels = " --labels LABELS.csv" if data.is_dir() else ""  # a table has a column of them
    command = f"cfmgml build {kind} {shlex.quote(str(data))}{labels} -o {made}"
    noun = "folder" if data.is_dir() else "file"
    raise ValueError(f"{data} is a {noun} of raw input, not of bags: build these first, with {command}")


def _kind_of_file(file: Path) -> str | None:
    from cfmgml.builders.pictures.image_files import IMAGE_SUFFIXES
    from cfmgml.common.tables import format_of, stream_table

    suffix = file.suffix.lower()
    if suffix in IMAGE_SUFFIXES:
        return "images"
    if suffix in GRAPH_FILES:
        return "graphs"
    if suffix in (".smi", ".sdf"):
        return "molecules"
    if suffix == ".txt":
        return "text"
    if format_of(file) is None:
        return None
    columns = {name.lower() for row in islice(stream_table(file), 1) for name in row}
    return "molecules" if "smiles" in columns else "text" if columns & {"text", "texts"} else LABELS


def _kind_of_folder(folder: Path) -> str | None:
    """What most of its files are; a table of labels beside them does not count."""
    names = [file for file in sorted(folder.iterdir()) if file.is_file()]
    if any(file.name.endswith("_graph_indicator.txt") for file in names):
        return "graphs"
    kinds = [kind for file in names[:200] if (kind := _kind_of_file(file)) not in (None, LABELS)]
    return max(kinds, key=kinds.count) if kinds else None

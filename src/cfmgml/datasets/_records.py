"""Records on disk, one JSON object a line, and bags of the papers among them."""

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from cfmgml.builders.texts.builder import TextBuilder
from cfmgml.builders.texts.files import TextOptions
from cfmgml.builders.texts.text_graphs import Running
from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.common.digests import files_digest
from cfmgml.common.segments import offsets
from cfmgml.common.typing import BoolArray, Json
from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary

Record: TypeAlias = Json
Labels: TypeAlias = tuple[Callable[[Record], Iterable[str]], Sequence[str]]  # of a record, and the names of all


def read_records(path: Path) -> list[Record]:
    """All records of a ``.jsonl.gz`` file."""
    records = []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    records.append(json.loads(line))
                except json.JSONDecodeError as error:
                    raise ValueError(f"{path}, line {number}, is not JSON ({error}); get the file anew.") from error
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({error}); get the file anew.") from error
    return records


def cache_key(file: Path, selection: Json, options: Json) -> Json:
    """All that a loader's bags depend on, defaults included; refuses options that `bags_from_texts` would not take."""
    names = [field.name for field in fields(TextBuilder)]
    others = [field.name for field in fields(TextOptions)]
    unknown = sorted(set(options) - {*names, *others, *Running._fields})
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; options are {', '.join([*names, *others, *Running._fields])}.")
    chosen: Json = {name: value for name, value in options.items() if name in names}
    told = {name: value for name, value in options.items() if name in others}
    return {"content": files_digest([file]), **selection, **told, "builder": TextBuilder(**chosen).told()}


def with_references(
    papers: Iterable[Record], field: str, min_references: int, usable: Callable[[Record], bool]
) -> list[list[Record]]:
    """Each usable paper of a field, followed by its usable references (of any field), if there are enough of them."""
    by_id = {paper["id"]: paper for paper in papers}
    fields = sorted({paper["field"] for paper in by_id.values()})
    if field not in fields:
        raise ValueError(f"field must be one of {', '.join(fields)}, got {field!r}.")
    bags = []
    for paper in by_id.values():
        if paper["field"] == field and usable(paper):
            references = [by_id[key] for key in paper["references"] if key in by_id and usable(by_id[key])]
            if len(references) >= min_references:
                bags.append([paper, *references])
    if not bags:
        raise ValueError(f"no paper of {field} has {min_references} references that can be used; ask for fewer.")
    return bags


def label_matrix(label_sets: Sequence[Iterable[str]], names: Sequence[str]) -> BoolArray:
    """Shape (n_sets, n_names): True where a set has the name; other names are left out."""
    rows = [[name in labels for name in names] for labels in map(set, label_sets)]
    return np.array(rows, dtype=bool).reshape(len(rows), len(names))


def bags_of_papers(
    bags: Sequence[Sequence[Record]], text: Callable[[Record], str], labels: Labels | None, info: Json, options: Json
) -> BagDataset:
    """A bag is a paper and its references; a graph is named by its paper's id, so one cited twice is known again."""
    graphs = [paper for bag in bags for paper in bag]
    names = [str(paper["id"]) for paper in graphs]
    told: Json = {"graph_names": names, "bag_names": [str(bag[0]["id"]) for bag in bags]}
    if labels is not None:
        labels_of, label_names = labels
        told.update(graph_Y=label_matrix([labels_of(paper) for paper in graphs], label_names), label_names=label_names)
    built = bags_from_texts([[text(paper) for paper in bag] for bag in bags], **told, **options)
    overlap = overlap_summary(np.array(names), offsets(np.array([len(bag) for bag in bags])))
    return replace(built, info={**info, **built.info, "overlap": overlap})

"""Bags from graph files: TUDataset folders, networkx GraphML, and PyTorch Geometric's saved graphs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch
from cfmgml.inputs._graphml import SUFFIXES as GRAPHML
from cfmgml.inputs._graphml import read_graphml
from cfmgml.inputs._pyg import read_pyg
from cfmgml.inputs._tudataset import find_tudataset, read_tudataset
from cfmgml.inputs.labels import LabelTable, read_labels, split_labels, table_of_sets
from cfmgml.inputs.matching import match_names
from cfmgml.inputs.paths import list_files
from cfmgml.inputs.remarks import UnusedRows, with_remarks
from cfmgml.inputs.tables import read_table


@dataclass(frozen=True)
class GraphFiles:
    """Graphs as read from files, with the bag that each belongs to."""

    graphs: GraphBatch
    names: list[str]
    bags: list[str]
    labels: list[list[str]] | None = None  # of each graph
    parameters: dict[str, Any] = field(default_factory=dict)  # which data of nodes were read
    format: str = ""
    files: list[str] | None = None  # names of the files, where each graph has one


def graph_bags(
    sources: Sequence[str | Path],
    *,
    labels: str | Path | Literal[False] | None = None,
    bags: str | Path | None = None,
    label_names: Sequence[str] | None = None,
    node_label: str | None = None,
    node_attributes: Sequence[str] | None = None,
) -> BagDataset:
    """Build bags from graphs as they lie on disk.

    Parameters
    ----------
    sources
        One folder in TUDataset's text format (``NAME_A.txt``, ``NAME_graph_indicator.txt``, ...; also a PyG folder
        with ``raw`` in it); or folders, globs and names of GraphML files; or one ``.pt`` file of PyG graphs. Graphs of
        a folder inside the one named are a bag; any other graph is a bag of its own.
    labels
        A table of the bags' labels, by exact bag, or by the file of a bag that is one file; `cfmgml.inputs.labels`
        says in which forms. Every bag must have a row; rows of no bag are warned of. Without it a bag has the labels of
        its graphs, if files tell (TUDataset's ``NAME_graph_labels.txt``, PyG's ``y``); False takes none.
    bags
        A table of ``graph``, ``bag`` and, if wanted, ``labels`` of the graph: which graph is in which bag.
    label_names
        The labels in this order, as a model has them; others are refused.
    node_label, node_attributes
        Names of the node data to read from GraphML and PyG: by default ``label`` and all numbers that every node has.
    """
    found = _read(sources, node_label, node_attributes)
    if bags is not None:
        found = _into_bags(found, bags)
    order, ptr, names = _grouped(found.bags)
    table = _label_table(found, names, labels, label_names)
    given: dict[str, Any] = {}
    if table is not None:
        given = {"Y": table.matrix(_keys(table, names)), "label_names": table.label_names}
        if found.labels is not None:
            given["graph_Y"] = _graph_matrix(found.labels, table)[order]
    graphs = found.graphs[order]
    built = BagDataset(
        replace(graphs, graph_ids=np.arange(graphs.n_graphs)),
        ptr,
        bag_names=np.array(names),
        graph_names=np.array(found.names)[order],
        info={
            "builder": "graphs",
            "description": f"Graphs read from {found.format} files.",
            "parameters": found.parameters,
        },
        **given,
    )
    if table is None:
        return with_remarks(built)
    return with_remarks(built, UnusedRows(table.source, match_names(table.rows, names).unmatched))


def _read(sources: Sequence[str | Path], node_label: str | None, node_attributes: Sequence[str] | None) -> GraphFiles:
    paths = [Path(source) for source in sources]
    wanted: dict[str, Any] = {
        "node_label": node_label,
        "node_attributes": None if node_attributes is None else list(node_attributes),
    }
    if len(paths) == 1 and paths[0].suffix == ".pt":
        return GraphFiles(**read_pyg(paths[0], **wanted))
    folder = find_tudataset(paths[0]) if len(paths) == 1 else None
    if folder is not None:
        return GraphFiles(**read_tudataset(folder))
    return GraphFiles(**read_graphml(_graphml_files(paths), **wanted))


def _graphml_files(sources: Sequence[Path]) -> dict[Path, str]:
    """GraphML files, each with its bag."""
    found: dict[Path, str] = {}
    for source in sources:
        if source.is_dir():
            inside = sorted(path for path in source.iterdir() if path.is_dir())
            for folder in inside:
                found |= {path: folder.name for path in sorted(folder.iterdir()) if path.suffix.lower() in GRAPHML}
            if found and not any(path.suffix.lower() in GRAPHML for path in source.iterdir()):
                continue
        found |= {path: path.stem for path in list_files([source], GRAPHML, "graph (GraphML file)")}
    return found


def _into_bags(found: GraphFiles, path: str | Path) -> GraphFiles:
    """The graphs in the bags, and with the labels, that a table gives them; graphs it does not name are left out."""
    rows = read_table(path)
    columns = {name.lower(): name for name in rows[0]}
    if not {"graph", "bag"} <= set(columns):
        raise ValueError(f"{path} must have the columns graph and bag; it has {', '.join(rows[0])}.")
    place = {name: k for k, name in enumerate(found.names)}
    kept, names, own = [], [], []
    for number, row in enumerate(rows, start=1):
        name = str(row[columns["graph"]]).strip()
        if name not in place:
            raise ValueError(f"{path}: row {number} names graph {name!r}, and there is none; there are {_few(place)}.")
        kept.append(place[name])
        names.append(str(row[columns["bag"]]).strip())
        if "labels" in columns:
            own.append(split_labels(row[columns["labels"]], f"{path}, row {number},") or [])
    if len(set(kept)) < len(kept):
        raise ValueError(f"{path} puts graph {found.names[max(kept, key=kept.count)]!r} into a bag twice.")
    labels = own if own else None if found.labels is None else [found.labels[k] for k in kept]
    graphs, called = found.graphs[kept], [found.names[k] for k in kept]
    return replace(found, graphs=graphs, names=called, bags=names, labels=labels, files=None)


def _grouped(bags: list[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """Graphs bag after bag, bags in the order in which they come first."""
    names = list(dict.fromkeys(bags))
    place = {name: k for k, name in enumerate(names)}
    numbers = np.array([place[bag] for bag in bags])
    return np.argsort(numbers, kind="stable"), offsets(np.bincount(numbers, minlength=len(names))), names


def _label_table(
    found: GraphFiles, bags: list[str], labels: str | Path | Literal[False] | None, label_names: Sequence[str] | None
) -> LabelTable | None:
    if labels is False or (labels is None and found.labels is None):
        return None
    if labels is not None:
        return read_labels(labels).renamed(_bags_of_files(found)).in_order(label_names)
    assert found.labels is not None
    sets: dict[str, list[str] | None] = {bag: [] for bag in bags}
    for bag, own in zip(found.bags, found.labels, strict=True):
        sets[bag] = [*(sets[bag] or ()), *own]
    return table_of_sets(sets, "the graphs' own labels").in_order(label_names)


def _bags_of_files(found: GraphFiles) -> dict[str, str]:
    """The bags that are one file each, by that file's name."""
    if found.files is None:
        return {}
    n_files = Counter(found.bags)
    return {file: bag for file, bag in zip(found.files, found.bags, strict=True) if n_files[bag] == 1}


def _keys(table: LabelTable, bags: list[str]) -> list[str]:
    lacking = [name for name in bags if name not in table.rows]
    if lacking:
        raise ValueError(f"{table.source} has no row for bag {lacking[0]} ({len(lacking)} of {len(bags)} have none).")
    return bags


def _graph_matrix(labels: list[list[str]], table: LabelTable) -> FloatArray:
    strange = sorted({name for row in labels for name in row} - set(table.label_names))
    if strange:
        raise ValueError(f"a graph has the label {strange[0]!r}, which no bag has in {table.source}.")
    return np.array([[float(name in row) for name in table.label_names] for row in labels])


def _few(names: Any) -> str:
    shown = [repr(name) for name in list(names)[:3]]
    return ", ".join(shown) + (", ..." if len(names) > 3 else "")

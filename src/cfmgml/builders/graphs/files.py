"""Bags from graph files: TUDataset folders, networkx GraphML, and PyTorch Geometric's saved graphs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cfmgml.builders.graphs import GraphsRead
from cfmgml.builders.graphs.graphml import SUFFIXES as GRAPHML
from cfmgml.builders.graphs.graphml import read_graphml
from cfmgml.builders.graphs.pyg import read_pyg
from cfmgml.builders.graphs.tudataset import find_tudataset, read_tudataset
from cfmgml.common.segments import offsets
from cfmgml.common.tables import read_table
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import FileInput, Paths
from cfmgml.reading.labels import LabelTable, read_labels, split_labels, table_of_sets
from cfmgml.reading.matching import RowMatch, match_names
from cfmgml.reading.paths import list_files
from cfmgml.reading.remarks import with_remarks

if TYPE_CHECKING:
    from cfmgml.builders.graphs.builder import GraphBuilder


def graph_bags(builder: "GraphBuilder", given: FileInput, bags: Path | None) -> BagDataset:
    """Bags from one folder in TUDataset's text format (``NAME_A.txt``, ``NAME_graph_indicator.txt``, ...; also a PyG
    folder with ``raw`` in it); or folders, globs and names of GraphML files; or one ``.pt`` file of PyG graphs.

    Graphs of a folder inside the one named are a bag, any other graph is a bag of its own, unless a table ``bags`` has
    ``graph``, ``bag`` and, if wanted, ``labels`` of the graph. A table of labels names bags, or the file of a bag that
    is one file; every bag must have a row. Without it a bag has the labels of its graphs, if files tell (TUDataset's
    ``NAME_graph_labels.txt``, PyG's ``y``).
    """
    read = _read(given.paths, builder)
    if bags is not None:
        read = _into_bags(read, bags)
    order, ptr, names = _grouped(read.bags)
    table = _label_table(read, names, given)
    arrays: dict[str, Any] = {}
    matched = RowMatch()
    if table is not None:
        matched = match_names(table.rows, names, table.source)
        keys = matched.complete([f"bag {name}" for name in names], "bags")
        arrays = {"Y": table.matrix(keys), "label_names": table.label_names}
        if read.labels is not None:
            arrays["graph_Y"] = _graph_matrix(read.labels, table)[order]
    graphs = builder.labelled_nodes(read.graphs[order])
    built = BagDataset(
        replace(graphs, graph_ids=np.arange(graphs.n_graphs)),
        ptr,
        bag_names=np.array(names),
        graph_names=np.array(read.names)[order],
        info={"description": f"Graphs read from {read.format} files."},
        builder=replace(builder, **read.parameters),
        **arrays,
    )
    return with_remarks(built, matched)


def _read(sources: Paths, builder: "GraphBuilder") -> GraphsRead:
    paths = [Path(source) for source in sources]
    columns = None if builder.node_attributes is None else list(builder.node_attributes)
    if len(paths) == 1 and paths[0].suffix == ".pt":
        return read_pyg(paths[0], builder.node_label, columns, builder.edge_label)
    folder = find_tudataset(paths[0]) if len(paths) == 1 else None
    if folder is not None:
        return read_tudataset(folder)
    return read_graphml(_graphml_files(paths), builder.node_label, columns, builder.edge_label)


def _graphml_files(sources: Sequence[Path]) -> dict[Path, str]:
    """GraphML files, each with its bag."""
    files: dict[Path, str] = {}
    for source in sources:
        if source.is_dir():
            inside = sorted(source.glob("*/*"))
            files |= {path: path.parent.name for path in inside if path.suffix.lower() in GRAPHML}
            if files and not any(path.suffix.lower() in GRAPHML for path in source.iterdir()):
                continue
        files |= {path: path.stem for path in list_files([source], GRAPHML, "graph (GraphML file)")}
    return files


def _into_bags(read: GraphsRead, path: str | Path) -> GraphsRead:
    """The graphs in the bags, and with the labels, that a table gives them; graphs it does not name are left out."""
    rows = read_table(path)
    columns = {name.lower(): name for name in rows[0]}
    if not {"graph", "bag"} <= set(columns):
        raise ValueError(f"{path} must have the columns graph and bag; it has {', '.join(rows[0])}.")
    place = {name: k for k, name in enumerate(read.names)}
    kept, names, own = [], [], []
    for number, row in enumerate(rows, start=1):
        name = str(row[columns["graph"]]).strip()
        if name not in place:
            few = ", ".join(map(repr, read.names[:3])) + (", ..." if len(read.names) > 3 else "")
            raise ValueError(f"{path}: row {number} names graph {name!r}, and there is none; there are {few}.")
        kept.append(place[name])
        names.append(str(row[columns["bag"]]).strip())
        if "labels" in columns:
            own.append(split_labels(row[columns["labels"]], f"{path}, row {number},") or [])
    if len(set(kept)) < len(kept):
        raise ValueError(f"{path} puts graph {read.names[max(kept, key=kept.count)]!r} into a bag twice.")
    labels = own if own else None if read.labels is None else [read.labels[k] for k in kept]
    called = [read.names[k] for k in kept]
    return read._replace(graphs=read.graphs[kept], names=called, bags=names, labels=labels, files=None)


def _grouped(bags: list[str]) -> tuple[IntArray, IntArray, list[str]]:
    """Graphs bag after bag, bags in the order in which they come first."""
    place = {name: k for k, name in enumerate(dict.fromkeys(bags))}
    numbers = np.array([place[bag] for bag in bags])
    return np.argsort(numbers, kind="stable"), offsets(np.bincount(numbers)), list(place)


def _label_table(read: GraphsRead, bags: list[str], given: FileInput) -> LabelTable | None:
    if given.labels:
        n_files, named = Counter(read.bags), zip(read.files or (), read.bags, strict=False)
        alone = {file: bag for file, bag in named if n_files[bag] == 1}  # bags that are one file go by its name, too
        return read_labels(given.labels).renamed(alone).in_order(given.label_names)
    if given.labels is False or read.labels is None:
        return None
    sets: dict[str, list[str] | None] = {bag: [] for bag in bags}
    for bag, own in zip(read.bags, read.labels, strict=True):
        sets[bag] = [*(sets[bag] or ()), *own]
    return table_of_sets(sets, "the graphs' own labels").in_order(given.label_names)


def _graph_matrix(labels: list[list[str]], table: LabelTable) -> FloatArray:
    strange = sorted({name for row in labels for name in row} - set(table.label_names))
    if strange:
        raise ValueError(f"a graph has the label {strange[0]!r}, which no bag has in {table.source}.")
    return np.array([[float(name in row) for name in table.label_names] for row in labels])

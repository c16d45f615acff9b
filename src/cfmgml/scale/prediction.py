"""Prediction over a store, partition by partition, to Parquet."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfmgml.common.digests import digest_of
from cfmgml.common.files import atomic_write
from cfmgml.common.progress import progress
from cfmgml.common.segments import lengths, segment_ids, segment_max
from cfmgml.common.typing import FloatArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.parquet.folder import KEY
from cfmgml.data.parquet.tables import matrix_column, pyarrow, string_column
from cfmgml.kernels.files import kernel_digest
from cfmgml.scale.engines import running
from cfmgml.stores import BagStore

LEVELS = ("bag", "graph", "node")


def predict_store(
    model: Any,
    store: BagStore,
    out: str | Path,
    level: str | Sequence[str] = ("bag", "graph"),
    *,
    engine: Any = "inline",
    verbose: bool = False,
) -> None:
    """Write a model's scores and labels for every bag, graph or node of a store.

    Makes a folder ``bags``, ``graphs`` or ``nodes`` in ``out``, with one Parquet file a partition:

    ==========  =====================================================================================
    ``bags``    bag (its number in the store), name, scores (a list), labels (those with a score above 0)
    ``graphs``  bag, graph (its ``graph_id``), name, scores, labels
    ``nodes``   bag, graph, node (its number in the graph), name, contributions (a list; see `CfMGML.explain`)
    ==========  =====================================================================================

    The names of labels, in the order of scores, are in each file's metadata. Files that are there already, of the same
    model and partition, are left as they are: what was interrupted goes on.

    Parameters
    ----------
    model
        A fitted `CfMGML`.
    level
        One or several of ``"bag"``, ``"graph"`` and ``"node"``.
    engine
        As for `fit_store`.

    Examples
    --------
    >>> import tempfile, pyarrow.dataset
    >>> from cfmgml import CfMGML, NodeSum
    >>> from cfmgml.datasets import load_digit_bags
    >>> bags = load_digit_bags(subset="train", n_bags=20, random_state=0)
    >>> model = CfMGML(NodeSum("linear"), alpha=1e-2).fit(bags)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bags.to_store(f"{folder}/digits", graphs_per_partition=30)
    ...     predict_store(model, BagStore(f"{folder}/digits"), f"{folder}/out", "bag")
    ...     table = pyarrow.dataset.dataset(f"{folder}/out/bags").to_table()
    >>> table.column_names, len(table)
    (['bag', 'name', 'scores', 'labels'], 20)
    """
    levels = (level,) if isinstance(level, str) else tuple(level)
    unknown = [name for name in levels if name not in LEVELS]
    if unknown or not levels:
        raise ValueError(f"level must be one or several of {LEVELS}, got {level!r}.")
    folders = {name: Path(out).absolute() / f"{name}s" for name in levels}  # workers may be elsewhere
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    first_bags = np.cumsum([0, *(part.n_bags for part in store.partitions)])[:-1].tolist()
    items = list(enumerate(first_bags))
    with running(engine, model.n_jobs) as workers, progress("Predicting", len(items), verbose) as advance:
        for _ in workers.map(_predict_partition, items, model, model_digest(model), store, folders):
            advance(1)


def _predict_partition(
    item: tuple[int, int], model: Any, digest: str, store: BagStore, folders: dict[str, Path]
) -> None:
    number, first_bag = item
    told = {"partition": store.partitions[number].name, "model": digest}
    told["label_names"] = model.label_names_.tolist()
    name = f"part-{number:06d}.parquet"
    missing = {level: folder / name for level, folder in folders.items() if not _is_done(folder / name, told)}
    if not missing:
        return
    bags = store.read(number)
    scores = model.decision_function_graphs(bags)
    for level, path in missing.items():
        if level == "bag":
            columns = _bag_columns(bags, segment_max(scores, bags.bag_ptr), first_bag, model.label_names_)
        elif level == "graph":
            columns = _graph_columns(bags, scores, first_bag, model.label_names_)
        else:
            columns = _node_columns(bags, model.explain(bags), first_bag)
        _write(path, columns, told)


def model_digest(model: Any) -> str:
    """Of what a model's scores depend on."""
    arrays = {**model.scorer_.arrays(), "intercept": model.intercept_}
    return digest_of(arrays, kernel_digest(model.scorer_.kernel), type(model.scorer_).__name__, model.context)


def _is_done(path: Path, told: dict[str, Any]) -> bool:
    pa = pyarrow()
    try:
        found: dict[str, Any] = json.loads((pa.parquet.read_schema(path).metadata or {})[KEY])
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return False
    return found == told


def _bag_columns(bags: BagDataset, scores: FloatArray, first: int, names: Any) -> dict[str, Any]:
    columns = {"bag": first + np.arange(bags.n_bags)}
    if bags.bag_names is not None:
        columns["name"] = string_column(bags.bag_names)
    return {**columns, "scores": matrix_column(scores), "labels": _labels(scores, names)}


def _graph_columns(bags: BagDataset, scores: FloatArray, first: int, names: Any) -> dict[str, Any]:
    columns = {"bag": first + bags.bag_ids, "graph": bags.graphs.graph_ids}
    if bags.graph_names is not None:
        columns["name"] = string_column(bags.graph_names)
    return {**columns, "scores": matrix_column(scores), "labels": _labels(scores, names)}


def _node_columns(bags: BagDataset, contributions: FloatArray, first: int) -> dict[str, Any]:
    graph = segment_ids(bags.graphs.node_ptr)
    within = np.arange(bags.graphs.n_nodes) - np.repeat(bags.graphs.node_ptr[:-1], lengths(bags.graphs.node_ptr))
    columns = {"bag": first + bags.bag_ids[graph], "graph": bags.graphs.graph_ids[graph], "node": within}
    if bags.graphs.node_names is not None:
        columns["name"] = string_column(bags.graphs.node_names)
    return {**columns, "contributions": matrix_column(contributions)}


def _labels(scores: FloatArray, names: Any) -> Any:
    """Lists of the labels with a score above 0."""
    pa = pyarrow()
    rows, columns = np.nonzero(scores > 0)
    ptr = np.searchsorted(rows, np.arange(len(scores) + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(ptr, string_column(names).take(pa.array(columns)))


def _write(path: Path, columns: dict[str, Any], told: dict[str, Any]) -> None:
    pa = pyarrow()
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(told).encode()})
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, compression="zstd")
    with atomic_write(path) as stream:
        stream.write(buffer.getbuffer())

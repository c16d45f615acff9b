"""Bags of graphs as Parquet tables.

One row is one bag, with plain list columns that any reader of Parquet knows::

    name: string                     if bags have names
    Y: list<bool>                    a value a label; null where it is not known
    graphs: list<struct<
        id: int64, n_nodes: int32, name: string, Y: list<bool>,
        nodes: list<struct<label: int64, attributes: list<double>, name: string>>,
        edges: list<struct<source: int32, target: int32, weight: double>>>>      nodes are numbered in their graph

What a data set does not have is left out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.segments import lengths, offsets, segment_ids
from cfmgml.common.tables import import_pyarrow
from cfmgml.common.typing import Array, Arrays, BoolArray, IntArray, NameArray

if TYPE_CHECKING:
    import pyarrow


def to_table(arrays: Arrays) -> "pyarrow.Table":
    """The table of bags whose arrays `BagDataset.arrays` gives."""
    pa = import_pyarrow()
    columns = {}
    if "bag_names" in arrays:
        columns["name"] = string_column(arrays["bag_names"])
    if "Y" in arrays:
        columns["Y"] = matrix_column(arrays["Y"], arrays.get("Y_known"))
    columns["graphs"] = _lists(arrays["bag_ptr"], _graphs(arrays))
    return pa.table(columns)


def _graphs(arrays: Arrays) -> "pyarrow.StructArray":
    pa = import_pyarrow()
    node_ptr, edge_ptr = arrays["graphs.node_ptr"], arrays["graphs.edge_ptr"]
    fields = {"id": pa.array(arrays["graphs.graph_ids"]), "n_nodes": pa.array(lengths(node_ptr).astype(np.int32))}
    if "graph_names" in arrays:
        fields["name"] = string_column(arrays["graph_names"])
    if "graph_Y" in arrays:
        fields["Y"] = matrix_column(arrays["graph_Y"])
    nodes = {}
    if "graphs.node_labels" in arrays:
        nodes["label"] = pa.array(arrays["graphs.node_labels"])
    if "graphs.node_attributes" in arrays:
        nodes["attributes"] = matrix_column(arrays["graphs.node_attributes"])
    if "graphs.node_names" in arrays:
        nodes["name"] = string_column(arrays["graphs.node_names"])
    if nodes:
        fields["nodes"] = _lists(node_ptr, _struct(nodes))
    source, target = (arrays["graphs.edges"] - node_ptr[segment_ids(edge_ptr)]).astype(np.int32)
    edges = {"source": pa.array(source), "target": pa.array(target)}
    if "graphs.edge_weights" in arrays:
        edges["weight"] = pa.array(arrays["graphs.edge_weights"])
    return _struct({**fields, "edges": _lists(edge_ptr, _struct(edges))})


def _struct(fields: Mapping[str, "pyarrow.Array"]) -> "pyarrow.StructArray":
    return import_pyarrow().StructArray.from_arrays(list(fields.values()), list(fields))


def _lists(ptr: IntArray, values: "pyarrow.Array") -> "pyarrow.ListArray":
    if ptr[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"a partition holds at most 2^31 nodes or edges, got {ptr[-1]:,}; make partitions smaller.")
    return import_pyarrow().ListArray.from_arrays(ptr.astype(np.int32), values)


def string_column(names: NameArray) -> "pyarrow.StringArray":
    pa = import_pyarrow()
    return pa.array(names.tolist(), pa.string())


def matrix_column(matrix: Array, known: BoolArray | None = None) -> "pyarrow.FixedSizeListArray":
    """A matrix as lists of one length; null where not known."""
    pa = import_pyarrow()
    flat = pa.array(np.ascontiguousarray(matrix).ravel(), mask=None if known is None else ~known.ravel())
    return pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1])


def from_table(table: "pyarrow.Table") -> dict[str, Array]:
    """The arrays that `to_table` was given."""
    table = table.combine_chunks()
    bags = {name: _one(table[name]) for name in table.column_names}
    graphs = bags["graphs"].values
    parts = {field.name: graphs.field(field.name) for field in graphs.type}
    arrays = {"bag_ptr": _ptr(bags["graphs"]), "graphs.graph_ids": parts["id"].to_numpy()}
    arrays["graphs.node_ptr"] = offsets(parts["n_nodes"].to_numpy().astype(np.int64))
    arrays["graphs.edge_ptr"] = _ptr(parts["edges"])
    if "name" in bags:
        arrays["bag_names"] = _strings(bags["name"])
    if "name" in parts:
        arrays["graph_names"] = _strings(parts["name"])
    if "Y" in bags:
        arrays["Y"], known = label_matrix(bags["Y"])
        if not known.all():
            arrays["Y_known"] = known
    if "Y" in parts:
        arrays["graph_Y"] = _matrix(parts["Y"].values, parts["Y"].type.list_size)
    return {**arrays, **_node_arrays(parts), **_edge_arrays(parts["edges"].values, arrays)}


def label_matrix(lists: "pyarrow.FixedSizeListArray") -> tuple[BoolArray, BoolArray]:
    """Labels, False where null, and which are known."""
    width = lists.type.list_size
    return _matrix(lists.values.fill_null(False), width), _matrix(lists.values.is_valid(), width)


def _node_arrays(parts: Mapping[str, "pyarrow.Array"]) -> dict[str, Array]:
    if "nodes" not in parts:
        return {}
    nodes, arrays = parts["nodes"].values, {}
    for field in nodes.type:
        values = nodes.field(field.name)
        if field.name == "label":
            arrays["graphs.node_labels"] = values.to_numpy()
        elif field.name == "attributes":
            arrays["graphs.node_attributes"] = _matrix(values.values, values.type.list_size)
        else:
            arrays["graphs.node_names"] = _strings(values)
    return arrays


def _edge_arrays(edges: "pyarrow.StructArray", arrays: Arrays) -> dict[str, Array]:
    ends = np.stack([edges.field("source").to_numpy(), edges.field("target").to_numpy()]).astype(np.int64)
    made = {"graphs.edges": ends + arrays["graphs.node_ptr"][segment_ids(arrays["graphs.edge_ptr"])]}
    if "weight" in [field.name for field in edges.type]:
        made["graphs.edge_weights"] = edges.field("weight").to_numpy()
    return made


def _one(column: "pyarrow.ChunkedArray") -> "pyarrow.Array":
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _ptr(lists: "pyarrow.ListArray") -> IntArray:
    return np.asarray(lists.offsets.to_numpy().astype(np.int64))


def _strings(values: "pyarrow.StringArray") -> NameArray:
    return np.array(values.to_pylist(), dtype=np.str_)


def _matrix(flat: "pyarrow.Array", width: int) -> Array:
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(-1, width)


# -- what is in a table ----------------------------------------------------------------------


def columns_of(schema: "pyarrow.Schema") -> dict[str, str]:
    """Every leaf of a schema by its path, with its type.

    >>> import pyarrow as pa
    >>> columns_of(pa.schema([("Y", pa.list_(pa.bool_(), 3)), ("g", pa.list_(pa.struct([("id", pa.int64())])))]))
    {'Y': 'bool[3]', 'g.id': 'int64'}
    """
    return {leaf: name for field in schema for leaf, name in _leaves(field.name, field.type).items()}


def _leaves(path: str, kind: "pyarrow.DataType") -> dict[str, str]:
    pa = import_pyarrow()
    if pa.types.is_struct(kind):
        return {leaf: name for field in kind for leaf, name in _leaves(f"{path}.{field.name}", field.type).items()}
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        return _leaves(path, kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return {path: f"{kind.value_type}[{kind.list_size}]"}
    return {path: str(kind)}

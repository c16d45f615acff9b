"""Bags of graphs as Parquet tables.

One row is one bag, with plain list columns that any reader of Parquet knows::

    name: string                     if bags have names
    Y: list<bool>                    a value a label; null where it is not known
    graphs: list<struct<
        id: int64, n_nodes: int32, name: string, Y: list<bool>, text: string,
        nodes: list<struct<label: int64, attributes: list<double>, name: string>>,
        edges: list<struct<source: int32, target: int32, weight: double, label: int64>>>>

Nodes are numbered in their graph, from 0.

What a data set does not have is left out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.common.segments import lengths, offsets, segment_ids
from cfmgml.common.tables import import_pyarrow
from cfmgml.common.typing import Array, Arrays, BoolArray, IntArray
from cfmgml.data.texts import TEXTS, text_array

if TYPE_CHECKING:
    import pyarrow


BAG_FIELDS = {"name": "bag_names", "Y": "Y"}  # columns, and the arrays that they hold
GRAPH_FIELDS = {"name": "graph_names", "Y": "graph_Y", "text": TEXTS}
EDGE_FIELDS = {"weight": "graphs.edge_weights", "label": "graphs.edge_labels"}
NODE_FIELDS = {"label": "graphs.node_labels", "attributes": "graphs.node_attributes", "name": "graphs.node_names"}


def to_table(arrays: Arrays) -> "pyarrow.Table":
    """The table of bags whose arrays `BagDataset.arrays` gives."""
    columns = _columns(arrays, BAG_FIELDS)
    if "Y_known" in arrays:
        columns["Y"] = _column(arrays["Y"], arrays["Y_known"])
    return import_pyarrow().table({**columns, "graphs": _lists(arrays["bag_ptr"], _graphs(arrays))})


def _graphs(arrays: Arrays) -> "pyarrow.StructArray":
    node_ptr, edge_ptr = arrays["graphs.node_ptr"], arrays["graphs.edge_ptr"]
    sizes = lengths(node_ptr).astype(np.int32)
    fields = {"id": _column(arrays["graphs.graph_ids"]), "n_nodes": _column(sizes), **_columns(arrays, GRAPH_FIELDS)}
    nodes = _columns(arrays, NODE_FIELDS)
    if nodes:
        fields["nodes"] = _lists(node_ptr, _struct(nodes))
    source, target = (arrays["graphs.edges"] - node_ptr[segment_ids(edge_ptr)]).astype(np.int32)
    edges = {"source": _column(source), "target": _column(target), **_columns(arrays, EDGE_FIELDS)}
    return _struct({**fields, "edges": _lists(edge_ptr, _struct(edges))})


def _struct(fields: Mapping[str, "pyarrow.Array"]) -> "pyarrow.StructArray":
    return import_pyarrow().StructArray.from_arrays(list(fields.values()), list(fields))


def _lists(ptr: IntArray, values: "pyarrow.Array") -> "pyarrow.ListArray":
    if ptr[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"a partition holds at most 2^31 nodes or edges, got {ptr[-1]:,}; make partitions smaller.")
    return import_pyarrow().ListArray.from_arrays(ptr.astype(np.int32), values)


def _columns(arrays: Arrays, fields: Mapping[str, str]) -> dict[str, "pyarrow.Array"]:
    return {field: _column(arrays[name]) for field, name in fields.items() if name in arrays}


def _column(array: Array, known: BoolArray | None = None) -> "pyarrow.Array":
    """Strings, numbers, or a matrix as lists of one length; null where not known."""
    pa = import_pyarrow()
    if array.dtype.kind in "UT":
        return pa.array(array.tolist(), pa.string())
    flat = pa.array(np.ascontiguousarray(array).ravel(), mask=None if known is None else ~known.ravel())
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def from_table(table: "pyarrow.Table") -> dict[str, Array]:
    """The arrays that `to_table` was given."""
    table = table.combine_chunks()
    bags = {name: _one(table[name]) for name in table.column_names}
    graphs = _fields(bags["graphs"].values)
    node_ptr, edge_ptr = offsets(graphs["n_nodes"].to_numpy().astype(np.int64)), _ptr(graphs["edges"])
    arrays: dict[str, Array] = {"graphs.node_ptr": node_ptr, "graphs.edge_ptr": edge_ptr}
    arrays["bag_ptr"], arrays["graphs.graph_ids"] = _ptr(bags["graphs"]), graphs["id"].to_numpy()
    if "Y" in bags:
        arrays["Y"], known = label_matrix(bags.pop("Y"))
        if not known.all():
            arrays["Y_known"] = known
    nodes = _fields(graphs["nodes"].values) if "nodes" in graphs else {}
    edges = _fields(graphs["edges"].values)
    ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()]).astype(np.int64)
    arrays["graphs.edges"] = ends + node_ptr[segment_ids(edge_ptr)]
    for columns, fields in (bags, BAG_FIELDS), (graphs, GRAPH_FIELDS), (nodes, NODE_FIELDS), (edges, EDGE_FIELDS):
        arrays |= {name: _array(columns[field], name) for field, name in fields.items() if field in columns}
    return arrays


def label_matrix(lists: "pyarrow.FixedSizeListArray") -> tuple[BoolArray, BoolArray]:
    """Labels, False where null, and which are known."""
    width = lists.type.list_size
    return _matrix(lists.values.fill_null(False), width), _matrix(lists.values.is_valid(), width)


def _fields(rows: "pyarrow.StructArray") -> dict[str, "pyarrow.Array"]:
    return {field.name: rows.field(field.name) for field in rows.type}


def _array(values: "pyarrow.Array", name: str) -> Array:
    """What `_column` was given, of which all was known."""
    types = import_pyarrow().types
    if types.is_string(values.type):
        strings = values.to_pylist()
        return text_array(strings) if name == TEXTS else np.array(strings, dtype=np.str_)
    if types.is_fixed_size_list(values.type):
        return _matrix(values.values, values.type.list_size)
    return values.to_numpy()


def _one(column: "pyarrow.ChunkedArray") -> "pyarrow.Array":
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _ptr(lists: "pyarrow.ListArray") -> IntArray:
    return np.asarray(lists.offsets.to_numpy().astype(np.int64))


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

"""Bags as data frames: Arrow tables by the schema of stores (`cfmgml.data.parquet.tables`), and what speaks Arrow.

A frame comes in as whatever gives an Arrow table: pyarrow's own, anything with the Arrow PyCapsule protocol
(``__arrow_c_stream__``: pandas, polars, DuckDB, ...), a Hugging Face ``Dataset``, or the interchange protocol
(``__dataframe__``). Types may be those that other libraries make of the schema: large lists and strings, lists of any
length where all have one, other integers. A frame goes out as a pyarrow table, or as a frame of pandas or polars.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cfmgml.common.extras import install_command
from cfmgml.common.tables import import_pyarrow
from cfmgml.common.typing import Array, Json, JsonView
from cfmgml.data.label_sets import matrix_of_sets
from cfmgml.data.parquet.tables import from_table, to_table

if TYPE_CHECKING:
    import pyarrow

AnyFrame: TypeAlias = Any  # a table of some library, each with methods of its own
KEY = b"cfmgml"  # under which a table keeps what has no column: names of labels, and info
NUMBERS = {
    "id": "int64",
    "n_nodes": "int32",
    "source": "int32",
    "target": "int32",
    "label": "int64",
    "weight": "double",
}


def in_library(table: "pyarrow.Table", library: str) -> AnyFrame:
    """An Arrow table as ``"arrow"``, ``"pandas"`` or ``"polars"`` has it."""
    if library not in LIBRARIES:
        raise ValueError(f"library must be one of {', '.join(LIBRARIES)}, got {library!r}.")
    try:
        return LIBRARIES[library](table)
    except ImportError as error:
        raise ImportError(f"a frame of {library} needs it: {install_command(library)}.") from error


def _polars(table: "pyarrow.Table") -> AnyFrame:
    import polars

    return polars.from_arrow(table)


LIBRARIES: dict[str, Callable[["pyarrow.Table"], AnyFrame]] = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": _polars,
}


def frame_of(arrays: Mapping[str, Array], info: JsonView) -> "pyarrow.Table":
    """The table of a data set's arrays; names of labels and ``info`` are told beside its columns."""
    names = arrays["label_names"].tolist() if "label_names" in arrays else None
    told = json.dumps({"label_names": names, "info": dict(info)}, default=str)
    return to_table(arrays).replace_schema_metadata({KEY: told.encode()})


def arrays_of(frame: AnyFrame, label_names: list[str] | None) -> tuple[dict[str, Array], Json]:
    """What `BagDataset.arrays` gives, and ``info``, from a frame with a row a bag."""
    table = arrow_table(frame)
    if "graphs" not in table.column_names:
        there = ", ".join(table.column_names[:8]) or "none"
        raise ValueError(f"a frame of bags must have a column graphs, a list of graphs in each row; it has {there}.")
    told = json.loads((table.schema.metadata or {}).get(KEY, b"{}"))
    names = told.get("label_names") if label_names is None else label_names
    sets = table["labels"].to_pylist() if "labels" in table.column_names and "Y" not in table.column_names else None
    kept = [name for name in ("name", "Y", "graphs") if name in table.column_names]
    arrays = from_table(_by_schema(table.select(kept)))
    if sets is not None:
        arrays["Y"], names = matrix_of_sets(sets, names)
    if names is not None:
        arrays["label_names"] = np.asarray(names, dtype=np.str_)
    return arrays, told.get("info", {})


def arrow_table(frame: AnyFrame) -> "pyarrow.Table":
    """The Arrow table of anything that can give one."""
    pa = import_pyarrow()
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "with_format"):  # Hugging Face datasets: rows may be selected, and that is not in the table
        return frame.with_format("arrow")[:]
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    if hasattr(frame, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(frame)
    raise TypeError(
        f"a frame must be a table of pyarrow, pandas, polars or datasets, or speak Arrow's PyCapsule protocol; "
        f"got {type(frame).__name__}."
    )


# -- types as the store has them -------------------------------------------------------------


def _by_schema(table: "pyarrow.Table") -> "pyarrow.Table":
    """The same content in the types of the store's schema; what cannot be is told by its path."""
    pa = import_pyarrow()
    columns = {name: _retyped(_whole(table[name]), name, name) for name in table.column_names}
    return pa.table(columns)


def _whole(column: "pyarrow.ChunkedArray") -> "pyarrow.Array":
    return import_pyarrow().concat_arrays(column.chunks) if column.num_chunks else column.combine_chunks()


def _retyped(array: "pyarrow.Array", path: str, name: str) -> "pyarrow.Array":
    """Lists of structs as lists, lists of numbers as lists of one length, strings and numbers as the schema says."""
    pa = import_pyarrow()
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _retyped(array.dictionary_decode(), path, name)
    if _is_list(kind):
        return _lists(array, path, name)
    if pa.types.is_struct(kind):
        fields = [(field.name, array.field(k)) for k, field in enumerate(kind)]
        made = {field: _retyped(values, f"{path}.{field}", field) for field, values in _fields_of(path, fields)}
        return pa.StructArray.from_arrays(list(made.values()), list(made))
    if name in ("name", "text"):
        return array.cast(pa.string())
    target = "bool" if path.endswith("Y") else NUMBERS.get(name)
    try:
        return array if target is None else array.cast(target)
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {path} must hold {target}s ({error}).") from error


def _fields_of(path: str, fields: list[tuple[str, "pyarrow.Array"]]) -> list[tuple[str, "pyarrow.Array"]]:
    """A graph's fields, with numbers of graphs and counts of nodes where they were left out."""
    pa = import_pyarrow()
    there = dict(fields)
    if path == "graphs":
        if "edges" not in there:
            raise ValueError(f"a graph must have edges, a list of source and target; it has {', '.join(there)}.")
        if "n_nodes" not in there and "nodes" not in there:
            raise ValueError(f"a graph must have n_nodes or nodes; it has {', '.join(there)}.")
        there.setdefault("id", pa.array(np.arange(len(there["edges"]))))
        if "n_nodes" not in there:
            there["n_nodes"] = there["nodes"].value_lengths()
    return list(there.items())


def _is_list(kind: "pyarrow.DataType") -> bool:
    types = import_pyarrow().types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def _lists(array: "pyarrow.Array", path: str, name: str) -> "pyarrow.Array":
    pa = import_pyarrow()
    if array.null_count and name != "Y":
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"column {path} must have a list in every row; row {row} has none.")
    sizes = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if not (pa.types.is_struct(array.type.value_type) or name in ("graphs", "nodes", "edges")):
        return _rows_of_numbers(array, sizes, path, name)
    inner = _retyped(array.flatten(), path, name)
    return pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), inner)


def _rows_of_numbers(array: "pyarrow.Array", sizes: Array, path: str, name: str) -> "pyarrow.Array":
    """Lists of one length; where a bag has none at all, its labels are not known."""
    pa = import_pyarrow()
    there = ~array.is_null().to_numpy(zero_copy_only=False)
    widths = np.unique(sizes[there])
    if len(widths) > 1:
        raise ValueError(f"the lists of column {path} must all have one length, got {widths.tolist()}.")
    width = int(widths[0]) if len(widths) else 0
    flat = array.flatten().cast("bool" if name == "Y" else "double")
    if not there.all():
        places = np.flatnonzero(np.repeat(there, width))
        index = np.full(len(array) * width, -1)
        index[places] = np.arange(len(places))
        flat = flat.take(pa.array(index, mask=index < 0))
    return pa.FixedSizeListArray.from_arrays(flat, width) if width else flat

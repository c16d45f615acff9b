"""Texts of graphs, as strings of any length in one array: as bytes and offsets in files, as a column in stores."""

from collections.abc import Iterable

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import Array, Arrays, IntArray, TextArray

TEXTS, BYTES, PTR = "graph_texts", "graph_text_bytes", "graph_text_ptr"


def text_array(texts: Iterable[str]) -> TextArray:
    """Strings that take their own room each, not that of the longest.

    >>> text_array(["one", "two words"]).tolist()
    ['one', 'two words']
    """
    if isinstance(texts, np.ndarray) and texts.dtype.kind == "T":
        return texts
    strings = list(texts)
    try:
        return np.array(strings, dtype=np.dtypes.StringDType())
    except UnicodeEncodeError:  # half a surrogate pair is no character
        whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in strings]
        return np.array(whole, dtype=np.dtypes.StringDType())


def packed(arrays: Arrays) -> dict[str, Array]:
    """With texts as UTF-8 bytes and offsets, which can be written and hashed."""
    if TEXTS not in arrays:
        return dict(arrays)
    encoded = [text.encode() for text in arrays[TEXTS].tolist()]
    made = {name: array for name, array in arrays.items() if name != TEXTS}
    made[BYTES] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return {**made, PTR: offsets(np.array(list(map(len, encoded))))}


def unpacked(arrays: dict[str, Array]) -> dict[str, Array]:
    """What `packed` was given."""
    if BYTES not in arrays or PTR not in arrays:
        return arrays
    data, ptr = arrays.pop(BYTES), arrays.pop(PTR)
    _check(data, ptr)
    whole, ends = data.tobytes(), ptr.tolist()
    texts = [whole[start:stop].decode() for start, stop in zip(ends[:-1], ends[1:], strict=True)]
    return {**arrays, TEXTS: text_array(texts)}


def _check(data: Array, ptr: IntArray) -> None:
    if data.dtype != np.uint8 or data.ndim != 1 or ptr.dtype != np.int64 or ptr.ndim != 1 or not len(ptr):
        raise ValueError(f"texts must be bytes and offsets, got {data.dtype} {data.shape} and {ptr.dtype} {ptr.shape}.")
    if ptr[0] != 0 or ptr[-1] != len(data) or (np.diff(ptr) < 0).any():
        raise ValueError(f"offsets of texts must go from 0 to {len(data)}, got {ptr[0]} to {ptr[-1]}.")

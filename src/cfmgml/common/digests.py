"""One digest of JSON and arrays: for whoever must know whether something is still the same."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def digest_of(arrays: Mapping[str, NDArray[Any]], *told: Any) -> str:
    """A SHA-256 of what is told, as JSON, and of arrays with their names, types and shapes.

    >>> digest_of({"x": np.zeros(2)}) == digest_of({"x": np.zeros((2, 1))})
    False
    """
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode() if told else b"")
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

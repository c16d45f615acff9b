"""The one module that hashes: for whoever must know whether something is still the same.

A thing's identity is the digest of what a file would write of it: of a kernel, a model or a header its JSON and arrays.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def bytes_digest(data: bytes | memoryview) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def json_digest(told: object) -> str:
    """The SHA-256 of a value as JSON, with keys in order.

    >>> json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    True
    """
    return bytes_digest(json.dumps(told, sort_keys=True).encode())


def digest_of(arrays: Mapping[str, NDArray[np.generic]], *told: object) -> str:
    """The SHA-256 of what is told, as JSON, and of arrays with their names, types and shapes.

    >>> digest_of({"x": np.zeros(2)}) == digest_of({"x": np.zeros((2, 1))})
    False
    """
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode() if told else b"")
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        flat = np.ascontiguousarray(array).reshape(-1)
        digest.update(flat.view(np.uint8).data if flat.nbytes else b"")  # no copy: attributes can be most of memory
    return digest.hexdigest()


def files_digest(paths: Iterable[Path]) -> str:
    """The SHA-256 of files' names and contents, in the order given; where they lie does not count."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as stream:
            total.update(json.dumps(path.name).encode() + hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def short_digest(data: bytes, n_bytes: int = 16) -> bytes:
    """A quick one, for many small things: their BLAKE2b."""
    return hashlib.blake2b(data, digest_size=n_bytes).digest()

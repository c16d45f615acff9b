"""One file of arrays and JSON: how data sets and models are kept on disk.

A file is a zip archive with ``header.json`` (format, kind, version, metadata and a SHA-256 of
every array) and one ``.npy`` member an array. Nothing in it is ever unpickled. Lists of
strings are stored as UTF-8 bytes and offsets. Writing goes to a temporary file beside the
target that replaces it in one step, so a reader sees the old file or the new one.
"""

import contextlib
import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cfmgml._segments import offsets

FORMAT = "cfmgml"
VERSION = 1
MAX_HEADER_BYTES = 64 * 2**20
Arrays = Mapping[str, NDArray[Any]]


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the place of ``path`` if, and only if, the block succeeds."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to; make it first.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_arrays(path: str | Path, kind: str, meta: Mapping[str, Any], arrays: Arrays) -> None:
    """Write arrays and JSON metadata as one file; string arrays are packed as UTF-8."""
    members = {name: _npy(array) for name, array in _pack(arrays).items()}
    header = {
        "format": FORMAT,
        "kind": kind,
        "version": VERSION,
        "meta": meta,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(f"the metadata is larger than {MAX_HEADER_BYTES:,} bytes, the most a file may hold.")
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        _put(archive, "header.json", text)
        for name, data in members.items():
            _put(archive, f"{name}.npy", data)


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same content is the same file
    entry.compress_type = archive.compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def load_arrays(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `save_arrays` wrote; a truncated, foreign, damaged or newer file is refused."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    try:
        with zipfile.ZipFile(path) as archive:
            header = _read_header(archive, path, kind)
            arrays = _unpack({name: _read_member(archive, name, digest) for name, digest in header["sha256"].items()})
    except (zipfile.BadZipFile, EOFError, OSError, zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged or not a cfmgml file ({error}).") from error
    except _Damaged as error:
        raise ValueError(f"{path} is damaged: {error}.") from error
    return header["meta"], arrays


class _Damaged(Exception):
    """Content that does not fit what the header says of it."""


def _read_header(archive: zipfile.ZipFile, path: Path, kind: str) -> dict[str, Any]:
    if "header.json" not in archive.namelist():
        raise ValueError(f"{path} is a zip archive but not a cfmgml file: it has no header.json.")
    if archive.getinfo("header.json").file_size > MAX_HEADER_BYTES:
        raise _Damaged("its header is larger than any cfmgml writes")
    try:
        header = json.loads(archive.read("header.json"))
        found, version, digests = header["kind"], header["version"], header["sha256"]
        fits = header["format"] == FORMAT and isinstance(digests, dict) and isinstance(header["meta"], dict)
    except (ValueError, KeyError, TypeError, RecursionError, zipfile.error) as error:
        raise _Damaged(f"its header cannot be read ({error!r})") from error
    except Exception as error:  # zlib.error has no public base class but Exception
        raise _Damaged(f"its header cannot be unpacked ({error!r})") from error
    if not fits:
        raise _Damaged("its header is not one that cfmgml writes")
    if not isinstance(version, int) or version > VERSION:
        raise ValueError(f"{path} has file version {version}; this cfmgml reads up to {VERSION}: install a newer one.")
    if found != kind:
        raise ValueError(f"{path} holds a {found}, not a {kind}.")
    return dict(header)


def _read_member(archive: zipfile.ZipFile, name: str, digest: str) -> NDArray[Any]:
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise _Damaged(f"array {name!r} is missing") from None
    try:
        with archive.open(entry) as stream:
            data = stream.read(entry.file_size + 1)
    except Exception as error:
        raise _Damaged(f"array {name!r} cannot be unpacked ({error})") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise _Damaged(f"array {name!r} does not match its checksum")
    try:
        return np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
    except Exception as error:
        raise _Damaged(f"array {name!r} is not an array ({error})") from error


def _npy(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def _pack(arrays: Arrays) -> dict[str, NDArray[Any]]:
    packed: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            words = [word.encode() for word in array.tolist()]
            packed[f"{name}:utf8"] = np.frombuffer(b"".join(words), dtype=np.uint8)
            packed[f"{name}:ptr"] = offsets(np.array([len(word) for word in words], dtype=np.int64))
        else:
            packed[name] = array
    return packed


def _unpack(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    names = [name.removesuffix(":utf8") for name in arrays if name.endswith(":utf8")]
    for name in names:
        try:
            data, ptr = arrays.pop(f"{name}:utf8").tobytes(), arrays.pop(f"{name}:ptr").tolist()
            words = [data[start:stop].decode() for start, stop in zip(ptr[:-1], ptr[1:], strict=True)]
        except (KeyError, TypeError, UnicodeDecodeError) as error:
            raise _Damaged(f"the strings of {name!r} cannot be read ({error!r})") from error
        arrays[name] = np.array(words, dtype=np.str_)
    return arrays

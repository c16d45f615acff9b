"""One file of arrays and JSON: how data sets and models are kept on disk.

A file is a zip archive with ``header.json`` (format, kind, version, metadata and a SHA-256 of every array, and of the
header itself) and one ``.npy`` member an array. Nothing in it is ever unpickled. Lists of strings are stored as UTF-8
bytes and offsets. Writing goes to a temporary file beside the target that replaces it in one step, so a reader sees the
old file or the new one. What a writer that was killed left beside the target, the next one clears away.

A file from elsewhere may be made to fill memory. So what it says of its own sizes is checked before anything is
unpacked or made from it: its members against the bytes on disk, a header's values, an array's shape, the strings.
"""

import contextlib
import importlib.util
import io
import itertools
import json
import math
import os
import re
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from cfmgml.common.digests import bytes_digest, json_digest
from cfmgml.common.memory import physical_gib
from cfmgml.common.segments import offsets
from cfmgml.common.typing import Array, Arrays, Json, NameArray

LOCKS = importlib.util.find_spec("fcntl") is not None  # not on Windows, where nothing is cleared away
if LOCKS:
    import fcntl

FORMAT = "cfmgml"
VERSION = 2  # 2: the header has a digest of itself, and says which cfmgml wrote it; files of version 1 are read too
LEVEL = 1  # of packing: quick, and nothing but zeros becomes 229 times smaller, where others reach 1,029
MAX_RATIO = 256  # of unpacked to packed bytes, beyond
FREE_BYTES = 2**28  # that any file may unpack to: those of 0.1.0 were packed at level 6
MAX_HEADER_BYTES = 64 * 2**20
MAX_HEADER_VALUES = 2_000_000  # each takes some hundred bytes at most; a vocabulary of a million words fits
MAX_HEADER_DEPTH = 64
FREE_STRING_BYTES = 2**25  # of strings padded to one length, whatever they are made from
# One that is not closed goes on to the end, so that no place is looked at twice; it is no JSON anyway.
JSON_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the place of ``path`` if, and only if, the block succeeds."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to; make it first.")
    _clear_leftovers(path)
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"  # known before it is made, so always cleaned up
    try:
        with _make_locked(part) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if LOCKS:
                os.replace(part, path)  # while it is locked
        if not LOCKS:
            os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def try_lock(stream: IO[bytes]) -> bool:
    """Whether a file's lock could be had at once; never where the system or the file system has none.

    It is held until the file is closed or the process has died.
    """
    if LOCKS:
        with contextlib.suppress(OSError):
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _make_locked(part: Path) -> IO[bytes]:
    """A new file, locked until it is closed or its writer has died: so others see whether it is being written."""
    while True:
        stream = open(part, "xb")  # noqa: SIM115 (the caller closes it)
        if LOCKS:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()  # another writer cleared it away before it was locked


def _clear_leftovers(path: Path) -> None:
    """Remove the temporary files of writers of this path that were killed; those that are being written are locked."""
    names = []
    with contextlib.suppress(OSError):  # a folder may be written to and not listed
        names = os.listdir(path.parent) if LOCKS else []
    for name in names:
        if name.startswith(f".{path.name}.") and name.endswith(".part"):
            with contextlib.suppress(OSError), open(path.parent / name, "r+b") as stream:
                if try_lock(stream):
                    os.unlink(stream.name)


def save_arrays(path: str | Path, kind: str, meta: Mapping[str, object], arrays: Arrays) -> None:
    """Write arrays and JSON metadata as one file; string arrays are packed as UTF-8."""
    from cfmgml import __version__

    members = {name: _npy(array) for name, array in _pack(arrays).items()}
    header = {
        "format": FORMAT,
        "kind": kind,
        "version": VERSION,
        "written_by": f"cfmgml {__version__}",
        "meta": meta,
        "sha256": {name: bytes_digest(data) for name, data in members.items()},
    }
    header = json.loads(json.dumps(header, allow_nan=False))  # tuples as lists, keys as strings: as it will be read
    text = json.dumps({**header, "digest": header_digest(header)}, ensure_ascii=False).encode()
    try:
        _check_json(text)
    except _Damaged as error:
        raise ValueError(f"the metadata cannot be kept in a file: {error}.") from error
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "header.json", text)
        for name, data in members.items():
            _put(archive, f"{name}.npy", data)


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same content is the same file
    entry.compress_type = archive.compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, compresslevel=LEVEL)


def header_digest(header: Mapping[str, object]) -> str:
    """The hash of a file's whole content: of the header, which has the arrays' hashes in it."""
    return json_digest({name: value for name, value in header.items() if name != "digest"})


def load_arrays(path: str | Path, kind: str) -> tuple[Json, dict[str, Array]]:
    """Read what `save_arrays` wrote; a truncated, foreign, damaged or newer file is refused."""
    with _opened(path) as (archive, header):
        if header["kind"] != kind:
            is_bags_for_a_model = (header["kind"], kind) == ("BagDataset", "CfMGML")
            hint = f" Learn one from them: cfmgml train {path} -o MODEL.cfmgml" if is_bags_for_a_model else ""
            raise ValueError(f"{path} holds {_in_words(header['kind'])}, not {_in_words(kind)}.{hint}")
        gib = sum(entry.file_size for entry in archive.infolist()) / 2**30
        if gib > physical_gib():  # before it tries
            here = physical_gib()
            raise _Damaged(f"or too large: it unpacks to {gib:,.1f} GiB, and this machine has {here:,.1f} GiB")
        arrays = _unpack({name: _read_member(archive, name, digest) for name, digest in header["sha256"].items()})
    return header["meta"], arrays


def _in_words(kind: str) -> str:
    """What a file holds, for people who never saw the class."""
    words = {"BagDataset": "bags (a BagDataset)", "CfMGML": "a model (a CfMGML)"}
    return words.get(kind, f"a {kind}")


def read_header(path: str | Path) -> Json:
    """What a file says of itself: ``kind``, ``version``, ``meta``, and its ``digest``; the arrays are not read."""
    with _opened(path) as (_, header):
        return {**header, "digest": header_digest(header)}


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[tuple[zipfile.ZipFile, Json]]:
    """The archive and its checked header; what is wrong with the file is a ValueError."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_directory(archive, path.stat().st_size)
            yield archive, _read_header(archive, path)
    except (zipfile.BadZipFile, EOFError, OSError, zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged or not a cfmgml file ({error}).") from error
    except _Damaged as error:
        raise ValueError(f"{path} is damaged: {error}.") from error


class _Damaged(Exception):
    """Content that does not fit what the header says of it."""


def _read_header(archive: zipfile.ZipFile, path: Path) -> Json:
    from cfmgml import __version__

    if "header.json" not in archive.namelist():
        raise ValueError(f"{path} is a zip archive but not a cfmgml file: it has no header.json.")
    if archive.getinfo("header.json").file_size > MAX_HEADER_BYTES:  # before it is unpacked
        raise _Damaged(f"its header is larger than {MAX_HEADER_BYTES:,} bytes")
    try:
        text = archive.read("header.json")
        _check_json(text)
        header = json.loads(text.decode(), parse_constant=_refuse_constant)
        kind, version, digests = header["kind"], header["version"], header["sha256"]
        fits = header["format"] == FORMAT and isinstance(kind, str)
        fits = fits and isinstance(digests, dict) and isinstance(header["meta"], dict)
    except _Damaged:
        raise
    except Exception as error:  # zlib.error has no public base class but Exception
        raise _Damaged(f"its header cannot be read ({error!r})") from error
    if not fits:
        raise _Damaged("its header is not one that cfmgml writes")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _Damaged(f"its version, {version!r}, is none")
    if version > VERSION:
        writer = header.get("written_by", "a newer cfmgml")
        raise ValueError(
            f"{path} has file version {version}, written by {writer}; this is cfmgml {__version__}, which reads up to "
            f"version {VERSION}: install {writer} or a newer one."
        )
    if version >= 2 and header.get("digest") != header_digest(header):
        raise _Damaged("its header does not match its checksum")
    return dict(header)


def _check_json(text: bytes) -> None:
    """Refuse JSON whose values would take much more memory than its bytes do, before they are made."""
    if len(text) > MAX_HEADER_BYTES:
        raise _Damaged(f"its header is larger than {MAX_HEADER_BYTES:,} bytes")
    outside = JSON_STRING.sub(b"", text)
    brackets = outside.translate(None, NOT_BRACKETS)
    if len(brackets) + outside.count(b",") > MAX_HEADER_VALUES:
        raise _Damaged(f"its header has more than {MAX_HEADER_VALUES:,} values")
    if max(itertools.accumulate(1 if mark in b"[{" else -1 for mark in brackets), default=0) > MAX_HEADER_DEPTH:
        raise _Damaged(f"its header is nested more than {MAX_HEADER_DEPTH} deep")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_directory(archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse an archive that unpacks to more than any that cfmgml packed, by what its directory says."""
    entries = archive.infolist()
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise _Damaged("a part of it is packed in a way that cfmgml does not use")
    if len({entry.filename for entry in entries}) < len(entries):
        raise _Damaged("two parts of it have the same name")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > FREE_BYTES + MAX_RATIO * n_bytes:
        raise _Damaged(f"its {n_bytes:,} bytes unpack to {unpacked:,}, more than in any file that cfmgml writes")


def _read_member(archive: zipfile.ZipFile, name: str, digest: str) -> Array:
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise _Damaged(f"array {name!r} is missing") from None
    try:
        with archive.open(entry) as stream:
            data = stream.read(entry.file_size + 1)
    except Exception as error:
        raise _Damaged(f"array {name!r} cannot be unpacked ({error})") from error
    if bytes_digest(data) != digest:
        raise _Damaged(f"array {name!r} does not match its checksum")
    try:
        _check_shape(data)
        return np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
    except Exception as error:
        raise _Damaged(f"array {name!r} is not an array that cfmgml writes ({error})") from error


def _check_shape(data: bytes) -> None:
    """Refuse an array whose header does not fit its bytes, before it is made."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("its format is not version 1.0 of .npy")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in "biuf":
        raise ValueError(f"it holds {dtype}")
    n_bytes = len(data) - stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != n_bytes:
        raise ValueError(f"its shape is {shape}, of {dtype}, and it has {n_bytes:,} bytes")


def _npy(array: Array) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def _pack(arrays: Arrays) -> dict[str, Array]:
    packed: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            words = [word.encode() for word in array.tolist()]
            packed[f"{name}:utf8"] = np.frombuffer(b"".join(words), dtype=np.uint8)
            packed[f"{name}:ptr"] = offsets(np.array([len(word) for word in words], dtype=np.int64))
        else:
            packed[name] = array
    return packed


def _unpack(arrays: dict[str, Array]) -> dict[str, Array]:
    names = [name.removesuffix(":utf8") for name in arrays if name.endswith(":utf8")]
    for name in names:
        try:
            data, ptr = arrays.pop(f"{name}:utf8"), arrays.pop(f"{name}:ptr")
            arrays[name] = _strings(data.tobytes(), ptr)
        except (KeyError, TypeError, ValueError) as error:
            raise _Damaged(f"the strings of {name!r} cannot be read ({error!r})") from error
    return arrays


def _strings(data: bytes, ptr: Array) -> NameArray:
    """The strings between offsets; numpy pads each to the longest, so that one is checked against all first."""
    if ptr.ndim != 1 or not len(ptr) or ptr.dtype.kind not in "iu" or ptr[0] != 0 or ptr[-1] != len(data):
        raise ValueError(f"their offsets must go from 0 to {len(data):,}")
    sizes = np.diff(ptr.astype(np.int64))
    if sizes.min(initial=0) < 0:
        raise ValueError("their offsets must not fall")
    padded = 4 * len(sizes) * int(sizes.max(initial=1))
    if padded > FREE_STRING_BYTES + MAX_RATIO * len(data):
        raise ValueError(f"{len(sizes):,} of {len(data):,} bytes would take {padded:,} in memory")
    words = [data[start:stop].decode() for start, stop in itertools.pairwise(ptr.tolist())]
    return np.array(words, dtype=np.str_)

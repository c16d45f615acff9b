"""Mutated model files: each must be refused, or load and predict; never run code, crash or hang.

``python benchmarks/fuzz_model_files.py [--n 10000] [--seed 0]`` mutates small models of every kind of kernel:

- bytes: bits flipped, cut off, inserted, copied over, zeroed. What loads must predict exactly as the original did;
- content: JSON values and arrays replaced and all hashes made right again, as somebody with bad intent would.
  What loads must give finite scores of the right shape for some bags, or say what is wrong;
- counts: whole numbers in the header made huge, hashes right;
- weights: numbers in arrays made huge or none at all, hashes right;
- bombs: members, arrays, strings and headers that unpack to far more than the file has, and directories that lie.

Prints one Markdown row a kind of mutation and outcome, and the most memory that the process held. An outcome that is
neither, or more than 2 GB, ends it with status 1.
"""

import argparse
import collections
import copy
import hashlib
import io
import json
import pathlib
import resource
import signal
import struct
import sys
import tempfile
import traceback
import zipfile

import numpy as np

from cfmgml import BagDataset, CfMGML, GraphHopper, NodeSum, ProductKernel, SumKernel, WeisfeilerLehman
from cfmgml.common.files import header_digest
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels import HashedWL

SECONDS = 20  # after which a file counts as hanging
MOST_BYTES = 2 * 10**9  # that this process may ever hold
HUGE_COUNTS = [10**4, 10**6, 10**9, 2**31, 2**40, 2**63, 10**30, 10**400, -(10**9)]
HUGE_NUMBERS = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 1e155, 1e101, 1e99, 1e30]
KERNELS = {
    "nodes": NodeSum,
    "wl": lambda: WeisfeilerLehman(2, tfidf=True),
    "hopper": lambda: GraphHopper("linear"),
    "hashed": lambda: HashedWL(2, n_bits=8),
    "product": lambda: ProductKernel([NodeSum(), WeisfeilerLehman(1)]),
    "sum": lambda: SumKernel([NodeSum(approximation="nystrom", n_components=8), WeisfeilerLehman(1)]),
}
VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**63,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    -0.5,
    "",
    "os.system",
    "../../x",
    [],
    {},
    [[]],
    {"array": "coef"},
    [None] * 3,
]
DTYPES = ["<f8", "<f4", "<i8", "|u1", "|b1", "<U3", "<c16", "|S2", "<M8[s]"]


def make_models(folder: pathlib.Path) -> tuple[BagDataset, dict[pathlib.Path, np.ndarray]]:
    """Small models on disk, and what each says of the same few bags."""
    bags = load_digit_bags(n_bags=8, random_state=0)
    scores = {}
    for name, kernel in KERNELS.items():
        path = folder / f"{name}.cfmgml"
        CfMGML(kernel(), alpha=1e-3, n_rounds=1, max_iter=5, probability=name == "nodes").fit(bags).save(path)
        scores[path] = CfMGML.load(path).decision_function_graphs(bags[:3])
    return bags[:3], scores


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """A few random changes to the bytes of a file."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(len(out) + 1)), int(2 ** rng.uniform(0, 10))
        change = rng.integers(6)
        if change == 0 and out:
            out[at % len(out)] ^= 1 << int(rng.integers(8))
        elif change == 1:
            del out[at:]
        elif change == 2:
            out[at:at] = rng.bytes(length)
        elif change == 3:
            out[at : at + length] = bytes(len(out[at : at + length]))
        elif change == 4:
            start = int(rng.integers(len(out) + 1))
            out[at : at + length] = out[start : start + length]
        else:
            out[at : at + length] = rng.bytes(len(out[at : at + length]))
    return bytes(out)


def open_content(data: bytes) -> tuple[dict, dict[str, bytes]]:
    """The header and the arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("header.json"))
        return header, {name: archive.read(f"{name}.npy") for name in header["sha256"]}


def close_content(header: dict, members: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    """A file of them, with every hash right."""
    if isinstance(header.get("sha256"), dict):
        header["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    header["digest"] = header_digest(header)
    return _archive(json.dumps(header).encode(), members, how)


def _archive(header: bytes, members: dict[str, bytes], how: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how, compresslevel=9) as archive:
        archive.writestr("header.json", header)
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return out.getvalue()


def mutate_content(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with some of its JSON or arrays replaced."""
    header, members = open_content(data)
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            meta = header.get("meta")
            _replace_value(meta if isinstance(meta, dict) and meta and rng.random() < 0.9 else header, rng)
        else:
            _replace_array(members, rng)
    return close_content(header, members)


def mutate_counts(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with some whole numbers of its header made huge."""
    header, members = open_content(data)
    counts = list(_counts(header["meta"]))
    for _ in range(int(rng.integers(1, 4))):
        tree, key = counts[int(rng.integers(len(counts)))]
        tree[key] = HUGE_COUNTS[int(rng.integers(len(HUGE_COUNTS)))]
    return close_content(header, members)


def _counts(tree: dict | list) -> collections.abc.Iterator[tuple[dict | list, object]]:
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        if isinstance(value, dict | list):
            yield from _counts(value)
        elif isinstance(value, int) or key in ("rank", "n_rounds", "max_iter", "n_jobs"):
            yield tree, key


def mutate_weights(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with a number in each of some arrays, or all of them, made huge or none."""
    header, members = open_content(data)
    for _ in range(int(rng.integers(1, 3))):
        name = list(members)[int(rng.integers(len(members)))]
        array = np.lib.format.read_array(io.BytesIO(members[name]))
        if array.dtype.kind == "f" and array.size:
            value = HUGE_NUMBERS[int(rng.integers(len(HUGE_NUMBERS)))]
            array.flat[slice(None) if rng.random() < 0.3 else int(rng.integers(array.size))] = value
        elif array.size:
            array.flat[int(rng.integers(array.size))] = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else True
        members[name] = _npy(array)
    return close_content(header, members)


def mutate_bomb(data: bytes, rng: np.random.Generator) -> bytes:
    """A file that says, or has, much more than its bytes are."""
    header, members = open_content(data)
    kind, size = int(rng.integers(7)), int(2 ** rng.uniform(10, 28 if rng.random() < 0.02 else 22))
    if kind == 0:  # an array that nobody asked for
        members["more"] = _npy(np.zeros(size, dtype=np.uint8))
    elif kind == 1:  # an array that is needed, of zeros
        name = list(members)[int(rng.integers(len(members)))]
        members[name] = _npy(np.zeros((size // 80, 10) if rng.random() < 0.5 else size // 8))
    elif kind == 2:  # strings on the same bytes, or one that is very long
        members["label_names_:utf8"] = _npy(np.full(size // 64, 97, dtype=np.uint8))
        ends = (
            np.tile([0, size // 64], size // 512) if rng.random() < 0.5 else np.r_[np.arange(size // 128), size // 64]
        )
        members["label_names_:ptr"] = _npy(ends.astype(np.int64))
    elif kind == 3:  # many values in the header, or deep ones
        unit = [b"[],", b"{},", b'{"a":0},', b"1,", b'"ab",'][int(rng.integers(5))]
        meta = b"[" + unit * (size // len(unit)) + b"0]" if rng.random() < 0.8 else b"[" * (size // 2)
        text = json.dumps(close_header(header, members)).encode()
        return _archive(text.replace(b'"info": {', b'"info": {"x": ' + meta + b", ", 1), members, zipfile.ZIP_DEFLATED)
    elif kind == 4:  # a directory that lies
        return _with_sizes(close_content(header, members, zipfile.ZIP_DEFLATED), rng)
    elif kind == 5:  # packed by something that unpacks better
        members["more"] = _npy(np.zeros(size, dtype=np.uint8))
        return close_content(header, members, zipfile.ZIP_BZIP2 if rng.random() < 0.5 else zipfile.ZIP_LZMA)
    else:  # parts without end
        parts = header["meta"]["kernel"]
        for _ in range(int(rng.integers(1, 40))):
            parts = {"class": "SumKernel", "params": {"kernels": [{"kernel": parts}]}, "settled": {"resolved_": True}}
            parts["settled"]["kernels_"] = parts["params"]["kernels"] * int(rng.integers(1, 3))
            if len(json.dumps(parts)) > 10**6:
                break
        header["meta"]["kernel"] = parts
    return close_content(header, members, zipfile.ZIP_DEFLATED)


def close_header(header: dict, members: dict[str, bytes]) -> dict:
    """Of version 1, which has no digest of itself."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    return {**{key: value for key, value in header.items() if key != "digest"}, "version": 1, "sha256": hashes}


def _with_sizes(data: bytes, rng: np.random.Generator) -> bytes:
    """The archive with the unpacked sizes in its directory, and sometimes at the members, made larger."""
    out, at = bytearray(data), 0
    for mark, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22))[: 1 + int(rng.integers(2))]:
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            if rng.random() < 0.5:
                out[at + place : at + place + 4] = struct.pack("<I", int(2 ** rng.uniform(12, 32)) - 1)
    return bytes(out)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


MUTATIONS = {
    "bytes": mutate_bytes,
    "content": mutate_content,
    "counts": mutate_counts,
    "weights": mutate_weights,
    "bombs": mutate_bomb,
}


def _replace_value(tree: dict, rng: np.random.Generator) -> None:
    """Walk down a random way and put something else there, or take it away."""
    while True:
        key = list(tree)[int(rng.integers(len(tree)))] if isinstance(tree, dict) else int(rng.integers(len(tree)))
        below = tree[key]
        if not isinstance(below, dict | list) or not below or rng.random() < 0.15:
            break
        tree = below
    if rng.random() < 0.2 and isinstance(tree, dict):
        del tree[key]
    else:
        tree[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])


def _replace_array(members: dict[str, bytes], rng: np.random.Generator) -> None:
    name = list(members)[int(rng.integers(len(members)))]
    try:
        array = np.lib.format.read_array(io.BytesIO(members[name]), allow_pickle=False)
    except (ValueError, MemoryError):
        return  # it was made unreadable before
    change = rng.integers(7)
    if change == 0:
        del members[name]
        return
    if change == 1:
        array = array[: len(array) // 2]
    elif change == 2:
        array = array[None]
    elif change == 3 and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = (
            [np.nan, -1, 2**31, 0][int(rng.integers(4))] if array.dtype.kind == "f" else 2**7 - 1
        )
    elif change == 4:
        array = np.zeros(array.shape, dtype=DTYPES[int(rng.integers(len(DTYPES)))])
    elif change == 5:
        members[name] = _npy_header((2**40, 2**10), array.dtype.str)
        return
    else:
        members[name] = _npy_header((3,), "|O") + rng.bytes(50)
        return
    members[name] = _npy(array)


def _npy_header(shape: tuple[int, ...], descr: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(64)


def outcome(path: pathlib.Path, bags: BagDataset, expected: np.ndarray, exact: bool) -> str:
    """What a file does: refused (by load), refuses to predict, predicts; anything else is a fault."""
    try:
        model = CfMGML.load(path)
    except (ValueError, OSError):
        return "refused"
    try:
        with np.errstate(over="ignore"):  # what is too far away to be compared is as different as can be
            scores = model.decision_function_graphs(bags)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, MemoryError, ArithmeticError) as error:
        return "fault: loads, but does not predict" if exact else f"loads, then says {type(error).__name__}"
    if exact:
        return "loads as it was" if np.array_equal(scores, expected) else "fault: loads, but predicts something else"
    if scores.shape != (bags.n_graphs, len(model.label_names_)) or scores.dtype.kind != "f":
        return "fault: scores of a wrong shape"
    return "loads and predicts" if np.isfinite(scores).all() else "fault: scores that are not finite"


def run(
    n: int, seed: int, folder: pathlib.Path, kinds: tuple[str, ...] = tuple(MUTATIONS)
) -> dict[str, collections.Counter]:
    """Outcomes of ``n`` mutated files, by kind of mutation."""
    bags, models = make_models(folder)
    originals = {path: path.read_bytes() for path in models}
    counts = {kind: collections.Counter() for kind in kinds}
    rng = np.random.default_rng(seed)
    target = folder / "mutated.cfmgml"
    for number in range(n):
        path = list(models)[number % len(models)]
        kind = kinds[number // len(models) % len(kinds)]
        target.write_bytes(MUTATIONS[kind](originals[path], rng))
        signal.alarm(SECONDS)
        try:
            found = outcome(target, bags, models[path], exact=kind == "bytes")
        except BaseException as error:
            traceback.print_exc()
            found = f"fault: {type(error).__name__}"
        signal.alarm(0)
        counts[kind][found] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    def hang(*_: object) -> None:
        raise TimeoutError(f"no answer in {SECONDS} s")

    signal.signal(signal.SIGALRM, hang)
    with tempfile.TemporaryDirectory() as folder:
        counts = run(arguments.n, arguments.seed, pathlib.Path(folder))
    print("| mutation | outcome | files |\n|---|---|---|")
    for kind, found in counts.items():
        for name, number in found.most_common():
            print(f"| {kind} | {name} | {number:,} |")
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nMost memory held: {peak / 1e6:,.0f} MB.")
    return 1 if peak > MOST_BYTES or any(name.startswith("fault") for found in counts.values() for name in found) else 0


if __name__ == "__main__":
    sys.exit(main())

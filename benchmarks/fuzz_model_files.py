"""Mutated model files: each must be refused, or load and predict; never run code, crash or hang.

``python benchmarks/fuzz_model_files.py [--n 10000] [--seed 0]`` mutates small models of every kind of kernel:

- bytes: bits flipped, cut off, inserted, copied over, zeroed. What loads must predict exactly as the original did;
- content: JSON values and arrays replaced and all hashes made right again, as somebody with bad intent would.
  What loads must give scores of the right shape for some bags, or say what is wrong.

Prints one Markdown row a kind of mutation. An outcome that is neither is printed, and ends it with status 1.
"""

import argparse
import collections
import copy
import hashlib
import io
import json
import pathlib
import signal
import sys
import tempfile
import traceback
import zipfile

import numpy as np

from cfmgml import BagDataset, CfMGML, GraphHopper, NodeSum, SumKernel, WeisfeilerLehman
from cfmgml._files import header_digest
from cfmgml.datasets import load_digit_bags

SECONDS = 20  # after which a file counts as hanging
KERNELS = {
    "nodes": NodeSum,
    "wl": lambda: WeisfeilerLehman(2, tfidf=True),
    "hopper": lambda: GraphHopper("linear"),
    "sum": lambda: SumKernel([NodeSum(approximation="nystrom", n_components=8), WeisfeilerLehman(1)]),
}
VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**63,
    1e308,
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


def mutate_content(data: bytes, rng: np.random.Generator) -> bytes:
    """The file with some of its JSON or arrays replaced, and every hash right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        header = json.loads(archive.read("header.json"))
        members = {name: archive.read(f"{name}.npy") for name in header["sha256"]}
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            meta = header.get("meta")
            _replace_value(meta if isinstance(meta, dict) and meta and rng.random() < 0.9 else header, rng)
        else:
            _replace_array(members, rng)
    if isinstance(header.get("sha256"), dict):
        header["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    header["digest"] = header_digest(header)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return out.getvalue()


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
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    members[name] = stream.getvalue()


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
        scores = model.decision_function_graphs(bags)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, MemoryError, ArithmeticError) as error:
        return "fault: loads, but does not predict" if exact else f"loads, then says {type(error).__name__}"
    if exact:
        return "loads as it was" if np.array_equal(scores, expected) else "fault: loads, but predicts something else"
    fits = scores.shape == (bags.n_graphs, len(model.label_names_)) and scores.dtype.kind == "f"
    return "loads and predicts" if fits else "fault: scores of a wrong shape"


def run(n: int, seed: int, folder: pathlib.Path) -> dict[str, collections.Counter]:
    """Outcomes of ``n`` mutated files, by kind of mutation."""
    bags, models = make_models(folder)
    originals = {path: path.read_bytes() for path in models}
    counts = {"bytes": collections.Counter(), "content": collections.Counter()}
    rng = np.random.default_rng(seed)
    target = folder / "mutated.cfmgml"
    for number in range(n):
        path = list(models)[number % len(models)]
        kind, mutate = (("bytes", mutate_bytes), ("content", mutate_content))[number // len(models) % 2]
        target.write_bytes(mutate(originals[path], rng))
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
    return 1 if any(name.startswith("fault") for found in counts.values() for name in found) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Mutated stores: each must be refused with a reason, or be right; in little memory, and without a crash.

``python benchmarks/fuzz_stores.py [--n 1000] [--seed 0]`` takes a store of small bags and removes, cuts off, exchanges,
renames, copies and replaces files, and flips and moves bytes, one to three changes at a time:

- whole: a store with its manifest. What opens and passes ``check()`` must hold exactly the bags that were written;
- stopped: what a build has left that was killed. Called again it must refuse, or finish the store that was meant;
- old: a store without manifest. Files are changed, not removed or renamed: that cannot be noticed there;
- header: values of the header replaced and its digest made right again, as somebody with bad intent would. What opens
  must load or say what is wrong.

Prints one Markdown row an outcome, and the most memory that was used. Anything else is printed, and ends it with 1.
"""

import argparse
import collections
import json
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

from cfmgml import BagDataset
from cfmgml.common.files import header_digest
from cfmgml.data.parquet import writing
from cfmgml.data.parquet.folder import HEADER
from cfmgml.datasets import load_digit_bags
from cfmgml.stores import BagStore
from fuzz_model_files import SECONDS, _replace_value, mutate_bytes

MOST_BYTES = 2e9
GRAPHS = 40
KINDS = ("whole", "stopped", "old", "header")


class Killed(BaseException):
    """Ends a build where it is."""


def make_stores(bags: BagDataset, folder: Path) -> None:
    """One store of each kind, and another of its kind whose files can be put in the place of its own."""
    for name in ("whole", "header"):
        bags.to_store(folder / name, GRAPHS)
    load_digit_bags(n_bags=30, random_state=1).to_store(folder / "other", GRAPHS)
    write, written = writing.write_partition, []

    def stopping(*given: object) -> object:
        if len(written) == 2:
            raise Killed
        written.append(given)
        return write(*given)

    writing.write_partition = stopping
    try:
        bags.to_store(folder / "stopped", GRAPHS)
    except Killed:
        pass
    finally:
        writing.write_partition = write
    shutil.copytree(folder / "whole", folder / "old")
    header = json.loads((folder / "old" / HEADER).read_bytes())
    plain = {name: value for name, value in header.items() if name not in ("partitions", "digest")}
    (folder / "old" / HEADER).write_text(json.dumps({**plain, "version": 1}))


def mutate_files(store: Path, other: Path, rng: np.random.Generator, may_move: bool) -> list[str]:
    """One to three changes to a store's files; their names."""
    done = []
    for _ in range(int(rng.integers(1, 4))):
        files = sorted(file for file in store.iterdir() if may_move or file.suffix == ".parquet")
        if not files:
            break
        names = ("bytes", "cut off", "exchanged", *(("removed", "renamed", "copied", "replaced") if may_move else ()))
        change, file = names[int(rng.integers(len(names)))], files[int(rng.integers(len(files)))]
        second = files[int(rng.integers(len(files)))]
        data = file.read_bytes()
        if change == "bytes":
            file.write_bytes(mutate_bytes(data, rng))
        elif change == "cut off":
            file.write_bytes(data[: int(rng.integers(len(data) + 1))])
        elif change == "exchanged":
            file.write_bytes(second.read_bytes())
            second.write_bytes(data)
        elif change == "removed":
            file.unlink()
        elif change == "renamed":
            file.rename(store / _other_name(file.name, rng))
        elif change == "copied":
            (store / _other_name(file.name, rng)).write_bytes(data)
        else:
            theirs = sorted(other.iterdir())
            file.write_bytes(theirs[int(rng.integers(len(theirs)))].read_bytes())
        done.append(change)
    return done


def _other_name(name: str, rng: np.random.Generator) -> str:
    number = int(rng.integers(9))
    return str(
        rng.choice([f"part-{number:06d}-{rng.bytes(6).hex()}.parquet", f"copy-{name}", "_store.json", "notes.txt"])
    )


def mutate_header(store: Path, rng: np.random.Generator) -> None:
    header = json.loads((store / HEADER).read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        _replace_value(header, rng)
    header["digest"] = header_digest(header)
    (store / HEADER).write_text(json.dumps(header))


def outcome(kind: str, store: Path, bags: BagDataset, expected: dict) -> str:
    """What a store does: refused when opened or read, or right; anything else is a fault."""
    try:
        if kind == "stopped" and not (store / HEADER).exists():
            bags.to_store(store, GRAPHS)
        opened = BagStore(store)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a manifest that is not there
            opened.check()
        loaded = opened.load()
    except (ValueError, FileNotFoundError, FileExistsError) as error:
        return "refused" if str(error) else "fault: refused without a reason"
    if kind == "header":
        return "loads"
    return "right" if told_by(opened, loaded) == expected else "fault: holds something else"


def told_by(store: BagStore, bags: BagDataset) -> dict:
    arrays = {name: array.tolist() for name, array in bags.arrays().items()}
    return {"arrays": arrays, "info": dict(bags.info), "bags": store.n_bags, "graphs": store.n_graphs}


def run(n: int, seed: int, folder: Path) -> dict[str, collections.Counter]:
    """Outcomes of ``n`` mutated stores, by kind."""
    bags = load_digit_bags(n_bags=30, random_state=0)
    make_stores(bags, folder)
    whole = BagStore(folder / "whole")
    expected = told_by(whole, whole.load())
    counts = {kind: collections.Counter() for kind in KINDS}
    rng = np.random.default_rng(seed)
    for number in range(n):
        kind = KINDS[0] if number % 2 else KINDS[1 + number // 2 % 3]  # half of them whole
        target = folder / "mutated"
        shutil.copytree(folder / kind, target)
        if kind == "header":
            mutate_header(target, rng)
        else:
            mutate_files(target, folder / "other", rng, may_move=kind != "old")
        signal.alarm(SECONDS)
        try:
            found = outcome(kind, target, bags, expected)
        except BaseException as error:
            traceback.print_exc()
            found = f"fault: {type(error).__name__}"
        signal.alarm(0)
        counts[kind][found] += 1
        shutil.rmtree(target)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    def hang(*_: object) -> None:
        raise TimeoutError(f"no answer in {SECONDS} s")

    signal.signal(signal.SIGALRM, hang)
    with tempfile.TemporaryDirectory() as folder:
        counts = run(arguments.n, arguments.seed, Path(folder))
    print("| store | outcome | stores |\n|---|---|---|")
    for kind, found in counts.items():
        for name, number in found.most_common():
            print(f"| {kind} | {name} | {number:,} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"\nMost memory: {peak / 1e6:,.0f} MB.")
    has_fault = any(name.startswith("fault") for found in counts.values() for name in found)
    return 1 if has_fault or peak > MOST_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())

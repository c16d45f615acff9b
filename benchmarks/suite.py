"""Benchmarks against peers: `make bench`, or

    python benchmarks/suite.py [QUESTION ...] [--quick] [--passes 3] [--out docs/results/bench]

Each question is a file in `benchmarks/questions`. Every measurement is a process of its own with one thread; contenders
take turns, pass after pass, so that a busy minute hits all of them. One flat row a measurement goes to rows.csv,
medians to one Markdown page and one plot a question. A contender that takes longer than --patience seconds is measured
once at that size.
"""

import argparse
import csv
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
COLUMNS = ["question", "contender", "version", "size", "number", "cpu_s", "wall_s", "peak_gb", "added_gb", "difference"]
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")


def names():
    return sorted(file.stem for file in (HERE / "questions").glob("*.py") if file.stem != "__init__")


def load(name):
    return importlib.import_module(f"questions.{name}").QUESTION


def memory_expected(rows, contender, size):
    """In GB: as before at this size, or as much as could be from the sizes before."""
    seen = {row["size"]: row["peak_gb"] for row in rows if row["contender"] == contender}
    if size in seen or not seen:
        return 1.2 * seen.get(size, 0.5)
    largest = max(seen)
    return min(seen[largest] * (size / largest) ** 2, 10.0)


def measure(name, contender, size, keep, gb):
    command = [sys.executable, str(HERE / "measure_one.py"), name, contender, str(size), str(keep), str(gb)]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"  {contender} at {size}: left out ({reason})", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def difference(kept, reference, relative_norm):
    """The largest difference from the reference's values over the largest of those, or of the whole in norm."""
    if not (kept.exists() and reference.exists()):
        return None
    found, exact = np.load(kept), np.load(reference)
    gap = found - exact
    return float(
        np.linalg.norm(gap) / np.linalg.norm(exact) if relative_norm else np.abs(gap).max() / np.abs(exact).max()
    )


def ask(name, sizes, passes, patience):
    """Rows of one question."""
    question, rows, tired = load(name), [], set()
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            turn = [c for c, how in question.contenders.items() if size <= how.largest and c not in tired]
            kept = {c: Path(folder) / f"{k}-{size}.npy" for k, c in enumerate(turn)}
            for number in range(passes):
                for contender in turn[number % len(turn) :] + turn[: number % len(turn)] if turn else []:
                    before = [r["cpu_s"] for r in rows if (r["contender"], r["size"]) == (contender, size)]
                    if contender in tired or (before and before[0] > patience):
                        continue
                    row = measure(name, contender, size, kept[contender], memory_expected(rows, contender, size))
                    if row is None:
                        tired.add(contender)
                        continue
                    print(f"  {contender} {size}: {row['cpu_s']:.3f} CPU s, {row['peak_gb']:.2f} GB", file=sys.stderr)
                    rows.append({"question": name, "contender": contender, "size": size, "number": number, **row})
            for row in rows:
                if row["size"] == size and question.reference in kept and row["contender"] in kept:
                    whole = "Frobenius" in question.note
                    row["difference"] = difference(kept[row["contender"]], kept[question.reference], whole)
    return rows


def read_rows(file, name):
    """Rows of an earlier run to a question."""
    with file.open() as stream:
        return [{**row, "size": int(row["size"])} for row in csv.DictReader(stream) if row["question"] == name]


def write_rows(file, rows):
    """Rows of this run in place of older ones to the same questions."""
    asked = {row["question"] for row in rows}
    older = []
    if file.exists():
        with file.open() as stream:
            older = [row for row in csv.DictReader(stream) if row["question"] not in asked]
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*older, *rows])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"of: {', '.join(names())} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60.0, help="CPU seconds")
    parser.add_argument("--redraw", action="store_true", help="measure nothing, draw the plots of rows.csv again")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "results" / "bench")
    options = parser.parse_args(arguments)
    unknown = set(options.questions) - set(names())
    if unknown:
        parser.error(f"no such question: {sorted(unknown)}; there are {names()}")
    options.out.mkdir(parents=True, exist_ok=True)
    from report import plot, write_page

    for name in options.questions or names():
        question = load(name)
        if options.redraw:
            plot(name, question, read_rows(options.out / "rows.csv", name), options.out)
            continue
        print(f"{question.title}", file=sys.stderr)
        rows = ask(name, question.quick if options.quick else question.sizes, options.passes, options.patience)
        write_rows(options.out / "rows.csv", rows)
        write_page(name, question, rows, options.out)


if __name__ == "__main__":
    main()

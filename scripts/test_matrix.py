"""Run the core tests on every supported Python that there is, with the oldest allowed and the newest libraries.

    make test-matrix                                              # interpreters found on the path
    make test-matrix MATRIX="--in python3.12 --in /chroot:python3" # these; ROOT:PYTHON is one in a chroot
    make test-matrix MATRIX="--tests 'tests src'"                  # all quick tests, with all test tools

Each case is a fresh environment: ``oldest`` has exactly the lower bounds that pyproject.toml gives for what the core
needs (on the oldest Python only: newer ones have no wheels of them), ``newest`` what pip finds. At the end it says what
was run, with which versions, and what was left out and why. It fails if a test failed, or if nothing was run.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from places import Place

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = "tests/checks tests/common tests/data tests/kernels tests/learning tests/model"
TOOLS = [
    "pytest",
    "hypothesis",
    "networkx",
    "psutil",
    "pyarrow",
]  # what these import; with anything else the dev extra is installed
SHOWN = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    python: str
    versions: str  # "oldest" or "newest"
    result: str  # "passed", "FAILED" or "left out"
    detail: str


def supported() -> list[str]:
    """The Pythons that the classifiers name."""
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in PROJECT["classifiers"])
    return [match[1] for match in found if match]


def oldest(requirements: list[str]) -> list[str]:
    """The lower bounds as exact versions.

    >>> oldest(["numpy>=2.0", "rich>=13.9"])
    ['numpy==2.0', 'rich==13.9']
    """
    return [requirement.replace(">=", "==") for requirement in requirements]


def source_files() -> list[str]:
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode().split("\n")[:-1]


def copy_tree(to: Path) -> None:
    """The working tree, as somebody who clones it gets it."""
    names = "\n".join(name for name in source_files() if (ROOT / name).is_file())
    packed = subprocess.run(
        ["tar", "-cf", "-", "-T", "-"], cwd=ROOT, input=names.encode(), capture_output=True, check=True
    )
    to.mkdir()
    subprocess.run(["tar", "-xf", "-"], cwd=to, input=packed.stdout, check=True)


def run_case(place: Place, python: str, versions: str, tests: str) -> Outcome:
    """Make the environment, run the tests, and tell."""
    core = PROJECT["dependencies"]
    wanted = oldest(core) if versions == "oldest" else list(core)
    with place.folder() as (here, there):
        copy_tree(here / "tree")
        extra = TOOLS if set(tests.split()) <= set(CORE.split()) else [f"{there}/tree[dev]"]
        try:
            made = place.make_environment(there, ["--only-binary", ":all:", *wanted, *extra])
        except RuntimeError as error:
            return Outcome(
                python, versions, "FAILED", f"pip could not install it: {str(error).strip().splitlines()[-1]}"
            )
        freeze = place.run([made, "-m", "pip", "freeze"], there).stdout
        has = ", ".join(line.replace("==", " ") for line in freeze.split() if line.split("==")[0] in SHOWN)
        chosen = [*shlex.split(tests), "-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", "not grakel"]
        words = ["env", "PYTHONPATH=src", made, "-m", "pytest", *chosen]
        print(f"Python {python}, {versions}: {has}", flush=True)
        done = place.run(words, f"{there}/tree")
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "no output"
    if done.returncode:
        print(done.stdout[-6000:], flush=True)
    return Outcome(python, versions, "FAILED" if done.returncode else "passed", f"{last.strip('= ')} ({has})")


def run_matrix(places: list[Place], tests: str, wanted: list[str]) -> list[Outcome]:
    outcomes, there_are = list[Outcome](), dict[str, Place]()
    for place in places:
        python = place.version()
        if python is None:
            outcomes.append(
                Outcome(str(place), "any", "left out", "there is no such interpreter, or it does not start")
            )
        elif python not in supported():
            outcomes.append(Outcome(python, "any", "left out", f"not supported: {', '.join(supported())} are"))
        else:
            there_are.setdefault(python, place)
    for python in supported():
        for versions in wanted:
            if python not in there_are:
                outcomes.append(Outcome(python, versions, "left out", "no interpreter was given or found"))
            elif versions == "oldest" and python != supported()[0]:
                outcomes.append(
                    Outcome(python, versions, "left out", f"the lower bounds have wheels for {supported()[0]}")
                )
            else:
                outcomes.append(run_case(there_are[python], python, versions, tests))
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in", dest="places", action="append", default=[], metavar="[ROOT:]PYTHON")
    parser.add_argument("--versions", choices=("oldest", "newest"), action="append", default=[])
    parser.add_argument("--tests", default=CORE, help="what pytest is given; %(default)s")
    given = parser.parse_args()
    found = [Place.of(words) for words in given.places or [f"python{version}" for version in supported()]]
    outcomes = run_matrix(found, given.tests, given.versions or ["oldest", "newest"])
    print(f"\nTests: {given.tests} (without those marked slow, and those that compare with GraKeL)")
    for outcome in outcomes:
        print(f"Python {outcome.python:<5} {outcome.versions:<7} {outcome.result:<9} {outcome.detail}")
    results = {outcome.result for outcome in outcomes}
    return 1 if "FAILED" in results or "passed" not in results else 0


if __name__ == "__main__":
    sys.exit(main())

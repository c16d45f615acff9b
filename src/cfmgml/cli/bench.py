"""``cfmgml bench``: the benchmark suite of a clone of the repository."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from cfmgml.cli._console import show

HELP = (
    "Measure this library against its peers, from a clone of the repository.\n\n"
    "Peers are not installed with cfmgml: 'make bench' makes an environment that has them. Without a peer, its rows "
    "are left out."
    "\n\n\b\nExamples:\n  cfmgml bench --quick\n  cfmgml bench wl_features --passes 5 --out out/bench"
)


def bench(
    questions: Annotated[list[str] | None, typer.Argument(help="Which questions; all, if none is named.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, to see that all works.")] = False,
    passes: Annotated[int, typer.Option(min=1, help="How often each contender takes its turn.")] = 3,
    out: Annotated[Path, typer.Option(help="The folder for tables and plots.")] = Path("out/bench"),
    folder: Annotated[Path | None, typer.Option(help="The clone's folder, if it is not the current one.")] = None,
) -> None:
    suite = find_suite(folder)
    command = [sys.executable, str(suite), *(questions or []), "--passes", str(passes), "--out", str(out.resolve())]
    status = subprocess.run([*command, "--quick"] if quick else command, check=False).returncode
    if status:
        raise typer.Exit(status)
    show(f"Tables and plots are in {out}.")


def find_suite(folder: Path | None) -> Path:
    """The suite's file: in the folder named, in the current one, or beside the source this runs from."""
    places = [folder] if folder is not None else [Path.cwd(), Path(__file__).resolve().parents[3]]
    for place in places:
        if (place / "benchmarks" / "suite.py").is_file():
            return place / "benchmarks" / "suite.py"
    raise FileNotFoundError(
        f"no benchmarks/suite.py in {' or '.join(str(place) for place in places)}: the benchmarks are not part of the "
        "installed package; clone the repository and run 'make bench' there, or name its folder with --folder."
    )

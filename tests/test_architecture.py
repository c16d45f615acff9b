"""The arrows between rooms point one way, and the front door opens quickly."""

import ast
import functools
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1] / "src" / "cfmgml"

# A module may import from its own level only within its own package, and from lower levels freely.
LEVELS = [
    {"_typing", "_compiled", "_printable", "_numbers", "_memory", "_builds", "_digests"},
    {"_progress"},
    {"_segments", "_adjacency"},
    {"_files", "_interop", "_lonely_columns"},
    {"_parquet"},
    {"graphs"},
    {"bags", "kernels"},
    {"stores", "gpu"},
    {"gram", "context"},
    {"factors", "objective", "label_weights", "metrics", "annotation", "calibration"},
    {"scoring", "solvers", "estimator"},
    {"learned"},
    {"model_file", "scale"},
    {"model", "mining"},
    {"model_selection"},
    {"datasets", "baselines"},
    {"recipes"},
    {"inputs"},
    {"plots"},
    {"experiments"},
    {"web"},
    {"cli"},
]
LEVEL = {room: k for k, rooms in enumerate(LEVELS) for room in rooms}
FORBIDDEN = [
    ("kernels", "bags", "kernels know no bags"),
    ("gram", "bags", "kernels know no bags"),
    ("objective", "graphs", "the objective knows no graphs"),
    ("objective", "kernels", "the objective knows no kernels"),
    ("solvers", "graphs", "solvers know no graphs"),
    ("solvers", "kernels", "solvers know no kernels"),
    ("baselines", "datasets", "models know no data sets"),
]


def read_arrows():
    """(importing module, room it is in, room it imports) for every import of ours, wherever it stands."""
    for file in ROOT.rglob("*.py"):
        parts = file.relative_to(ROOT).with_suffix("").parts
        if parts == ("__init__",):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cfmgml":
                below = node.module.split(".")[1:]
                names = [below[0]] if below else [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [a.name.split(".")[1] for a in node.names if a.name.startswith("cfmgml.")]
            for name in names:
                if not name.startswith("__"):
                    yield "/".join(parts), parts[0], name


@functools.cache
def arrows():
    return list(read_arrows())


def test_there_are_arrows():
    assert len(arrows()) > 50


def test_every_room_has_a_level():
    rooms = {
        p.stem if p.is_file() else p.name for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert rooms - {"__init__"} <= set(LEVEL), "a new module: give it a level"


def test_no_arrow_points_backwards():
    wrong = [f"{file} -> {to}" for file, room, to in arrows() if room != to and LEVEL[to] >= LEVEL[room]]
    assert not wrong


@pytest.mark.parametrize(("room", "to", "why"), FORBIDDEN)
def test_rooms_that_do_not_know_each_other(room, to, why):
    assert not [file for file, source, target in arrows() if (source, target) == (room, to)], why


def test_import_is_light():
    """No heavy optional library comes in with `import cfmgml`, nor numba, which waits for its first use."""
    heavy = ["torch", "matplotlib", "skimage", "fastapi", "numba", "networkx", "grakel", "rich", "typer", "PIL"]
    code = f"import cfmgml, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
